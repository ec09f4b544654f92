"""Linear functions of a row's bins in exact integers: a table of contributions for each column.

A feature enters only through its bin, so a prediction is a constant plus one entry of each column's table, all
in units of 2^−20. Products of two such numbers are rounded back to a coarser grid, cell by cell: the result is
an integer that depends on the cell alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from facsimile.table.domain import Domain
from facsimile.table.regression import Scaling, design, least_squares
from facsimile.table.table import Codes, Table

Ints = npt.NDArray[np.int64]
BITS = 20
COARSE = 10
MOST_BITS = 61


@dataclass(frozen=True, eq=False)
class Linear:
    """A prediction of the target from the other columns."""

    domain: Domain
    target: str
    constant: int
    contributions: tuple[tuple[str, Ints], ...]

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
            units = [_units(slope * (number - centre) / deviation) for number in numbers]
            parts.append((name, np.array(units, np.int64)))
        return cls(domain, scaling.target, _units(coefficients[0]), tuple(parts))

    def predict(self, codes: Codes) -> Ints:
        """Predictions in units."""
        found = np.full(len(codes), self.constant, np.int64)
        for name, table in self.contributions:
            found += table[codes[:, self.domain.place(name)]]
        return found

    def clipped(self, codes: Codes, bounds: tuple[Fraction, Fraction]) -> Ints:
        """Predictions within bounds."""
        return np.clip(self.predict(codes), _units(bounds[0]), _units(bounds[1]))

    def target_units(self, codes: Codes) -> Ints:
        """The target's numbers in units."""
        numbers = self.domain.axis(self.target).numbers or ()
        return np.array([_units(number) for number in numbers], np.int64)[
            codes[:, self.domain.place(self.target)]
        ]


@dataclass(frozen=True, eq=False)
class Terms:
    """z(x, y) = A·x·(y − prediction), one integer for each coefficient."""

    residual: Linear
    rows: tuple[Linear, ...]

    @property
    def unit(self) -> int:
        """How many units make one."""
        return 1 << COARSE

    def of(self, codes: Codes) -> Ints:
        """The terms of rows of codes."""
        residual = self.residual.target_units(codes) - self.residual.predict(codes)
        columns = [
            (row.predict(codes) * residual + (1 << (2 * BITS - COARSE - 1))) >> (2 * BITS - COARSE)
            for row in self.rows
        ]
        return np.column_stack(columns)

    def reach(self) -> int:
        """At least ‖z − z'‖₁ for any two cells, from the columns' tables: where cells are too many."""
        residual = _reach(self.residual) + max(abs(u) for u in _target_range(self.residual))
        return 2 * sum(((_reach(row) * residual) >> (2 * BITS - COARSE)) + 1 for row in self.rows)


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


def _fits(terms: Terms, n: int) -> bool:
    """Whether no product and no sum of n terms can leave 64 bits, whatever the cell."""
    residual = _reach(terms.residual) + max(abs(int(u)) for u in _target_range(terms.residual))
    largest = max(_reach(row) for row in terms.rows) * residual
    return largest.bit_length() < MOST_BITS and ((largest >> (2 * BITS - COARSE)) * n).bit_length() < MOST_BITS


def _reach(model: Linear) -> int:
    return abs(model.constant) + sum(int(np.abs(table).max()) for _, table in model.contributions)


def _target_range(model: Linear) -> list[int]:
    return [_units(number) for number in model.domain.axis(model.target).numbers or ()]


def _units(value: Fraction) -> int:
    return round(value * (1 << BITS))
