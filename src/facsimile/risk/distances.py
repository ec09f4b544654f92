"""Distances: how far records are from the rows of a published table, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from facsimile.spec.columns import Axis
from facsimile.table.table import Codes, Table

FAR = 100
"""Two values of a column are at most so far apart."""
ROOM = 1 << 20
"""Numbers that are held at a time."""
Far = npt.NDArray[np.int16]


def apart(axis: Axis) -> Far:
    """How far two codes of a column are from each other.

    Numbers by their places, 0 to 100 (Gower's distance, on ranks); categories are equal or 100 apart, and so is
    a missing value from every number.
    """
    numbers = np.array([bin_.number is not None for bin_ in axis.bins])
    places = np.arange(axis.size)
    steps = FAR * np.abs(places[:, None] - places[None, :]) // max(1, int(numbers.sum()) - 1)
    both = numbers[:, None] & numbers[None, :]
    equal = places[:, None] == places[None, :]
    return np.where(both, np.minimum(steps, FAR), np.where(equal, 0, FAR)).astype(np.int16)


@dataclass(frozen=True, eq=False)
class Distances:
    """From some records to every distinct row of a published table, column by column."""

    published: Table
    steps: tuple[Far, ...]

    @classmethod
    def to(cls, published: Table) -> Distances:
        """To this table."""
        return cls(published, tuple(apart(axis) for axis in published.domain.axes))

    @cached_property
    def _columns(self) -> tuple[Codes, ...]:
        return tuple(np.ascontiguousarray(column) for column in self.published.codes.T)

    def pieces(self, records: Codes) -> Iterator[tuple[slice, Codes]]:
        """The records in pieces whose distances fit into memory."""
        size = max(1, ROOM // max(1, self.published.distinct))
        for start in range(0, len(records), size):
            part = slice(start, start + size)
            yield part, records[part]

    def column(self, records: Codes, place: int) -> Far:
        """In one column: a line for each record, a number for each row."""
        found: Far = np.take(self.steps[place][records[:, place]], self._columns[place], axis=1)
        return found

    def over(self, records: Codes, places: Iterable[int]) -> Far:
        """The sum over some columns."""
        total = np.zeros((len(records), self.published.distinct), np.int16)
        for place in places:
            total += self.column(records, place)
        return total

    def nearest(self, records: Codes, places: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Which rows are nearest to each record in some columns, all ties included."""
        return closest(self.over(records, places))


def closest(distances: Far) -> npt.NDArray[np.bool_]:
    """The smallest of each line, all ties included."""
    found: npt.NDArray[np.bool_] = distances == distances.min(axis=1, keepdims=True)
    return found


def ranks(published: Codes, records: Codes) -> tuple[Codes, Codes]:
    """A number for each row, the same for equal ones, over both tables together."""
    together = np.ascontiguousarray(np.concatenate([published, records]))
    _, found = np.unique(together, axis=0, return_inverse=True)
    found = found.reshape(-1)
    return found[: len(published)], found[len(published) :]
