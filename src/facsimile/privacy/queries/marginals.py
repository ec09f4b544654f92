"""Errors of marginals: the largest difference of counts, and the largest ratio of one-way counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import sensitivity
from facsimile.privacy.queries.base import Query
from facsimile.table.differences import largest_difference, smallest_likeness, smallest_one_way
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class LargestDifference(Query):
    """The largest |q(R) − q(S)| over every cell of every marginal of up to `ways` columns, as a share of n.

    Theorem.  Δ = 1/n.
    Proof.    See sensitivity.counts_share; the list of cells is the public domain's, zeros included.  QED
    """

    candidate: Table
    ways: int | None = None

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The share."""
        return Fraction(largest_difference(table, self.candidate, self.ways), self.candidate.n)

    def sensitivity(self) -> Fraction:
        """1/n."""
        return sensitivity.counts_share(self.candidate.n)


@dataclass(frozen=True, eq=False)
class ClippedRatio(Query):
    """The largest ratio of two one-way counts, each plus one, clipped to [1, λ].

    Theorem.  Δ = λ²/(s + 1 + λ), s the smallest one-way count of S over the whole domain.
    Proof.    See sensitivity.ratio_clipped.  QED
    """

    candidate: Table
    clip: Fraction

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The clipped ratio."""
        return min(self.clip, 1 / smallest_likeness(table, self.candidate))

    def sensitivity(self) -> Fraction:
        """λ²/(s + 1 + λ)."""
        return sensitivity.ratio_clipped(self.clip, smallest_one_way(self.candidate))


@dataclass(frozen=True, eq=False)
class Unlikeness(Query):
    """1 − ρ, ρ = min over one-way cells of min(r̂/ŝ, ŝ/r̂) with r̂, ŝ the counts plus one.

    The largest ratio is 1/ρ, so ratio < T is 1 − ρ < 1 − 1/T.
    Theorem.  Δ = 1/(s + 1), s the smallest one-way count of S over the whole domain.
    Proof.    See sensitivity.ratio_sharp.  QED
    """

    candidate: Table

    def value(self, table: Table, noise: Noise) -> Fraction:
        """1 − ρ."""
        return 1 - smallest_likeness(table, self.candidate)

    def sensitivity(self) -> Fraction:
        """1/(s + 1)."""
        return sensitivity.ratio_sharp(smallest_one_way(self.candidate))
