"""Noisy marginals: contingency tables with noise on every cell of the public domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table


@dataclass(frozen=True)
class NoisyMarginals(Mechanism[tuple[Measurement, ...]]):
    """Release marginals, each cell with discrete Laplace noise; each marginal has its own ε.

    Neighbours.  Replace one record; n is public.
    Theorem.     (Σ εᵢ)-DP.
    Proof.       A record lies in one cell of a marginal, its columns in public groups of codes or not. So
      replacing it lowers one cell by 1 and raises one by 1: the counts move by at most 2 in L1 [A]. Integer
      Laplace noise calibrated to sensitivity 2 and εᵢ on every cell, zeros included [B], is εᵢ-DP; floats are
      made of the noisy counts. Marginals compose: the costs add up [C].  QED
    """

    marginals: tuple[tuple[Clique, Fraction], ...]
    versions: Versions = ()
    sensitivity: ClassVar[int] = 2  # [A]

    @classmethod
    def evenly(cls, cliques: Sequence[Clique], epsilon: Fraction) -> NoisyMarginals:
        """Marginals that share ε in equal parts."""
        return cls(tuple((clique, epsilon / len(cliques)) for clique in cliques))

    def __post_init__(self) -> None:
        cliques = [clique for clique, _ in self.marginals]
        if not cliques or len(set(cliques)) < len(cliques) or any(e <= 0 for _, e in self.marginals):
            raise ValueError("marginals are distinct, at least one, each with a positive epsilon")

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Columns of the domain, with cells that can be counted."""
        checks.records(n)
        checks.require(checks.tuples(self.marginals), "marginals in tuples")
        for clique, epsilon in self.marginals:
            checks.columns(domain, clique, self.versions)
            checks.spending(self.sensitivity, epsilon)

    def cost(self) -> Cost:
        return Cost(sum((epsilon for _, epsilon in self.marginals), Fraction(0)))  # [C]

    @classmethod
    def scale(cls, epsilon: Fraction) -> Fraction:
        """The scale b of the noise that a marginal has at this ε; its variance is less than 2b²."""
        return cls.sensitivity / epsilon

    def _sample(self, table: Table, noise: Noise) -> tuple[Measurement, ...]:
        found = []
        for clique, epsilon in self.marginals:
            counts = noise.laplace(table.marginal(clique, self.versions), self.sensitivity, epsilon)  # [B]
            found.append(Measurement.of(table.domain, clique, self.versions, counts, self.scale(epsilon)))
        return tuple(found)
