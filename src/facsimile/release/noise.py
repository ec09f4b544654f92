"""The noise that a specification promises: each criterion's sensitivity before a release exists.

Where a sensitivity depends on the release, it follows from what planning assumes about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import ceil, sqrt
from typing import assert_never

import numpy as np

from facsimile.acceptance.decision import fine_grid, fit_question, in_public
from facsimile.acceptance.ratio import clipped, luck, tested_at
from facsimile.acceptance.regression import distances, noise_of
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
from facsimile.table.numbers import Floats

UNKNOWN = "depends on the release"
APART = "for columns that are not correlated"
SIMULATED = "simulated: how far a noisy fit lies from the exact one, on average"
FIRST = "it has the numbers of each column's first alternative"
EXPLAINED = 0.5
"""How much of a target's variance its features explain, in equal parts, where planning tells no correlation."""


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


def declared(specification: Specification) -> Assumed:
    """The assumptions of the specification's `planning` block."""
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Assumed(None, dict(specification.planning.groups), spreads)


def noise_line(specification: Specification, criterion: Criterion, assumed: Assumed) -> NoiseLine:
    """A criterion's sensitivity and noise scale at the declared number of records."""
    statistic = specification.statistic_of(criterion)
    delta, note = _sensitivity(specification, criterion, assumed)
    scale = None if delta is None else float(delta / criterion.epsilon)
    tested = criterion.threshold
    if isinstance(criterion, RegressionCoefficients) and statistic == "paper":
        scale, note = _fit_noise(specification, criterion, assumed)
    if isinstance(criterion, MarginalsRelative) and statistic == "sharp":
        tested = 1 / criterion.threshold
        note = f"the ratio is tested as its inverse, above {float(tested):g}; {note}"
    ratio = clipped(specification, criterion)
    if ratio is not None and delta is not None:
        tested, grid = tested_at(ratio), fine_grid(delta)
        chance = luck(ratio, grid, ceil(grid * delta))
        more = " (more than `false_accept`)" if chance > ratio.false_accept else ""
        note = f"{note}; a ratio of {float(ratio.clip):g} or more passes by luck with {chance:.2%}{more}"
    elif isinstance(criterion, MarginalsRelative) and criterion.tested_at is not None:
        note = f"{note}; `tested_at` is for scheme and form paper, and not used here"
    shown = None if delta is None else float(delta)
    return NoiseLine(
        criterion.name, statistic, criterion.threshold, float(tested), criterion.epsilon, shown, scale, note
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
        if not sharp:
            return None, ""
        if criterion.planning_sensitivity is not None:
            return criterion.planning_sensitivity, "planned"
        return _step_sensitivity(specification, criterion.target, assumed)
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
    return widest / specification.n, APART


def _step_sensitivity(
    specification: Specification, target: str, assumed: Assumed
) -> tuple[Fraction | None, str]:
    """One step from the release's coefficients: x·(y − mean), a constant among the x."""
    features, goal, missing = _features(specification, target, assumed)
    if goal is None:
        return None, missing
    moved = sum((product(x, goal) for x in features), Fraction(0))
    return moved * assumed.spreads[target][1] / specification.n, APART


def _fit_noise(
    specification: Specification, criterion: RegressionCoefficients, assumed: Assumed
) -> tuple[float | None, str]:
    """The mean distance of a noisy fit from the exact one, in place of a scale: it has no sensitivity."""
    target, epsilon, n = criterion.target, criterion.epsilon, specification.n
    features, goal, missing = _features(specification, target, assumed)
    if goal is None:
        return None, missing
    order = [*(name for name in specification.names if name != target), target]
    constants = [assumed.spreads[name] for name in order]
    noise = float(moments(features, goal) / epsilon / n)
    if specification.shares_once(criterion):
        try:
            question = fit_question(specification, target, epsilon)
        except ValueError:
            return None, UNKNOWN
        public, noise = in_public(specification, target), noise_of(question, n)
        scaling = public.scaling
        constants = list(zip(scaling.means, scaling.deviations, strict=True))
        constants.append((public.centre, public.spread))
    pairs = list(zip((assumed.spreads[name] for name in order), constants, strict=True))
    means = np.array([1.0, *(float((mean - c) / d) for (mean, _), (c, d) in pairs)])
    deviations = np.array([0.0, *(float(spread / d) for (_, spread), (_, d) in pairs)])
    places = [specification.names.index(name) for name in order]
    known = assumed.correlations
    correlations = np.zeros((len(means), len(means)))
    correlations[1:, 1:] = _planned(len(order)) if known is None else known[np.ix_(places, places)]
    second = correlations * np.outer(deviations, deviations) + np.outer(means, means)
    several = specification.shares_once(criterion) and any(len(c.used) > 1 for c in specification.columns)
    note = f"{SIMULATED}; {FIRST}" if several else SIMULATED
    found = distances(second, noise) * float(constants[-1][1])
    if specification.shares_once(criterion):
        beyond = float((found >= float(criterion.threshold)).mean())
        note = f"{note}; {beyond:.0%} of such fits lie beyond the threshold by noise alone"
        note += ", and then a search in mode paper does not end" * (specification.selection.mode == "paper")
    return float(found.mean()), note


def _planned(columns: int) -> Floats:
    """Correlations of features that explain a part of the target, the last, and nothing of each other."""
    found = np.eye(columns)
    found[:-1, -1] = found[-1, :-1] = sqrt(EXPLAINED / max(1, columns - 1))
    return found


def _features(
    specification: Specification, target: str, assumed: Assumed
) -> tuple[list[Range], Range | None, str]:
    """The ranges of a constant and the standardised features, and of the target; what is missing for them."""
    unknown = [name for name in specification.names if name not in assumed.spreads]
    if unknown:
        return [], None, f"needs planning.numbers.{unknown[0]}"
    others = [name for name in specification.names if name != target]
    features = [_standardised(specification, name, assumed, sharp=True) for name in others]
    goal = _standardised(specification, target, assumed, sharp=True)
    return [(Fraction(1), Fraction(1)), *features], goal, ""


def _standardised(specification: Specification, name: str, assumed: Assumed, sharp: bool = False) -> Range:
    (low, high), (mean, deviation) = _range(specification, name, sharp), assumed.spreads[name]
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
