"""Values: what a PUBLIC file writes in each field, before any bin is chosen; never made of a confidential one.

Bins can be moved under the values without reading again. A field is cleaned by its column's type, map and grid;
where none of these changed, the table under any other bins and rules is the one that a reading would give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from ibis.expr.types import Table as Source

from facsimile.spec.columns import Column
from facsimile.spec.release import Specification
from facsimile.table.cleaning import BAD, FAR
from facsimile.table.conditions import Mask, evaluate
from facsimile.table.encoding import COUNT, ColumnEncoding, Encoding
from facsimile.table.table import Codes, Counts, Table

BLANK = 2**62
"""A field without a value."""


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct rows of cleaned fields, and how often each occurs."""

    form: tuple[Any, ...]
    fields: Mapping[str, Codes]
    counts: Counts

    @staticmethod
    def query(encoding: Encoding, source: Source) -> Source:
        """The question that `of` has the answer to."""
        clean = encoding.clean(source)
        return clean.group_by(list(encoding.columns)).aggregate(**{COUNT: clean.count()})

    @classmethod
    def of(cls, encoding: Encoding, answer: Any) -> Values:
        """The values, from the engine's answer."""
        found = {name: answer.column(name).cast("int64") for name in (*encoding.columns, COUNT)}
        fields = {name: found[name].fill_null(BLANK).to_numpy() for name in encoding.columns}
        return cls(form(encoding.specification), fields, found[COUNT].to_numpy())

    def fits(self, specification: Specification) -> bool:
        """Whether a specification reads every field as these were read."""
        return self.form == form(specification)

    def table(self, specification: Specification) -> Table:
        """The table that a reading under this specification gives; what it would refuse is left out."""
        table, _ = Encoding(specification).table(self._pieces(Encoding(specification)), self.counts)
        return table

    def breaking(self, specification: Specification, rule: int) -> Mask:
        """The rows that satisfy a raw rule of the specification, as they are written."""
        encoding = Encoding(specification)
        seen = {name: encoding.columns[name].seen[p] for name, p in self._pieces(encoding).items()}
        return evaluate(specification.raw_conditions[rule], encoding.pieces, seen)

    def numbers(self, name: str) -> tuple[npt.NDArray[np.int64], Counts]:
        """A column's values in units of its grid, ascending, each with its number of records; blanks apart."""
        return self._distinct[name]

    @cached_property
    def _distinct(self) -> dict[str, tuple[npt.NDArray[np.int64], Counts]]:
        found = {}
        for name, values in self.fields.items():
            told = (values != BLANK) & (values != BAD)
            each, place = np.unique(values[told], return_inverse=True)
            found[name] = each, np.bincount(place, self.counts[told], len(each)).astype(np.int64)
        return found

    def _pieces(self, encoding: Encoding) -> dict[str, Codes]:
        return {name: pieces(e, self.fields[name]) for name, e in encoding.columns.items()}


def pieces(encoding: ColumnEncoding, values: Codes) -> Codes:
    """`ColumnEncoding.piece` of many cleaned values."""
    if encoding.column.values is not None:
        found = values
    else:
        found = np.searchsorted(np.array(encoding.cuts.all, np.int64), values, "right") + (values >= -FAR)
    return np.where(values == BLANK, encoding.pieces.size - 1, found)


def form(specification: Specification) -> tuple[Any, ...]:
    """What the cleaning of every field follows from."""
    return tuple(map(_read_as, specification.columns))


def _read_as(column: Column) -> tuple[Any, ...]:
    texts = None if column.map is None else tuple(column.map.items())
    return column.name, column.raw_name, column.values, texts, column.decimals, column.round, column.part
