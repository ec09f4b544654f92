"""Exact decimals: text to Fraction and back.

>>> parse_decimal("0.30")
Fraction(3, 10)
>>> show_decimal(Fraction(499, 100))
'4.99'
>>> show_decimal(Fraction(1, 3))
'1/3'
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

_DECIMAL = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?")
_RATIO = re.compile(r"[+-]?[0-9]{1,30}/[0-9]{1,30}")
_EXACT = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[+-]?[0-9]+(\.[0-9]+)?$"}]}

MOST_EPSILON = 10**9


def parse_decimal(value: Any) -> Fraction:
    """The exact number that a text writes; binary floats are taken as the decimal they print."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise ValueError("a decimal number is expected")
    if isinstance(value, Fraction):
        return value
    text = str(value).strip()
    if not (_DECIMAL.fullmatch(text) or _RATIO.fullmatch(text)):
        raise ValueError("a decimal number is expected")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError("a decimal number is expected") from None


def show_decimal(value: Fraction) -> str:
    """The shortest exact text: a decimal where one exists, a ratio otherwise."""
    if value.denominator == 1:
        return str(value.numerator)
    rest, digits = value.denominator, 0
    while rest % 10 == 0:
        rest, digits = rest // 10, digits + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, digits = rest // prime, digits + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    text = f"{Decimal(value.numerator * 10**digits // value.denominator).scaleb(-digits):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_exact(value: Any) -> Fraction:
    """The number that str(Fraction) wrote: no exponents, which would make a gigabyte of ten letters.

    >>> parse_exact("-3/4")
    Fraction(-3, 4)
    """
    if not isinstance(value, str) or not _EXACT.fullmatch(value):
        raise ValueError("an exact number is expected")
    try:
        return Fraction(value)
    except ZeroDivisionError:
        raise ValueError("an exact number is expected") from None


def parse_count(value: Any) -> int:
    """A whole number written in digits."""
    if isinstance(value, bool) or not re.fullmatch(r"[+-]?[0-9]{1,18}", str(value).strip()):
        raise ValueError("a whole number is expected")
    return int(str(value))


def parse_epsilon(value: Any) -> Fraction:
    """A privacy parameter: a finite decimal above zero, never a truth value."""
    try:
        epsilon = parse_decimal(value)
    except ValueError:
        raise PydanticCustomError("E201", "a privacy parameter must be a finite decimal") from None
    if epsilon <= 0:
        raise PydanticCustomError("E201", "a privacy parameter must be greater than zero")
    if epsilon > MOST_EPSILON:
        raise PydanticCustomError("E201", "a privacy parameter of more than a billion protects nothing")
    return epsilon


_shown = PlainSerializer(show_decimal, return_type=str)
Exact = Annotated[Fraction, BeforeValidator(parse_decimal), _shown, WithJsonSchema(_SCHEMA)]
Epsilon = Annotated[Fraction, BeforeValidator(parse_epsilon), _shown, WithJsonSchema(_SCHEMA)]
Count = Annotated[int, BeforeValidator(parse_count), WithJsonSchema({"type": "integer"})]
