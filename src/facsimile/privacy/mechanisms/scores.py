"""Noisy scores: sums over the records of public functions of a row, each row clipped in L1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import LARGEST, Noise, fitting
from facsimile.privacy.queries import checks
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.scores import RowScores
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class NoisyScores(Mechanism[Ints]):
    """Release Σ s̄(row) over the records with discrete Laplace noise on each sum; s̄ is s clipped to `most`.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP, for whatever cells of the domain the reader let in.
    Needs.       Scores are integers that depend on a row's codes alone (`table.scores`: tables of integers, no
      float), held by `check` to sizes at which 64 bits never wrap.
    Proof.       For every row of the domain, allowed or not, s̄ has ‖s̄‖₁ ≤ most [A]: ⌊|s|·most/‖s‖₁⌋ sums to
      at most that. A replacement takes one s̄ out of the sums and puts another in, so they move by at most
      2·most in L1 [B]. Sums are exact and, cut to ±2^62, move no more; integer Laplace noise calibrated to
      2·most and ε is ε-DP [C].  QED

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
        """The L1 sensitivity of the sums."""
        return 2 * self.most  # [B]

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Scores over the domain whose sizes fit."""
        checks.records(n)
        checks.require(checks.whole(self.most), "a clip")
        checks.scores(self.scores, domain)
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        return Cost(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> Ints:
        sums = self.scores.summed(table.codes, table.counts, self.most)  # [A]
        return noise.laplace(fitting(sums), self.units, self.epsilon)  # [C]
