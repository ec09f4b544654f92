"""Noisy marginals: contingency tables with noise on every cell of the public domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt
from typing import ClassVar

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise, noisy
from facsimile.privacy.queries import checks
from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table


@dataclass(frozen=True)
class NoisyMarginals(Mechanism[tuple[Measurement, ...]]):
    """Release marginals, each cell with discrete noise; each marginal has a share of its own: an ε, or a ρ.

    Neighbours.  Replace one record; n is public.
    Theorem.     (Σ εᵢ)-DP and (Σ ρᵢ)-zCDP, composed.
    Proof.       A record lies in one cell of a marginal, its columns in public groups of codes or not. So
      replacing it lowers one cell by 1 and raises one by 1: the counts move by at most 2 in L1 [A], and by at
      most √2 in L2 [D]. Integer noise on every cell, zeros included [B], Laplace for 2 and εᵢ or Gaussian for
      √2 and ρᵢ, that is of variance 1/ρᵢ, is εᵢ-DP or ρᵢ-zCDP; floats are made of the noisy counts. Marginals
      compose: the costs add up [C].  QED
    """

    marginals: tuple[tuple[Clique, Fraction], ...]
    versions: Versions = ()
    sensitivity: ClassVar[int] = 2  # [A]
    square: ClassVar[int] = 2  # [D]

    @classmethod
    def evenly(cls, cliques: Sequence[Clique], share: Fraction) -> NoisyMarginals:
        """Marginals that have equal parts of a share."""
        return cls(tuple((clique, share / len(cliques)) for clique in cliques))

    def __post_init__(self) -> None:
        cliques = [clique for clique, _ in self.marginals]
        if not cliques or len(set(cliques)) < len(cliques) or any(e <= 0 for _, e in self.marginals):
            raise ValueError("marginals are distinct, at least one, each with a positive share")

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Columns of the domain, with cells that can be counted."""
        checks.records(n)
        for clique, share in self.marginals:
            checks.columns(domain, clique, self.versions)
            checks.spending(self.sensitivity, share)

    def cost(self) -> Cost:
        return sum((Cost.of(share) for _, share in self.marginals), Cost())  # [C]

    @classmethod
    def scale(cls, share: Fraction) -> Fraction:
        """How large the noise on a cell is on average: the scale of a Laplace law, √(2/π) of a Gaussian σ."""
        if isinstance(share, Rho):
            return Fraction(sqrt(cls.square / pi / float(share)))
        return cls.sensitivity / share

    @classmethod
    def variance(cls, share: Fraction) -> float:
        """The variance of the noise on a cell: 2b² of a Laplace law, or σ²; a little more than the true one."""
        if isinstance(share, Rho):
            return cls.square / (2 * float(share))
        return 2 * float(cls.sensitivity / share) ** 2

    def _sample(self, table: Table, noise: Noise) -> tuple[Measurement, ...]:
        found = []
        for clique, share in self.marginals:
            exact = table.marginal(clique, self.versions)
            counts = noisy(noise, exact, self.sensitivity, self.square, share)  # [B]
            found.append(Measurement.of(table.domain, clique, self.versions, counts, self.variance(share)))
        return tuple(found)
