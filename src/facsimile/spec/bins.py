"""Bins: the public values a column may take in a release, read from the notation people write.

    18              one value                      number 18
    2-3             both ends belong to it         number 2.5
    <18   ≤24       everything below               a column's bounds decide
    44<   35≤       everything above               a column's bounds decide
    18..44          shorthand: 18, 19, …, 44
    1500..4499 by 100   shorthand: 1500-1599, …, 4400-4499

>>> [b.label for b in parse_bins(["<18", "18..20", "20<"], Fraction(1))]
['<18', '18', '19', '20', '20<']
>>> parse_bin("2-3", Fraction(1)).number
Fraction(5, 2)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from facsimile.spec.decimals import parse_decimal, show_decimal

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_BELOW = re.compile(rf"(<|<=|≤)\s*({_NUMBER})")
_ABOVE = re.compile(rf"({_NUMBER})\s*(<|<=|≤)")
_BETWEEN = re.compile(rf"({_NUMBER})\s*[-–]\s*({_NUMBER})")
_SINGLE = re.compile(_NUMBER)
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s+by\s+({_NUMBER}))?")
MOST_BINS = 100_000
Span = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class NumberBin:
    """The values low..high of a grid; None stands for an open end.

    Its number stands for it in means and regressions: the middle of a closed bin. An open one has none alone.
    """

    label: str
    low: Fraction | None
    high: Fraction | None
    number: Fraction | None = None

    @property
    def span(self) -> Span:
        """What the bin holds, whatever its label."""
        return self.low, self.high

    def contains(self, value: Fraction) -> bool:
        """Whether the value falls into the bin."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def within(self, other: NumberBin) -> bool:
        """Whether every value of this bin is a value of the other."""
        low = other.low is None or (self.low is not None and other.low <= self.low)
        return low and (other.high is None or (self.high is not None and self.high <= other.high))

    def reaches(self, other: NumberBin) -> bool:
        """Whether it does not end before the other begins."""
        return self.high is None or other.low is None or other.low <= self.high

    def suits(self, number: Fraction, step: Fraction) -> bool:
        """Whether a number may stand for the bin: one inside, or the edge that an open bin is written with.

        >>> above = parse_bin("10<", Fraction(1))
        >>> [above.suits(Fraction(number), Fraction(1)) for number in (9, 10, 14)]
        [False, True, True]
        """
        edge = step if None in self.span else 0
        above = self.low is None or self.low - edge <= number
        return above and (self.high is None or number <= self.high + edge)

    def middle(self, bounds: tuple[Fraction, Fraction]) -> Fraction | None:
        """The middle of a closed bin, or of what bounds leave of an open one; None where they leave nothing.

        >>> parse_bin("10<", Fraction(1)).middle((Fraction(1), Fraction(16)))
        Fraction(27, 2)
        """
        low = bounds[0] if self.low is None else self.low
        high = bounds[1] if self.high is None else self.high
        return (low + high) / 2 if low <= high else None


@dataclass(frozen=True)
class CategoryBin:
    """A set of categories released under one label; its number is their common or mean number."""

    label: str
    values: frozenset[str]
    number: Fraction | None = None


@dataclass(frozen=True)
class MissingBin:
    """The code of a missing value; no comparison holds on it."""

    label: str
    number: Fraction | None = None


Bin = NumberBin | CategoryBin | MissingBin


def parse_bin(text: str, step: Fraction, label: str | None = None) -> NumberBin:
    """Read one bin on the grid of multiples of `step`."""
    label = text if label is None else label
    if match := _BELOW.fullmatch(text):
        edge = parse_decimal(match[2])
        bin_ = NumberBin(label, None, edge - step if match[1] == "<" else edge)
    elif match := _ABOVE.fullmatch(text):
        edge = parse_decimal(match[1])
        bin_ = NumberBin(label, edge + step if match[2] == "<" else edge, None)
    elif match := _BETWEEN.fullmatch(text):
        low, high = parse_decimal(match[1]), parse_decimal(match[2])
        if high < low:
            raise ValueError(f"the bin {text} ends before it starts")
        bin_ = _closed(low, high, label)
    elif _SINGLE.fullmatch(text):
        value = parse_decimal(text)
        bin_ = _closed(value, value, label)
    else:
        raise ValueError(f"{text} is not a bin: write 18, 18-19, <18, 44< or 18..44")
    if any(edge is not None and (edge / step).denominator != 1 for edge in bin_.span):
        raise ValueError(f"the bin {text} has more decimals than its column")
    return bin_


def parse_bins(texts: Iterable[str], step: Fraction) -> tuple[NumberBin, ...]:
    """Read a list of bins and shorthands; they must follow each other without a gap."""
    return _listed(tuple(texts), step)


