"""Errors of a regression: how far coefficients and predictions of the original are from the candidate's.

Whatever is derived from S is rounded to a grid first. Then every cell of the public domain has an exact integer
term, sums are exact, and the sensitivity is computed from the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks, sensitivity
from facsimile.privacy.queries.base import Query, worst_excess
from facsimile.table.conditions import Mask
from facsimile.table.domain import Domain
from facsimile.table.exact import LARGEST, Ints, dot, frozen, largest
from facsimile.table.linear import Linear, Terms
from facsimile.table.table import Codes, Table

MOST_SIGNED, MOST_SIGNS = 2**30, 2**12


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a domain that raw constraints allow. A record in any other counts as one in the first."""

    allowed: Mask

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", frozen(self.allowed))
        if self.allowed.dtype != np.bool_ or not self.allowed.any():
            raise ValueError("at least one cell is allowed")

    @cached_property
    def codes(self) -> Codes:
        """Every allowed cell, a line of codes each."""
        return np.argwhere(self.allowed)

    def held(self, codes: Codes) -> Codes:
        """The rows, each inside the allowed cells."""
        inside = self.allowed[tuple(codes.T)]
        first = np.unravel_index(int(self.allowed.argmax()), self.allowed.shape)
        return codes if inside.all() else np.where(inside[:, None], codes, first)


