"""Bins of a draft: cuts at round numbers near public quantiles, and coarser ones that are nested in them.

Numbers are whole here, in units of a column's last decimal. A cut is the list of the values at which bins
begin, but for the first bin. A round number is a multiple of a large step: 1, 2, 2.5 or 5 times a power of ten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from facsimile.table.exact import Floats, Ints

Starts = tuple[int, ...]
FEW = 12
"""So many different values, or fewer, have a bin each."""
RARE, FEWEST = 0.005, 15
"""A bin has at least this share of the records, and so many of them."""
HEAP, HEAP_AT_ZERO = 0.15, 0.05
"""A value with so many records is a bin of its own."""
MANY = 5000
FINE = (0.01, 0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95, 0.99)
ROUGH = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles near which bins begin, in a file of many records and in another."""
WANTED, FEWER = 10, 5
"""How many bins there should be, in a file of many records and in another."""
LARGEST, UNROUND = 0.3, 3
"""Bins of one width are taken if none has more than this; a width of 2 or 2.5 counts as three bins too many."""
TAILS = (0.01, 0.99)
COARSER, MOST_COARSER = 0.6, (6, 3)
"""A coarser cut has this part of the bins, and so many at most."""
LEAST_GROUP = 0.05
"""The share of the smallest bin of the coarsest cut."""
STEPS = tuple(m * 10**k for k in range(16) for m in (1, 2, 5)) + tuple(25 * 10**k for k in range(15))
"""Steps of round numbers."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The different numbers of a column, ascending, and how many records have each."""

    values: Ints
    counts: Ints

    @cached_property
    def below(self) -> Floats:
        """The share of records below each value, and 1."""
        found: Floats = np.concatenate([[0], np.cumsum(self.counts)]) / self.counts.sum()
        return found

    def share_below(self, start: int) -> float:
        """The share of records below a number."""
        return float(self.below[np.searchsorted(self.values, start)])

    def shares(self, starts: Sequence[int]) -> Floats:
        """The share of records in each bin."""
        return np.diff([0.0, *(self.share_below(start) for start in starts), 1.0])

    def mean(self, low: int | None, high: int | None) -> float | None:
        """The mean of the values from low to high; None where there is none."""
        first = 0 if low is None else int(np.searchsorted(self.values, low))
        last = len(self.values) if high is None else int(np.searchsorted(self.values, high, "right"))
        records = int(self.counts[first:last].sum())
        if not records:
            return None
        return float(np.dot(self.values[first:last].astype(float), self.counts[first:last]) / records)

    @property
    def many(self) -> bool:
        """Whether there are records enough for fine bins."""
        return int(self.counts.sum()) >= MANY

    @property
    def rare(self) -> float:
        """The smallest share that a bin should have."""
        return max(RARE, FEWEST / int(self.counts.sum()))


