"""The noise that a specification promises: what planning assumes about a release that does not exist yet.

Where a sensitivity depends on the release, it follows from these assumptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from facsimile.privacy.queries.sensitivity import Range
from facsimile.spec.columns import Axis, Column
from facsimile.spec.release import Specification
from facsimile.table.exact import Floats

UNKNOWN = "depends on the release"
APART = "for columns that are not correlated"
PlannedSensitivity = tuple[Fraction | None, str]
"""A sensitivity, None where only a release can tell, and a note on it."""


@dataclass(frozen=True)
class NoiseLine:
    """A criterion's threshold and the noise it will carry; None where only a release can tell."""

    criterion: str
    statistic: str
    threshold: Fraction
    tested_at: float
    epsilon: Fraction
    sensitivity: float | None
    scale: float | None
    note: str

    @property
    def share(self) -> float | None:
        """The noise as a part of the value tested at."""
        return None if self.scale is None or self.tested_at <= 0 else self.scale / self.tested_at


@dataclass(frozen=True)
class Assumed:
    """What the release is assumed to look like: declared for planning, or read from public data.

    `correlations` are of all columns, in their order, where they are known.
    """

    s_min: int | None
    groups: dict[str, int]
    spreads: dict[str, tuple[Fraction, Fraction]]
    correlations: Floats | None = None

    def unknown(self, names: Sequence[str]) -> str:
        """The first column whose numbers are needed and not known, in words; nothing where all are."""
        return next((f"needs planning.numbers.{name}" for name in names if name not in self.spreads), "")

    def standardised(self, specification: Specification, name: str, sharp: bool) -> Range:
        """The range of a column's numbers, in its assumed deviations from its assumed mean."""
        (low, high), (mean, deviation) = planned_range(specification, name, sharp), self.spreads[name]
        return (low - mean) / deviation, (high - mean) / deviation


def declared(specification: Specification) -> Assumed:
    """The assumptions of the specification's `planning` block."""
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Assumed(None, dict(specification.planning.groups), spreads)


def number_range(column: Column, axis: Axis, sharp: bool) -> Range:
    """[L, U] around every number of the axis: the declared bounds, or for sharp forms just the range."""
    numbers = axis.numbers or (Fraction(0), Fraction(1))
    declared = () if sharp or column.bounds is None else column.bounds
    every = (*numbers, *declared)
    return min(every), max(every)


def planned_range(specification: Specification, name: str, sharp: bool) -> Range:
    """Around the numbers of every alternative that a release may use."""
    column = specification.column(name)
    used = [choice[name] for choice in specification.space.choices([name])]
    lows, highs = zip(*(number_range(column, column.axis(one), sharp) for one in used), strict=True)
    return min(lows), max(highs)


def square(bounds: Range) -> Fraction:
    """The range of x² for x in [l, u]: max(l², u²) minus 0 if the interval holds 0, else min(l², u²)."""
    low, high = bounds[0] ** 2, bounds[1] ** 2
    inside = bounds[0] <= 0 <= bounds[1]
    return max(low, high) - (0 if inside else min(low, high))


def product(left: Range, right: Range) -> Fraction:
    """The range of xy over a rectangle: it is attained at two of the four corners."""
    corners = [a * b for a in left for b in right]
    return max(corners) - min(corners)


def moments(features: Sequence[Range], target: Range) -> Fraction:
    """The sums that determine a least-squares fit: Σxᵢxⱼ for i ≤ j and Σxᵢy, a constant among the x.

    Theorem.  The stacked sums move by at most Σ (range of each monomial) in L1.
    Proof.    A replacement takes one record's monomials away and adds another's; each differs by at most
      its range. Σy² does not enter the coefficients and is not released.  QED
    """
    pairs = combinations_with_replacement(range(len(features)), 2)
    squares = (square(features[i]) if i == j else product(features[i], features[j]) for i, j in pairs)
    return sum(squares, Fraction(0)) + sum((product(x, target) for x in features), Fraction(0))
