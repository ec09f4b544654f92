"""The reader: the one place where records are read, by one query.

`read` returns the count table in a Private box and checks the declared number of records; `read_public` is for
public sources and returns the table itself. Whoever opens a source for the public passes the guard here, which
refuses one with a dataset key. Whatever goes wrong, only an error code comes out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ibis.expr.types import Table as Source

from facsimile.errors import refusal
from facsimile.privacy.dataset import refuse_confidential
from facsimile.privacy.private import Private, Sealed
from facsimile.sources.labelled import Header
from facsimile.sources.source import guarded, labels, opened, run
from facsimile.spec.release import Specification
from facsimile.table.encoding import COUNT, Encoding
from facsimile.table.raw import RawSums
from facsimile.table.table import Table
from facsimile.table.values import Values


def read(data: Any, specification: Specification) -> Sealed:
    """The confidential table, at the finest refinement, boxed.

    Neighbours: two sources of one kind, with the same columns and types, that differ in one record.
    Theorem. Their tables are equal, or differ in one record, or one of the two is refused before any charge.
    Proof.   The values of a record, as the engine sees them, are a function of that record and of public
             things alone (sources/source.py, for each kind). The codes are a function of these values, of the
             columns' types and of the specification: the query computes them in one row (table/encoding.py).
             It then counts equal rows, in no order. n is checked, so none is lost or gained. QED
    """
    table = _counted(data, specification)
    if table.n != specification.n:
        raise refusal("E104")
    return rehearse(table)


def rehearse(table: Table) -> Sealed:
    """A table in its box; a rehearsal boxes a public one like a confidential one and runs the same code."""
    return Sealed(Private(table), table.domain, table.n)


def read_public(data: Any, specification: Specification) -> Table:
    """A public table of the same form; its number of records may differ."""
    refuse_confidential(data)
    return _counted(data, specification)


@contextlib.contextmanager
def opened_public(data: Any, wanted: list[str] | None) -> Iterator[Source]:
    """A public source opened as it is, for a file of labels or, with every column, for a draft."""
    refuse_confidential(data)
    with opened(data, wanted) as source:
        yield source


def read_public_labels(data: Any) -> Header | None:
    """What a public labelled file says of its columns, without a record; None for a source of another kind."""
    refuse_confidential(data)
    return labels(data)


def read_public_sums(data: Any, specification: Specification, names: Sequence[str]) -> RawSums:
    """What the values of some columns of a public table add up to."""
    refuse_confidential(data)
    encoding = Encoding(specification)
    return RawSums.of(encoding, _answer(data, encoding, names), names)


def read_public_values(data: Any, specification: Specification) -> Values:
    """The values that a public table writes, for looks at bins that are not declared yet."""
    refuse_confidential(data)
    encoding = Encoding(specification)
    with opened(data, _wanted(encoding)) as source:
        return Values.of(encoding, guarded(lambda: run(Values.query(encoding, source)), _code))


def _counted(data: Any, specification: Specification) -> Table:
    encoding = Encoding(specification)
    columns = _answer(data, encoding)
    table, refusals = encoding.table(columns, columns[COUNT])
    for code, column in sorted(refusals):
        raise refusal(code, column=column)
    if table.n < 2:
        raise refusal("E151")
    return table


def _answer(data: Any, encoding: Encoding, sums: Sequence[str] = ()) -> dict[str, Any]:
    with opened(data, _wanted(encoding)) as source:
        counts = guarded(lambda: run(encoding.query(source, sums)), _code)
        empty = not len(counts) and not guarded(source.count().execute, _code)
    if empty:
        raise refusal("E103")
    return {name: counts.column(name).to_numpy() for name in counts.column_names}


def _wanted(encoding: Encoding) -> list[str]:
    return list(dict.fromkeys(column.raw_name for column in encoding.specification.columns))


def _code(error: Exception) -> str:
    """What an engine's failure means, told by its kind alone; its words are dropped."""
    words = str(error)
    if "Maximum line size" in words:
        return "E131"
    if "CSV Error" in words or "MALFORMED" in words:
        return "E130"
    return "E106"
