"""Marginals: differences, ratios and distances of counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil, exp, floor

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Measured, fine_grid
from facsimile.acceptance.influence import Influences, cells
from facsimile.acceptance.kind import Kind, Luck, ShareKind, listed
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import Assumed, NoiseLine, PlannedSensitivity
from facsimile.privacy.budget import log_upper
from facsimile.privacy.queries import (
    ClippedRatio,
    LargestDifference,
    Query,
    TailDifference,
    TotalVariation,
    Unlikeness,
)
from facsimile.privacy.queries.sensitivity import ratio_clipped, ratio_sharp
from facsimile.spec.criteria import MarginalsAbsolute, MarginalsRelative, MarginalsTail, TotalVariationDistance
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.differences import smallest_likeness, smallest_one_way
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.table import Codes, Table

DIGITS = 6
MOST_INFLUENCES = 512
"""A linear view has no more functions."""
NOTICED = 0.25
"""Cells of a pair that independent columns would bring as close as this part of the limit are left to them."""


class AbsoluteKind(ShareKind[MarginalsAbsolute]):
    """The largest difference of any count."""

    expense = 1
    topic, title = "counts", "Counts"
    sentence = "The largest difference of any count in any table of {ways}, as a share of all records."

    def query(self, candidate: Candidate) -> Query:
        return LargestDifference(candidate.table, self.criterion.ways)

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """Cells of one column, and those of two where independent columns would come near the limit."""
        domain, limit = table.domain, float(self.criterion.threshold)
        gaps: dict[tuple[str, int, str, int], float] = {}
        for one, other in combinations(domain.names, 2) if self.criterion.ways != 1 else ():
            shares = table.marginal((one, other)) / table.n
            gap = np.abs(shares - np.outer(shares.sum(axis=1), shares.sum(axis=0)))
            gaps |= {(one, i, other, j): gap[i, j] for i, j in np.argwhere(gap > NOTICED * limit).tolist()}
        alone = sum(domain.shape)
        far = sorted(gaps, key=lambda cell: -gaps[cell])[: max(0, MOST_INFLUENCES - alone)]

        def of(codes: Codes) -> Floats:
            singles = [cells(domain, (name,), codes) for name in domain.names]
            both = [
                (codes[:, domain.place(one)] == i) & (codes[:, domain.place(other)] == j)
                for one, i, other, j in far
            ]
            return np.column_stack([*singles, *both]).astype(np.float64)

        return Influences.within(of, alone + len(far), limit)

    def words(self) -> dict[str, str]:
        ways = self.criterion.ways
        some = "one column" if ways == 1 else f"up to {ways} columns"
        return {"ways": "any number of columns" if ways is None else some}


class RelativeKind(Kind[MarginalsRelative]):
    """The largest ratio of one-way counts; the sharp form asks for its likeness, the paper's clips it.

    Ratios are clipped to [1, λ], so whatever lies beyond λ is asked about as λ itself. Only the noise can carry
    it below the value T' that is tested at. T' is fixed by the specification, before a candidate exists.
    """

    clips = True
    topic, title = "counts", "Counts of single columns, as a ratio"
    sentence = "The largest ratio of the two counts of any value of any single column, each count plus one."

    def query(self, candidate: Candidate) -> Query:
        """1 − 1/ratio, or the ratio itself up to λ."""
        return Unlikeness(candidate.table) if self.sharp else ClippedRatio(candidate.table, self.criterion.clip)

    @property
    def limit(self) -> Fraction:
        threshold = self.criterion.threshold
        if self.sharp:
            return 1 - 1 / threshold if threshold > 1 else Fraction(0)
        return min(threshold, self.criterion.clip)

    def clipped(self, specification: Specification) -> bool:
        """Whether it is clipped and tested with noise of its own."""
        paper = specification.scheme == specification.statistic_of(self.criterion) == "paper"
        return paper and not self.sharp

    def tested_at(self, specification: Specification) -> Fraction:
        """T' where it is clipped and tested with noise of its own."""
        return self.lowered if self.clipped(specification) else self.limit

    @property
    def lowered(self) -> Fraction:
        """T': as it is given, or λ + (Δ/ε)·ln(2p) rounded down to six digits, and never above the threshold.

        Δ is that of a release whose smallest one-way count is `planning_s_min`. A ratio of λ or more
        then passes with P[λ + Lap(Δ/ε) ≤ T'] = p = `false_accept`, and less often where that count is larger.
        """
        c = self.criterion
        if c.tested_at is not None:
            return c.tested_at
        scale = ratio_clipped(c.clip, c.planning_s_min) / c.epsilon
        lowered = c.clip - scale * log_upper(1 / (2 * c.false_accept))
        return min(c.threshold, Fraction(floor(lowered * 10**DIGITS), 10**DIGITS))

    def chance(self, grid: int, units: int) -> float:
        """How likely a ratio of λ or more passes by luck of the noise, ½·exp((T' − λ)·ε/Δ) on a grid.

        ⌊λ·grid⌋ + Z < T'·grid, Z discrete Laplace noise of ratio a = exp(−ε/units): P[Z ≤ −t] = a^t/(1 + a).
        """
        t = floor(self.criterion.clip * grid) - ceil(self.lowered * grid) + 1
        a = exp(-float(self.criterion.epsilon) / units)
        return float(a**t / (1 + a))

    def luck(self, specification: Specification, measured: Measured) -> Luck | None:
        if not self.clipped(specification):
            return None
        c = self.criterion
        return Luck(float(c.clip), self.chance(measured.grid, measured.noise_units), c.planning_s_min)

    def unmeetable(self, specification: Specification) -> tuple[str, str] | None:
        """No ratio is below 1."""
        if self.criterion.threshold <= 1:
            return "threshold", "cannot be met: the ratio of equal counts is 1"
        if self.clipped(specification) and self.lowered <= 1:
            return "epsilon", (
                f"would pass by luck only: its noise has it tested at {float(self.lowered):.3g}, and no ratio "
                "is below 1; give it more epsilon, or `tested_at`"
            )
        return None

    def error(self, value: Fraction) -> Fraction | None:
        if not self.sharp:
            return value
        return 1 / (1 - value) if value < 1 else None

    @property
    def least(self) -> int:
        """No ratio is below 1."""
        return 0 if self.sharp else 1

    def bound(self, value: float) -> float | None:
        """A clipped ratio may be any above λ."""
        if self.sharp:
            return 1 / (1 - value) if value < 1 else None
        return value if value < self.criterion.clip else None

    def smallest(self, query: Query) -> int | None:
        assert isinstance(query, Unlikeness | ClippedRatio)
        return smallest_one_way(query.candidate)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Neither clipped nor inverted."""
        return float(1 / smallest_likeness(original.table, candidate.table))

    def from_zero(self, error: float) -> float:
        """As its sharp form takes it."""
        return 1 - 1 / error

    def influences(self, specification: Specification, table: Table) -> Influences:
        """A function for each one-way cell: r records may be from (r + 1)/T − 1 to T(r + 1) − 1 of them."""
        domain, n, t = table.domain, table.n, float(self.criterion.threshold)
        counts = np.concatenate([table.marginal((name,)) for name in domain.names]).astype(np.float64)

        def of(codes: Codes) -> Floats:
            return np.column_stack([cells(domain, (name,), codes) for name in domain.names])

        return Influences(of, ((counts + 1) / t - 1 - counts) / n, (t * (counts + 1) - 1 - counts) / n)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """By the smallest one-way count that is assumed."""
        s_min = self.criterion.planning_s_min if assumed.s_min is None else assumed.s_min
        delta = ratio_sharp(s_min) if self.sharp else ratio_clipped(self.criterion.clip, s_min)
        return delta, f"smallest one-way count {s_min:,}"

    def noise(self, specification: Specification, assumed: Assumed) -> NoiseLine:
        """With what it is tested at, and how often luck passes it."""
        c, line = self.criterion, super().noise(specification, assumed)
        tested, note = c.threshold, line.note
        if self.sharp:
            tested = 1 / c.threshold
            note = f"the ratio is tested as its inverse, above {float(tested):g}; {note}"
        if self.clipped(specification):
            delta = self.planned(specification, assumed)[0] or Fraction(1)
            tested, grid = self.lowered, fine_grid(delta)
            chance = self.chance(grid, ceil(grid * delta))
            more = " (more than `false_accept`)" if chance > c.false_accept else ""
            note = f"{note}; a ratio of {float(c.clip):g} or more passes by luck with {chance:.2%}{more}"
        elif c.tested_at is not None:
            note = f"{note}; `tested_at` is for scheme and form paper, and not used here"
        return replace(line, tested_at=float(tested), note=note)


class VariationKind(ShareKind[TotalVariationDistance]):
    """Records in the wrong cell of a marginal."""

    topic, about, title = "counts", "of", "Records in another cell, {which} table"
    sentence = "The share of records that stand in another cell than in the original, {which} of {tables}."

    def query(self, candidate: Candidate) -> Query:
        table, c = candidate.table, self.criterion
        return TotalVariation(table, _marginals(c, table.domain), c.over == "average")

    def words(self) -> dict[str, str]:
        return {"which": self.criterion.over, "tables": _tables(self.criterion)}

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """Half of each cell, of all tables on average; for the worst stands the table with most cells."""
        domain, every = table.domain, _marginals(self.criterion, table.domain)
        if self.criterion.over == "worst":
            every = (max(every, key=domain.size),)
        functions = sum(map(domain.size, every))
        if functions > MOST_INFLUENCES:
            return None

        def of(codes: Codes) -> Floats:
            return np.column_stack([cells(domain, clique, codes) for clique in every]) / (2 * len(every))

        return Influences.summed(of, functions, float(self.criterion.threshold))


class TailKind(ShareKind[MarginalsTail]):
    """The difference that all but a few cells keep."""

    topic, about, title = "counts", "of", "Counts of nearly all cells"
    sentence = (
        "The difference of counts that all but {few} % of the cells of {tables} keep, "
        "as a share of all records."
    )

    def query(self, candidate: Candidate) -> Query:
        table, c = candidate.table, self.criterion
        return TailDifference(table, _marginals(c, table.domain), c.beyond)

    def words(self) -> dict[str, str]:
        return {"few": show_decimal(self.criterion.beyond * 100), "tables": _tables(self.criterion)}


def _marginals(criterion: TotalVariationDistance | MarginalsTail, domain: Domain) -> tuple[Clique, ...]:
    return criterion.of or tuple(combinations(domain.names, min(criterion.ways or 1, len(domain.names))))


def _tables(criterion: TotalVariationDistance | MarginalsTail) -> str:
    if criterion.ways is not None:
        return "the tables of one column" if criterion.ways == 1 else f"the tables of {criterion.ways} columns"
    return f"the tables of {'; '.join(map(listed, criterion.of))}"
