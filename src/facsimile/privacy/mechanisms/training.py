"""Noisy moments: the sums that determine a least-squares fit (Functional Mechanism)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import LARGEST, Noise, fitting
from facsimile.privacy.queries import checks
from facsimile.table import exact
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints, dot
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class NoisyMoments(Mechanism[Ints]):
    """Release Σxᵢ, Σxᵢxⱼ (i ≤ j), Σxᵢy and Σy with discrete Laplace noise, in this order: see `monomials`.

    `features` and `target` give each cell of some columns an integer; `unit` is the one that stands for one.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP.
    Proof.       Each monomial of a record is a product of two integers read from public tables [A], the
      constant being the unit. A replacement moves the stacked sums in L1 by at most the sum of the monomials'
      ranges over the public tables [B], computed in Python's integers; a product of two tables is largest
      and smallest where each factor is, and two tables of the same columns are read in the same cell. The
      sums are exact [A] and, cut to ±2^62, move no more; integer Laplace noise calibrated to it and ε is
      ε-DP [C].  QED
    """

    features: tuple[tuple[Clique, Ints], ...]
    target: tuple[Clique, Ints]
    unit: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        kept = tuple((clique, exact.frozen(table)) for clique, table in (*self.features, self.target))
        object.__setattr__(self, "features", kept[:-1])
        object.__setattr__(self, "target", kept[-1])
        tables = [table for _, table in (*self.features, self.target)]
        if self.epsilon <= 0 or self.unit < 1 or any(t.dtype != np.int64 for t in tables):
            raise ValueError("epsilon and unit are positive, tables hold integers")
        if self.units > LARGEST:
            raise ValueError("the sensitivity is too large for integer noise")

    @property
    def monomials(self) -> list[tuple[int, int]]:
        """Pairs (i, j): factor 0 is the constant, then the features, the last one is the target."""
        last = len(self.features) + 1
        return [(i, j) for i, j in combinations_with_replacement(range(last + 1), 2) if j > 0 and i < last]

    @cached_property
    def units(self) -> int:
        """The L1 sensitivity of the sums."""
        tables: list[tuple[Clique, list[int]]] = [((), [self.unit])]
        tables += [(clique, table.ravel().tolist()) for clique, table in (*self.features, self.target)]
        ends = [(min(table), max(table)) for _, table in tables]
        values = (
            [a * b for a, b in zip(tables[i][1], tables[j][1], strict=True)]
            if tables[i][0] == tables[j][0]
            else [a * b for a, b in product(ends[i], ends[j])]
            for i, j in self.monomials
        )
        return max(1, sum(max(v) - min(v) for v in values))  # [B]

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """A number for each cell of known columns; the target is of one that no feature reads."""
        factors = (*self.features, self.target)
        checks.records(n)
        checks.require(checks.whole(self.unit), "a unit")
        for clique, table in factors:
            checks.tabled(domain, clique, table)
        checks.require(not {name for c, _ in self.features for name in c} & {*self.target[0]}, "a target apart")
        checks.require(not isinstance(self.epsilon, Rho), "an epsilon")
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        return Cost(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> Ints:
        factors = [_read(table, *factor) for factor in (*self.features, self.target)]
        sums = [
            int(dot(exact.product(factors[i - 1], factors[j - 1]) if i else factors[j - 1], table.counts))
            * (1 if i else self.unit)
            for i, j in self.monomials  # [A]
        ]
        return noise.laplace(fitting(sums), self.units, self.epsilon)  # [C]


def _read(table: Table, clique: Clique, values: Ints) -> Ints:
    """The integer of each distinct row."""
    return values[tuple(table.column(name) for name in clique)]
