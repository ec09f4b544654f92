"""Linear functions of a row's bins in exact integers: a table of contributions for some columns each.

A feature enters only through the bins of the columns that it is made of: its own, or two that are multiplied.
So a prediction is a constant plus one entry of each table, all in units of 2^−20. Products of two such numbers
are rounded back to a coarser grid, cell by cell: the result is an integer that depends on the cell alone.
Nothing wraps: where the tables allow more than 62 bits, Python's integers are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import LARGEST, Ints, frozen, integers, largest
from facsimile.table.fit import spread
from facsimile.table.logistic import logistic
from facsimile.table.regression import Scaling, curvature, least_squares, most_likely
from facsimile.table.table import Codes, Table
from facsimile.table.view import View

BITS = 20
COARSE = 10
MOST_BITS = 61


@dataclass(frozen=True, eq=False)
class Linear:
    """A prediction of the target from the other columns.

    >>> from facsimile.spec.bins import parse_bins
    >>> from facsimile.spec.columns import Axis
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0", "1"], Fraction(1))) for name in "ab"))
    >>> line = Linear(domain, "b", 5, ((("a",), np.array([0, 7])),))
    >>> line.predict(np.array([[0, 0], [1, 0]])).tolist(), line.ends
    ([5, 12], (5, 12))
    """

    domain: Domain
    target: str
    constant: int
    contributions: tuple[tuple[Clique, Ints], ...]

    def __post_init__(self) -> None:
        kept = tuple((clique, frozen(table)) for clique, table in self.contributions)
        object.__setattr__(self, "contributions", kept)

    @property
    def unit(self) -> int:
        """How many units make one."""
        return 1 << BITS

    @classmethod
    def scaled(
        cls, domain: Domain, scaling: Scaling, coefficients: Sequence[Fraction], view: View | None = None
    ) -> Linear:
        """The prediction with these coefficients of standardised features, the constant first.

        Features are columns of a view of the domain: the columns themselves where none is given. Those that are
        made of the same columns, or of some of them, share a table.
        """
        view = view or View.of_columns(domain)
        shown = [view.column(name) for name in scaling.features]
        cliques = sorted({column.clique for column in shown}, key=len, reverse=True)
        tables: dict[Clique, Ints] = {}
        for column, centre, deviation, slope in zip(
            shown, scaling.means, scaling.deviations, coefficients[1:], strict=True
        ):
            numbers = column.axis.numbers or ()
            units = integers(_units(slope * (number - centre) / deviation) for number in numbers)[column.codes]
            clique = next(c for c in cliques if set(column.clique) <= set(c))
            added = spread(units, column.clique, clique)
            tables[clique] = _plus(tables[clique], added) if clique in tables else added
        parts = tuple((c, np.broadcast_to(t, domain.project(c).shape)) for c, t in tables.items())
        return cls(domain, scaling.target, _units(coefficients[0]), parts)

    @cached_property
    def ends(self) -> tuple[int, int]:
        """Around every prediction, in units."""
        tables = [table for _, table in self.contributions]
        low, high = sum(int(t.min()) for t in tables), sum(int(t.max()) for t in tables)
        return self.constant + low, self.constant + high

    @cached_property
    def reach(self) -> int:
        """At least the size of any prediction, and of any part of its sum, in units."""
        return abs(self.constant) + sum(largest(table) for _, table in self.contributions)

    @cached_property
    def targets(self) -> Ints:
        """The number of each code of the target, in units."""
        return integers(_units(number) for number in self.domain.axis(self.target).numbers or ())

    def predict(self, codes: Codes) -> Ints:
        """Predictions in units."""
        found = np.full(len(codes), self.constant, np.int64 if self.reach < LARGEST else object)
        for clique, table in self.contributions:
            cells = tuple(codes[:, self.domain.place(name)] for name in clique)
            found += table[cells].astype(found.dtype, copy=False)
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
    """z(x, y) = A·x·(y − prediction), one integer for each coefficient.

    The prediction is linear in x; or, of an event (y is 0 or 1), the chance whose odds are: see `logistic`.
    """

    residual: Linear
    rows: tuple[Linear, ...]
    odds: bool = False

    @property
    def unit(self) -> int:
        """How many units make one."""
        return 1 << COARSE

    def residuals(self, codes: Codes) -> Ints:
        """y − prediction in units."""
        predicted = self.residual.predict(codes)
        return self.residual.target_units(codes) - (logistic(predicted, BITS) if self.odds else predicted)

    @cached_property
    def farthest(self) -> int:
        """At least the size of any residual."""
        targets = self.residual.targets
        low, high = (0, self.residual.unit) if self.odds else self.residual.ends
        return max(int(targets.max()) - low, high - int(targets.min()), 0)

    @cached_property
    def products(self) -> tuple[int, ...]:
        """At least the size of A·x·(y − prediction) for each coefficient, before it is rounded."""
        residual = self.residual.reach + largest(self.residual.targets) + self.odds * self.residual.unit
        return tuple(row.reach * residual for row in self.rows)

    def of(self, codes: Codes) -> Ints:
        """The terms of rows of codes."""
        residual = self.residuals(codes)
        if max(self.products) >= LARGEST:
            residual = residual.astype(object)
        columns = [
            (row.predict(codes) * residual + (1 << (2 * BITS - COARSE - 1))) >> (2 * BITS - COARSE)
            for row in self.rows
        ]
        return np.column_stack(columns)

    def reach(self) -> int:
        """At least ‖z − z'‖₁ for any two cells, from the tables of contributions: where cells are too many.

        Theorem.  ‖z − z'‖₁ ≤ 2(X·E·2^−30 + J/2) for J coefficients, where |y − prediction| ≤ E and ‖A·x‖₁ ≤ X,
          the L1 norm of the constants plus, for the tables of the same columns, the largest L1 norm of an entry
          over the J rows.
        Proof.    A·x is the constants plus one entry of each table, the same cell in all rows, so the triangle
          inequality gives X: an indicator is counted in the one bin where it is 1, not once for each of its
          bins. A product is rounded by at most 1/2, so ‖z‖₁ ≤ X·E·2^−30 + J/2.  QED
        """
        norms: dict[Clique, Ints] = {}
        for clique, table in (part for row in self.rows for part in row.contributions):
            norms[clique] = norms.get(clique, 0) + np.abs(table.astype(object))
        size = sum(abs(row.constant) for row in self.rows) + sum(map(largest, norms.values()))
        return ((2 * size * self.farthest) >> (2 * BITS - COARSE)) + len(self.rows)


def fitted(table: Table, scaling: Scaling, odds: bool = False) -> tuple[Fraction, ...] | None:
    """Coefficients of the best fit on the grid of 2^−20; None where they are not determined."""
    found = most_likely(table, scaling) if odds else least_squares(table, scaling)
    return None if found is None else tuple(Fraction(_units(Fraction(float(c))), 1 << BITS) for c in found)


def newton_terms(candidate: Table, target: str, view: View | None = None, odds: bool = False) -> Terms | None:
    """The terms of one Newton step from the candidate's own fit; None where it is singular or too steep."""
    view = view or View.of_columns(candidate.domain)
    seen = view.of(candidate)
    scaling = Scaling.by(seen, target)
    coefficients = fitted(seen, scaling, odds)
    if coefficients is None:
        return None
    inverse = np.linalg.inv(curvature(seen, scaling, coefficients if odds else None))
    rows = [[Fraction(_units(Fraction(float(a))), 1 << BITS) for a in row] for row in inverse]
    terms = Terms(
        Linear.scaled(candidate.domain, scaling, coefficients, view),
        tuple(Linear.scaled(candidate.domain, scaling, row, view) for row in rows),
        odds,
    )
    return terms if _fits(terms, candidate.n) else None


def predictable(model: Linear) -> bool:
    """Whether predictions and targets stay within 62 bits, whatever the cell."""
    return max(model.reach, largest(model.targets)).bit_length() < MOST_BITS


def _fits(terms: Terms, n: int) -> bool:
    """Whether no product and no sum of n terms can leave 64 bits, whatever the cell."""
    size = max(terms.products)
    return size.bit_length() < MOST_BITS and ((size >> (2 * BITS - COARSE)) * n).bit_length() < MOST_BITS


def _plus(one: Ints, other: Ints) -> Ints:
    """The sum of tables whose shapes broadcast."""
    fits = largest(one) + largest(other) < LARGEST
    return one + other if fits else np.asarray(one.astype(object) + other.astype(object))


def _units(value: Fraction) -> int:
    return round(value * (1 << BITS))
