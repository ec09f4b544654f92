"""Acceptance: how far a candidate table is from the original, criterion by criterion.

`exact_errors` measures a candidate against a PUBLIC table: the error measures of the births paper as they are
defined, without noise, clipping or resizing. It is for public data only; nothing of it runs in a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.spec.columns import Column
from facsimile.spec.criteria import (
    ConditionalMean,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.release import Specification
from facsimile.table.differences import largest_difference, smallest_likeness
from facsimile.table.matching import EXACT, Likeness, matched
from facsimile.table.numbers import scaled
from facsimile.table.regression import Scaling, least_squares, mean_absolute_error
from facsimile.table.table import Table


@dataclass(frozen=True)
class Verdict:
    """A criterion's error beside its threshold; None where it is not defined, which is not met."""

    name: str
    value: float | None
    threshold: Fraction

    @property
    def met(self) -> bool:
        """Strictly below the threshold."""
        return self.value is not None and self.value < self.threshold


def exact_errors(specification: Specification, real: Table, synthetic: Table) -> list[Verdict]:
    """Every criterion of the specification, exactly, between two public tables under the same alternatives."""
    if real.domain != synthetic.domain or real.n != synthetic.n:
        raise ValueError("two tables of one domain and one size are compared")
    return [
        Verdict(criterion.name, _error(specification, criterion, real, synthetic), criterion.threshold)
        for criterion in specification.criteria
    ]


def _error(specification: Specification, criterion: Criterion, real: Table, synthetic: Table) -> float | None:
    if isinstance(criterion, MarginalsAbsolute):
        return largest_difference(real, synthetic, criterion.ways) / real.n
    if isinstance(criterion, MarginalsRelative):
        return float(1 / smallest_likeness(real, synthetic))
    if isinstance(criterion, ConditionalMean):
        return largest_mean_error(specification, criterion, real, synthetic)
    if isinstance(criterion, Faithfulness):
        return 1 - matched(real, synthetic, likeness(specification, criterion, real)) / real.n
    return _regression_error(specification.column(criterion.target), criterion, real, synthetic)


def largest_mean_error(
    specification: Specification, criterion: ConditionalMean, real: Table, synthetic: Table
) -> float | None:
    """The largest difference of means over all groups; not defined where a group is empty on one side only."""
    worst = Fraction(0)
    for one, other in zip(
        group_means(specification, criterion, real),
        group_means(specification, criterion, synthetic),
        strict=True,
    ):
        if one is None or other is None:
            if one is not other:
                return None
        else:
            worst = max(worst, abs(one - other))
    return float(worst)


def group_means(
    specification: Specification, criterion: ConditionalMean, table: Table
) -> Iterator[Fraction | None]:
    """The exact mean of all records, then of each group of each conditioning column; None where empty."""
    values, unit = scaled(table.domain.axis(criterion.of))
    counts = [table.marginal((criterion.of,))]
    for name in criterion.by:
        labels, places = specification.column(name).coarsening(table.domain.axis(name))
        joint = table.marginal((criterion.of, name)) if name != criterion.of else np.diag(counts[0])
        counts += [joint[:, np.array(places) == group].sum(axis=1) for group in range(len(labels))]
    for count in counts:
        size = int(count.sum())
        yield Fraction(int(values @ count), unit * size) if size else None


def likeness(specification: Specification, criterion: Faithfulness, table: Table) -> Likeness:
    """The criterion's rule for partners, on the codes of a table."""
    others = [name for name in table.domain.names if name not in criterion.match]
    steps = tuple(
        (name, reference_bins(specification.column(name), table, criterion.reference)) for name in others
    )
    return Likeness(criterion.match, steps, criterion.within)


def reference_bins(column: Column, table: Table, reference: str) -> tuple[int, ...]:
    """The reference bin that holds each bin; EXACT where a reference edge lies strictly inside the bin."""
    bins = column.axis(reference).bins
    return tuple(
        next((i for i, r in enumerate(bins) if type(b) is type(r) and (b == r or _within(b, r))), EXACT)
        for b in table.domain.axis(column.name).bins
    )


def _within(b: object, r: object) -> bool:
    return hasattr(b, "within") and bool(b.within(r))


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
    bounds = column.bounds or (min(column.finest.numbers or ()), max(column.finest.numbers or ()))
    clip = (float(bounds[0]), float(bounds[1]))
    return abs(mean_absolute_error(real, scaling, one, clip) - mean_absolute_error(real, scaling, other, clip))
