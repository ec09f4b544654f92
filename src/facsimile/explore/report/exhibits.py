"""Exhibits: what a page shows, as plain data: charts and sortable tables, both of rows with named fields.

Which columns a table has stands in `columns.py`; a column's format says how many digits the page keeps and how
it writes them. The page embeds rows once, column by column, texts as places in a list of the distinct ones. How
a kind of chart is drawn stands in `templates/charts.js`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP
from functools import cached_property
from typing import Any

from facsimile.documents.numerals import number
from facsimile.explore.report.columns import SHEETS, Head, heads
from facsimile.spec.decimals import show_decimal

Row = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]
SHOWN = 50
"""Rows of a table before somebody asks for all of them."""


def significant(value: Any) -> Any:
    """A number with six significant digits, a list of them, or anything else as it is.

    >>> significant(1234.5678), significant(float("inf")), significant([0.1, None])
    (1234.57, None, [0.1, None])
    """
    if isinstance(value, list):
        return [significant(part) for part in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") + 0.0 if math.isfinite(value) else None


def _keep(digits: int) -> Callable[[float | None], float | None]:
    """Digits after the point: three for a share that is shown as 12.3 %."""
    return lambda value: None if value is None or not math.isfinite(value) else round(value, digits) + 0.0


def listed(settings: Mapping[str, str]) -> str:
    """Settings with their values, in a row."""
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "–"


FORMATS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], str]]] = {
    "text": (significant, str),
    "prose": (significant, str),
    "settings": (listed, str),
    "decimal": (show_decimal, str),
    "verdict": (lambda met: "met" if met else "not met", str),
    "count": (significant, lambda value: f"{value:,}"),
    "number": (significant, lambda value: number(value, ROUND_HALF_UP)),
    "share": (_keep(3), lambda value: f"{100 * value:.1f}\u00a0%"),
    "percent": (_keep(4), lambda value: f"{100 * value:.2f}\u00a0%"),
    "points": (_keep(3), lambda value: f"{value:+.3f}".replace("-", "−") if value else "0.000"),
    "fixed": (_keep(3), lambda value: f"{value:.3f}".replace("-", "−")),
    "exact": (_keep(4), lambda value: f"{value:.4f}".rstrip("0").rstrip(".")),
    "interval": (_keep(3), lambda value: f"{100 * value:.1f}"),
}
"""Of each format what a page keeps of a figure, and how it is written; charts.js writes the same."""


def figure(value: float, form: str) -> str:
    """A number in its format; words where it is not finite."""
    return FORMATS[form][1](value) if math.isfinite(value) else "not defined"


def _cell(row: Row, head: Head) -> str:
    """A cell as text; the script of the page writes the same."""
    value, write = row[head.field], FORMATS[head.format][1]
    if value is None:
        return "–"
    return f"{write(value)}–{write(row[head.ends])}\u00a0%" if head.end else write(value)


def _found(row: Any, path: str) -> Any:
    for part in path.split("."):
        row = row[part] if isinstance(row, Mapping) else getattr(row, part)
    return row


@dataclass(frozen=True)
class Sheet:
    """A sortable table of rows that its columns read. `filtered`: with a box to type words that rows must hold.

    `picked`: it shows the rows whose field of this name is what the list of the chart of its own name picks.
    """

    name: str
    told: Sequence[Any]
    filtered: bool = False
    picked: str = ""
    columns: tuple[Head, ...] = ()

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Its columns; those without words are only drawn."""
        return self.columns or heads(SHEETS[self.name.rstrip("-0123456789")])

    @cached_property
    def rows(self) -> list[Row]:
        """The rows as the page keeps them."""
        kept = {h.field: (h.path, FORMATS[h.format][0]) for h in self.heads}
        kept |= {h.ends: (h.end, FORMATS[h.format][0]) for h in self.heads if h.end}
        return [{name: keep(_found(row, path)) for name, (path, keep) in kept.items()} for row in self.told]

    def shown(self) -> list[list[str]]:
        """The first rows as texts, for readers without a script and until it runs."""
        first = [row for row in self.rows if not self.picked or row[self.picked] == self.rows[0][self.picked]]
        return [[_cell(row, head) for head in self.heads if head.words] for row in first[:SHOWN]]

    def as_json(self) -> dict[str, Any]:
        """What the script of the page reads; the words stand in the page."""
        told = [head.as_json() for head in self.heads if head.words]
        return {"heads": told, "filtered": self.filtered, "picked": self.picked}


@dataclass(frozen=True)
class Chart:
    """A drawing of a kind that charts.js knows, of its own rows or of a table's (`sheet`).

    `about` says what its kind needs to know beside the rows. `picked`: it draws only the rows whose field of
    this name is what a list beside it picks, one of `options`; `label` says what the list is of.
    """

    name: str
    kind: str
    told: Rows = ()
    sheet: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    picked: str = ""
    label: str = ""
    options: Sequence[str] = ()

    def choices(self, rows: Rows) -> Sequence[str]:
        """What can be picked, the first of which is drawn when the page opens."""
        return self.options or list(dict.fromkeys(row[self.picked] for row in rows))

    def as_json(self) -> dict[str, Any]:
        """What the script of the page reads."""
        return {
            **self.about,
            "kind": self.kind,
            "dataset": self.sheet or f"{self.name}-drawn",
            "picked": self.picked,
        }


Exhibit = Chart | Sheet


class Exhibits:
    """All exhibits of a page, by name."""

    def __init__(self, given: Iterable[Exhibit]) -> None:
        every = list(given)
        self.charts = {exhibit.name: exhibit for exhibit in every if isinstance(exhibit, Chart)}
        self.sheets = {exhibit.name: exhibit for exhibit in every if isinstance(exhibit, Sheet)}

    def as_json(self) -> dict[str, Any]:
        """What the script of the page reads."""
        datasets = {name: columns(sheet.rows) for name, sheet in self.sheets.items()}
        drawn = {f"{name}-drawn": chart.told for name, chart in self.charts.items() if chart.told}
        for name, rows in drawn.items():
            datasets[name] = columns([{key: significant(v) for key, v in row.items()} for row in rows])
        charts, sheets = (
            {k: one.as_json() for k, one in every.items()} for every in (self.charts, self.sheets)
        )
        return {"shown": SHOWN, "datasets": datasets, "charts": charts, "sheets": sheets}


def columns(rows: Rows) -> dict[str, Any]:
    """Rows as columns: a column of texts is a list of the distinct ones and each row's place in it.

    >>> columns([{"a": "x", "b": 1}, {"a": "x", "b": None}])
    {'a': {'texts': ['x'], 'at': [0, 0]}, 'b': [1, None]}
    """
    found: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if all(isinstance(value, str) for value in values):
            places = {text: place for place, text in enumerate(dict.fromkeys(values))}
            found[name] = {"texts": list(places), "at": [places[value] for value in values]}
        else:
            found[name] = values
    return found
