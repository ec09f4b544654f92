"""Cost: what a step spends, in exact Fractions; neighbours differ in one record, and n is public.

Three currencies. ε: pure differential privacy. ρ: zero-concentrated (zCDP), for Gaussian noise: the Rényi
divergence of order λ is at most λρ. δ: the probability that is left to chance where ε alone does not hold.

Logarithms are the only place where a Fraction is not closed: they are taken in Decimal with 50 digits and
rounded up at the 40th, so a cost is never understated. Where a bound holds for every order λ, floats look for a
good one, and the bound is evaluated there: a poor search costs ε, never the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

WIDE = Context(prec=50)
_DIGITS = Decimal(1).scaleb(-40)
_STEEP = 1000
_GOLDEN = (math.sqrt(5) - 1) / 2


class Rho(Fraction):
    """An amount of ρ. A plain Fraction is an ε: sums with one are refused, and parts of a ρ stay a ρ.

    >>> Rho(1, 8) / 2 + Rho(1, 16), Rho(1, 4) / Rho(1, 8)
    (Rho(1, 8), Fraction(2, 1))
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Rho:  # type: ignore[override]
        return Rho(super().__add__(_same(other)))

    def __sub__(self, other: Any) -> Rho:  # type: ignore[override]
        return Rho(super().__sub__(_same(other)))

    def __mul__(self, other: Any) -> Rho:  # type: ignore[override]
        if isinstance(other, Rho):
            raise TypeError("a rho is multiplied by a number")
        return Rho(super().__mul__(other))

    def __truediv__(self, other: Any) -> Fraction:  # type: ignore[override]
        found = Fraction(self.numerator, self.denominator) / Fraction(other)
        return found if isinstance(other, Rho) else Rho(found)

    def __rsub__(self, other: Any) -> Rho:  # type: ignore[override]
        return Rho(super().__rsub__(_same(other)))

    def __rtruediv__(self, other: Any) -> Fraction:  # type: ignore[override]
        raise TypeError("nothing is divided by a rho but a rho")

    __radd__ = __add__  # type: ignore[assignment]
    __rmul__ = __mul__  # type: ignore[assignment]


def _same(other: Any) -> Any:
    if other and not isinstance(other, Rho):
        raise TypeError("a rho and an epsilon do not add up")
    return other


@dataclass(frozen=True)
class Cost:
    """A privacy loss: pure ε, ρ-zCDP, and (ε, δ) of what has neither. Costs of steps add up, each by itself.

    >>> Cost(Fraction(4)) + Cost(Fraction(99, 100))
    Cost(epsilon=Fraction(499, 100), delta=Fraction(0, 1), rho=Fraction(0, 1))
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if min(self.epsilon, self.delta, self.rho) < 0 or isinstance(self.epsilon, Rho):
            raise ValueError("a cost is not negative, and a rho is no epsilon")

    @classmethod
    def of(cls, share: Fraction, delta: Fraction = Fraction(0)) -> Cost:
        """What a share is: a ρ, or else an ε with its δ."""
        return cls(rho=share) if isinstance(share, Rho) else cls(share, delta)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.epsilon + other.epsilon,
            self.delta + other.delta,
            Fraction(self.rho) + Fraction(other.rho),
        )

    def covers(self, other: Cost) -> bool:
        """Whether another cost is no larger in any currency."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta and other.rho <= self.rho


def as_decimal(value: Fraction) -> Decimal:
    """A fraction to 50 digits."""
    return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def upper(value: Decimal) -> Fraction:
    """At least the true value: results of 50 digits are off by less than one unit of the 40th."""
    return Fraction(WIDE.add(value, _DIGITS).quantize(_DIGITS, rounding=ROUND_CEILING, context=WIDE))


def log_upper(value: Fraction) -> Fraction:
    """ln(value), rounded up.

    >>> float(log_upper(Fraction(20)))
    2.995732273553991
    """
    return upper(WIDE.ln(as_decimal(value)))


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
          divergence of order λ (Canonne, Kamath and Steinke 2020, Proposition 12). So the least over any orders
          holds; it is evaluated at one.
        """

        def about(order: float) -> float:
            found = self.about(order) + float(more) + float(pull) / (order - 1)
            return found + _left(order, float(delta))

        order = _order(about)
        return max(Fraction(0), self.at(order) + more + pull / (order - 1) + _chance(order, delta))

    def kept(self, pull: Fraction) -> Fraction:
        """min over λ of (1−1/λ)·curve(λ) + pull/λ, rounded up: what a coin adds to a search (modes.Coin)."""
        if not pull:
            return Fraction(0)
        order = _order(lambda x: (1 - 1 / x) * self.about(x) + float(pull) / x)
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
    order = _order(lambda x: (_left(x, float(delta)) - float(epsilon)) / x)
    most = (epsilon - _chance(order, delta)) / order
    return Rho(max(0, most.numerator * 10**15 // most.denominator), 10**15)


@lru_cache(maxsize=4096)
def _pure(epsilon: Fraction, order: Fraction) -> Fraction:
    """ln(cosh((λ−½)ε)/cosh(ε/2))/(λ−1), rounded up; ε itself where it is as good as that. [A]"""
    if order * epsilon > _STEEP:
        return epsilon
    e, half = as_decimal((order - Fraction(1, 2)) * epsilon), as_decimal(epsilon / 2)
    ratio = WIDE.divide(*(WIDE.add(WIDE.exp(x), WIDE.exp(-x)) for x in (e, half)))
    return min(epsilon, upper(WIDE.ln(ratio)) / (order - 1), order * epsilon**2 / 2)


def _chance(order: Fraction, delta: Fraction) -> Fraction:
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
