"""Law: how precise an answer is by its share of a budget, Laplace noise for an ε and Gaussian noise for a ρ.

    Laplace   variance of a cell 8/ε², of a score 2(D/ε)², D its diameter in L1
    Gaussian  variance of a cell 1/ρ, of a score D²/(2ρ), D its diameter in L2

So precision is share^power/variance, with the power 2 or 1 and the variance at a share of 1. Of tables whose
noise adds up, Σ cells/share^power is least for shares ∝ cells^(1/(1 + power)): cells^(1/3) or cells^(1/2). What
is best under one law is told by that under the other: the same cells deserve share^(3/2) or share^(2/3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.synthesizers.base import by_law
from facsimile.table.exact import Floats


@dataclass(frozen=True)
class Law:
    """The variances of a cell and of a score of diameter 1 at a share of 1."""

    name: str
    power: int
    cell: float
    score: float

    def precision(self, shares: Floats) -> Floats:
        """Of what has these shares, in units of that at a share of 1."""
        found: Floats = shares**self.power
        return found

    def root(self, table: Sequence[int]) -> float:
        """The share that a table of these sizes deserves: cells^(1/(1 + power))."""
        return float(prod(table) ** (1 / (1 + self.power)))

    def noise(self, random: np.random.Generator, size: tuple[int, ...]) -> Floats:
        """Draws of variance 1."""
        drawn = random.laplace(scale=0.5**0.5, size=size) if self == LAPLACE else random.normal(size=size)
        found: Floats = np.asarray(drawn)
        return found

    def quieter(self, budget: Fraction, other: Fraction) -> float:
        """How many times smaller the noise of another budget is."""
        return float(float(other / budget) ** (self.power / 2))

    def scaled(self, share: Fraction, times: Fraction) -> Fraction:
        """The share whose noise is so many times smaller."""
        return share * times ** (2 // self.power)

    def under(self, other: Law, shares: Sequence[float]) -> list[float]:
        """Shares of another law as those of this one, in proportion: they tell how tables weigh."""
        return [share ** ((1 + other.power) / (1 + self.power)) for share in shares]


def _law(name: str, power: int, one: Fraction, score: float) -> Law:
    return Law(name, power, NoisyMarginals.variance(one), score)


LAPLACE = _law("Laplace", 2, Fraction(1), 2.0)
GAUSSIAN = _law("Gaussian", 1, Rho(1), 0.5)


def law_of(share: Fraction) -> Law:
    """The law of the noise that a share pays for."""
    return by_law(share, LAPLACE, GAUSSIAN)
