"""Cost: what a step spends, in exact Fractions; neighbours differ in one record, and n is public.

Logarithms are the only place where a Fraction is not closed: they are taken in Decimal with 50 digits and
rounded up at the 40th, so a cost is never understated.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

WIDE = Context(prec=50)
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
