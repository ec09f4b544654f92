"""Least squares on tables: one column's numbers on all the others' and a constant.

Features are standardised by a reference table (population mean and deviation, a deviation of 0 counts as 1),
so that coefficients are comparable. Rows are weighted by their counts; nothing grows with the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.table.exact import Floats
from facsimile.table.numbers import deviation, floats, grid, mean
from facsimile.table.table import Table

WELL_CONDITIONED = 1e10


@dataclass(frozen=True)
class Scaling:
    """The target, the features and how each is standardised: constants on the grid of 2^−20."""

    target: str
    features: tuple[str, ...]
    means: tuple[Fraction, ...]
    deviations: tuple[Fraction, ...]

    @classmethod
    def by(cls, table: Table, target: str) -> Scaling:
        """Standardise by this table."""
        features = tuple(name for name in table.domain.names if name != target)
        deviations = tuple(deviation(table, name) for name in features)
        return cls(target, features, tuple(grid(mean(table, name)) for name in features), deviations)


def design(table: Table, scaling: Scaling) -> tuple[Floats, Floats]:
    """The standardised features with a constant in front, and the target, for each distinct row."""
    columns: list[Floats] = [np.ones(table.distinct)]
    for name, centre, spread in zip(scaling.features, scaling.means, scaling.deviations, strict=True):
        columns.append(((floats(table.domain.axis(name)) - float(centre)) / float(spread))[table.column(name)])
    return np.column_stack(columns), floats(table.domain.axis(scaling.target))[table.column(scaling.target)]


def least_squares(table: Table, scaling: Scaling) -> Floats | None:
    """The coefficients, constant first; None where the features do not determine them.

    >>> from facsimile.spec.columns import Axis, parse_bins
    >>> from facsimile.table.domain import Domain
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0..2"], Fraction(1))) for name in "xy"))
    >>> least_squares(line := Table.from_rows(domain, [[0, 0], [1, 1], [2, 2]]), Scaling.by(line, "y")).round(3)
    array([1.   , 0.816])
    """
    x, y = design(table, scaling)
    gram = x.T @ (x * table.counts[:, None]) / table.n
    if np.linalg.cond(gram) > WELL_CONDITIONED:
        return None
    found: Floats = np.linalg.solve(gram, x.T @ (y * table.counts) / table.n).astype(np.float64)
    return found


def mean_absolute_error(
    table: Table, scaling: Scaling, coefficients: Sequence[float] | Floats, bounds: tuple[float, float]
) -> float:
    """The mean of |y − prediction|, predictions clipped to the bounds."""
    x, y = design(table, scaling)
    predicted = np.clip(x @ np.asarray(coefficients), *bounds)
    return float(np.abs(y - predicted) @ table.counts / table.n)
