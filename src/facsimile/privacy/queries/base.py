"""Query and Scores: statistics of the confidential table, each with its sensitivity and proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from facsimile.table.table import Table


class Query(ABC):
    """One number: its exact value and how far one replaced record can move it."""

    @abstractmethod
    def value(self, table: Table) -> int | Fraction:
        """The exact value."""

    @abstractmethod
    def sensitivity(self) -> Fraction:
        """Δ under replace-one, from public numbers only."""


class Scores(ABC):
    """A score for each of a public list of candidates."""

    @abstractmethod
    def values(self, table: Table) -> Sequence[int | Fraction]:
        """The exact scores."""

    @abstractmethod
    def sensitivity(self) -> Fraction:
        """Δ: how far one replaced record can move any one score."""
