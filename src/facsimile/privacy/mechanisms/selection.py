"""Noisy selection: the place of a high score among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import SCORES, Scores
from facsimile.table.table import Table


@dataclass(frozen=True)
class NoisySelection(Mechanism[int]):
    """Release the place of a candidate by permute-and-flip.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP.
    Proof.       Scores move by at most Δ each; on the grid of 1/K their floors move by at most ⌈KΔ⌉ [A].
      Permute-and-flip visits candidates in random order and takes candidate i with probability
      exp(ε(qᵢ − max q)/(2⌈KΔ⌉)) [B]; that is ε-DP (McKenna and Sheldon 2020). No assumption that all
      scores move the same way is used.  QED
    """

    scores: Scores
    epsilon: Fraction
    grid: int = 1

    def __post_init__(self) -> None:
        if type(self.scores) not in SCORES:
            raise TypeError("scores of the listed kinds are expected")
        if self.epsilon <= 0 or self.grid < 1:
            raise ValueError("epsilon and grid are positive")

    def cost(self) -> Cost:
        """The selection's ε."""
        return Cost(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> int:
        units = [floor(self.grid * Fraction(score)) for score in self.scores.values(table)]
        sensitivity = max(1, ceil(self.grid * self.scores.sensitivity()))  # [A]
        return noise.argmax(units, sensitivity, self.epsilon)  # [B]
