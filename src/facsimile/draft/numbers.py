"""Columns of numbers: their grid, codes among them, bins, bounds, and the numbers that stand for bins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log10
from typing import Any

import numpy as np

from facsimile.draft.bins import FEW, Spread, Starts, nested, released, roundest
from facsimile.spec.columns import MOST_DECIMALS
from facsimile.spec.decimals import show_decimal

ALTERNATIVES = ("released", "coarse", "coarsest")
FARTHEST = 10**12
"""Numbers beyond it are no numbers of people."""
FINE_STEPS = 100
"""A grid is so fine that eight tenths of the records lie on about so many steps."""
CODES = frozenset("9" * k for k in range(1, 8)) | frozenset("8" * k for k in range(2, 7)) | {"97", "98", "998"}
APART = 0.5
"""A code lies at least this part of the other numbers' range away from them."""
OFF = 0.02
"""A bin gets a number of its own if the public mean in it is off its middle by this part of a deviation."""
UNKNOWN = "unknown"
RUN = 4
"""So many bins of one width are written as a shorthand."""
Bin = tuple[int | None, int | None]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a file on a grid of `decimals` digits; `codes` for no value, below the others and above."""

    spread: Spread
    decimals: int
    rounded: bool
    codes: tuple[int | None, int | None]

    @classmethod
    def of(cls, counts: Mapping[Decimal, int], said: Sequence[Decimal] = ()) -> Numbers | None:
        """Of numbers and how often each occurs; None where a grid of six decimals cannot tell them apart.

        `said`: numbers that mean that there is none, as a description says.
        """
        low, high = _codes(counts, said)
        plain = {value: n for value, n in counts.items() if value not in (low, high)}
        if not plain or max(map(abs, counts)) >= FARTHEST:
            return None
        digits = max(max(0, -int(value.normalize().as_tuple().exponent)) for value in plain)
        decimals = min(digits, MOST_DECIMALS, _decimals(plain))
        found: dict[int, int] = {}
        for value, n in plain.items():
            tick = floor(value.scaleb(decimals))
            found[tick] = found.get(tick, 0) + n
        values = sorted(found)
        if len(values) < 2 <= len(plain):
            return None
        spread = Spread(np.array(values, np.int64), np.array([found[v] for v in values], np.int64))
        ends = tuple(None if code is None else floor(code.scaleb(decimals)) for code in (low, high))
        return cls(spread, decimals, digits > 0, (ends[0], ends[1]))

    @property
    def coded(self) -> bool:
        """Whether some numbers are codes."""
        return self.codes != (None, None)

    @cached_property
    def cuts(self) -> tuple[Starts, ...]:
        """The released cut, and those that are coarser."""
        return nested(self.spread, released(self.spread))

    def keys(self) -> dict[str, Any]:
        """The keys of a specification that say all this."""
        cuts, found = self.cuts, dict[str, Any]()
        if self.decimals or self.rounded:
            found |= {"decimals": str(self.decimals)} if self.decimals else {}
            found |= {"round": "down"}
        low, high = self._bounds(cuts)
        found["bounds"] = [self._shown(low), self._shown(high)]
        found["alternatives"] = {
            name: self._partition(cut) for name, cut in zip(ALTERNATIVES, cuts, strict=False)
        }
        if own := dict(self._own(cuts, low, high)):
            found["numbers"] = own
        found["groups"] = self._partition(cuts[-1])
        if any(end is not None for end in self._closed(cuts[0])):
            found["outside"] = "clip"
        return found

    def _closed(self, starts: Starts) -> Bin:
        """The ends of the domain: closed where the first or the last bin is a single value."""
        values = self.spread.values
        first, last = int(values[0]), int(values[-1])
        low = first if starts and starts[0] == first + 1 and self.codes[0] is None else None
        high = last if starts and starts[-1] == last and self.codes[1] is None else None
        return low, high

    def bins(self, starts: Starts) -> list[Bin]:
        """The first and the last value of each bin, those of codes left out; None for an open end."""
        low, high = self._closed(self.cuts[0])
        below, above = self.codes
        low = low if below is None else below + 1
        high = high if above is None else above - 1
        return list(zip((low, *starts), (*(start - 1 for start in starts), high), strict=True))

    def _partition(self, starts: Starts) -> Any:
        """A list of bins, or where codes have labels of their own a mapping."""
        bins = self.bins(starts)
        if not self.coded:
            return self._shortened(bins)
        below, above = self.codes
        found = {} if below is None else {f"code {self._shown(below)}": f"≤{self._shown(below)}"}
        found |= {self._label(b): self._text(b) for b in bins}
        return found | ({} if above is None else {f"code {self._shown(above)}": f"{self._shown(above)}≤"})

    def _label(self, b: Bin) -> str:
        """A bin beside a code is called by what is in it: `90 or more` ends before the code, not before 998."""
        low, high = b
        values = self.spread.values
        if self.codes[0] is not None and low == self.codes[0] + 1:
            low = None
        if self.codes[1] is not None and high == self.codes[1] - 1:
            high = None
        if low is None and high is not None:
            return self._shown(high) if high <= values[0] else f"up to {self._shown(high)}"
        if high is None and low is not None:
            return self._shown(low) if low >= values[-1] else f"{self._shown(low)} or more"
        return "any" if low is None or high is None else self._text(b)

    def _text(self, b: Bin) -> str:
        low, high = b
        if low is None or high is None:
            return f"<{self._shown((high or 0) + 1)}" if low is None else f"{self._shown(low)}≤"
        if low == high:
            return self._shown(low)
        return f"{self._shown(low)}{' - ' if low < 0 or high < 0 else '-'}{self._shown(high)}"

    def _shortened(self, bins: Sequence[Bin]) -> list[str]:
        """The texts of bins; a run of bins of one width as a shorthand."""
        found: list[str] = []
        place = 0
        while place < len(bins):
            run = _run(bins[place:])
            (low, high), last = bins[place], bins[place + run - 1][1]
            if run < RUN or low is None or high is None or last is None or low < 0:
                found.append(self._text(bins[place]))
                place += 1
                continue
            width = "" if low == high else f" by {self._shown(high - low + 1)}"
            found.append(f"{self._shown(low)}..{self._shown(last)}{width}")
            place += run
        return found

    def _bounds(self, cuts: Sequence[Starts]) -> tuple[int, int]:
        """So wide that the middle of an open bin is about the public mean in it, and around every code."""
        values, bins = self.spread.values, self.bins(cuts[0])
        least, most = int(values[0]), int(values[-1])
        (low, edge), (start, high) = bins[0], bins[-1]
        if low is None and edge is not None:
            mean = self.spread.mean(None, edge)
            width = max(1.0, edge - (edge if mean is None else mean))
            low = roundest(floor(edge - 2.5 * width), ceil(edge - 1.5 * width))
            low = max(low, min(0, edge)) if least >= 0 else low
        if high is None and start is not None:
            mean = self.spread.mean(start, None)
            width = max(1.0, (start if mean is None else mean) - start)
            high = roundest(floor(start + 1.5 * width), ceil(start + 2.5 * width))
        below, above = self.codes
        low = least if low is None else low
        high = most if high is None else high
        return low if below is None else below, high if above is None else above

    def _own(self, cuts: Sequence[Starts], low: int, high: int) -> Iterator[tuple[str, str]]:
        """Bins whose public mean is far from their middle, and that mean, rounded within the bin."""
        values, counts = self.spread.values.astype(float), self.spread.counts
        mean = float(np.average(values, weights=counts))
        deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
        for first, last in dict.fromkeys(b for cut in cuts for b in self.bins(cut)):
            found = self.spread.mean(first, last)
            left, right = low if first is None else first, high if last is None else last
            if found is None or first == last or abs(found - (left + right) / 2) <= OFF * deviation:
                continue
            step = Fraction(10) ** floor(log10(max(right - left, 0.05) / 50))
            number = step * round(Fraction(found) / step)
            number = min(max(number, Fraction(left)), Fraction(right))
            label = self._label((first, last)) if self.coded else self._text((first, last))
            yield label, show_decimal(number / 10**self.decimals)

    def middle(self) -> str:
        """The mean of all, rounded."""
        values, counts = self.spread.values.astype(float), self.spread.counts
        mean, step = float(np.average(values, weights=counts)), int(values[-1] - values[0]) // FINE_STEPS
        return self._shown(roundest(floor(mean - step / 2), ceil(mean + step / 2)))

    def _shown(self, tick: int) -> str:
        return show_decimal(Fraction(tick, 10**self.decimals))


def _run(bins: Sequence[Bin]) -> int:
    """How many bins from the first on are closed and of its width."""
    for place, (low, high) in enumerate(bins):
        if low is None or high is None or bins[0][0] is None or bins[0][1] is None:
            return place
        if high - low != bins[0][1] - bins[0][0]:
            return place
    return len(bins)


def _codes(counts: Mapping[Decimal, int], said: Sequence[Decimal]) -> tuple[Decimal | None, Decimal | None]:
    """The smallest and the largest number where it is a code: the only negative one, or far from the others."""
    values = sorted(counts)
    low = values[0] if len(values) > 2 and values[0] in said else None
    high = values[-1] if len(values) > 2 and values[-1] in said else None
    if len(values) > 3 and low is None and values[0] < 0 <= values[1] and f"{-values[0]:f}" in CODES | {"1"}:
        low = values[0]
    rest = values[1:-1] if low is not None else values[:-1]
    coded = high is None and len(rest) > 2 and f"{values[-1]:f}" in CODES
    if coded and values[-1] - rest[-1] > Decimal(APART) * (rest[-1] - rest[0]):
        high = values[-1]
    return low, high


def _decimals(counts: Mapping[Decimal, int]) -> int:
    """Digits after the point so that most records lie on about a hundred steps; few values keep theirs."""
    values = sorted(counts)
    if len(values) <= FEW:
        return MOST_DECIMALS
    below = np.cumsum([counts[value] for value in values])
    low, high = (values[int(np.searchsorted(below, p * below[-1]))] for p in (0.1, 0.9))
    width = float(high - low) or float(values[-1] - values[0])
    return max(0, ceil(-log10(width / FINE_STEPS)))
