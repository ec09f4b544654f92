"""Numerals: numbers, chances and days as a document writes them. A bound is never rounded to the wrong side."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import exp

from facsimile.spec.decimals import parse_decimal, show_decimal

DIGITS = 4
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def belief(prior: float, epsilon: float) -> tuple[str, str, str]:
    r"""A chance before publication, and the least and the largest that it can become: odds move by e^±ε.

    >>> belief(0.5, 2.0)
    ('50\xa0%', '11.9\xa0%', '88.1\xa0%')
    """
    odds = prior / (1 - prior)
    least, most = (odds * exp(sign * epsilon) / (1 + odds * exp(sign * epsilon)) for sign in (-1, 1))
    return f"{prior * 100:g}\u00a0%", chance(least, ROUND_FLOOR), chance(most, ROUND_CEILING)


def chance(value: float, rounding: str) -> str:
    r"""A probability as a percentage, never rounded to certainty.

    >>> chance(0.875, ROUND_CEILING), chance(1e-9, ROUND_FLOOR)
    ('87.5\xa0%', 'nearly 0\xa0%')
    """
    exactly = Decimal(value) * 100
    for digits in range(1, 5):
        rounded = exactly.quantize(Decimal(1).scaleb(-digits), rounding)
        if 0 < rounded < 100:
            return f"{rounded.normalize():f}\u00a0%"
    return "nearly 100\u00a0%" if value > 0.5 else "nearly 0\u00a0%"


def percentage(text: str) -> str:
    r"""A probability written as a decimal, as a percentage; any other text as it is.

    >>> percentage("0.05"), percentage("not controlled")
    ('5\xa0%', 'not controlled')
    """
    try:
        return f"{show_decimal(parse_decimal(text) * 100)}\u00a0%"
    except ValueError:
        return text


def holding(bounds: int, confidence: str, of_search: bool = False) -> str:
    """How sure the bounds of a release are: quoted together, they hold together. For pages and terminals.

    `of_search`: what is known is how likely it was, before the search, that it releases a wrong one.

    >>> holding(3, "0.95")
    'All 3 bounds hold together with a probability of at least 95 %.'
    >>> holding(3, "0.95", of_search=True)
    'The chance of a release with one of its 3 bounds wrong was at most 5 %.'
    """
    if of_search:
        wrong, which = (
            (1 - parse_decimal(confidence)) * 100,
            f"one of its {bounds} bounds" if bounds > 1 else "its bound",
        )
        return f"The chance of a release with {which} wrong was at most {show_decimal(wrong)} %."
    sure = f"with a probability of at least {show_decimal(parse_decimal(confidence) * 100)} %"
    return f"All {bounds} bounds hold together {sure}." if bounds > 1 else f"The bound holds {sure}."


def standing_in(names: Iterable[str]) -> str:
    """What a reader of bounds must know of criteria that something was measured in place of.

    >>> standing_in(["mean-age", "correlation"])
    'Of mean-age, correlation they bound a figure that stands in for the error: README.html says which.'
    """
    listed = ", ".join(names)
    if not listed:
        return "Each is a bound on the error itself."
    return f"Of {listed} they bound a figure that stands in for the error: README.html says which."


def rounded_up(text: str) -> str:
    """An epsilon for people: two digits after the point, or two significant ones; never below the exact one.

    >>> rounded_up("1.846713"), rounded_up("0.5"), rounded_up("0.004121"), rounded_up("2")
    ('1.85', '0.5', '0.0042', '2')
    """
    exactly = Decimal(text)
    digits = max(2, 1 - exactly.adjusted())
    rounded = exactly.quantize(Decimal(1).scaleb(-digits), ROUND_CEILING)
    return f"{rounded:f}".rstrip("0").rstrip(".") if rounded else "0"


def small(text: str | Fraction) -> str:
    """A delta for people: a power of ten, or two significant digits of one; never below the exact one.

    >>> small("0.000000001"), small("0.00000000123"), small("0.05")
    ('10⁻⁹', '1.3 × 10⁻⁹', '0.05')
    """
    exactly = parse_decimal(text)
    wide = Context(prec=60, rounding=ROUND_CEILING)
    rounded = Context(prec=2, rounding=ROUND_CEILING).create_decimal(
        wide.divide(Decimal(exactly.numerator), Decimal(exactly.denominator))
    )
    power = rounded.adjusted()
    if power >= -3:
        return f"{rounded.normalize():f}"
    digits, raised = f"{rounded.scaleb(-power).normalize():f}", f"10{str(power).translate(_RAISED)}"
    return raised if digits == "1" else f"{digits} × {raised}"


def one_in(chance: Fraction) -> str:
    r"""A small chance as one in so many, never too small.

    >>> one_in(Fraction(1, 10**9)), one_in(Fraction(165915, 10**9))
    ('one in\xa01,000,000,000', 'one in\xa06,027')
    """
    return f"one in\u00a0{int(1 / chance):,}"


def spoken_day(day: str) -> str:
    """A day as people write it, or a month or a year.

    >>> spoken_day("2024-02-01"), spoken_day("2024-02"), spoken_day("2024")
    ('1 February 2024', 'February 2024', '2024')
    """
    found = date.fromisoformat((day + "-01-01")[:10])
    parts = [str(found.day), f"{found:%B}", f"{found.year}"]
    return " ".join(parts[2 - day.count("-") :])


def count(value: int) -> str:
    """A whole number with its thousands set apart."""
    return f"{value:,}"


def number(value: float | None, rounding: str = ROUND_HALF_EVEN, digits: int = DIGITS) -> str:
    """A number with four significant digits, or another number of them.

    >>> number(28.6341), number(165915.0), number(-0.01402), number(6.0272e-6)
    ('28.63', '165,900', '−0.01402', '6.027 × 10⁻⁶')
    """
    if value is None:
        return "not finite"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(value)))
    if rounded and not -4 <= rounded.adjusted() <= 8:
        mantissa = f"{rounded.scaleb(-rounded.adjusted()).normalize():f}"
        return _signed(f"{mantissa} × 10{str(rounded.adjusted()).translate(_RAISED)}")
    return _signed(f"{rounded.normalize():,f}")


def above(value: float | None) -> str:
    """A bound: four significant digits, never below the value.

    >>> above(0.0057861), above(None)
    ('0.005787', 'none')
    """
    return "none" if value is None else number(value, ROUND_CEILING)


def exact(value: float) -> str:
    """A number that somebody chose, as it was chosen.

    >>> exact(0.05), exact(100.0), exact(-3.0)
    ('0.05', '100', '−3')
    """
    return _signed(f"{Decimal(repr(value)).normalize():,f}")


def decimal(text: str) -> str:
    """An exact number, written as a decimal or a ratio, with four significant digits.

    >>> decimal("10/3")
    '3.333'
    """
    return number(float(parse_decimal(text)))


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text
