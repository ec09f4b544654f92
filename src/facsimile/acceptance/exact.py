"""Exact errors of a candidate against a PUBLIC table: error measures as they are defined.

No noise, no clipping, no resizing. For public data only; nothing of it runs in a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

import numpy as np

from facsimile.acceptance.decision import fit_spread
from facsimile.acceptance.groups import groupings, likeness, means
from facsimile.acceptance.regression import Fit, refitting
from facsimile.acceptance.statistics import Asked, Candidate, number_range, plain_query
from facsimile.privacy.noise import SystemNoise
from facsimile.shaping.constraints import implausible
from facsimile.spec.choices import Statistic
from facsimile.spec.columns import Column
from facsimile.spec.criteria import (
    ConditionalMean,
    Correlation,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    NamedQuery,
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.release import Specification
from facsimile.table.differences import largest_difference, smallest_likeness
from facsimile.table.matching import matched
from facsimile.table.numbers import correlation, mean
from facsimile.table.regression import Scaling, least_squares, mean_absolute_error
from facsimile.table.table import Table

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Verdict:
    """A criterion's error beside its threshold; None where it is not defined, which is not met."""

    name: str
    value: float | None
    threshold: Fraction

    @property
    def met(self) -> bool:
        """Strictly below the threshold."""
        return self.value is not None and self.value < float(self.threshold)


def exact_errors(specification: Specification, real: Table, synthetic: Table) -> list[Verdict]:
    """Every criterion of the specification, exactly, between two public tables under the same alternatives."""
    if real.domain != synthetic.domain or real.n != synthetic.n:
        raise ValueError("two tables of one domain and one size are compared")
    return [
        Verdict(criterion.name, exact_error(specification, criterion, real, synthetic), criterion.threshold)
        for criterion in specification.criteria
    ]


@dataclass(frozen=True)
class Tested:
    """A criterion as a release would test it, without the noise: value, limit, sensitivity, noise scale.

    The distance from a noisy fit has no sensitivity; its scale is simulated.
    """

    form: Statistic
    value: float
    limit: float
    sensitivity: float | None
    scale: float


def as_tested(
    specification: Specification, real: Table, synthetic: Table, form: Statistic
) -> list[Tested | None]:
    """Every criterion in one of its two forms; None where the candidate itself decides that it is not met."""
    candidate = Candidate(specification, synthetic, _own_fit(specification, real))
    found = []
    for criterion in specification.criteria:
        if isinstance(criterion, RegressionCoefficients) and form == "paper":
            found.append(_refitted(specification, criterion, real, synthetic))
        else:
            asked = candidate.asked(criterion, form)
            found.append(None if asked is None else _tested(asked, real))
    return found


def _refitted(
    specification: Specification, criterion: RegressionCoefficients, real: Table, synthetic: Table
) -> Tested | None:
    """The paper's form: noise is on each mean product of standardised columns, not on the distance."""
    value = exact_error(specification, criterion, real, synthetic)
    if value is None or refitting(synthetic, criterion.target, criterion.epsilon) is None:
        return None
    scale = fit_spread(Candidate(specification, synthetic), criterion)
    return Tested("paper", value, float(criterion.threshold), None, scale)


def _tested(asked: Asked, real: Table) -> Tested:
    value = asked.query.value(real, SystemNoise())
    scale = asked.sensitivity / asked.criterion.epsilon
    limit = asked.tested_at
    return Tested(asked.form, float(value), float(limit), float(asked.sensitivity), float(scale))


def _own_fit(specification: Specification, real: Table) -> Fit | None:
    """The public original's own regression, in place of a private one."""
    wanted = [c.target for c in specification.criteria if isinstance(c, RegressionError)]
    return Fit.of(real, wanted[0]) if wanted else None


def exact_error(
    specification: Specification, criterion: Criterion, real: Table, synthetic: Table
) -> float | None:
    """One criterion, exactly; None where it is not defined."""
    if isinstance(criterion, Correlation):
        return largest_correlation_error(criterion.of, real, synthetic)
    if isinstance(criterion, NamedQuery) and criterion.of is not None:
        return _named_mean_error(specification, criterion, real, synthetic)
    if isinstance(criterion, MarginalsAbsolute):
        return largest_difference(real, synthetic, criterion.ways) / real.n
    if isinstance(criterion, MarginalsRelative):
        return float(1 / smallest_likeness(real, synthetic))
    if isinstance(criterion, ConditionalMean):
        return largest_mean_error(specification, criterion, real, synthetic)
    if isinstance(criterion, Faithfulness):
        return (real.n - matched(real, synthetic, likeness(specification, criterion, real.domain))) / real.n
    if isinstance(criterion, RegressionCoefficients | RegressionError):
        return _regression_error(specification.column(criterion.target), criterion, real, synthetic)
    return float(plain_query(specification, criterion, synthetic).value(real, SystemNoise()))


def largest_mean_error(
    specification: Specification, criterion: ConditionalMean, real: Table, synthetic: Table
) -> float | None:
    """The largest difference of means over all groups; not defined where a group is empty on one side only."""
    groups = groupings(specification, criterion.by, real.domain)
    return _largest_gap(zip(*(means(t, criterion.of, groups) for t in (real, synthetic)), strict=True))


def largest_correlation_error(columns: Sequence[str], real: Table, synthetic: Table) -> float | None:
    """The largest difference of a pair's correlation; None where a column is constant on one side only."""
    pairs = combinations(columns, 2)
    return _largest_gap((correlation(real, *pair), correlation(synthetic, *pair)) for pair in pairs)


def _largest_gap(pairs: Iterable[tuple[Number | None, Number | None]]) -> float | None:
    """The largest |one − other|; None where one of a pair is not defined and the other is."""
    worst = 0.0
    for one, other in pairs:
        if one is None or other is None:
            if one is not other:
                return None
        else:
            worst = max(worst, float(abs(one - other)))
    return worst


def _named_mean_error(
    specification: Specification, criterion: NamedQuery, real: Table, synthetic: Table
) -> float | None:
    """The difference of a column's mean among the records that satisfy the condition."""
    one, other = (
        t.filter(implausible([criterion.condition(specification.names)], t.domain, t.codes))
        for t in (real, synthetic)
    )
    if not one.n or not other.n:
        return None if one.n or other.n else 0.0
    return float(abs(mean(one, str(criterion.of)) - mean(other, str(criterion.of))))


def _regression_error(
    column: Column, criterion: RegressionCoefficients | RegressionError, real: Table, synthetic: Table
) -> float | None:
    """Coefficients in L1, the constant included; or the difference of mean absolute errors on the original."""
    scaling = Scaling.by(synthetic, column.name)
    one, other = least_squares(real, scaling), least_squares(synthetic, scaling)
    if one is None or other is None:
        return None
    if isinstance(criterion, RegressionCoefficients):
        return float(np.abs(one - other).sum())
    bounds = number_range(column, column.finest, sharp=False)
    clip = (float(bounds[0]), float(bounds[1]))
    return abs(mean_absolute_error(real, scaling, one, clip) - mean_absolute_error(real, scaling, other, clip))
