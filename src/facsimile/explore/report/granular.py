"""Granular evaluation: one candidate beside the public table it was made from, far beyond the criteria.

Every figure is exact. Both tables are public, under the same alternatives and of the same size; nothing of this
may be computed from a confidential table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from facsimile.acceptance.kind import kinds_of
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.numbers import correlation
from facsimile.table.regression import Scaling, least_squares
from facsimile.table.table import Table

MOST_CELLS = 5_000_000
"""A pair of columns with more cells than this is not counted."""


@dataclass(frozen=True)
class OneWay:
    """The counts of one column's values."""

    column: str
    labels: tuple[str, ...]
    real: tuple[int, ...]
    synthetic: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """How far the counts of two columns together are from the real ones.

    `largest` is the largest |synthetic − real|/n of a cell. `moved` is the total variation distance
    ½ Σ |synthetic − real|/n: the share of records that stand in another cell.
    """

    one: str
    other: str
    cells: int
    largest: float
    moved: float


@dataclass(frozen=True)
class Correlated:
    """The correlation of two columns; None where one of them is constant."""

    one: str
    other: str
    real: float | None
    synthetic: float | None

    @property
    def difference(self) -> float | None:
        """Synthetic less real."""
        return None if self.real is None or self.synthetic is None else self.synthetic - self.real


@dataclass(frozen=True)
class Coefficients:
    """Least squares of a target on all other columns and a constant, which comes first.

    Features are standardised by the synthetic table in both regressions, as the criterion does, so that a
    coefficient is what one deviation of the feature adds to the target. None where they are not determined.
    """

    target: str
    names: tuple[str, ...]
    real: tuple[float, ...] | None
    synthetic: tuple[float, ...] | None


def one_way(real: Table, synthetic: Table) -> tuple[OneWay, ...]:
    """The counts of every column."""
    return tuple(
        OneWay(
            axis.name,
            axis.labels,
            tuple(int(count) for count in real.marginal((axis.name,))),
            tuple(int(count) for count in synthetic.marginal((axis.name,))),
        )
        for axis in real.domain.axes
    )


def two_way(real: Table, synthetic: Table) -> tuple[Pair, ...]:
    """Every pair of columns that is not too large, the one with the largest difference first."""
    pairs = [pair for pair in combinations(real.domain.names, 2) if real.domain.size(pair) <= MOST_CELLS]
    return tuple(sorted((_pair(pair, real, synthetic) for pair in pairs), key=lambda pair: -pair.largest))


def _pair(names: tuple[str, str], real: Table, synthetic: Table) -> Pair:
    gaps = np.abs(synthetic.marginal(names) - real.marginal(names))
    return Pair(*names, gaps.size, int(gaps.max()) / real.n, int(gaps.sum()) / 2 / real.n)


def small(pairs: Sequence[Pair], most: int, together: int) -> tuple[Pair, ...]:
    """The first pairs whose cells are few enough, each and together."""
    chosen, cells = [], 0
    for pair in pairs:
        if pair.cells <= most and cells + pair.cells <= together:
            chosen.append(pair)
            cells += pair.cells
    return tuple(chosen)


def numeric(domain: Domain) -> tuple[str, ...]:
    """The columns whose every value has a number."""
    return tuple(axis.name for axis in domain.axes if axis.numbers is not None)


def correlations(
    real: Table, synthetic: Table, of: Callable[[Table, str, str], float | None] = correlation
) -> tuple[Correlated, ...]:
    """Every pair of columns with numbers: the ordinary correlation, or that of their ranks."""
    return tuple(
        Correlated(*pair, of(real, *pair), of(synthetic, *pair))
        for pair in combinations(numeric(real.domain), 2)
    )


def regressions(specification: Specification, real: Table, synthetic: Table) -> tuple[Coefficients, ...]:
    """The regression of each target that a criterion names."""
    return tuple(_coefficients(real, synthetic, target) for target in regressed(specification))


def regressed(specification: Specification) -> tuple[str, ...]:
    """The targets of the regressions that criteria compare, each once."""
    said = (kind.told for kind in kinds_of(specification))
    return tuple(dict.fromkeys(name for one in said if one.topic == "regression" for name in one.columns))


def _coefficients(real: Table, synthetic: Table, target: str) -> Coefficients:
    scaling = Scaling.by(synthetic, target)
    one, other = (least_squares(table, scaling) for table in (real, synthetic))
    return Coefficients(
        target,
        ("constant", *scaling.features),
        None if one is None else tuple(one.tolist()),
        None if other is None else tuple(other.tolist()),
    )
