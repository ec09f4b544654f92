"""What a specification promises, before a confidential record is read.

The number of configurations, the budget line by line, and each criterion's noise beside its threshold, so
that a stakeholder sees whether noise could hide the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from facsimile.acceptance.statistics import Range, number_range
from facsimile.errors import refusal
from facsimile.privacy import budget
from facsimile.privacy.queries import sensitivity
from facsimile.spec.criteria import (
    ConditionalMean,
    Correlation,
    Criterion,
    MarginalsRelative,
    NamedQuery,
    Quantile,
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.decimals import show_decimal
from facsimile.spec.families import FAMILIES
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain

APPROXIMATE = "approximate DP: excluded in pure mode"
MOMENTS = "noise on each mean product"
UNKNOWN = "depends on the release"
HOPELESS = "no ratio can pass: give it more epsilon"


@dataclass(frozen=True)
class FamilyLine:
    """The configurations of one family."""

    family: str
    configurations: int
    note: str


@dataclass(frozen=True)
class BudgetLine:
    """One part of the budget and how often it counts."""

    part: str
    epsilon: Fraction
    note: str


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
class Check:
    """Everything `facsimile check` prints."""

    specification: Specification
    families: tuple[FamilyLine, ...]
    budget: tuple[BudgetLine, ...]
    total: Fraction
    noise: tuple[NoiseLine, ...]
    finest_cells: int


@dataclass(frozen=True)
class Assumed:
    """What the release is assumed to look like: declared for planning, or read from public data."""

    s_min: int | None
    groups: dict[str, int]
    spreads: dict[str, tuple[Fraction, Fraction]]


def check(specification: Specification, assumed: Assumed | None = None) -> Check:
    """Check a specification; a refusal says what is wrong."""
    families = tuple(
        FamilyLine(name, count, "" if FAMILIES[name].pure else APPROXIMATE)
        for name, count in specification.space.by_family().items()
    )
    if not specification.budget.delta and not specification.space.pure().grids:
        raise refusal("E200", problem="Every family offers approximate DP only, and budget.delta is 0.")
    _refuse_large_domains(specification)
    _refuse_unfitted(specification)
    lines, total = budget_lines(specification)
    if total > specification.budget.total:
        raise refusal("E203", parts=show_upper(total), total=show_upper(specification.budget.total))
    known = assumed or declared(specification)
    noise = tuple(noise_line(specification, criterion, known) for criterion in specification.criteria)
    return Check(specification, families, lines, total, noise, Domain(specification.finest()).cells)


def declared(specification: Specification) -> Assumed:
    """The assumptions of the specification's `planning` block."""
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Assumed(None, dict(specification.planning.groups), spreads)


def _refuse_large_domains(specification: Specification) -> None:
    largest = math.prod(
        max(column.axis(name).size for name in column.alternatives) for column in specification.columns
    )
    for grid in specification.space.pure().grids:
        limit = FAMILIES[grid.family].most_cells
        if limit is not None and largest > limit:
            raise refusal("E160", family=grid.family)


def _refuse_unfitted(specification: Specification) -> None:
    """The gap of predictions needs a regression of the original: paid once, or in the paper's loop."""
    wanted = any(isinstance(c, RegressionError) for c in specification.criteria)
    in_loop = specification.scheme == "paper" and any(
        isinstance(c, RegressionCoefficients) and specification.statistic_of(c) == "paper"
        for c in specification.criteria
    )
    if wanted and specification.budget.once is None and not in_loop:
        problem = "Criterion regression-mae needs a regression of the original: set budget.once."
        raise refusal("E200", problem=problem)