@lru_cache(maxsize=256)
def _listed(texts: tuple[str, ...], step: Fraction) -> tuple[NumberBin, ...]:
    found: list[NumberBin] = []
    for text in texts:
        if match := _RANGE.fullmatch(text):
            low, high = parse_decimal(match[1]), parse_decimal(match[2])
            width = parse_decimal(match[3]) if match[3] else step
            found.extend(_regular(text, low, high, width, step))
        else:
            found.append(parse_bin(text, step))
    return checked(found, step)


def labelled_bins(texts: Mapping[str, str], step: Fraction) -> tuple[NumberBin, ...]:
    """Read bins that carry labels of their own."""
    return checked([parse_bin(text, step, label) for label, text in texts.items()], step)


def spelled_out(text: str) -> int:
    """How many bins a shorthand stands for; 0 for any other text.

    >>> spelled_out("1500..4499 by 100"), spelled_out("18-19")
    (30, 0)
    """
    match = _RANGE.fullmatch(text) if ".." in text and len(text) < 200 else None
    try:
        if not match:
            return 0
        low, high, width = (parse_decimal(number or "1") for number in match.groups())
        return max(0, int((high - low) / width) + 1) if width > 0 else 0
    except ValueError:
        return 0


def _regular(text: str, low: Fraction, high: Fraction, width: Fraction, step: Fraction) -> list[NumberBin]:
    if width <= 0 or (width / step).denominator != 1:
        raise ValueError(f"the width in {text} must be a multiple of {show_decimal(step)}")
    pieces = (high + step - low) / width
    if pieces.denominator != 1 or not 1 <= pieces <= MOST_BINS:
        raise ValueError(f"{text} does not divide into whole bins")
    starts = [low + width * i for i in range(int(pieces))]
    return [_closed(start, start + width - step) for start in starts]


def _closed(low: Fraction | None, high: Fraction | None, label: str | None = None) -> NumberBin:
    """The bin between two ends: its middle is its number, and they are its label if it has no other."""
    assert low is not None and high is not None, "an open end is that of a bin somebody wrote"
    if label is None:
        label = show_decimal(low) if low == high else f"{show_decimal(low)}-{show_decimal(high)}"
    return NumberBin(label, low, high, low if low == high else (low + high) / 2)


def broken(bins: Sequence[NumberBin], step: Fraction) -> int | None:
    """The place of the first bin that repeats a label or does not begin one step after its neighbour ends."""
    seen = set[str]()
    for place, b in enumerate(bins):
        end = bins[place - 1].high if place else None
        if b.label in seen or (place and (end is None or b.low != end + step)):
            return place
        seen.add(b.label)
    return None


def checked(bins: list[NumberBin], step: Fraction) -> tuple[NumberBin, ...]:
    """The bins, if they have labels of their own and follow each other without a gap."""
    place = broken(bins, step)
    if not bins:
        raise ValueError("a list of bins may not be empty")
    if len({b.label for b in bins}) < len(bins):
        raise ValueError("two bins have the same label")
    if place is not None:
        left, right = bins[place - 1], bins[place]
        raise ValueError(f"the bins {left.label} and {right.label} overlap or leave a gap")
    return tuple(bins)


def refine(partitions: Iterable[tuple[NumberBin, ...]], step: Fraction) -> tuple[NumberBin, ...]:
    """The coarsest bins of which every bin of every partition is a union (finest common refinement)."""
    every = list(partitions)
    first, last = every[0][0], every[0][-1]
    starts = sorted({b.low for bins in every for b in bins[1:] if b.low is not None})
    lows = [first.low, *starts]
    highs = [*(start - step for start in starts), last.high]
    known = {b.span: b for bins in every for b in bins}
    return tuple(known.get(span) or _closed(*span) for span in zip(lows, highs, strict=True))


def holders(bins: Iterable[Bin], partition: Sequence[Bin]) -> list[int | None]:
    """For each bin the place of the partition's bin that holds it; None where there is none.

    Bins of numbers ascend on both sides. A missing code comes after all bins of a partition.

    >>> tens = parse_bins(["<10", "10-19", "19<"], Fraction(1))
    >>> holders(parse_bins(["<5", "5-9", "10-30", "30<"], Fraction(1)), tens)
    [0, 0, None, 2]
    """
    numbers = [b for b in partition if isinstance(b, NumberBin)]
    held = {value: i for i, b in enumerate(partition) if isinstance(b, CategoryBin) for value in b.values}
    place, found = 0, list[int | None]()
    for b in bins:
        if isinstance(b, MissingBin):
            found.append(len(partition))
        elif isinstance(b, CategoryBin):
            first, *others = {held.get(value) for value in b.values} or {0}
            found.append(None if others else first)
        else:
            while place + 1 < len(numbers) and not numbers[place].reaches(b):
                place += 1
            found.append(place if numbers and b.within(numbers[place]) else None)
    return found
