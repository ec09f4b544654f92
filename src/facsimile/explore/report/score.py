"""Score: one line of a summary: an error of several contenders, each over several released tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, isfinite
from statistics import median
from typing import Any

LUCK = 0.01


@dataclass(frozen=True)
class Score:
    """A line of the summary: an error, the smaller the better, of each contender in each of its tables.

    Infinite where it is not defined. `kind`: how it is written.
    """

    words: str
    kind: str
    values: Mapping[str, tuple[float, ...]]
    threshold: float | None = None

    def typical(self, letter: str) -> float:
        """The median of the contender's tables."""
        return median(self.values[letter])

    def worst(self, letter: str) -> float:
        """The largest of them."""
        return max(self.values[letter])

    @property
    def best(self) -> frozenset[str]:
        """The contenders with the smallest median; none where all have the same."""
        middles = {letter: self.typical(letter) for letter in self.values}
        if len(set(middles.values())) < 2:
            return frozenset()
        return frozenset(letter for letter, value in middles.items() if value == min(middles.values()))

    @property
    def telling(self) -> bool:
        """Whether there are enough tables for `clearly` to be luck in fewer than one line of a hundred.

        If all N tables were alike, the n of one contender would be the best n with probability 1/C(N, n).
        """
        sizes = [len(values) for values in self.values.values()]
        return sum(1 / comb(sum(sizes), size) for size in sizes) <= LUCK

    @property
    def clearly(self) -> str | None:
        """The contender whose every table is better than every table of the others, unless that may be luck."""
        if not self.telling:
            return None
        for letter in self.values:
            others = [min(values) for other, values in self.values.items() if other != letter]
            if others and self.worst(letter) < min(others):
                return letter
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain data; None for what is not defined."""
        return {
            "what": self.words,
            "threshold": self.threshold,
            "median": {letter: finite(self.typical(letter)) for letter in self.values},
            "worst": {letter: finite(self.worst(letter)) for letter in self.values},
            "tables": {letter: [finite(value) for value in values] for letter, values in self.values.items()},
            "best": sorted(self.best),
            "clearly": self.clearly,
        }


def finite(value: float | None) -> float | None:
    """A number, or None for what is not defined."""
    return value if value is not None and isfinite(value) else None
