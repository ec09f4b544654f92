"""Exhibits: what a page shows, as plain data: charts, sortable tables, and choices that fill them anew.

All three draw on datasets: rows with named fields. The page embeds a dataset once, column by column, texts as
places in a list of the distinct ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from facsimile.documents.numerals import number
from facsimile.explore.report.drawing import Rows, Spec, compiled
from facsimile.explore.report.findings import Estimate

Row = dict[str, Any]
Kind = Literal["text", "prose", "count", "number", "share", "percent", "points", "fixed", "exact", "interval"]
SHOWN = 50
"""Rows of a table before somebody asks for all of them."""


@dataclass(frozen=True)
class Head:
    """A column of a table: its words, the field it shows, and how. An interval ends at a second field."""

    words: str
    field: str
    kind: Kind = "text"
    end: str | None = None

    @property
    def look(self) -> str:
        """The class of its cells: figures stand to the right, prose gets room."""
        return self.kind if self.kind in ("text", "prose") else "figure"


@dataclass(frozen=True)
class Sheet:
    """A sortable table of a dataset. `filtered`: with a box to type words that rows must hold."""

    name: str
    heads: tuple[Head, ...]
    dataset: str
    rows: Rows
    filtered: bool = False

    def shown(self) -> list[list[str]]:
        """The first rows as texts, for readers without a script and until it runs."""
        return [[cell(row, head) for head in self.heads] for row in self.rows[:SHOWN]]


@dataclass(frozen=True)
class Chart:
    """A drawing, complete with its datasets; its words stand in the page."""

    name: str
    spec: Spec


@dataclass(frozen=True)
class Option:
    """One entry of a choice: the datasets that it puts in place, and values of the drawing's parameters."""

    words: str
    datasets: Mapping[str, Rows]
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """A list to choose from; the first option is in place when the page opens."""

    name: str
    label: str
    options: tuple[Option, ...]


Exhibit = Chart | Sheet | Choice


@dataclass
class Room:
    """All exhibits of a page, by name."""

    charts: dict[str, Chart] = field(default_factory=dict)
    sheets: dict[str, Sheet] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)

    def add(self, exhibits: Iterable[Exhibit]) -> None:
        """Put exhibits in their places."""
        for exhibit in exhibits:
            if isinstance(exhibit, Chart):
                self.charts[exhibit.name] = exhibit
            elif isinstance(exhibit, Sheet):
                self.sheets[exhibit.name] = exhibit
            else:
                self.choices[exhibit.name] = exhibit

    def as_json(self) -> dict[str, Any]:
        """What the script of the page reads."""
        datasets: dict[str, Any] = {}
        charts: dict[str, Any] = {}
        for name, chart in self.charts.items():
            own = chart.spec["datasets"]
            datasets |= {key: columns(rows) for key, rows in own.items()}
            charts[name] = {"spec": compiled(chart.spec), "datasets": list(own)}
        for sheet in self.sheets.values():
            datasets[sheet.dataset] = columns(sheet.rows)
        return {
            "shown": SHOWN,
            "datasets": datasets,
            "charts": charts,
            "sheets": {name: _sheet(sheet) for name, sheet in self.sheets.items()},
            "choices": {name: [_option(o) for o in c.options] for name, c in self.choices.items()},
        }


def _sheet(sheet: Sheet) -> dict[str, Any]:
    heads = [
        {"field": h.field, "kind": h.kind, "look": h.look} | ({"end": h.end} if h.end else {})
        for h in sheet.heads
    ]
    return {"dataset": sheet.dataset, "heads": heads, "filtered": sheet.filtered}


def _option(option: Option) -> dict[str, Any]:
    datasets = {name: columns(rows) for name, rows in option.datasets.items()}
    return {"datasets": datasets, "signals": dict(option.signals)}


def columns(rows: Rows) -> dict[str, Any]:
    """Rows as columns: a column of texts is a list of the distinct ones and each row's place in it.

    >>> columns([{"a": "x", "b": 1}, {"a": "x", "b": None}])
    {'a': {'texts': ['x'], 'at': [0, 0]}, 'b': [1, None]}
    """
    found: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if all(isinstance(value, str) for value in values):
            texts = list(dict.fromkeys(values))
            places = {text: place for place, text in enumerate(texts)}
            found[name] = {"texts": texts, "at": [places[value] for value in values]}
        else:
            found[name] = values
    return found


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element: no character of it can end the element or begin markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def cell(row: Mapping[str, Any], head: Head) -> str:
    """A cell as text; the script of the page writes the same."""
    value = row[head.field]
    if head.kind == "interval":
        return "–" if value is None else f"{100 * value:.1f}–{100 * row[str(head.end)]:.1f}\u00a0%"
    return "–" if value is None else _WRITTEN[head.kind](value)


_WRITTEN: Mapping[Kind, Callable[[Any], str]] = {
    "text": str,
    "prose": str,
    "count": lambda value: f"{value:,}",
    "number": number,
    "share": lambda value: f"{100 * value:.1f}\u00a0%",
    "percent": lambda value: f"{100 * value:.2f}\u00a0%",
    "points": lambda value: f"{value:+.3f}".replace("-", "−") if value else "0.000",
    "fixed": lambda value: f"{value:.3f}".replace("-", "−"),
    "exact": lambda value: f"{value:.4f}".rstrip("0").rstrip("."),
}


def figure(value: float, kind: Kind) -> str:
    """A number as its kind is written; words where it is not finite."""
    return _WRITTEN[kind](value) if math.isfinite(value) else "not defined"


def significant(value: float | None, digits: int = 4) -> float | None:
    """A number with the digits that are shown, for a page that holds no more; None for what is not finite.

    >>> significant(1234.56), significant(float("inf"))
    (1235.0, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def rounded(value: float | None, digits: int = 3) -> float | None:
    """A number to so many digits after the point: three for a share that is shown as 12.3 %."""
    return None if value is None else round(value, digits) + 0.0


def estimated(estimate: Estimate) -> Row:
    """The fields of an estimate."""
    return {
        "trials": estimate.trials,
        "accepted": estimate.accepted,
        "share": rounded(estimate.share),
        "low": rounded(estimate.low),
        "high": rounded(estimate.high),
        "counted": "fresh" if estimate.fresh else "race",
    }


def labels(identifiers: Sequence[str]) -> dict[str, str]:
    """Short names that stay apart: the family and the first digits.

    >>> labels(["mst-0123456789ab", "mst-0123999999ff"])
    {'mst-0123456789ab': 'mst 01234', 'mst-0123999999ff': 'mst 01239'}
    """
    found: dict[str, str] = {}
    for digits in range(4, 13):
        found = {name: f"{name.rpartition('-')[0]} {name.rpartition('-')[2][:digits]}" for name in identifiers}
        if len(set(found.values())) == len(found):
            break
    return found
