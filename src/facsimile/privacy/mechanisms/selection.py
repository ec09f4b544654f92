"""Noisy selection: the place of a high score among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import LARGEST, Noise
from facsimile.privacy.queries import SCORES, Scores, checks
from facsimile.table.domain import Domain
from facsimile.table.table import Table


@dataclass(frozen=True)
class NoisySelection(Mechanism[int]):
    """Release the place of a candidate by permute-and-flip.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP.
    Proof.       Scores move by at most Δ each; on the grid of 1/K their floors move by at most ⌈KΔ⌉ [A].
      Permute-and-flip visits candidates in random order and takes candidate i with probability
      exp(ε(qᵢ − max q)/(2⌈KΔ⌉)) [B]; that is ε-DP (McKenna and Sheldon 2020). No assumption that all
      scores move the same way is used. Scores cut to ±2^62 move no more; every table of n records has them,
      once they passed their check.  QED
    """

    scores: Scores
    epsilon: Fraction
    grid: int = 1

    def __post_init__(self) -> None:
        if type(self.scores) not in SCORES:
            raise TypeError("scores of the listed kinds are expected")
        if self.epsilon <= 0 or self.grid < 1:
            raise ValueError("epsilon and grid are positive")
        if 2 * self.units > LARGEST:
            raise ValueError("the sensitivity is too large for integer noise")

    @cached_property
    def units(self) -> int:
        """The sensitivity of a score in units of 1/grid."""
        return max(1, ceil(self.grid * self.scores.sensitivity()))  # [A]

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Scores that fit."""
        checks.require(checks.whole(self.grid), "a grid")
        self.scores.check(domain, n)
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        """The selection's ε."""
        return Cost(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> int:
        units = [floor(self.grid * score) for score in self.scores.values(table)]
        return noise.argmax(units, self.units, self.epsilon)  # [B]
