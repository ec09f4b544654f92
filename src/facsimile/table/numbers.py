"""Numbers: a column's bins as exact integers, for sums that no rounding touches."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt, lcm, sqrt

import numpy as np

from facsimile.spec.columns import Axis
from facsimile.table.exact import LARGEST, Floats, Ints, dot, integers, product
from facsimile.table.table import Table

MOST_BITS = 900


@lru_cache(maxsize=256)
def scaled(axis: Axis) -> tuple[Ints, int]:
    """The bins' numbers times a common denominator, and that denominator."""
    if axis.numbers is None:
        raise ValueError("a bin of the column has no number")
    unit = lcm(*(number.denominator for number in axis.numbers))
    return integers(int(number * unit) for number in axis.numbers), unit


def floats(axis: Axis) -> Floats:
    """The bins' numbers as floats."""
    values, unit = scaled(axis)
    if values.dtype == np.int64 and unit < LARGEST:
        return values / unit
    return np.array([value / unit for value in values.tolist()])


def mean(table: Table, name: str) -> Fraction:
    """The exact mean of a column's numbers."""
    values, unit = scaled(table.domain.axis(name))
    return Fraction(int(dot(values, table.marginal((name,)))), unit * table.n)


def variance(table: Table, name: str) -> Fraction:
    """The exact population variance of a column's numbers."""
    values, unit = scaled(table.domain.axis(name))
    squares = int(dot(product(values, values), table.marginal((name,))))
    return Fraction(squares, unit * unit * table.n) - mean(table, name) ** 2


def deviation(table: Table, name: str) -> Fraction:
    """The population deviation on the grid of 2^−20; a deviation of 0 counts as 1."""
    return Fraction(isqrt(int(variance(table, name) * 2**40)), 2**20) or Fraction(1)


def standardised(table: Table, name: str) -> list[Fraction]:
    """The number of each code, less the table's mean, over its deviation."""
    centre, spread = grid(mean(table, name)), deviation(table, name)
    return [(number - centre) / spread for number in table.domain.axis(name).numbers or ()]


def correlation(table: Table, one: str, other: str) -> float | None:
    """The correlation of two columns' numbers; None where one of them is constant.

    A square that no float holds is scaled together with what is divided by its root.
    """
    (x, a), (y, b) = (scaled(table.domain.axis(name)) for name in (one, other))
    spread = variance(table, one) * variance(table, other)
    if not spread:
        return None
    joint = Fraction(int(dot(y, dot(x, table.marginal((one, other))))), a * b * table.n)
    bits = spread.numerator.bit_length() - spread.denominator.bit_length()
    scale = Fraction(2) ** (bits // 2) if abs(bits) > MOST_BITS else Fraction(1)
    return float((joint - mean(table, one) * mean(table, other)) / scale) / sqrt(spread / scale**2)


def grid(value: Fraction | float, digits: int = 20) -> Fraction:
    """The nearest multiple of 2^−digits.

    >>> grid(Fraction(1, 3), 2)
    Fraction(1, 4)
    """
    return Fraction(round(Fraction(value) * 2**digits), 2**digits)
