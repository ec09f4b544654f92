"""Table: distinct rows and how often each occurs. Its size does not grow with the number of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from facsimile.table.domain import Clique, Domain, Versions, words

Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows (one line of codes each) with positive counts, in lexicographic order.

    Two tables are equal when they hold the same records over the same domain.

    >>> from facsimile.spec.columns import Axis, CategoryBin
    >>> sex = Axis("sex", tuple(CategoryBin(label, frozenset(label)) for label in "FMX"))
    >>> Table.from_rows(Domain((sex,)), [[1], [0], [1]]).marginal(("sex",)).tolist()
    [1, 2, 0]
    """

    domain: Domain
    codes: Codes
    counts: Counts

    def __post_init__(self) -> None:
        for array in (self.codes, self.counts):
            array.setflags(write=False)

    @classmethod
    def from_rows(cls, domain: Domain, codes: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Table:
        """A table from rows that may repeat, each with a count (1 if not given)."""
        given = np.asarray(codes, dtype=np.int64)
        rows = given.reshape(len(given), len(domain.axes))
        times = np.ones(len(rows), np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
        if len(times) != len(rows) or (times < 0).any():
            raise ValueError("a count is needed for each row, none of them negative")
        if (rows < 0).any() or (rows >= np.array(domain.shape)).any():
            raise ValueError("a code lies outside the domain")
        return cls(domain, *_grouped(rows, times, domain.shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        same_rows = np.array_equal(self.codes, other.codes) and np.array_equal(self.counts, other.counts)
        return self.domain == other.domain and same_rows

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def n(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """The number of distinct rows."""
        return len(self.counts)

    def column(self, name: str) -> Codes:
        """The codes of one column, a line for each distinct row."""
        return self.codes[:, self.domain.place(name)]

    def marginal(self, clique: Clique, versions: Versions = ()) -> Counts:
        """The counts of every cell of some columns, zeros included, shaped like their domain.

        `versions` are columns whose codes are joined into groups.
        """
        joins = {name: np.array(groups) for name, groups in versions if groups is not None}
        shape = self.domain.sizes(clique, versions)
        index = np.zeros(self.distinct, np.int64)
        for name, size in zip(clique, shape, strict=True):
            codes = self.column(name)
            index = index * size + (joins[name][codes] if name in joins else codes)
        return _sums(index, self.counts, prod(shape)).reshape(shape)

    def project(self, clique: Clique) -> Table:
        """The table of some columns."""
        places = [self.domain.place(name) for name in clique]
        return Table.from_rows(self.domain.project(clique), self.codes[:, places], self.counts)

    def recode(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Table:
        """The same records under other axes: `maps` gives each old code its new one."""
        columns = [
            np.asarray(maps[name], np.int64)[self.column(name)] if name in maps else self.column(name)
            for name in self.domain.names
        ]
        codes = np.column_stack(columns) if columns else self.codes
        return Table(domain, *_grouped(codes, self.counts, domain.shape))

    def filter(self, keep: npt.NDArray[np.bool_]) -> Table:
        """The records of the distinct rows that are kept."""
        return Table(self.domain, self.codes[keep], self.counts[keep])

    def records(self) -> Codes:
        """Every record, one line each, in lexicographic order."""
        return np.repeat(self.codes, self.counts, axis=0)


def add(tables: Iterable[Table]) -> Table:
    """The records of several tables over one domain."""
    every = list(tables)
    codes = np.concatenate([table.codes for table in every])
    return Table.from_rows(every[0].domain, codes, np.concatenate([table.counts for table in every]))


def _sums(index: Codes, counts: Counts, cells: int) -> Counts:
    """Sums of counts by index. Below 2^53 a float holds every integer, so bincount is exact."""
    if int(counts.sum()) >= 2**53:
        raise ValueError("a table holds fewer than 2^53 records")
    return np.bincount(index, weights=counts, minlength=cells).astype(np.int64)


def _grouped(codes: Codes, counts: Counts, shape: Sequence[int]) -> tuple[Codes, Counts]:
    """Equal rows joined, in lexicographic order, without an index above 2^62.

    Columns are packed into words; words are joined by rank, and a rank is below the number of rows, so
    rank × word stays small enough when words are kept below 2^62 / rows.
    """
    present = counts > 0
    if not present.all():
        codes, counts = codes[present], counts[present]
    rank = np.zeros(len(codes), np.int64)
    first = np.zeros(min(1, len(codes)), np.int64)
    for run in words(shape, 2**62 // max(1, len(codes))):
        key = rank
        for place in run:
            key = key * shape[place] + codes[:, place]
        _, first, rank = np.unique(key, return_index=True, return_inverse=True)
    return np.ascontiguousarray(codes[first]), _sums(rank, counts, len(first))
