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
import numpy.typing as npt

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import sensitivity
from facsimile.privacy.queries.base import Query
from facsimile.table.linear import Linear, Terms
from facsimile.table.table import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OneStep(Query):
    """‖(1/n) Σ_R z‖₁ with z(x, y) = A·x·(y − x·w_S), A = G_S⁻¹: one Newton step from w_S towards w_R.

    Theorem.  Δ = diam₁{z(cell)}/n over the cells that raw constraints allow; where these are too many to list,
      the sum of the ranges of z's coordinates.
    Proof.    A replacement takes one term out of the sum and puts another in, so the sum moves by a difference
      of two terms: in L1 at most their diameter, max over signs σ of (max σ·z − min σ·z) [A]. A norm moves
      no more than its argument. Terms are integers that depend on the cell and on S only.  QED
    """

    terms: Terms
    cells: Ints | None
    n: int

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The L1 norm of the mean term."""
        sums = table.counts @ self.terms.of(table.codes)
        return Fraction(sum(abs(int(s)) for s in sums), self.n * self.terms.unit)

    @cached_property
    def _diameter(self) -> int:
        if self.cells is None:
            return self.terms.reach()
        z = self.terms.of(self.cells)
        signs = product((1, -1), repeat=z.shape[1] - 1)
        spreads = ((z @ np.array((1, *sign))) for sign in signs)
        return max(int(s.max()) - int(s.min()) for s in spreads)  # [A]

    def sensitivity(self) -> Fraction:
        """The diameter over n."""
        return Fraction(max(1, self._diameter), self.n * self.terms.unit)


@dataclass(frozen=True, eq=False)
class PredictionGap(Query):
    """|mean of ℓ| over R with ℓ(x, y) = |y − f_R(x)| − |y − f_S(x)|, both models public, predictions clipped.

    Theorem.  Δ = (max ℓ − min ℓ)/n over the cells that raw constraints allow (sharp), at most 2(U−L)/n.
    Proof.    A replacement takes one ℓ out of the sum and puts another in [A]; an absolute value moves no more
      than its argument. |ℓ| ≤ U − L since both predictions lie in [L, U].  QED
    """

    real: Linear
    candidate: Linear
    bounds: tuple[Fraction, Fraction]
    cells: Ints | None
    n: int

    def _gaps(self, codes: Ints) -> Ints:
        target = self.real.target_units(codes)
        one, other = (model.clipped(codes, self.bounds) for model in (self.real, self.candidate))
        gaps: Ints = np.abs(target - one) - np.abs(target - other)
        return gaps

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The absolute mean gap."""
        return Fraction(abs(int(table.counts @ self._gaps(table.codes))), self.n * self.real.unit)

    def sensitivity(self) -> Fraction:
        """The range of ℓ over n; the paper's form knows only its bounds."""
        if self.cells is None:
            return sensitivity.prediction_error(self.bounds, self.n)
        gaps = self._gaps(self.cells)  # [A]
        return Fraction(max(1, int(gaps.max()) - int(gaps.min())), self.n * self.real.unit)


@dataclass(frozen=True, eq=False)
class WorstExcess(Query):
    """M = max over criteria of (E − T)/Δ: one number that is negative exactly when every criterion is met.

    Theorem.  Δ = 1.
    Proof.    S is fixed, so each E moves by at most its Δ and each term by at most 1; a maximum moves no more
      than its terms.  QED
    """

    parts: tuple[tuple[Query, Fraction], ...]

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The worst criterion, in units of its own sensitivity."""
        return max(query.excess(table, threshold, noise) for query, threshold in self.parts)

    def sensitivity(self) -> Fraction:
        """One."""
        return Fraction(1)
