"""Regressions on tables: one column's numbers on all the others' and a constant.

Features are standardised by a reference table (population mean and deviation, a deviation of 0 counts as 1),
so that coefficients are comparable. Rows are weighted by their counts; nothing grows with the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import expit

from facsimile.table.exact import Floats
from facsimile.table.numbers import deviation, floats, grid, mean
from facsimile.table.table import Table

WELL_CONDITIONED = 1e10
MOST_STEPS, CLOSE, SHORTEST = 60, 1e-10, 1e-6
"""Of Newton's method: how many steps, when it has arrived, and the shortest part of a step."""
STEEPEST = 30.0
"""The largest linear predictor of a logistic regression that counts as one."""


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
    gram = curvature(table, scaling)
    if np.linalg.cond(gram) > WELL_CONDITIONED:
        return None
    found: Floats = np.linalg.solve(gram, x.T @ (y * table.counts) / table.n).astype(np.float64)
    return found


def curvature(
    table: Table, scaling: Scaling, coefficients: Sequence[float | Fraction] | Floats | None = None
) -> Floats:
    """The mean of x·xᵀ; of a logistic regression with these coefficients, that of p(1 − p)·x·xᵀ."""
    x, _ = design(table, scaling)
    weights = table.counts
    if coefficients is not None:
        chances = expit(x @ np.asarray(coefficients, np.float64))
        weights = weights * chances * (1 - chances)
    found: Floats = x.T @ (x * weights[:, None]) / table.n
    return found


def most_likely(table: Table, scaling: Scaling) -> Floats | None:
    """The coefficients of a logistic regression, constant first, the target's numbers being 0 and 1.

    None where likelihood has no maximum (the features tell the event apart), or where it is too flat or too far
    out to be found: a linear predictor beyond STEEPEST. Newton's steps, halved while the likelihood falls.

    >>> from facsimile.spec.columns import Axis, parse_bins
    >>> from facsimile.table.domain import Domain
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0", "1"], Fraction(1))) for name in "xy"))
    >>> odd = Table.from_rows(domain, [[0, 0], [0, 1], [1, 0], [1, 1]], [3, 1, 1, 3])
    >>> most_likely(odd, Scaling.by(odd, "y")).round(4) + 0.0
    array([0.    , 1.0986])
    """
    x, y = design(table, scaling)
    share = float(y @ table.counts) / table.n
    if not 0 < share < 1:
        return None
    found: Floats = np.zeros(x.shape[1])
    found[0] = np.log(share / (1 - share))

    def likelihood(w: Floats) -> float:
        odds = x @ w
        return float((y * odds - np.logaddexp(0, odds)) @ table.counts) / table.n

    best = likelihood(found)
    for _ in range(MOST_STEPS):
        information = curvature(table, scaling, found)
        if not np.isfinite(information).all() or np.linalg.cond(information) > WELL_CONDITIONED:
            return None
        step = np.linalg.solve(information, x.T @ ((y - expit(x @ found)) * table.counts) / table.n)
        if float(np.abs(step).max()) < CLOSE:
            return found if float(np.abs(x @ found).max()) <= STEEPEST else None
        size = 1.0
        while size > SHORTEST and likelihood(found + size * step) < best:
            size /= 2
        found = found + size * step
        best = likelihood(found)
    return None


def mean_absolute_error(
    table: Table, scaling: Scaling, coefficients: Sequence[float] | Floats, bounds: tuple[float, float]
) -> float:
    """The mean of |y − prediction|, predictions clipped to the bounds."""
    x, y = design(table, scaling)
    predicted = np.clip(x @ np.asarray(coefficients), *bounds)
    return float(np.abs(y - predicted) @ table.counts / table.n)
