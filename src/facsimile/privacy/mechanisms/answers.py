"""Noisy answers on a grid: one number from the table with integer noise, or the place of a high score."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import LARGEST, Noise, fitting, noisy, selected
from facsimile.privacy.queries import QUERIES, SCORES, Query, Scores, checks
from facsimile.table.domain import Domain
from facsimile.table.table import Table


@dataclass(frozen=True)
class Answer:
    """A noisy answer in units of 1/grid."""

    units: int
    grid: int

    @property
    def value(self) -> Fraction:
        """The noisy value."""
        return Fraction(self.units, self.grid)


@dataclass(frozen=True)
class NoisyAnswer(Mechanism[Answer]):
    """Release ⌊K·f⌋ with discrete noise, f the query and K = `grid`: Laplace for an ε, Gaussian for a ρ.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP, or ρ-zCDP.
    Proof.       |f(R) − f(R')| ≤ Δ, so K·f moves by at most KΔ and its floor, an integer, by at most
      ⌈KΔ⌉ [A]: two reals at distance d have floors at distance at most ⌈d⌉. Cut to ±2^62 it moves no more.
      Integer noise calibrated to ⌈KΔ⌉ and the share [B] is ε-DP, or ρ-zCDP: of one number the L1 and the L2
      distance are the same. Every table of n records has an f, and
      |f(R) − f(R')| ≤ Δ for all of them, once the query passed its check.  QED
    """

    query: Query
    epsilon: Fraction
    grid: int = 1

    def __post_init__(self) -> None:
        if type(self.query) not in QUERIES:
            raise TypeError("a query of the listed kinds is expected")
        if self.epsilon <= 0 or self.grid < 1:
            raise ValueError("epsilon and grid are positive")
        candidate = getattr(self.query, "candidate", None)
        if isinstance(candidate, Table):
            checks.sized(candidate, candidate.domain, candidate.n)
        if self.units > LARGEST:
            raise ValueError("the sensitivity is too large for integer noise")

    @cached_property
    def units(self) -> int:
        """The sensitivity of the answer in units of 1/grid."""
        return max(1, ceil(self.grid * self.query.sensitivity()))  # [A]

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        checks.require(checks.whole(self.grid), "a grid")
        self.query.check(domain, n)
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        return Cost.of(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> Answer:
        return self.around(Fraction(self.query.value(table, noise)), noise)

    def around(self, value: Fraction, noise: Noise) -> Answer:
        """The answer where the query's exact value is this."""
        units, square = self.units, self.units**2
        drawn = noisy(noise, fitting([floor(self.grid * value)]), units, square, self.epsilon)  # [B]
        return Answer(int(drawn[0]), self.grid)


@dataclass(frozen=True)
class NoisySelection(Mechanism[int]):
    """Release the place of a candidate: by permute-and-flip for an ε, by Gumbel noise for a ρ.

    Neighbours.  Replace one record; n is public.
    Theorem.     ε-DP, or ρ-zCDP.
    Proof.       Scores move by at most Δ each; on the grid of 1/K their floors move by at most ⌈KΔ⌉ [A].
      Permute-and-flip visits candidates in random order and takes candidate i with probability
      exp(ε(qᵢ − max q)/(2⌈KΔ⌉)) [B]; that is ε-DP (McKenna and Sheldon 2020). The
      largest score plus Gumbel noise of scale s is the exponential mechanism, whose log ratios have a range of
      2⌈KΔ⌉/s; that is (2⌈KΔ⌉/s)²/8-zCDP (Cesar and Rogers 2021), and s = ⌈KΔ⌉/√(2ρ) makes it ρ [B]. Permute-
      and-flip would be ε²/2-zCDP only. No assumption that all scores move the same way is used. Scores cut to
      ±2^62 move no more; every table of n records has them, once they passed their check.  QED
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
        checks.require(checks.whole(self.grid), "a grid")
        self.scores.check(domain, n)
        checks.spending(self.units, self.epsilon)

    def cost(self) -> Cost:
        return Cost.of(self.epsilon)

    def _sample(self, table: Table, noise: Noise) -> int:
        units = [floor(self.grid * score) for score in self.scores.values(table)]
        return selected(noise, units, self.units, self.epsilon)  # [B]
