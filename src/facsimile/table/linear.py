"""Linear functions of a row's bins in exact integers: a table of contributions for each column.

A feature enters only through its bin, so a prediction is a constant plus one entry of each column's table, all
in units of 2^−20. Products of two such numbers are rounded back to a coarser grid, cell by cell: the result is
an integer that depends on the cell alone. Nothing wraps: where the columns' tables allow more than 62 bits,
Python's integers are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np

from facsimile.table.domain import Domain
from facsimile.table.exact import LARGEST, Ints, frozen, integers, largest
from facsimile.table.regression import Scaling, design, least_squares
from facsimile.table.table import Codes, Table

BITS = 20
COARSE = 10
MOST_BITS = 61


@dataclass(frozen=True, eq=False)
class Linear:
    """A prediction of the target from the other columns.

    >>> from facsimile.spec.bins import parse_bins
    >>> from facsimile.spec.columns import Axis
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0", "1"], Fraction(1))) for name in "ab"))
    >>> line = Linear(domain, "b", 5, (("a", np.array([0, 7])),))
    >>> line.predict(np.array([[0, 0], [1, 0]])).tolist(), line.reach
    ([5, 12], 12)
    """

    domain: Domain
    target: str
    constant: int
    contributions: tuple[tuple[str, Ints], ...]

    def __post_init__(self) -> None:
        kept = tuple((name, frozen(table)) for name, table in self.contributions)
        object.__setattr__(self, "contributions", kept)

    @property
    def unit(self) -> int:
        """How many units make one."""
        return 1 << BITS

    @classmethod
    def scaled(cls, domain: Domain, scaling: Scaling, coefficients: Sequence[Fraction]) -> Linear:
        """The prediction with these coefficients of standardised features, the constant first."""
        parts = []
        for name, centre, deviation, slope in zip(
            scaling.features, scaling.means, scaling.deviations, coefficients[1:], strict=True
        ):
            numbers = domain.axis(name).numbers or ()
            parts.append((name, integers(_units(slope * (number - centre) / deviation) for number in numbers)))
        return cls(domain, scaling.target, _units(coefficients[0]), tuple(parts))

    @cached_property
    def reach(self) -> int:
        """At least the size of any prediction, in units."""
        return abs(self.constant) + sum(largest(table) for _, table in self.contributions)

    @cached_property
    def targets(self) -> Ints:
        """The number of each code of the target, in units."""
        return integers(_units(number) for number in self.domain.axis(self.target).numbers or ())

    def predict(self, codes: Codes) -> Ints:
        """Predictions in units."""
        found = np.full(len(codes), self.constant, np.int64 if self.reach < LARGEST else object)
        for name, table in self.contributions:
            found += table[codes[:, self.domain.place(name)]].astype(found.dtype, copy=False)
        return found

    def clipped(self, codes: Codes, bounds: tuple[Fraction, Fraction]) -> Ints:
        """Predictions within bounds, which are rounded inwards."""
        low, high = ceil(bounds[0] * self.unit), floor(bounds[1] * self.unit)
        found = self.predict(codes)
        fits = max(abs(low), abs(high)) < LARGEST
        return np.asarray(np.clip(found if fits else found.astype(object), low, high))

    def target_units(self, codes: Codes) -> Ints:
        """The target's numbers in units."""
        return self.targets[codes[:, self.domain.place(self.target)]]


@dataclass(frozen=True, eq=False)
class Terms:
    """z(x, y) = A·x·(y − prediction), one integer for each coefficient."""

    residual: Linear
    rows: tuple[Linear, ...]

    @property
    def unit(self) -> int:
        """How many units make one."""
        return 1 << COARSE

    @cached_property
    def products(self) -> tuple[int, ...]:
        """At least the size of A·x·(y − prediction) for each coefficient, before it is rounded."""
        residual = self.residual.reach + largest(self.residual.targets)
        return tuple(row.reach * residual for row in self.rows)

    def of(self, codes: Codes) -> Ints:
        """The terms of rows of codes."""
        residual = self.residual.target_units(codes) - self.residual.predict(codes)
        if max(self.products) >= LARGEST:
            residual = residual.astype(object)
        columns = [
            (row.predict(codes) * residual + (1 << (2 * BITS - COARSE - 1))) >> (2 * BITS - COARSE)
            for row in self.rows
        ]
        return np.column_stack(columns)

    def reach(self) -> int:
        """At least ‖z − z'‖₁ for any two cells, from the columns' tables: where cells are too many."""
        return 2 * sum((size >> (2 * BITS - COARSE)) + 1 for size in self.products)


def fitted(table: Table, scaling: Scaling) -> tuple[Fraction, ...] | None:
    """Least-squares coefficients on the grid of 2^−20; None where they are not determined."""
    found = least_squares(table, scaling)
    return None if found is None else tuple(Fraction(_units(Fraction(float(c))), 1 << BITS) for c in found)


def newton_terms(candidate: Table, target: str) -> Terms | None:
    """The terms of one Newton step from the candidate's own fit; None where it is singular or too steep."""
    scaling = Scaling.by(candidate, target)
    coefficients = fitted(candidate, scaling)
    if coefficients is None:
        return None
    x, _ = design(candidate, scaling)
    inverse = np.linalg.inv(x.T @ (x * candidate.counts[:, None]) / candidate.n)
    rows = [[Fraction(_units(Fraction(float(a))), 1 << BITS) for a in row] for row in inverse]
    terms = Terms(
        Linear.scaled(candidate.domain, scaling, coefficients),
        tuple(Linear.scaled(candidate.domain, scaling, row) for row in rows),
    )
    return terms if _fits(terms, candidate.n) else None


def predictable(model: Linear) -> bool:
    """Whether predictions and targets stay within 62 bits, whatever the cell."""
    return max(model.reach, largest(model.targets)).bit_length() < MOST_BITS


def _fits(terms: Terms, n: int) -> bool:
    """Whether no product and no sum of n terms can leave 64 bits, whatever the cell."""
    size = max(terms.products)
    return size.bit_length() < MOST_BITS and ((size >> (2 * BITS - COARSE)) * n).bit_length() < MOST_BITS


def _units(value: Fraction) -> int:
    return round(value * (1 << BITS))
