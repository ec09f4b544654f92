"""Drawing: histograms with edges, the budget, a planner's curve, as SVG without styles of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.documents.decisions import digest
from facsimile.spec.bins import NumberBin
from facsimile.spec.decimals import show_decimal
from facsimile.table.table import Codes, Counts

WIDTH, HEIGHT, BARS = 1000, 200, 120
TAIL = 0.002
"""The share of records that may lie beyond each end of a histogram."""


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram: where it stands and what it counts."""

    x: float
    width: float
    height: float
    words: str


@dataclass(frozen=True)
class Edge:
    """An edge between two bins: where it stands, its value, and between which ends it may be moved."""

    x: float
    value: str
    least: str
    most: str
    words: str


@dataclass(frozen=True)
class Histogram:
    """Bars of a column's values, and the scale that puts a value on the picture."""

    low: Fraction
    high: Fraction
    bars: tuple[Bar, ...]

    def x(self, value: Fraction) -> float:
        """Where a value stands."""
        span = self.high - self.low
        return round(float((value - self.low) / span * WIDTH), 2) if span else 0.0


def histogram(values: Codes, counts: Counts, step: Fraction, bins: Sequence[NumberBin]) -> Histogram:
    """Equal bars over nearly all values and every edge; what lies beyond stands in the outermost bars."""
    edges = [b.low for b in bins if b.low is not None] + [b.high for b in bins if b.high is not None]
    units = [int(edge / step) for edge in edges]
    if len(values):
        cumulated = np.cumsum(counts) / counts.sum()
        last = min(len(values) - 1, int(np.searchsorted(cumulated, 1 - TAIL)))
        units += [int(values[np.searchsorted(cumulated, TAIL)]), int(values[last])]
    first, end = (min(units), max(units) + 1) if units else (0, 1)
    width = -(-(end - first) // BARS)
    number = -(-(end - first) // width)
    place = np.clip((values - first) // width, 0, number - 1)
    heights = np.bincount(place, counts, number) if len(values) else np.zeros(number)
    top = heights.max() or 1.0
    bars = []
    for i, height in enumerate(heights):
        low, high = (first + i * width) * step, (first + (i + 1) * width - 1) * step
        who = show_decimal(low) if low == high else f"{show_decimal(low)} to {show_decimal(high)}"
        tall = round(float(height) / top * HEIGHT, 2)
        bars.append(
            Bar(round(i * WIDTH / number, 2), round(WIDTH / number, 2), tall, f"{who}: {int(height):,}")
        )
    return Histogram(first * step, (first + number * width) * step, tuple(bars))


def edges(drawn: Histogram, bins: Sequence[NumberBin], step: Fraction) -> tuple[Edge, ...]:
    """The edges between bins, each with how far it can go."""
    lows = [b.low for b in bins[1:] if b.low is not None]
    first, last = bins[0].low, bins[-1].high
    least = [drawn.low if first is None else first + step, *(low + step for low in lows[:-1])]
    most = [*(low - step for low in lows[1:]), drawn.high if last is None else last]
    return tuple(
        Edge(drawn.x(low), show_decimal(low), show_decimal(a), show_decimal(b), f"{left.label} | {right.label}")
        for low, a, b, left, right in zip(lows, least, most, bins, bins[1:], strict=False)
    )


@dataclass(frozen=True)
class Slice:
    """A part of the budget on its bar."""

    name: str
    words: str
    epsilon: str
    x: float
    width: float
    tone: int


def slices(parts: Sequence[tuple[str, str, float, str]]) -> tuple[Slice, ...]:
    """Parts of a whole: name, words, size and its figure, side by side on one bar."""
    whole, x, found = sum(size for _, _, size, _ in parts) or 1.0, 0.0, []
    for tone, (name, words, size, shown) in enumerate(parts):
        width = size / whole * WIDTH
        found.append(Slice(name, words, shown, round(x, 2), round(width, 2), tone % 6))
        x += width
    return tuple(found)


def anchor(item: str) -> str:
    """An identifier for a place on a page."""
    return f"i{digest(item)[:10]}"
