"""Columns on the page: public values with the bins drawn on them, and what a moved edge would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from facsimile.agreement.agreed import GONE, Change, value_at
from facsimile.agreement.bins import moved, placed
from facsimile.spec.bins import CategoryBin, MissingBin, NumberBin
from facsimile.spec.columns import Column, Constant, MissingCode
from facsimile.spec.decimals import show_decimal
from facsimile.spec.edits import replaced
from facsimile.spec.load import loads
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table
from facsimile.table.values import Values
from facsimile.workbench.bench import Bench, Seen
from facsimile.workbench.drawing import Edge, Histogram, edges, histogram


@dataclass(frozen=True)
class BinLine:
    """A bin for people: its label, the public records in it, and the number that stands for it."""

    label: str
    records: int | None
    number: str
    values: str


@dataclass(frozen=True)
class Alternative:
    """One way to cut a column."""

    name: str
    item: str
    used: bool
    bins: tuple[BinLine, ...]
    written: Any
    edges: tuple[Edge, ...]
    labels: tuple[tuple[str, str], ...]
    """Of categories: each value and its label."""


@dataclass(frozen=True)
class ColumnView:
    """A column for people."""

    column: Column
    kind: str
    rules: str
    histogram: Histogram | None
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Rows:
    """What a release could look like to somebody who searches it: public records under one choice of bins."""

    records: int
    distinct: int
    rarest: int
    unique: int
    row: tuple[str, ...]

    @classmethod
    def of(cls, specification: Specification, table: Table) -> Rows | None:
        """Under the first alternatives; None where nothing is left."""
        coded = recode(specification, table, specification.first)
        if not coded.distinct:
            return None
        place = int(np.argmin(coded.counts))
        axes = zip(coded.domain.axes, coded.codes[place], strict=True)
        row = tuple(f"{axis.name} {axis.labels[code]}" for axis, code in axes)
        rarest = int(coded.counts[place])
        return cls(coded.n, coded.distinct, rarest, int((coded.counts == 1).sum()), row)


def views(seen: Seen, values: Values | None, table: Table | None) -> Iterator[ColumnView]:
    """Every column, with what is known of the public file by now."""
    for column in seen.specification.columns:
        yield view(column, values, table)


def view(column: Column, values: Values | None, table: Table | None) -> ColumnView:
    """One column."""
    drawn = None
    first = _numbers(column, next(iter(column.alternatives)))
    if values is not None and not column.is_category:
        finest = [b for b in column.finest.bins if isinstance(b, NumberBin)]
        drawn = histogram(*values.numbers(column.name), column.step, finest)
    counts = None if table is None else table.marginal((column.name,))
    return ColumnView(
        column,
        "categories" if column.is_category else f"{column.part} of a date" if column.part else "numbers",
        _rules(column),
        drawn,
        tuple(
            Alternative(
                name,
                f"columns.{column.name}.alternatives.{name}",
                name in column.used,
                tuple(_lines(column, name, counts)),
                partition,
                edges(drawn, _numbers(column, name), column.step) if drawn is not None and first else (),
                tuple(_labelled(column, name)),
            )
            for name, partition in column.alternatives.items()
        ),
    )


def _numbers(column: Column, alternative: str) -> list[NumberBin]:
    return [b for b in column.axis(alternative).bins if isinstance(b, NumberBin)]


def _lines(column: Column, alternative: str, counts: Any) -> Iterator[BinLine]:
    """The bins of an alternative, each with its public records."""
    axis = column.axis(alternative)
    joined = None if counts is None else np.bincount(column.recoding(alternative), counts, axis.size)
    for place, b in enumerate(axis.bins):
        number = "" if b.number is None else show_decimal(b.number)
        inside = ", ".join(sorted(b.values)) if isinstance(b, CategoryBin) and len(b.values) > 1 else ""
        shown = "blank" if isinstance(b, MissingBin) else inside
        yield BinLine(b.label, None if joined is None else int(joined[place]), number, shown)


def _labelled(column: Column, alternative: str) -> Iterator[tuple[str, str]]:
    held = {v: b.label for b in column.axis(alternative).bins if isinstance(b, CategoryBin) for v in b.values}
    yield from ((value, held[value]) for value in column.values or ())


def _rules(column: Column) -> str:
    """What happens to any other value, in words."""
    missing = column.missing
    if isinstance(missing, MissingCode):
        blank = f"a blank is released as “{missing.code}”"
    elif isinstance(missing, Constant):
        blank = f"a blank is read as {missing.value}"
    else:
        blank = {"drop": "a record with a blank is left out"}.get(str(missing), "a blank is refused")
    words = {"refuse": "is refused", "drop": "leaves the record out", "clip": "is moved to the nearest bin"}
    outside = words.get(column.outside, f"counts as {column.outside}")
    loose = {"drop": "leaves the record out", "missing": "counts as a blank"}.get(
        column.malformed, "is refused"
    )
    text = "" if column.is_category else f"; a text where a number belongs {loose}"
    return f"{blank}; a value that no bin holds {outside}{text}."


def changed(seen: Seen, column: str, alternative: str, wanted: Sequence[str]) -> list[Change]:
    """What moving edges, or joining and splitting bins, changes in the file; ValueError where it makes none."""
    data = next(one for one in seen.data["columns"] if one["name"] == column)
    return list(_changes(seen.data, column, data, moved(data, alternative, wanted)))


def relabelled(seen: Seen, column: str, alternative: str, labels: Mapping[str, str]) -> list[Change]:
    """What other labels of categories change in the file."""
    values = seen.specification.column(column).values or ()
    item = f"columns.{column}.alternatives.{alternative}"
    return [Change(item, placed(values, labels), value_at(seen.data, item))]


def _changes(data: Any, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in ("alternatives", "hierarchy"):
        for part, value in new.get(key, {}).items():
            if value != old[key][part]:
                yield Change(f"columns.{name}.{key}.{part}", value, old[key][part])
    for key in ("groups", "numbers"):
        if old.get(key) != new.get(key):
            yield Change(f"columns.{name}.{key}", new.get(key, GONE), value_at(data, f"columns.{name}.{key}"))


def tried(bench: Bench, seen: Seen, changes: Sequence[Change]) -> Specification:
    """The specification with some changes that nobody saved; refused where it would be none."""
    from facsimile.agreement.items import place_of
    from facsimile.spec.edits import removed

    text = seen.text
    for one in changes:
        place = place_of(Seen(text, bench.folder).data, one.item)
        text = removed(text, place) if one.value is GONE else replaced(text, place, one.value)
    return loads(text, folder=bench.folder)
