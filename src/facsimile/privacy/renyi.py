"""Rényi divergence: how ρ and pure ε compose, and which ε they are at a δ.

Bounds here hold for every order λ > 1. Floats look for a good one, and the bound is evaluated there in
Fractions and Decimals, rounded up: a poor search costs ε, never the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from facsimile.privacy.budget import WIDE, Rho, as_decimal, log_upper, upper

_STEEP = 1000
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Curve:
    """The Rényi divergence of steps that compose: of a ρ, and of pure εᵢ.

    Theorem.  Its order λ > 1 is at most λρ + Σ ln(cosh((λ−½)εᵢ)/cosh(εᵢ/2))/(λ−1); each term is at most
      min(εᵢ, λεᵢ²/2).
    Proof.    λρ is what zCDP says. A pure ε is Blackwell's reduction: randomised response of ε is the worst
      pair, with masses e^ε/(1+e^ε) and 1/(1+e^ε), whose divergence is the term [A]. Divergences of the same
      order add up when steps compose, each chosen in advance.  QED
    """

    rho: Fraction = Fraction(0)
    pure: tuple[Fraction, ...] = ()

    def at(self, order: Fraction) -> Fraction:
        """The divergence of this order, rounded up."""
        return order * Fraction(self.rho) + sum((_pure(epsilon, order) for epsilon in self.pure), Fraction(0))

    def about(self, order: float) -> float:
        """The same in floats, for the search of an order."""
        parts = (min(float(e), order * float(e) ** 2 / 2) for e in self.pure)
        return order * float(self.rho) + sum(parts)

    def epsilon(self, delta: Fraction, more: Fraction = Fraction(0), pull: Fraction = Fraction(0)) -> Fraction:
        """The ε at which steps of divergence curve(λ) + more + pull/(λ−1) are (ε, δ)-DP, rounded up.

        Theorem.  (ε, δ)-DP with ε = D(λ) + ln(1/(λδ))/(λ−1) + ln(1−1/λ), at least 0, for every λ > 1, D the
          divergence of order λ.
        Proof.    δ is at most E[(1 − e^(ε−Z))⁺], Z the loss; the largest multiple of e^((λ−1)Z) below that
          function is found by calculus, and E[e^((λ−1)Z)] ≤ e^((λ−1)D(λ)) (Canonne, Kamath and Steinke 2020,
          proposition 12). Every λ holds, so the one that a search in floats ended with does.  QED
        """

        def about(order: float) -> float:
            return self.about(order) + float(pull) / (order - 1) + _left(order, float(delta))

        order = _order(about)
        return max(Fraction(0), self.at(order) + more + pull / (order - 1) + chance(order, delta))

    def kept(self, pull: Fraction) -> Fraction:
        """min over λ of (1−1/λ)·curve(λ) + pull/λ, rounded up: what a coin adds to a search (modes.Coin)."""
        if not pull:
            return Fraction(0)

        def about(order: float) -> float:
            return (1 - 1 / order) * self.about(order) + float(pull) / order

        order = _order(about)
        return (1 - 1 / order) * self.at(order) + pull / order


@lru_cache(maxsize=4096)
def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε at which ρ-zCDP is (ε, δ)-DP, rounded up.

    >>> float(epsilon_of(Fraction(1, 10), Fraction(1, 10**6)))
    2.141938...
    """
    return Curve(rho).epsilon(delta)


@lru_cache(maxsize=4096)
def rho_of(epsilon: Fraction, delta: Fraction) -> Rho:
    """A ρ that is (ε, δ)-DP: the largest that one order shows, to twelve digits rounded down; or 0.

    For every λ, ρ ≤ (ε − ln(1/(λδ))/(λ−1) − ln(1−1/λ))/λ suffices.

    >>> epsilon_of(rho_of(Fraction(1), Fraction(1, 10**9)), Fraction(1, 10**9)) <= 1
    True
    """

    def about(order: float) -> float:
        return (_left(order, float(delta)) - float(epsilon)) / order

    order = _order(about)
    most = (epsilon - chance(order, delta)) / order
    return Rho(max(0, most.numerator * 10**15 // most.denominator), 10**15)


@lru_cache(maxsize=4096)
def _pure(epsilon: Fraction, order: Fraction) -> Fraction:
    """ln(cosh((λ−½)ε)/cosh(ε/2))/(λ−1), rounded up; ε itself where it is as good as that. [A]"""
    if order * epsilon > _STEEP:
        return epsilon
    e, half = as_decimal((order - Fraction(1, 2)) * epsilon), as_decimal(epsilon / 2)
    ratio = WIDE.divide(*(WIDE.add(WIDE.exp(x), WIDE.exp(-x)) for x in (e, half)))
    return min(epsilon, upper(WIDE.ln(ratio)) / (order - 1), order * epsilon**2 / 2)


def chance(order: Fraction, delta: Fraction) -> Fraction:
    """ln(1/(λδ))/(λ−1) + ln(1−1/λ), rounded up."""
    return log_upper(1 / (order * delta)) / (order - 1) + log_upper(1 - 1 / order)


def _left(order: float, delta: float) -> float:
    return -math.log(order * delta) / (order - 1) + math.log1p(-1 / order)


def _order(about: Callable[[float], float]) -> Fraction:
    """A λ > 1 at which a function is small: golden sections of ln(λ−1), to six digits."""
    low, high = math.log(1e-6), math.log(1e6)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = (about(1 + math.exp(x)) for x in (a, b))
    while high - low > 1e-7:
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = about(1 + math.exp(a))
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = about(1 + math.exp(b))
    return 1 + Fraction(f"{math.exp((low + high) / 2):.5e}")
