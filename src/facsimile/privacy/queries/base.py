"""Query and Scores: statistics of the confidential table, each with its sensitivity and proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.noise import LARGEST, Noise
from facsimile.privacy.queries.sensitivity import counts_share
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

    def steps(self, threshold: Fraction) -> Sequence[Fraction]:
        """The Δ of each part that a joint test takes in units of its own: groups, cells, sums or signs."""
        return (self.sensitivity(),)

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        """How far the value lies beyond a threshold, in units of Δ: it moves by at most 1.

        Theorem.  It is negative exactly where the value is below the threshold T. Where it is below u, the
          value is below T + max(u·Δ) over `steps`, or at most 0.
        Proof.    The value is the largest error of a part, and each has error < T + u·Δ of its own. A part that
          no record can move has none.  QED
        """
        return (self.value(table, noise) - threshold) / self.sensitivity()


@dataclass(frozen=True, eq=False)
class Share(Query):
    """Something counted between R and a candidate S, as a share of n: one record moves it by at most 1/n."""

    candidate: Table

    def sensitivity(self) -> Fraction:
        return counts_share(self.candidate.n)


def worst_excess(errors: Iterable[tuple[Fraction, Fraction]], threshold: Fraction) -> Fraction:
    """The largest excess of errors, each in units of its own sensitivity: no small group drowns a large one.

    What no record can move is where the candidate is, without error.
    """
    moved = ((error - threshold) / delta for error, delta in errors if delta)
    return max(moved, default=-threshold * LARGEST)


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
