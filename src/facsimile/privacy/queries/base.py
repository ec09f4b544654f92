"""Query and Scores: statistics of the confidential table, each with its sensitivity and proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from facsimile.privacy.noise import LARGEST, Noise
from facsimile.table.domain import Domain
from facsimile.table.table import Table


class Query(ABC):
    """One number: its exact value and how far one replaced record can move it."""

    @abstractmethod
    def check(self, domain: Domain, n: int) -> None:
        """ValueError unless it has a value, and its Δ, for every table of n records over the domain."""

    @abstractmethod
    def value(self, table: Table, noise: Noise) -> int | Fraction:
        """The exact value; `noise` only where the definition itself draws records."""

    @abstractmethod
    def sensitivity(self) -> Fraction:
        """Δ under replace-one, from public numbers only."""

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        """How far the value lies beyond a threshold, in units of Δ: it moves by at most 1."""
        return (self.value(table, noise) - threshold) / self.sensitivity()


def unmoved(threshold: Fraction) -> Fraction:
    """The excess where no record can move anything: the original is where the candidate is, without error."""
    return -threshold * LARGEST


class Scores(ABC):
    """A score for each of a public list of candidates."""

    @abstractmethod
    def check(self, domain: Domain, n: int) -> None:
        """ValueError unless it has values, and its Δ, for every table of n records over the domain."""

    @abstractmethod
    def values(self, table: Table) -> Sequence[int | Fraction]:
        """The exact scores."""

    @abstractmethod
    def sensitivity(self) -> Fraction:
        """Δ: how far one replaced record can move any one score."""
