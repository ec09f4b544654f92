"""Profiles: what the raw columns of a public file hold. Texts are read through the guard, each counted once.

A typed source is seen as the text that a specification would read: `1` for the number 1.0, `true` for a truth
value, `2023-05-17` for a moment of that day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

import ibis
import pyarrow.compute

from facsimile.errors import refusal
from facsimile.privacy.reader import opened_public
from facsimile.sources.source import UNUSED, guarded, readable, run
from facsimile.spec.columns import Column
from facsimile.table.cleaning import BAD, BLANKS, clean_value

MOST_RECORDS = 1_000_000
AT_ONCE = 20
PLACE = "place of the record"


@dataclass(frozen=True, eq=False)
class Seen:
    """A raw column: its texts without blanks at their ends, and how many records have each.

    `real`: the source holds numbers with a point, of which only whole ones can be categories.
    """

    name: str
    counts: Mapping[str, int]
    blank: int
    real: bool = False

    @property
    def filled(self) -> int:
        """Records with a text."""
        return sum(self.counts.values())

    @property
    def records(self) -> int:
        """All records."""
        return self.filled + self.blank

    @cached_property
    def numbers(self) -> dict[str, Decimal]:
        """The texts that a specification reads as numbers."""
        return {text: Decimal(text) for text in self.counts if clean_value(_NUMBER, text) != BAD}

    @cached_property
    def dates(self) -> dict[str, date]:
        """The texts that a specification reads as dates."""
        found = (text for text in self.counts if clean_value(_DATE, text) != BAD)
        return {text: date.fromisoformat(text[:10]) for text in found}


@dataclass(frozen=True)
class Profile:
    """The columns of a file in their order.

    `every`: 1 if all records were looked at, 2 if every second. `unread`: columns without a name or a text.
    """

    columns: tuple[Seen, ...]
    records: int
    every: int
    unread: Mapping[str, str]


def profiled(data: Any) -> Profile:
    """Look at a public source: every record, or every second, third … where there are more than a million."""
    with opened_public(data, None) as source:
        unread, read, real = dict[str, str](), list[str](), set[str]()
        for place, name in enumerate(source.columns):
            if name == f"{UNUSED} {place}":
                unread[f"column {place + 1}"] = "has no name"
            elif not readable(source[name].type()):
                unread[name] = "has a type that cannot be read"
            else:
                read.append(name)
                if source[name].type().is_floating() or source[name].type().is_decimal():
                    real.add(name)
        records = int(guarded(source.count().execute, lambda _: "E106"))
        if not records:
            raise refusal("E103")
        every = -(-records // MOST_RECORDS)
        counted = guarded(lambda: _counted(source, read, every), lambda _: "E106") if read else {}
    return Profile(tuple(_seen(name, counted[name], name in real) for name in read), records, every, unread)


def _counted(source: Any, names: list[str], every: int) -> dict[str, dict[Any, int]]:
    """How often each raw value occurs, column by column; a few columns are in memory at a time."""
    found: dict[str, dict[Any, int]] = {}
    for first in range(0, len(names), AT_ONCE):
        several = names[first : first + AT_ONCE]
        fields = source.select(**{name: _plain(source[name]) for name in several})
        if every > 1:
            fields = fields.mutate(**{PLACE: ibis.row_number()}).filter(lambda t: t[PLACE] % every == 0)
        table = run(fields)
        for name in several:
            counts = pyarrow.compute.value_counts(table.column(name))
            found[name] = dict(zip(*(counts.field(at).to_pylist() for at in (0, 1)), strict=True))
    return found


def _plain(field: Any) -> Any:
    """A field whose values Python knows: what has a type of its own engine becomes a text."""
    kind = field.type()
    known = kind.is_string() or kind.is_numeric() or kind.is_boolean() or kind.is_temporal()
    return field if known else field.cast("string")


def _seen(name: str, values: Mapping[Any, int], real: bool) -> Seen:
    found: Counter[str] = Counter()
    for value, count in values.items():
        found[_text(value)] += count
    blank = found.pop("", 0)
    return Seen(name, dict(sorted(found.items())), blank, real)


def _text(value: Any) -> str:
    """What a specification would read; nothing for a blank."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        return f"{exact:f}".removesuffix(".0") if exact.is_finite() else str(value)
    if isinstance(value, date):
        return value.isoformat()[:10]
    return str(value).strip(BLANKS)


_EITHER = {"either": ["<0", "0≤"]}
_NUMBER = Column(
    name="number", description="Any number", round="down", bounds=("-1", "1"), alternatives=_EITHER,
)  # fmt: skip
_DATE = Column(name="date", description="Any date", part="year", bounds=("-1", "1"), alternatives=_EITHER)
