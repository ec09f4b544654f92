"""Mechanism: a question to the confidential table, with its cost and its proof in one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from facsimile.privacy.budget import Cost
from facsimile.privacy.noise import Noise
from facsimile.table.domain import Domain
from facsimile.table.table import Table

T_co = TypeVar("T_co", covariant=True)


class Mechanism(ABC, Generic[T_co]):
    """A frozen dataclass whose `_sample` is differentially private at `cost` (rules P2, P4).

    Nobody but the curator calls `_sample`, and nobody else computes a cost. `neighbours` is the relation the
    theorem is proved for; the curator refuses any other (rule P5).
    """

    neighbours: ClassVar[str] = "replace-one"

    @abstractmethod
    def check(self, domain: Domain, n: int) -> None:
        """ValueError unless every table of n records over the domain has an answer; it sees public things only.

        The curator asks before it charges or opens anything. What passes never fails on some tables only.
        """

    @abstractmethod
    def cost(self) -> Cost:
        """What one run costs."""

    @abstractmethod
    def _sample(self, table: Table, noise: Noise) -> T_co:
        """The answer, drawn with fresh noise."""
