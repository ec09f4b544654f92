"""The noise that a specification promises: each criterion's sensitivity before a release exists.

Where a sensitivity depends on the release, it follows from what planning assumes about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import assert_never

from facsimile.acceptance.statistics import Range, number_range
from facsimile.privacy.queries import sensitivity
from facsimile.spec.criteria import (
    ConditionalMean,
    Correlation,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    MarginalsTail,
    NamedQuery,
    Quantile,
    RangesAbsolute,
    RegressionCoefficients,
    RegressionError,
    TotalVariationDistance,
)
from facsimile.spec.release import Specification

MOMENTS = "noise on each mean product"
UNKNOWN = "depends on the release"
HOPELESS = "no ratio can pass: give it more epsilon"


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
        """The noise as a part of the value tested at; None where the two are not of one kind."""
        comparable = self.scale is not None and self.tested_at > 0 and self.note != MOMENTS
        return self.scale / self.tested_at if comparable and self.scale is not None else None


@dataclass(frozen=True)
class Assumed:
    """What the release is assumed to look like: declared for planning, or read from public data."""

    s_min: int | None
    groups: dict[str, int]
    spreads: dict[str, tuple[Fraction, Fraction]]


def declared(specification: Specification) -> Assumed:
    """The assumptions of the specification's `planning` block."""
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Assumed(None, dict(specification.planning.groups), spreads)


def noise_line(specification: Specification, criterion: Criterion, assumed: Assumed) -> NoiseLine:
    """A criterion's sensitivity and noise scale at the declared number of records."""
    statistic = specification.statistic_of(criterion)
    delta, note = _sensitivity(specification, criterion, assumed)
    scale = None if delta is None else float(delta / criterion.epsilon)
    tested = float(criterion.threshold)
    if isinstance(criterion, MarginalsRelative) and scale is not None and statistic == "paper":
        limit = float(min(criterion.threshold, criterion.clip))
        tested = limit + scale * math.log(2 * float(criterion.false_accept))
        note = HOPELESS if tested <= 1 else note
    elif isinstance(criterion, MarginalsRelative) and statistic == "sharp":
        tested = 1 / float(criterion.threshold)
        note = f"the ratio is tested as its inverse, above {tested:g}; {note}"
    shown = None if delta is None else float(delta)
    return NoiseLine(
        criterion.name, statistic, criterion.threshold, tested, criterion.epsilon, shown, scale, note
    )


def _sensitivity(
    specification: Specification, criterion: Criterion, assumed: Assumed
) -> tuple[Fraction | None, str]:
    n, sharp = specification.n, specification.statistic_of(criterion) == "sharp"
    if isinstance(criterion, MarginalsRelative):
        s_min = criterion.planning_s_min if assumed.s_min is None else assumed.s_min
        note = f"smallest one-way count {s_min:,}"
        return (
            sensitivity.ratio_sharp(s_min) if sharp else sensitivity.ratio_clipped(criterion.clip, s_min)
        ), note
    if isinstance(criterion, ConditionalMean):
        return _mean_sensitivity(specification, criterion, assumed, sharp)
    if isinstance(criterion, RegressionError):
        bounds = _range(specification, criterion.target, sharp)
        return sensitivity.prediction_error(bounds, n), "2(U − L)/n" + (", at most" if sharp else "")
    if isinstance(criterion, RegressionCoefficients):
        if sharp:
            known = criterion.planning_sensitivity
            return known, "planned" if known is not None else UNKNOWN
        return _moments_sensitivity(specification, criterion.target, assumed)
    if isinstance(criterion, Quantile):
        smallest = min([assumed.groups.get(name, n) for name in criterion.by] or [n])
        return Fraction(1, max(1, smallest)), f"smallest group {smallest:,}"
    if isinstance(criterion, Correlation):
        return _correlation_sensitivity(specification, criterion, assumed)
    if isinstance(criterion, NamedQuery) and criterion.of:
        return None, UNKNOWN
    if isinstance(
        criterion,
        MarginalsAbsolute | MarginalsTail | TotalVariationDistance | RangesAbsolute | Faithfulness | NamedQuery,
    ):
        return sensitivity.counts_share(n), "1/n"
    assert_never(criterion)


def _mean_sensitivity(
    specification: Specification, criterion: ConditionalMean, assumed: Assumed, sharp: bool
) -> tuple[Fraction | None, str]:
    bounds = _range(specification, criterion.of, sharp)
    unknown = [name for name in criterion.by if name not in assumed.groups]
    if unknown:
        return None, f"needs planning.groups.{unknown[0]}"
    sizes = [assumed.groups[name] for name in criterion.by] or [specification.n]
    smallest = sensitivity.smallest_group(min(sizes), specification.n, specification.slack)
    less = "" if smallest >= min(sizes) else f" ({min(sizes):,} less slack)"
    return sensitivity.group_mean(bounds, smallest), f"smallest group {smallest:,}{less}"


def _correlation_sensitivity(
    specification: Specification, criterion: Correlation, assumed: Assumed
) -> tuple[Fraction | None, str]:
    unknown = [name for name in criterion.of if name not in assumed.spreads]
    if unknown:
        return None, f"needs planning.numbers.{unknown[0]}"
    scaled = [_standardised(specification, name, assumed) for name in criterion.of]
    widest = max(product(one, other) for one, other in combinations(scaled, 2))
    return widest / specification.n, "for columns that are not correlated"


def _moments_sensitivity(
    specification: Specification, target: str, assumed: Assumed
) -> tuple[Fraction | None, str]:
    unknown = [name for name in specification.names if name not in assumed.spreads]
    if unknown:
        return None, f"needs planning.numbers.{unknown[0]}"
    others = [name for name in specification.names if name != target]
    features = [_standardised(specification, name, assumed) for name in others]
    goal = _standardised(specification, target, assumed)
    delta = moments([(Fraction(1), Fraction(1)), *features], goal)
    return delta / specification.n, MOMENTS


def _standardised(specification: Specification, name: str, assumed: Assumed) -> Range:
    (low, high), (mean, deviation) = _range(specification, name, sharp=False), assumed.spreads[name]
    return (low - mean) / deviation, (high - mean) / deviation


def _range(specification: Specification, name: str, sharp: bool) -> Range:
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
