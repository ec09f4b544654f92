"""Labelled files: SPSS and Stata. Every value becomes the text that a CSV file would hold.

Theorem.  The texts of a record are a function of that record and of the file's header: names, formats, storage
          types, declared missing values, encoding. No other record changes them.
Proof.    The library gives one value at a time (in a table of it, all values of a column would choose its type:
          one missing value turns 1 into 1.0). A text is a function of one value and of its column's header.
          Values that Python takes for equal (1 and 1.0, 0.0 and -0.0) have the same text, so a text that is
          remembered by its value is the text of that value. Where a piece of the file ends changes no value.

    1, 1.0          `1`; a whole number has all its digits
    0.1 + 0.2       `0.3`: 15 significant digits; of Stata's `float`, as few as tell it from its neighbours
    a day           `2020-01-31`; with a time, `2020-01-31T10:00:00`; what no calendar has stays a number
    a missing one   NULL, be it the program's own or declared by the file

Times of the day, and months, weeks and quarters of Stata, stay the numbers that the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from facsimile.errors import refusal
from facsimile.sources.dictionary import refuse_broken_labels
from facsimile.sources.textfile import BOMB_BYTES, BOMB_RATIO

ENDINGS = (".sav", ".zsav", ".dta")
CELLS, BYTES = 1 << 23, 1 << 28
"""The most that one piece of a file holds: values, and bytes that they take in the file."""
DIGITS = 15
SPSS = b"$FL"
"""How a file of SPSS begins, whatever its name or a link to it says."""
AGAIN = "_duplicated1"
"""What the library adds to a name that a file has twice."""


@dataclass(frozen=True)
class Calendar:
    """How a format counts: the seconds of one unit, from a first day on."""

    formats: str
    unit: Fraction
    first: datetime
    daily: bool

    def text(self, value: float) -> str | None:
        """A day or a time in ISO form; None for what no calendar has."""
        try:
            found = self.first + timedelta(seconds=floor(Fraction(value) * self.unit))
        except (OverflowError, ValueError):
            return None
        return found.date().isoformat() if self.daily else found.isoformat(timespec="seconds")


_FIRST_SPSS, _FIRST_STATA = datetime(1582, 10, 14), datetime(1960, 1, 1)
CALENDARS = (
    Calendar("([AEJS]?DATE|MOYR|QYR|WKYR)[0-9.]+", Fraction(1), _FIRST_SPSS, daily=True),
    Calendar("(DATETIME|YMDHMS)[0-9.]+", Fraction(1), _FIRST_SPSS, daily=False),
    Calendar("%-?t?d.*", Fraction(86_400), _FIRST_STATA, daily=True),
    Calendar("%-?tc.*", Fraction(1, 1000), _FIRST_STATA, daily=False),
)


@dataclass(frozen=True)
class Variable:
    """What the header says of one column; `labels` and `missing` are by the texts that values become."""

    name: str
    title: str = ""
    storage: str = "double"
    calendar: Calendar | None = None
    measure: str = "unknown"
    width: int = 8
    raw_labels: Mapping[Any, str] = field(default_factory=dict)
    ranges: tuple[tuple[Any, Any], ...] = ()

    def text(self, value: Any) -> str | None:
        """The text of one value.

        >>> day = Variable("born", calendar=CALENDARS[2])
        >>> [Variable("x").text(value) for value in (1, 1.0, -0.0, 0.1 + 0.2, 1e-7)], day.text(21945)
        (['1', '1', '0', '0.3', '0.0000001'], '2020-01-31')
        """
        if value is None or isinstance(value, str):
            return value or None
        if isnan(value):
            return None
        day = self.calendar.text(value) if self.calendar else None
        if day is not None:
            return day
        if float(value).is_integer():
            return str(int(value))
        if self.storage == "float":
            return np.format_float_positional(np.float32(value), trim="-")
        return np.format_float_positional(value, precision=DIGITS, unique=False, fractional=False, trim="-")

    @property
    def labels(self) -> dict[str, str]:
        """The label of each text that has one; Stata's names for missing values (`.a`) have no text."""
        return {
            text: label for value, label in self._labelled.items() if (text := self.text(value)) is not None
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that would stand for declared missing values; of a range, its labelled ones."""
        ends = [low for low, high in self.ranges if low == high]
        inside = [v for v in self._labelled if any(low <= v <= high for low, high in self.ranges)]
        return tuple(dict.fromkeys(text for v in (*ends, *inside) if (text := self.text(v)) is not None))

    @property
    def _labelled(self) -> dict[Any, str]:
        is_text = self.storage == "string"
        return {value: label for value, label in self.raw_labels.items() if isinstance(value, str) == is_text}


@dataclass(frozen=True)
class Header:
    """What a labelled file says of itself, without a record."""

    title: str
    variables: tuple[Variable, ...]
    rows: int

    @property
    def names(self) -> list[str]:
        """The columns in their order; one that the file names twice is there twice."""
        known = {variable.name for variable in self.variables}
        plain = [variable.name.removesuffix(AGAIN) for variable in self.variables]
        return [
            name if name in known else variable.name
            for name, variable in zip(plain, self.variables, strict=True)
        ]


def header(path: Path) -> Header:
    """The header of a file."""
    _, said = _read(path, metadataonly=True, user_missing=True)
    variables = tuple(_variable(said, name) for name in said.column_names)
    return Header(said.file_label or "", variables, said.number_rows or 0)


def records(path: Path, head: Header, wanted: Collection[str] | None = None) -> pyarrow.Table:
    """The records of some columns, or of all where none is named, as texts.

    A file is read in pieces, so that few values are in memory beside the texts.
    """
    kept = [variable for variable in head.variables if not wanted or variable.name in wanted]
    most = max(1, min(CELLS // max(1, len(kept)), BYTES // max(1, _width(kept))))
    pieces, read = [_texts(kept, {})], 0
    while not pieces[1:] or len(pieces[-1]) == most:
        _refuse_bomb(path, max(head.rows, read) * _width(head.variables))
        values, _ = _read(path, usecols=[v.name for v in kept], row_offset=read, row_limit=most)
        pieces.append(_texts(kept, values))
        read += len(pieces[-1])
    return pyarrow.concat_tables(pieces)


def _read(path: Path, **how: Any) -> tuple[Any, Any]:
    """Values one by one, as the file holds them, and what its header says."""
    import pyreadstat  # read when it is needed: it takes a tenth of a second

    if _begins(path) == SPSS:
        refuse_broken_labels(path)
        read = pyreadstat.read_sav
    else:
        read = pyreadstat.read_dta
    values, said = read(path, output_format="dict", disable_datetime_conversion=True, **how)
    return values, said


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(SPSS))


def _variable(said: Any, name: str) -> Variable:
    storage, shown = said.readstat_variable_types[name], said.original_variable_types[name] or ""
    fits = (calendar for calendar in CALENDARS if re.fullmatch(calendar.formats, shown))
    return Variable(
        name=name,
        title=said.column_names_to_labels[name] or "",
        storage=storage,
        calendar=None if storage == "string" else next(fits, None),
        measure=said.variable_measure[name],
        width=max(1, said.variable_storage_width[name]),
        raw_labels=said.variable_value_labels.get(name, {}),
        ranges=tuple((each["lo"], each["hi"]) for each in said.missing_ranges.get(name, ())),
    )


def _texts(variables: Collection[Variable], values: Mapping[str, list[Any]]) -> pyarrow.Table:
    """Each value by itself; the text of one that was seen before is remembered."""
    columns = {}
    for variable in variables:
        known: dict[Any, str | None] = {}
        given = values.get(variable.name, [])
        texts = [known[v] if v in known else known.setdefault(v, variable.text(v)) for v in given]
        columns[variable.name] = pyarrow.array(texts, pyarrow.string())
    return pyarrow.table(columns)


def _width(variables: Collection[Variable]) -> int:
    return sum(variable.width for variable in variables)


def _refuse_bomb(path: Path, size: int) -> None:
    if size > BOMB_BYTES and size > BOMB_RATIO * path.stat().st_size:
        raise refusal("E122")
