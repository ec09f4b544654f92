"""Errors of marginals: largest, typical and total differences of counts, largest ratio of one-way counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks, sensitivity
from facsimile.privacy.queries.base import Query, Share
from facsimile.table.differences import (
    distance,
    largest_difference,
    one_way_pairs,
    smallest_likeness,
    smallest_one_way,
)
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class LargestDifference(Share):
    """The largest |q(R) − q(S)| over every cell of every marginal of up to `ways` columns, as a share of n.

    Theorem.  Δ = 1/n.
    Proof.    See sensitivity.counts_share; the list of cells is the public domain's, zeros included.  QED
    """

    ways: int | None = None

    def check(self, domain: Domain, n: int) -> None:
        checks.sized(self.candidate, domain, n)
        checks.require(self.ways is None or checks.whole(self.ways), "a number of columns")

    def value(self, table: Table, noise: Noise) -> Fraction:
        return Fraction(largest_difference(table, self.candidate, self.ways), self.candidate.n)


@dataclass(frozen=True, eq=False)
class ClippedRatio(Query):
    """The largest ratio of two one-way counts, each plus one, clipped to [1, λ].

    Theorem.  Δ = λ²/(s + 1 + λ), s the smallest one-way count of S over the whole domain.
    Proof.    See sensitivity.ratio_clipped.  QED
    """

    candidate: Table
    clip: Fraction

    def check(self, domain: Domain, n: int) -> None:
        checks.sized(self.candidate, domain, n)
        checks.require(checks.exact([self.clip]) and self.clip > 1, "a clip")

    def value(self, table: Table, noise: Noise) -> Fraction:
        return min(self.clip, 1 / smallest_likeness(table, self.candidate))

    def sensitivity(self) -> Fraction:
        return sensitivity.ratio_clipped(self.clip, smallest_one_way(self.candidate))


@dataclass(frozen=True, eq=False)
class Unlikeness(Query):
    """1 − ρ, ρ = min over one-way cells of min(r̂/ŝ, ŝ/r̂) with r̂, ŝ the counts plus one.

    The largest ratio is 1/ρ, so ratio < T is 1 − ρ < 1 − 1/T.
    Theorem.  Δ = 1/(s + 1), s the smallest one-way count of S over the whole domain.
    Proof.    See sensitivity.ratio_sharp.  QED
    Theorem.  Its excess over t, the largest of ŝ(1 − t) − r̂ and r̂ − ŝ/(1 − t) over cells (only the first where
      t ≥ 1), moves by at most 1, is negative exactly where 1 − ρ < t, and bounds 1 − ρ by steps of 1/ŝ and
      (1 − t)²/ŝ (0 where t ≥ 1: no 1 − ρ is as large).
    Proof.    A replacement moves each r̂ by at most 1, and so each term and their maximum. min(r̂/ŝ, ŝ/r̂) > 1 − t
      says that r̂ > ŝ(1 − t) and, unless 1 − t ≤ 0, r̂ < ŝ/(1 − t). With an excess below u: r̂/ŝ > 1 − t − u/ŝ, so
      1 − r̂/ŝ < t + u/ŝ; and r̂/ŝ < 1/(1 − t) + u/ŝ, so 1 − ŝ/r̂ < f(1/(1 − t) + u/ŝ) ≤ t + (1 − t)²u/ŝ, as f(y) =
      1 − 1/y is concave and lies below its tangent at 1/(1 − t).  QED
    """

    candidate: Table

    def check(self, domain: Domain, n: int) -> None:
        checks.sized(self.candidate, domain, n)

    def value(self, table: Table, noise: Noise) -> Fraction:
        return 1 - smallest_likeness(table, self.candidate)

    def sensitivity(self) -> Fraction:
        return sensitivity.ratio_sharp(smallest_one_way(self.candidate))

    def steps(self, threshold: Fraction) -> list[Fraction]:
        cells = [sensitivity.ratio_sharp(s) for _, s in one_way_pairs(self.candidate, self.candidate)]
        return [*cells, *(max(Fraction(0), 1 - threshold) ** 2 * step for step in cells)]

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        kept, cells = 1 - threshold, [(r + 1, s + 1) for r, s in one_way_pairs(table, self.candidate)]
        low = max(kept * s - r for r, s in cells)
        return low if kept <= 0 else max(low, *(r - s / kept for r, s in cells))


@dataclass(frozen=True, eq=False)
class TotalVariation(Share):
    """Half the L1 distance of a marginal, as a share of n: the largest of several marginals, or their average.

    Theorem.  Δ = 1/n.
    Proof.    A replacement lowers one cell of a marginal by 1 and raises one by 1, so its distance to S moves
      by at most 2 and its half by 1; a maximum or an average moves no more than its terms.  QED
    """

    marginals: tuple[Clique, ...]
    average: bool = False

    def check(self, domain: Domain, n: int) -> None:
        checks.sized(self.candidate, domain, n)
        checks.require(len(self.marginals) > 0, "a marginal")
        for clique in self.marginals:
            checks.columns(domain, clique)

    def value(self, table: Table, noise: Noise) -> Fraction:
        apart = [distance(table, self.candidate, clique) for clique in self.marginals]
        whole = Fraction(sum(apart), len(apart)) if self.average else Fraction(max(apart))
        return whole / (2 * self.candidate.n)


@dataclass(frozen=True, eq=False)
class TailDifference(Share):
    """The |q(R) − q(S)| that a share `beyond` of all cells of some marginals exceed at most, as a share of n.

    Theorem.  Δ = 1/n.
    Proof.    A replacement moves each |q(R) − q(S)| by at most 1; so does any order statistic of them, over the
      public list of cells.  QED
    """

    marginals: tuple[Clique, ...]
    beyond: Fraction

    def check(self, domain: Domain, n: int) -> None:
        TotalVariation(self.candidate, self.marginals).check(domain, n)
        checks.require(checks.exact([self.beyond]) and 0 <= self.beyond <= 1, "a share")

    def value(self, table: Table, noise: Noise) -> Fraction:
        gaps = [np.abs(table.marginal(c) - self.candidate.marginal(c)).ravel() for c in self.marginals]
        cells = np.sort(np.concatenate(gaps))
        kept = len(cells) - floor(self.beyond * len(cells))
        return Fraction(int(cells[max(0, kept - 1)]), self.candidate.n)
