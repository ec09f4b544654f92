"""Cost: what a step spends, in exact Fractions, and what a private selection makes of it.

Neighbours are tables of n records that differ in one record; n is public. Logarithms are the only place
where a Fraction is not closed: they are taken in Decimal with 50 digits and rounded up at the 40th, so a
cost is never understated.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

_WIDE = Context(prec=50)
_DIGITS = Decimal(1).scaleb(-40)


@dataclass(frozen=True)
class Cost:
    """A privacy loss (epsilon, delta); costs of steps add up (basic composition).

    >>> Cost(Fraction(4)) + Cost(Fraction(99, 100))
    Cost(epsilon=Fraction(499, 100), delta=Fraction(0, 1))
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.epsilon < 0 or self.delta < 0:
            raise ValueError("a cost is not negative")

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta)


def _decimal(value: Fraction) -> Decimal:
    return _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _upper(value: Decimal) -> Fraction:
    """At least the true value: results of 50 digits are off by less than one unit of the 40th."""
    return Fraction(_WIDE.add(value, _DIGITS).quantize(_DIGITS, rounding=ROUND_CEILING, context=_WIDE))


def log_upper(value: Fraction) -> Fraction:
    """ln(value), rounded up.

    >>> float(log_upper(Fraction(20)))
    2.995732273553991
    """
    return _upper(_WIDE.ln(_decimal(value)))


def selection_until_success(one: Fraction) -> Fraction:
    """Repeat an ε-DP iteration until it accepts.

    Theorem.  2ε-DP.
    Proof.    P[out = x] = Q(x)/π, where Q(x) is the probability that one iteration accepts with x and
      π = ΣQ. A neighbour changes Q(x) and π by at most e^ε each.  QED
    """
    return 2 * one


def selection_coin(one: Fraction, gamma: Fraction) -> Fraction:
    """Repeat an ε-DP iteration; after each failure halt with probability γ.

    Theorem.  (ε + ln((e^ε + γ)/(1 + γe^ε)))-DP for 0 < γ ≤ 1, and this is tight.
    Proof.    With p = γ + (1−γ)π: P[out = x] = Q(x)/p, P[none] = γ(1−π)/p. A neighbour changes Q(x) and
      1−π by at most e^ε, and π' ≤ min(e^ε π, 1 − e^−ε (1−π)); p'/p is largest at the kink π = 1/(1+e^ε),
      where it is (e^ε + γ)/(1 + γe^ε), at most 1/γ.  QED
    """
    if not 0 < gamma <= 1:
        raise ValueError("the coin is between 0 (excluded) and 1")
    if gamma == 1:
        return one
    if one > 1000:
        return one + log_upper(1 / gamma)
    growth = _WIDE.exp(_decimal(one))
    g = _decimal(gamma)
    ratio = _WIDE.divide(_WIDE.add(growth, g), _WIDE.add(Decimal(1), _WIDE.multiply(g, growth)))
    return one + max(Fraction(0), _upper(_WIDE.ln(ratio)))


def smallest_cap(gamma: Fraction, epsilon_0: Fraction) -> int:
    """The smallest number of iterations at which a capped coin keeps its guarantee."""
    first = log_upper(2 / epsilon_0) / gamma
    second = 1 + 1 / (gamma * Fraction(_WIDE.exp(Decimal(1))))
    return int(-(-max(first, second) // 1))


def selection_capped(one: Fraction, gamma: Fraction, epsilon_0: Fraction, cap: int) -> Fraction:
    """The coin with at most `cap` iterations.

    Theorem.  (coin + ε₀/2)-DP, coin as in `selection_coin`, for ε₀ > 0 and cap T ≥ max{ln(2/ε₀)/γ, 1 + 1/(eγ)}.
      (Liu and Talwar have 2ε + ε₀ for the same T.)
    Proof.    With p = γ + (1−γ)π and r = (1−γ)(1−π) = 1−p: P[out = x] = Q(x)(1 + r + … + r^(T−1)) =
      Q(x)(1−r^T)/p. The sum falls in π, so a neighbour raises it only by π' > π, that is r' < r: by p'/p ·
      (1−r^T)/(1−r'^T) ≤ p'/p, as without a cap. P[none] = 1 − π(1−r^T)/p = γ(1−π)/p · (1 + πr^T/(γ(1−π))): the
      coin's, times 1 + e(π) with 0 ≤ e(π) = (1−γ)^T/γ · π(1−π)^(T−1). That product is largest at π = 1/T,
      where (1−1/T)^T ≤ 1/e makes it at most 1/(e(T−1)); so e(π) ≤ (1−γ)^T/(eγ(T−1)) ≤ (1−γ)^T ≤ e^(−γT) ≤
      ε₀/2, by both bounds on T. Two neighbours' P[none] then differ by the coin's ratio times at most 1 + ε₀/2
      ≤ e^(ε₀/2).  QED
    """
    if not (0 < gamma <= 1 and 0 < epsilon_0 <= 1) or cap < smallest_cap(gamma, epsilon_0):
        raise ValueError("the cap is too small for this coin")
    return selection_coin(one, gamma) + epsilon_0 / 2


def selection_rising(one: Fraction, a: Fraction) -> Fraction:
    """Repeat an ε-DP iteration; after the j-th failure halt with probability a/j.

    Theorem.  ((2−a)ε)-DP for 0 < a ≤ 1.
    Proof.    P[out = x] = Q(x)·π^(a−1), ratio at most e^ε·e^((1−a)ε). P[none] = 1 − π^a =
      (1−π)∫₀¹ a(1−u(1−π))^(a−1) du: the first factor moves by e^ε, the integrand by e^((1−a)ε).  QED
    """
    if not 0 < a <= 1:
        raise ValueError("a is between 0 (excluded) and 1")
    return (2 - a) * one