@dataclass(frozen=True, eq=False)
class OneStep(Query):
    """‖(1/n) Σ_R z‖₁ with z(x, y) = A·x·(y − f(x·w_S)): one Newton step from w_S towards w_R.

    f is the identity and A = G_S⁻¹; or, of an event y, f is the logistic function and A the inverse of S's
    Fisher information. z is an integer function of a cell: see Terms.

    Theorem.  Δ = diam₁{z(cell)}/n over the cells that raw constraints allow. Where z has so many coordinates
      that signs are too many, the least of Σ ranges and 2·max‖z − m‖₁ for the middles m of the ranges and for
      m = 0; where cells are too many to list, Terms.reach. It holds for every R of n records, whatever its
      reader let in.
    Proof.    A record outside the allowed cells counts as one in the first of them [A], so every term is the z
      of an allowed cell. A replacement takes one term out of the sum and puts another in, so the sum moves by
      a difference of two terms: in L1 at most their diameter, max over signs σ of (max σ·z − min σ·z) [B]. It
      is at most the sum of the coordinates' ranges, and ‖z − z'‖ ≤ ‖z − m‖ + ‖m − z'‖ for any public m [D]. A
      norm moves no more than its argument. Terms are integers that depend on the cell and on S only; their
      sums are exact [C].  QED
    The norm is the largest |σ·(1/n) Σ z|, and each moves by at most its own (max σ·z − min σ·z)/n: in a joint
    test every choice of signs is a part with a Δ of its own.
    """

    terms: Terms
    cells: Cells | None
    n: int

    def check(self, domain: Domain, n: int) -> None:
        """Linear functions over the domain; n records; a mask shaped like the domain."""
        checks.require(type(self.terms) is Terms and type(self.terms.odds) is bool, "terms")
        checks.require(len(self.terms.rows) > 0, "terms")
        for model in (self.terms.residual, *self.terms.rows):
            checks.linear(model, domain)
        _check_cells(self.cells, domain)
        checks.records(self.n)
        checks.require(self.n == n, "another size")

    def value(self, table: Table, noise: Noise) -> Fraction:
        return self._mean(sum(abs(int(s)) for s in self._sums(table)))

    def _sums(self, table: Table) -> Ints:
        return dot(self.terms.of(_held(self.cells, table)).T, table.counts)  # [C]

    @cached_property
    def _listed(self) -> Ints | None:
        """The terms of every allowed cell; None where these are too many to list."""
        if self.cells is None:
            return None
        z = self.terms.of(self.cells.codes)
        return z if 2 * largest(z) * z.shape[1] < LARGEST else z.astype(object)

    @cached_property
    def _signed(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """Every choice of signs, up to its opposite, with the Δ of |σ·(1/n) Σ z|; none where they are many."""
        z = self._listed
        if z is None:
            return []
        number = 1 << (z.shape[1] - 1)
        if number > MOST_SIGNS or number * len(z) > MOST_SIGNED:
            return []
        signs = [(1, *sign) for sign in product((1, -1), repeat=z.shape[1] - 1)]
        ranges = (max(1, int(s.max()) - int(s.min())) for s in (z @ np.array(sign) for sign in signs))  # [B]
        return [(sign, self._mean(width)) for sign, width in zip(signs, ranges, strict=True)]

    @cached_property
    def _reach(self) -> int:
        """At least the diameter, where signs cannot be listed."""
        z = self._listed
        if z is None:
            return self.terms.reach()
        low, high = z.min(axis=0), z.max(axis=0)
        around = (2 * int(np.abs(z - m).sum(axis=1).max()) for m in (0 * low, (low + high) // 2))
        return min(int((high - low).sum()), *around)  # [D]

    def _mean(self, units: int) -> Fraction:
        return Fraction(units, self.n * self.terms.unit)

    def sensitivity(self) -> Fraction:
        return max(self._moves)

    def steps(self, threshold: Fraction) -> list[Fraction]:
        return self._moves

    @cached_property
    def _moves(self) -> list[Fraction]:
        return [step for _, step in self._signed] or [self._mean(max(1, self._reach))]

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        if not self._signed:
            return super().excess(table, threshold, noise)
        sums = [int(s) for s in self._sums(table)]
        signed = (abs(sum(a * s for a, s in zip(sign, sums, strict=True))) for sign, _ in self._signed)
        return worst_excess(zip(map(self._mean, signed), self._moves, strict=True), threshold)


@dataclass(frozen=True, eq=False)
class PredictionGap(Query):
    """|mean of ℓ| over R with ℓ(x, y) = |y − f_R(x)| − |y − f_S(x)|, both models public, predictions clipped.

    Theorem.  Δ = (max ℓ − min ℓ)/n over the cells that raw constraints allow (sharp), at most 2(U−L)/n. It
      holds for every R of n records, whatever its reader let in.
    Proof.    A record outside the allowed cells counts as one in the first of them [A]. A replacement takes one
      ℓ out of the sum and puts another in [B]; sums are exact [C]; an absolute value moves no more than its
      argument. |ℓ| ≤ U − L since both predictions lie in [L, U], rounded inwards.  QED
    """

    real: Linear
    candidate: Linear
    bounds: tuple[Fraction, Fraction]
    cells: Cells | None
    n: int

    def check(self, domain: Domain, n: int) -> None:
        """Two models of one target over the domain; n records; a mask shaped like the domain."""
        for model in (self.real, self.candidate):
            checks.linear(model, domain)
        checks.require(self.real.target == self.candidate.target, "models of two targets")
        checks.bounded(self.bounds)
        _check_cells(self.cells, domain)
        checks.records(self.n)
        checks.require(self.n == n, "another size")

    def _gaps(self, codes: Codes) -> Ints:
        target = self.real.target_units(codes)
        one, other = (model.clipped(codes, self.bounds) for model in (self.real, self.candidate))
        gaps: Ints = np.abs(target - one) - np.abs(target - other)
        return gaps

    def value(self, table: Table, noise: Noise) -> Fraction:
        gap = int(dot(self._gaps(_held(self.cells, table)), table.counts))  # [C]
        return Fraction(abs(gap), self.n * self.real.unit)

    @cached_property
    def _range(self) -> Fraction:
        if self.cells is None:
            return sensitivity.prediction_error(self.bounds, self.n)
        gaps = self._gaps(self.cells.codes)  # [B]
        return Fraction(int(gaps.max()) - int(gaps.min()), self.n * self.real.unit)

    def sensitivity(self) -> Fraction:
        return max(self._range, Fraction(1, self.n * self.real.unit))


def _held(cells: Cells | None, table: Table) -> Codes:
    """The table's rows, inside the allowed cells."""
    return table.codes if cells is None else cells.held(table.codes)  # [A]


def _check_cells(cells: Cells | None, domain: Domain) -> None:
    checks.require(cells is None or type(cells) is Cells, "allowed cells")
    checks.require(cells is None or cells.allowed.shape == domain.shape, "a mask of another domain")


@dataclass(frozen=True, eq=False)
class WorstExcess(Query):
    """M = max over criteria of (E − T)/Δ: one number that is negative exactly when every criterion is met.

    Theorem.  Δ = 1; with a part that draws records (ResizedMeans), NoisyAnswer of it is ε-DP as with Δ = 1.
    Proof.    S is fixed and every part is a listed query that fits the table (by check), so each E moves by at
      most its Δ and each term by at most 1 [A]; a maximum moves no more than its terms. A part that no record
      can move has a constant term. Where parts draw records: fix all secret keys, those of every part. For
      each choice of keys every term is a function of R that moves by at most 1, so the maximum with noise is
      ε-DP given the keys. The keys are drawn fresh, do not depend on R and are never shown: the answer's law
      is the same mixture over keys of ε-DP laws for R and R', and so ε-DP.  QED
    """

    parts: tuple[tuple[Query, Fraction], ...]

    def check(self, domain: Domain, n: int) -> None:
        """Parts of the listed kinds, each fitting by itself, with exact thresholds."""
        from facsimile.privacy.queries import QUERIES

        checks.require(len(self.parts) > 0, "a criterion")
        for query, threshold in self.parts:
            checks.require(type(query) in QUERIES and checks.exact([threshold]), "a query of the listed kinds")
            query.check(domain, n)

    def value(self, table: Table, noise: Noise) -> Fraction:
        return max(query.excess(table, threshold, noise) for query, threshold in self.parts)  # [A]

    def sensitivity(self) -> Fraction:
        return Fraction(1)
