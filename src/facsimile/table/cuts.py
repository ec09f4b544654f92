"""Cuts: a partition of the integers that engines compute with one line of arithmetic.

The code of v is the number of cuts at or below it. Most cuts lie on a regular grid, where a division finds
the number; the few others are comparisons.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import ibis
from ibis.expr.types import Value

MOST_EXTRA_CODES = 64


@dataclass(frozen=True)
class Cuts:
    """`count` cuts first, first + width, …, and single ones beside them.

    >>> Cuts.at([18, 20, 25, 30]).all[:4]
    (18, 19, 20, 21)
    >>> Cuts.at([500, *range(1500, 4501, 100), 5501]).single
    (5501,)
    """

    first: int
    width: int
    count: int
    single: tuple[int, ...]

    @classmethod
    def at(cls, wanted: Iterable[int]) -> Cuts:
        """Cuts that include the wanted ones: the grid that needs the fewest comparisons beside it."""
        cuts = sorted(set(wanted))
        best = cls(0, 1, 0, tuple(cuts))
        for width in sorted({1, *(b - a for a, b in pairwise(cuts))}):
            for start in {cut % width for cut in cuts}:
                grid = _closest([cut for cut in cuts if cut % width == start], width)
                covered = range(grid[0], grid[-1] + 1, width) if len(grid) > 2 else range(0)
                single = tuple(cut for cut in cuts if cut not in covered)
                if len(single) < len(best.single):
                    best = cls(covered.start, width, len(covered), single)
        return best

    @cached_property
    def all(self) -> tuple[int, ...]:
        """Every cut, ascending."""
        regular = range(self.first, self.first + self.width * self.count, self.width)
        return tuple(sorted({*regular, *self.single}))

    def code(self, value: int) -> int:
        """The number of cuts at or below a value."""
        return bisect_right(self.all, value)

    def sql(self, value: Value) -> Value:
        """The same as an expression; not defined where the value is NULL."""
        terms = [(value >= cut).cast("int32") for cut in self.single]
        if self.count:
            below, last = self.first - self.width, self.first + (self.count - 1) * self.width
            near = ibis.least(ibis.greatest(value, below), last) - below
            terms.insert(0, (near if self.width == 1 else near // self.width).cast("int32"))
        return sum(terms[1:], start=terms[0]) if terms else ibis.literal(0, "int32")


def _closest(cuts: list[int], width: int) -> list[int]:
    """The longest run of grid cuts between which not too many others have to be added."""
    best: list[int] = []
    start = 0
    for end in range(len(cuts)):
        while (cuts[end] - cuts[start]) // width - (end - start) > MOST_EXTRA_CODES:
            start += 1
        if end - start + 1 > len(best):
            best = cuts[start : end + 1]
    return best
