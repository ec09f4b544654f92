"""Noisy moments: the sums that determine a least-squares fit (Functional Mechanism)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise, fitting
from facsimile.table.table import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NoisyMoments(Mechanism[Ints]):
    """Release Σxᵢ, Σxᵢxⱼ (i ≤ j), Σxᵢy and Σy with discrete Laplace noise, in this order: see `monomials`.

    `features` and `target` give each code of a column an integer; `unit` is the integer that stands for one.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP.
    Proof.       Each monomial of a record is a product of two integers read from public tables [A], the
      constant being the unit. A replacement moves the stacked sums in L1 by at most the sum of the monomials'
      ranges over the public tables [B]; integer Laplace noise calibrated to it and ε is ε-DP [C].  QED
    """

    features: tuple[tuple[str, Ints], ...]
    target: tuple[str, Ints]
    unit: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        tables = [table for _, table in (*self.features, self.target)]
        if self.epsilon <= 0 or self.unit < 1 or any(t.dtype != np.int64 for t in tables):
            raise ValueError("epsilon and unit are positive, tables hold integers")

    @property
    def monomials(self) -> list[tuple[int, int]]:
        """Pairs (i, j): factor 0 is the constant, then the features, the last one is the target."""
        last = len(self.features) + 1
        return [(i, j) for i, j in combinations_with_replacement(range(last + 1), 2) if j > 0 and i < last]

    @property
    def units(self) -> int:
        """The L1 sensitivity of the sums."""
        tables = [np.array([self.unit]), *(table for _, table in (*self.features, self.target))]
        values = (tables[i] ** 2 if i == j else np.outer(tables[i], tables[j]) for i, j in self.monomials)
        return max(1, sum(int(v.max()) - int(v.min()) for v in values))  # [B]

    def cost(self) -> Cost:
        """The fit's ε."""
        return Cost(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> Ints:
        factors = (*self.features, self.target)
        sums = [
            _product(table, factors[i - 1], factors[j - 1]) if i else self.unit * _sum(table, *factors[j - 1])
            for i, j in self.monomials  # [A]
        ]
        return noise.laplace(fitting(sums), self.units, self.epsilon)  # [C]


def _sum(table: Table, name: str, values: Ints) -> int:
    return int(values @ table.marginal((name,)))


def _product(table: Table, one: tuple[str, Ints], other: tuple[str, Ints]) -> int:
    if one[0] == other[0]:
        return _sum(table, one[0], one[1] * other[1])
    return int(one[1] @ table.marginal((one[0], other[0])) @ other[1])