def budget_lines(specification: Specification) -> tuple[tuple[BudgetLine, ...], Fraction]:
    """Every part of the budget, and the total that is charged."""
    parts = specification.budget
    measured = sum((c.epsilon for c in specification.criteria), Fraction(0))
    criteria = [
        BudgetLine(
            c.name, c.epsilon, "measured in each iteration" if specification.scheme == "paper" else "once"
        )
        for c in specification.criteria
    ]
    generator = BudgetLine("generator", parts.generator, "one fit")
    once = [BudgetLine("fit before the loop", parts.once, "once")] if parts.once else []
    test = [BudgetLine("test of a candidate", parts.test, "one test")] if parts.test else []
    if specification.scheme == "paper":
        one = parts.generator + measured
        outside, lines = Fraction(0), [generator, *criteria]
    elif specification.scheme == "test-then-measure":
        one = parts.generator + (parts.test or Fraction(0))
        outside, lines = measured, [generator, *test, *criteria]
    else:
        one = parts.test or Fraction(0)
        outside, lines = parts.generator + measured, [generator, *test, *criteria]
    selected = selection_cost(specification, one)
    mode = specification.selection.mode
    lines.append(BudgetLine("one iteration of the search", one, "sum of its parts"))
    lines.append(BudgetLine("the whole search", selected, f"selection mode {mode}"))
    total = selected + outside + (parts.once or Fraction(0))
    return (*once, *lines), total


def selection_cost(specification: Specification, one: Fraction) -> Fraction:
    """What the whole search costs when one iteration costs `one`.

    The sharper bounds of the coins are proved for a pure iteration. With budget.delta above 0 the iteration
    is approximate, unless the generator is fitted once before the loop: then a coin costs as much as no coin.
    """
    chosen = specification.selection
    approximate = specification.budget.delta > 0 and specification.scheme != "train-once"
    if approximate and chosen.mode in ("capped-coin", "rising-coin"):
        raise refusal(
            "E204",
            problem=f"Selection mode {chosen.mode} has no guarantee for approximate differential privacy.",
            choice="mode: coin with gamma: 0.05",
        )
    if chosen.mode == "paper" or (approximate and chosen.mode == "coin"):
        return budget.selection_until_success(one)
    if chosen.mode == "coin":
        return budget.selection_coin(one, chosen.gamma)
    if chosen.mode == "rising-coin":
        return budget.selection_rising(one, chosen.a or Fraction(1))
    if chosen.mode == "capped-coin":
        smallest = budget.smallest_cap(chosen.gamma, chosen.epsilon_0 or Fraction(1))
        if (chosen.cap or 0) < smallest:
            raise refusal("E204", problem="The cap is too small for its coin.", choice=f"cap: {smallest}")
        return budget.selection_capped(one, chosen.gamma, chosen.epsilon_0 or Fraction(1), chosen.cap or 0)
    return one


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
    return sensitivity.counts_share(n), "1/n"


def _mean_sensitivity(
    specification: Specification, criterion: ConditionalMean, assumed: Assumed, sharp: bool
) -> tuple[Fraction | None, str]:
    bounds = _range(specification, criterion.of, sharp)
    unknown = [name for name in criterion.by if name not in assumed.groups]
    if unknown:
        return None, f"needs planning.groups.{unknown[0]}"
    sizes = [assumed.groups[name] for name in criterion.by] or [specification.n]
    smallest = sensitivity.smallest_group(min(sizes), specification.n, specification.slack)
    return sensitivity.group_mean(bounds, smallest), f"smallest group {smallest:,}"


def _correlation_sensitivity(
    specification: Specification, criterion: Correlation, assumed: Assumed
) -> tuple[Fraction | None, str]:
    unknown = [name for name in criterion.of if name not in assumed.spreads]
    if unknown:
        return None, f"needs planning.numbers.{unknown[0]}"
    scaled = [_standardised(specification, name, assumed) for name in criterion.of]
    widest = max(sensitivity.product(one, other) for one, other in combinations(scaled, 2))
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
    delta = sensitivity.moments([(Fraction(1), Fraction(1)), *features], goal)
    return delta / specification.n, MOMENTS


def _standardised(specification: Specification, name: str, assumed: Assumed) -> Range:
    (low, high), (mean, deviation) = _range(specification, name, sharp=False), assumed.spreads[name]
    return (low - mean) / deviation, (high - mean) / deviation


def _range(specification: Specification, name: str, sharp: bool) -> Range:
    column = specification.column(name)
    return number_range(column, column.finest, sharp)


def show_upper(value: Fraction) -> str:
    """An epsilon for people: at most six digits after the point, rounded up.

    >>> show_upper(Fraction(1, 3))
    '0.333334'
    """
    return show_decimal(Fraction(-(-value * 10**6 // 1), 10**6))
