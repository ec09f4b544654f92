"""Meanings: what a label of a release holds, in words that need no notation."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin, parse_bin
from facsimile.spec.decimals import show_decimal


def meaning(b: Bin, step: Fraction) -> str:
    """What a bin of a column with this step holds; a label that says something else stands before it.

    >>> [meaning(parse_bin(text, Fraction(1)), Fraction(1)) for text in ("<18", "2-3", "7", "10<", "35≤")]
    ['less than 18', '2 to 3', '7', 'more than 10', '35 or more']
    >>> meaning(parse_bin("<1", Fraction(1), "infant"), Fraction(1))
    'infant (0 or less)'
    """
    match b:
        case NumberBin():
            written = _written(b, step)
            return written or (_span(b) if b.label == _span(b) else f"{b.label} ({_span(b)})")
        case CategoryBin():
            held = sorted(b.values)
            return b.label if held == [b.label] else f"{b.label} ({_either(held)})"
        case MissingBin():
            return b.label
    assert_never(b)


def coarse(b: Bin) -> bool:
    """Whether a bin may hold more than one value."""
    match b:
        case NumberBin():
            return b.low is None or b.low != b.high
        case CategoryBin():
            return len(b.values) > 1
        case MissingBin():
            return False
    assert_never(b)


def _written(b: NumberBin, step: Fraction) -> str | None:
    """The label's own notation in words, where the label is one and means this bin."""
    try:
        read = parse_bin(b.label, step)
    except ValueError:
        return None
    if (read.low, read.high) != (b.low, b.high):
        return None
    edge = b.label.strip("<=≤ ")
    if b.label.startswith(("<=", "≤")):
        return f"{edge} or less"
    if b.label.startswith("<"):
        return f"less than {edge}"
    if b.label.endswith(("<=", "≤")):
        return f"{edge} or more"
    return f"more than {edge}" if b.label.endswith("<") else _span(b)


def _span(b: NumberBin) -> str:
    low, high = (None if edge is None else show_decimal(edge) for edge in (b.low, b.high))
    if low is None or high is None:
        return f"{high} or less" if high else f"{low} or more" if low else "any number"
    return low if low == high else f"{low} to {high}"


def _either(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
