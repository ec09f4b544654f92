"""Boxes: ranges of codes of every column, and how much of a grid lies in each.

The sum over a box is that of the grid's prefix sums at its corners, with signs: P(high) − P(low) on one axis,
and so on for each. So many boxes are summed at the cost of one pass over the grid and a few numbers for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from facsimile.table.exact import Ints, frozen

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Boxes:
    """A line for each box: on each axis of the shape the codes from `low` up to, and without, `high`.

    >>> Boxes((2, 3), np.array([[0, 1]]), np.array([[2, 3]])).sums(np.array([[1, 2, 4], [8, 16, 32]])).tolist()
    [54]
    """

    shape: tuple[int, ...]
    low: Ints
    high: Ints

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.low)

    def inside(self, shape: tuple[int, ...]) -> bool:
        """Whether each is a box of at least one cell of a grid of this shape."""
        low, high, sizes = self.low, self.high, np.array(shape, np.int64)
        if not low.shape == high.shape == (len(low), len(shape)) or {low.dtype, high.dtype} != {sizes.dtype}:
            return False
        same = self.shape == shape and all(type(size) is int for size in self.shape)
        return same and bool(((low >= 0) & (low < high) & (high <= sizes)).all())

    def slices(self, place: int) -> tuple[slice, ...]:
        """Where in the grid one of them lies."""
        return tuple(map(slice, self.low[place].tolist(), self.high[place].tolist()))

    def some(self, places: Sequence[int]) -> Boxes:
        """Those at these places."""
        return Boxes(self.shape, self.low[list(places)], self.high[list(places)])

    def within(self, place: int) -> tuple[Ints, Boxes]:
        """The places of those that meet one of them, and what they share, as boxes of a grid of its own."""
        first, last = self.low[place], self.high[place]
        low, high = np.maximum(self.low, first) - first, np.minimum(self.high, last) - first
        meeting = np.flatnonzero((low < high).all(axis=1))
        return meeting, Boxes(tuple((last - first).tolist()), low[meeting], high[meeting])

    def sums(self, grid: npt.NDArray[T]) -> npt.NDArray[T]:
        """The sum of the grid over each box; integers are exact where every true sum has 64 bits.

        Sums of 64-bit integers are exact modulo 2^64, whatever they pass through.
        """
        if grid.shape != self.shape:
            raise ValueError("the grid has another shape")
        starts, places, signs = self._corners
        signed = _prefix_sums(grid).ravel()[places] * signs.astype(grid.dtype)
        return np.asarray(np.add.reduceat(signed, starts))

    @cached_property
    def _corners(self) -> tuple[Ints, Ints, Ints]:
        """For each box where its corners begin, then the place and the sign of each; none where a box begins
        at 0, since nothing lies below."""
        owner = np.arange(len(self))
        places, signs = np.zeros_like(owner), np.ones_like(owner)
        for axis, size in enumerate(self.shape):
            low, high = self.low[owner, axis], self.high[owner, axis]
            below = low > 0
            places = np.concatenate([places * size + high - 1, (places * size + low - 1)[below]])
            signs = np.concatenate([signs, -signs[below]])
            owner = np.concatenate([owner, owner[below]])
        order = np.argsort(owner, kind="stable")
        return np.searchsorted(owner[order], np.arange(len(self))), places[order], signs[order]


def _prefix_sums(grid: npt.NDArray[T]) -> npt.NDArray[T]:
    """At each place the sum of all at or below it on every axis; layer by layer where layers are large."""
    prefix = np.array(grid, order="C")
    for axis, size in enumerate(grid.shape):
        if size * size > grid.size:
            np.cumsum(prefix, axis=axis, out=prefix)
        else:
            for below, layer in pairwise(np.moveaxis(prefix, axis, 0)):
                layer += below
    return prefix
