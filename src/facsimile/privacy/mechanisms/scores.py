"""Noisy scores: sums over the records of public functions of a row, each row clipped."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import LARGEST, Noise, fitting, noisy
from facsimile.privacy.queries import checks
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.scores import RowScores
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class NoisyScores(Mechanism[Ints]):
    """Release Σ s̄(row) over the records with discrete noise on each sum; s̄ is s clipped to `most`.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP where rows are clipped in L1, ρ-zCDP where in L1 or L2 (`scores.norm`), for whatever cells
      of the domain the reader let in.
    Needs.       Scores are integers that depend on a row's codes alone (`table.scores`: tables of integers, no
      float), held by `check` to sizes at which 64 bits never wrap.
    Proof.       For every row of the domain, allowed or not, s̄ has norm at most `most` [A]: see `clipped`.
      A replacement takes one s̄ out of the sums and puts another in, so they move by at most 2·most in that norm
      [B], and in L2 if they do in L1. Sums are exact and, cut to ±2^62, move no more; integer noise calibrated
      to 2·most, Laplace in L1 for an ε or Gaussian in L2 for a ρ, is ε-DP or ρ-zCDP [C]. An ε with rows
      clipped in L2 is refused [D].  QED

    2·most is no more than needed wherever two clipped rows point in opposite directions or at different sums.
    """

    scores: RowScores
    most: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not 1 <= self.most <= LARGEST // 2:
            raise ValueError(
                "epsilon and the clip are positive, and the clip is not too large for integer noise"
            )

    @property
    def units(self) -> int:
        """The sensitivity of the sums in the norm that rows are clipped in."""
        return 2 * self.most  # [B]

    @property
    def variance(self) -> float:
        """The variance of the noise on a sum, or a little more."""
        if isinstance(self.epsilon, Rho):
            return self.units**2 / (2 * float(self.epsilon))
        return 2 * float(self.units / self.epsilon) ** 2

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Scores over the domain whose sizes fit."""
        checks.records(n)
        checks.require(checks.whole(self.most), "a clip")
        checks.scores(self.scores, domain)
        checks.require(self.scores.norm == 1 or isinstance(self.epsilon, Rho), "rows clipped in L1")  # [D]
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        return Cost.of(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> Ints:
        sums = self.scores.summed(table.codes, table.counts, self.most)  # [A]
        return noisy(noise, fitting(sums), self.units, self.units**2, self.epsilon)  # [C]
