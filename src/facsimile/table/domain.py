"""Domain: the public set of rows that a table may hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from facsimile.spec.columns import Axis

Clique = tuple[str, ...]
Version = tuple[str, tuple[int, ...] | None]
"""A column, and the group of each of its codes; None where it is as fine as it is."""
Versions = tuple[Version, ...]
LARGEST_INDEX = 2**62


@dataclass(frozen=True)
class Domain:
    """Columns with their codes: row r is a tuple of codes, one for each axis.

    >>> from fractions import Fraction
    >>> from facsimile.spec.bins import parse_bins
    >>> bins = parse_bins(["1", "2", "3<"][:2], Fraction(1))
    >>> Domain((Axis("a", bins), Axis("b", bins[:1]))).cells
    2
    """

    axes: tuple[Axis, ...]

    @cached_property
    def names(self) -> Clique:
        """The columns, in order."""
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def cells(self) -> int:
        """The number of possible rows (an exact integer, however large)."""
        return prod(self.shape)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def place(self, name: str) -> int:
        """The position of a column."""
        return self._places[name]

    def axis(self, name: str) -> Axis:
        """The column of this name."""
        return self.axes[self.place(name)]

    def project(self, clique: Iterable[str]) -> Domain:
        """The domain of some columns, in the order given."""
        return Domain(tuple(self.axis(name) for name in clique))

    def size(self, clique: Iterable[str], versions: Versions = ()) -> int:
        """The number of cells of a marginal."""
        return prod(self.sizes(clique, versions) if versions else (self.axis(name).size for name in clique))

    def sizes(self, clique: Iterable[str], versions: Versions = ()) -> tuple[int, ...]:
        """The shape of a marginal, some of its columns in groups."""
        groups = {name: max(codes) + 1 for name, codes in versions if codes is not None}
        return tuple(groups[name] if name in groups else self.axis(name).size for name in clique)


def columns_of(versions: Versions) -> Clique:
    """Their names."""
    return tuple(name for name, _ in versions)


def words(shape: Sequence[int], largest: int = LARGEST_INDEX) -> list[range]:
    """Split columns into runs whose joint index stays below `largest`, so that no index overflows.

    >>> words([10] * 20)
    [range(0, 18), range(18, 20)]
    """
    runs: list[range] = []
    start, cells = 0, 1
    for place, size in enumerate(shape):
        if cells * size > largest:
            runs.append(range(start, place))
            start, cells = place, 1
        cells *= size
    return [*runs, range(start, len(shape))]