def roundest(low: int, high: int) -> int:
    """The roundest number from low to high, the one nearest to their middle where several are as round.

    >>> roundest(17, 23), roundest(1230, 1290), roundest(-3, 8), roundest(41, 41)
    (20, 1250, 0, 41)
    """
    if low <= 0 <= high:
        return 0
    for step in sorted(STEPS, reverse=True):
        first, last = -(-low // step), high // step
        if first <= last:
            return int(step * min(max((low + high) // (2 * step), first), last))
    return low


def released(spread: Spread) -> Starts:
    """The finest cut: each value where there are few, bins of one width, or round numbers near quantiles."""
    if len(spread.values) == 1:
        return (int(spread.values[0]),)
    if len(spread.values) <= FEW:
        found: Sequence[int] = [int(value) for value in spread.values[1:]]
    else:
        found = regular(spread) or _near_quantiles(spread)
    return joined(spread, found) or coarser(spread, tuple(int(v) for v in spread.values[1:]), (0.5,))


def regular(spread: Spread) -> Starts:
    """About ten bins of one width, and tails beyond them; nothing where some would be too large."""
    inner = [int(spread.values[np.searchsorted(spread.below[1:], p)]) for p in (RARE, 1 - RARE)]
    wanted = WANTED if spread.many else FEWER
    found: list[tuple[int, Starts]] = []
    for step in STEPS:
        first, last = -(-inner[0] // step), inner[1] // step
        if last - first <= 3 * wanted:
            starts = joined(spread, [step * place for place in range(first, last + 1)])
            bins, even = len(starts) + 1, len(set(np.diff(starts))) <= 1
            close = wanted / 2 <= bins <= 1.5 * wanted
            if even and close and max(spread.shares(starts)) <= (LARGEST if spread.many else 2 * LARGEST):
                found.append((abs(bins - wanted) + (0 if str(step)[0] in "15" else UNROUND), starts))
    core = min(found, default=(0, ()))[1]
    if len(core) < 2:
        return core
    first, last = 2 * core[0] - core[1], 2 * core[-1] - core[-2]
    wide = spread.values[0] < first, spread.values[-1] >= last
    below, above = _near(spread, TAILS)
    tails = {start for start, needed in zip((below, above), wide, strict=True) if needed and start is not None}
    return tuple(sorted({*core, *(start for start in tails if not core[0] < start < core[-1])}))


def _near_quantiles(spread: Spread) -> list[int]:
    """Heaps apart; else round numbers near quantiles."""
    shares = spread.counts / spread.counts.sum()
    limits = np.where(spread.values == 0, HEAP_AT_ZERO, HEAP)
    heaps = {int(v) + after for v in spread.values[shares >= limits] for after in (0, 1)}
    found = heaps | {start for start in _near(spread, FINE if spread.many else ROUGH) if start is not None}
    return sorted(start for start in found if spread.values[0] < start <= spread.values[-1])


def _near(spread: Spread, wanted: Sequence[float]) -> Iterator[int | None]:
    """The roundest number near each quantile, within half of the way to the next; None inside a heap."""
    for before, p, after in zip((0.0, *wanted), wanted, (*wanted[1:], 1.0), strict=False):
        room = 0.5 * min(p - before, after - p)
        low = int(spread.values[np.searchsorted(spread.below[1:], p - room)]) + 1
        place = int(np.searchsorted(spread.below[1:], p + room, "right"))
        high = int(spread.values[min(place, len(spread.values) - 1)])
        yield roundest(low, high) if low <= high else None


def joined(spread: Spread, starts: Sequence[int]) -> Starts:
    """The cut without bins that hold too little: each joins the smaller of its neighbours."""
    found = list(starts)
    while found:
        shares = spread.shares(found)
        place = int(np.argmin(shares))
        if shares[place] >= spread.rare:
            break
        left = shares[place - 1] if place else np.inf
        right = shares[place + 1] if place + 1 < len(shares) else np.inf
        del found[place - 1 if left < right else place]
    return tuple(found)


def coarser(spread: Spread, starts: Starts, wanted: Sequence[float], least: float = 0.0) -> Starts:
    """Some of the places of a finer cut, near these quantiles; bins hold at least so much where they can."""
    chosen: set[int] = set()
    for p in wanted:
        near = min(starts, key=lambda start: abs(spread.share_below(start) - p), default=None)
        if near is not None:
            chosen.add(near)
    while len(chosen) > 1 and min(spread.shares(sorted(chosen))) < least:
        found = sorted(chosen)
        shares = spread.shares(found)
        place = int(np.argmin(shares))
        chosen.remove(found[min(place, len(found) - 1) if not place else place - 1])
    return tuple(sorted(chosen))


def nested(spread: Spread, starts: Starts) -> tuple[Starts, ...]:
    """The coarser cuts of a cut, each with fewer bins than the one before and two at least."""
    found = [starts]
    for most, least in zip(MOST_COARSER, (0.0, LEAST_GROUP), strict=True):
        bins = min(most, ceil(COARSER * (len(found[-1]) + 1)))
        wanted = [(place - 0.5) / (bins - 1) for place in range(1, bins)]
        coarse = coarser(spread, found[-1], wanted, least)
        if 1 <= len(coarse) < len(found[-1]):
            found.append(coarse)
    return tuple(found)
