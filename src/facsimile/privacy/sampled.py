"""Sampled steps: what Gaussian noise on sums over random batches costs, for steps of one kind.

A batch holds every record by itself with probability q. Orders of divergence are searched for in floats; what
is charged is evaluated in decimals and rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from facsimile.privacy.budget import WIDE, as_decimal, upper
from facsimile.privacy.renyi import chance
from facsimile.table.exact import Floats

ORDERS = tuple(dict.fromkeys([*range(2, 65), *(round(64 * 2 ** (i / 12)) for i in range(97))]))
"""Integers up to 2^14."""
FINE = 2**24
FAR = 10**6


@dataclass(frozen=True)
class Steps:
    """`steps` sums over batches with probability `share`, each with discrete Gaussian noise of `variance` for
    an integer vector that one record moves by at most 1 in L2; in other units, by √square and variance·square.

    Neighbours.  Replace one record; n is public.
    Theorem.     (2ε, (1 + e^ε)·δ)-DP, ε = min over integers λ > 1 of
        T·ln(A_λ)/(λ−1) + ln(1/(λδ))/(λ−1) + ln(1−1/λ),
        A_λ = Σ_k C(λ, k)·(1−q)^(λ−k)·q^k·exp((k²−k)/(2σ²)),
      q the share, σ² the variance, T the number of steps, each chosen with all answers so far.
    Proof.       First let neighbours differ in one record that is there or not. Given the batch of all others,
      a sum has the law Q = noise without it, or (1−q)·Q + q·P, P the same noise moved by an integer vector of
      at most σ²'s unit. By the binomial theorem E_Q[((1−q) + q·P/Q)^λ] = Σ_k C(λ, k)(1−q)^(λ−k) q^k
      E_Q[(P/Q)^k], and E_Q[(P/Q)^k] ≤ exp((k²−k)/(2σ²)) for discrete Gaussian noise (Canonne, Kamath and
      Steinke 2020, Proposition 5): at most A_λ [A]. The other divergence, of Q from the mixture, is no larger:
      a reflection of the integers swaps P and Q (Mironov, Talwar and Zhang 2019, Theorem 5; their proof pairs
      points that the reflection swaps, which sums do as integrals do). Mixing over batches of the others raises
      neither. T steps compose: T·ln(A_λ)/(λ−1) [B]. The conversion holds for every λ (ibid., Proposition 12)
      [C]. Now replace a record: take one out, put one in, where q and σ stay what they are. Two neighbours of
      the first kind: P₀(S) ≤ e^ε·P₁(S) + δ ≤ e^2ε·P₂(S) + (e^ε + 1)·δ [D].  QED

    It is the add-or-remove ε of Opacus (its RDP accountant at these orders), doubled.
    """

    steps: int
    share: Fraction
    variance: Fraction
    delta: Fraction
    """The δ of one record that is there or not."""

    def __post_init__(self) -> None:
        if self.steps < 1 or not (0 < self.share <= 1 and self.variance > 0 and 0 < self.delta < 1):
            raise ValueError("steps, a share of the records, a variance and a delta are positive")

    @classmethod
    def within(cls, steps: int, share: Fraction, epsilon: Fraction, delta: Fraction) -> Steps:
        """With the least noise that (ε, δ) affords, to six digits."""
        own = one_sided(epsilon, delta)
        low, high = 1 / FINE, 2.0**60
        while high / low > 1 + 2**-21:
            middle = math.sqrt(low * high)
            fine = _about(steps, float(share), middle, float(own))[0] <= float(epsilon) / 2
            low, high = (low, middle) if fine else (middle, high)
        found = cls(steps, share, Fraction(math.ceil(high * FINE), FINE), own)
        if not found.affordable(epsilon, delta):
            raise ValueError("no noise is enough for this epsilon and delta")
        return found

    @classmethod
    def most(
        cls, steps: int, share: Fraction, variance: Fraction, epsilon: Fraction, delta: Fraction
    ) -> Steps | None:
        """As many steps, up to these, as (ε, δ) affords; None: not one."""
        own, low, high = one_sided(epsilon, delta), 0, steps
        while low < high:
            middle = (low + high + 1) // 2
            fine = cls(middle, share, variance, own).affordable(epsilon, delta)
            low, high = (middle, high) if fine else (low, middle - 1)
        return cls(low, share, variance, own) if low else None

    def affordable(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Whether it costs no more."""
        return 2 * self.epsilon <= epsilon and self.replaced[1] <= delta

    @cached_property
    def epsilon(self) -> Fraction:
        """For a record that is there or not, rounded up."""
        order = _about(self.steps, float(self.share), float(self.variance), float(self.delta))[1]
        divergence = self.steps * log_moment(order, self.share, self.variance) / (order - 1)
        return max(Fraction(0), divergence + chance(Fraction(order), self.delta))  # [C]

    @cached_property
    def replaced(self) -> tuple[Fraction, Fraction]:
        """ε and δ for a record that is replaced."""
        return 2 * self.epsilon, (1 + _exp_upper(self.epsilon)) * self.delta  # [D]


def one_sided(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A δ with (1 + e^(ε/2))·δ at most the one given, rounded down."""
    if not (epsilon > 0 and 0 < delta < 1):
        raise ValueError("epsilon and delta are positive")
    return delta / (1 + _exp_upper(epsilon / 2))


def _exp_upper(value: Fraction) -> Fraction:
    """e^value, rounded up at its 40th digit."""
    return Fraction(WIDE.exp(as_decimal(value))) * (1 + Fraction(1, 10**40))


@lru_cache(maxsize=1024)
def log_moment(order: int, share: Fraction, variance: Fraction) -> Fraction:
    """ln A_λ, rounded up; each term of the sum from the one before it, off by less than λ² units of the 50th
    digit.

    >>> round(float(log_moment(2, Fraction(1, 10), Fraction(4))), 9)
    0.002836228
    """
    if share == 1 or order * order > FAR * variance:  # a batch of all records costs no less
        return order * (order - 1) / (2 * variance)
    step = WIDE.exp(as_decimal(1 / variance))
    odds = as_decimal(share / (1 - share))
    term = total = WIDE.power(as_decimal(1 - share), order)
    factor = Decimal(1)
    for k in range(order):
        more = WIDE.divide(WIDE.multiply(odds, order - k), k + 1)
        term = WIDE.multiply(WIDE.multiply(term, more), factor)
        factor = WIDE.multiply(factor, step)
        total = WIDE.add(total, term)
    return upper(WIDE.ln(total))  # [A]


def _about(steps: int, share: float, variance: float, delta: float) -> tuple[float, int]:
    """The ε and its order in floats."""
    return min(
        (
            (steps * _log_moment(order, share, variance) - math.log(order * delta)) / (order - 1)
            + math.log1p(-1 / order),
            order,
        )
        for order in ORDERS
    )


def _log_moment(order: int, share: float, variance: float) -> float:
    ks, combinations = _combinations(order)
    if share == 1:
        return order * (order - 1) / (2 * variance)
    odds = combinations + ks * math.log(share) + (order - ks) * math.log1p(-share)
    terms = odds + (ks * ks - ks) / (2 * variance)
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum()))


@lru_cache(maxsize=len(ORDERS))
def _combinations(order: int) -> tuple[Floats, Floats]:
    """0, …, λ, and the logarithms of how many ways there are to choose so many of λ."""
    steps = np.log(np.arange(order, 0, -1.0) / np.arange(1.0, order + 1))
    return np.arange(order + 1.0), np.append(0.0, np.cumsum(steps))
