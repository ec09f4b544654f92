"""Cost: what a step spends, in exact Fractions; neighbours differ in one record, and n is public.

Three currencies. ε: pure differential privacy. ρ: zero-concentrated (zCDP), for Gaussian noise: the Rényi
divergence of order λ is at most λρ. δ: the probability that is left to chance where ε alone does not hold.

Logarithms and exponentials are the only place where a Fraction is not closed: they are taken in Decimal with 50
digits and rounded up at the 40th after the point, or at the 43rd of all where they are large: a cost is never
understated.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

WIDE = Context(prec=50)
_PLACES, _DIGITS = 40, 42


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
    """At least the true value: below 1000, results of 50 digits are off by less than a unit of the 40th place;
    above, by less than a unit of the 43rd digit, also e^x for x ≤ 1000 where x itself has 50 digits.

    >>> upper(WIDE.exp(Decimal(24))) > Fraction("26489122129.8434722941391621")
    True
    """
    unit = Decimal(1).scaleb(max(-_PLACES, value.adjusted() - _DIGITS))
    return Fraction(WIDE.add(value, unit).quantize(unit, rounding=ROUND_CEILING, context=WIDE))


def log_upper(value: Fraction) -> Fraction:
    """ln(value), rounded up.

    >>> float(log_upper(Fraction(20)))
    2.995732273553991
    """
    return upper(WIDE.ln(as_decimal(value)))
