"""Views: what is read of each record by itself: some of its columns, and columns made of them.

An event becomes a column of 0 and 1, crossed groups become one column, a product of two columns becomes a
column of numbers. A view reads one record at a time, so a replaced record is one replaced record of what it
shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints, frozen
from facsimile.table.table import Codes, Table


@dataclass(frozen=True, eq=False)
class Shown:
    """A column of a view: the code of each cell of the columns that it is made of."""

    axis: Axis
    clique: Clique
    codes: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes))

    @classmethod
    def plain(cls, axis: Axis) -> Shown:
        """A column as it is."""
        return cls(axis, (axis.name,), np.arange(axis.size))

    @classmethod
    def numbers(cls, name: str, clique: Clique, values: Iterable[Fraction], shape: tuple[int, ...]) -> Shown:
        """A column of numbers, one for each cell, row by row; a code for each different number.

        >>> Shown.numbers("x", ("a",), map(Fraction, (3, 0, 3)), (3,)).codes.tolist()
        [1, 0, 1]
        """
        every = list(values)
        different = sorted(set(every))
        place = {number: code for code, number in enumerate(different)}
        codes = np.array([place[number] for number in every], np.int64).reshape(shape)
        bins = tuple(CategoryBin(str(number), frozenset([str(number)]), number) for number in different)
        return cls(Axis(name, bins), clique, codes)

    @property
    def is_plain(self) -> bool:
        """Whether it is a column as it is."""
        return self.clique == (self.axis.name,) and np.array_equal(self.codes, np.arange(self.axis.size))


@dataclass(frozen=True, eq=False)
class View:
    """Columns made of those of a domain, code by code."""

    source: Domain
    columns: tuple[Shown, ...]

    @classmethod
    def of_columns(cls, domain: Domain, names: Iterable[str] | None = None) -> View:
        """Some columns as they are, or all of them."""
        return cls(domain, tuple(map(Shown.plain, domain.axes if names is None else map(domain.axis, names))))

    @cached_property
    def domain(self) -> Domain:
        """What it shows."""
        return Domain(tuple(column.axis for column in self.columns))

    @cached_property
    def trivial(self) -> bool:
        """Whether it shows everything as it is."""
        return self.domain == self.source and all(column.is_plain for column in self.columns)

    @cached_property
    def plain(self) -> Clique:
        """The columns that it shows as they are."""
        return tuple(column.axis.name for column in self.columns if column.is_plain)

    def column(self, name: str) -> Shown:
        """The column of this name."""
        return self.columns[self.domain.place(name)]

    def rows(self, codes: Codes) -> Codes:
        """What it shows of rows of codes."""
        if self.trivial:
            return codes
        place = self.source.place
        return np.column_stack(
            [c.codes[tuple(codes[:, place(name)] for name in c.clique)] for c in self.columns]
        )

    def of(self, table: Table) -> Table:
        """What it shows of a table."""
        return table if self.trivial else Table.from_rows(self.domain, self.rows(table.codes), table.counts)
