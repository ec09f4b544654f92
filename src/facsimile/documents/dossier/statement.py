"""Statements of a dossier: words and figures, each with the place that it comes from; and blanks.

A figure is made from what stands at its places by a named rule (`RULES`), never typed in. So whoever has the
papers can find every number again, and a test does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import exp
from typing import Any

from facsimile.documents.language import printable
from facsimile.documents.numerals import above, chance, count, number, percentage, rounded_up, small, spoken_day
from facsimile.documents.summary import guesses
from facsimile.spec.decimals import parse_decimal, show_decimal

REPORT, PLAN, MANIFEST, AUDIT, RISK = "report.json", "release.yaml", "manifest.json", "audit.json", "risk.json"
DOCS = "docs/"
_BLANKS = re.compile(r"[ \t\r\n]+")
TO_FILL = "To be filled in by the office:"


def posterior(prior: Fraction, epsilon: float, sign: int) -> float:
    """What a chance can become: its odds times e^ε, up (sign 1) or down (−1)."""
    odds = float(prior / (1 - prior)) * exp(sign * epsilon)
    return odds / (1 + odds)


def _becomes(prior: str, sign: int) -> Any:
    rounding = ROUND_CEILING if sign > 0 else ROUND_FLOOR
    return lambda epsilon: chance(posterior(Fraction(prior), float(epsilon), sign), rounding)


def _rate(rate: float, rounding: str) -> str:
    """A share in percent, to a tenth of one."""
    return f"{(Decimal(repr(rate)) * 100).quantize(Decimal('0.1'), rounding)}\u00a0%"


PRIORS = {"1 %": "1/100", "10 %": "1/10", "50 %": "1/2"}
RULES: dict[str, Any] = {
    "as it stands": str,
    "a count": count,
    "how many": len,
    "how many did not pass": lambda evidence: count(sum(not one["passed"] for one in evidence)),
    "how many theorems": lambda evidence: count(len({one["theorem"] for one in evidence})),
    "how many have a bound": lambda criteria: count(sum(one["bound"] is not None for one in criteria)),
    "rounded up": rounded_up,
    "small, rounded up": small,
    "a percentage": percentage,
    "a rate": lambda rate: _rate(rate, ROUND_HALF_EVEN),
    "a rate, rounded down": lambda rate: _rate(rate, ROUND_FLOOR),
    "a rate, rounded up": lambda rate: _rate(rate, ROUND_CEILING),
    "a day": spoken_day,
    "a number": number,
    "a number or none": lambda value: "" if value is None else number(value),
    "a bound, rounded up": above,
    "passed or not": lambda passed: "passed" if passed else "FAILED",
    "listed": lambda names: ", ".join(map(str, names)),
    "e to this power, rounded up": lambda epsilon: number(exp(float(epsilon)), ROUND_CEILING, 3),
    "twice": lambda epsilon: show_decimal(2 * parse_decimal(epsilon)),
    "the product, rounded up": lambda n, delta: small(min(Fraction(1), n * parse_decimal(delta))),
    "right guesses of a hundred": lambda epsilon, delta="0": str(guesses(float(epsilon), float(delta))),
    **{f"{prior} becomes at most": _becomes(value, 1) for prior, value in PRIORS.items()},
    **{f"{prior} becomes at least": _becomes(value, -1) for prior, value in PRIORS.items()},
}
"""How a figure follows from what stands at its places."""


@dataclass(frozen=True)
class Source:
    """A place: a JSON pointer into a file of the bundle or beside it, or a numbered statement of docs/."""

    file: str
    place: str = ""

    def as_json(self) -> dict[str, str]:
        """As plain data."""
        return {"file": self.file, "place": self.place}


@dataclass(frozen=True)
class Figure:
    """What a rule makes of what stands at some places."""

    shown: str
    how: str
    sources: tuple[Source, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"shown": self.shown, "how": self.how, "from": [source.as_json() for source in self.sources]}


@dataclass(frozen=True)
class Statement:
    """A sentence or two, its figures, and every place that it rests on."""

    text: str
    figures: tuple[Figure, ...]
    sources: tuple[Source, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        told = {"text": self.text, "figures": [figure.as_json() for figure in self.figures]}
        return {"kind": "statement", **told, "sources": [source.as_json() for source in self.sources]}


@dataclass(frozen=True)
class Blank:
    """What only the office knows; `lines` of room for it."""

    text: str
    lines: int = 2

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": "blank", "text": f"{TO_FILL} {self.text}"}


@dataclass(frozen=True)
class Listing:
    """A table; each cell is a figure."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Figure, ...], ...]
    widths: str

    @property
    def sources(self) -> tuple[Source, ...]:
        """The list that its rows are elements of."""
        first = self.rows[0][0].sources[0] if self.rows else None
        return () if first is None else (Source(first.file, first.place.rsplit("/", 2)[0]),)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        rows = [[cell.as_json() for cell in row] for row in self.rows]
        return {"kind": "table", "caption": self.caption, "heads": list(self.heads), "rows": rows}


Item = Statement | Blank | Listing
Rows = tuple[tuple[Figure, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of the dossier, where it stands in ISO/IEC 27559 and on which layer of NIST SP 800-226."""

    number: str
    title: str
    iso: str
    nist: str
    items: tuple[Item, ...]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        told = {"number": self.number, "title": self.title, "iso": self.iso, "nist": self.nist}
        return told | {"items": [item.as_json() for item in self.items]}


class Missing(KeyError):
    """Nothing stands at a place."""


@dataclass(frozen=True)
class Papers:
    """The papers that a dossier is made of, read: those of the bundle by their names, audit and risk beside."""

    files: Mapping[str, Any]
    signer: str | None = None

    def at(self, file: str, place: str) -> Any:
        """What stands at a JSON pointer."""
        found: Any = self.files.get(file)
        for step in place.split("/")[1:]:
            try:
                found = found[int(step)] if isinstance(found, list) else found[unescaped(step)]
            except (KeyError, IndexError, TypeError, ValueError):
                raise Missing(f"{file} {place}") from None
        return found

    def has(self, place: str, file: str = REPORT) -> bool:
        """Whether something stands there that is not null and not empty."""
        try:
            return self.at(file, place) not in (None, "", [], {})
        except Missing:
            return False

    def figure(self, *places: str, how: str = "as it stands", file: str = REPORT) -> Figure:
        """What a rule makes of what stands at these places of a file."""
        shown = str(RULES[how](*(self.at(file, place) for place in places)))
        return Figure(
            printable(_BLANKS.sub(" ", shown).strip()), how, tuple(Source(file, place) for place in places)
        )

    def say(self, words: str, /, *also: str, **figures: Figure) -> Statement:
        """A statement: its words with the figures put in; `also` names further places, FILE or FILE PLACE."""
        own = [source for figure in figures.values() for source in figure.sources]
        more = [Source(*one.split(" ", 1)) for one in also]
        shown = {name: figure.shown for name, figure in figures.items()}
        text = words.format(**shown)
        return Statement(text, tuple(figures.values()), tuple(dict.fromkeys((*own, *more))))

    def rows(self, place: str, columns: Sequence[tuple[str, str]], file: str = REPORT) -> Rows:
        """A row for each element of a list: some of its fields, each by its rule."""
        return tuple(
            tuple(self.figure(f"{place}/{i}/{name}", how=how, file=file) for name, how in columns)
            for i in range(len(self.at(file, place)))
        )


def escaped(step: str) -> str:
    """A step of a JSON pointer.

    >>> escaped("a/b~c")
    'a~1b~0c'
    """
    return step.replace("~", "~0").replace("/", "~1")


def unescaped(step: str) -> str:
    """The name behind a step of a JSON pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def named(sources: Sequence[Source]) -> list[str]:
    """Places for the margin of a page: each file once.

    >>> named([Source("report.json", "/day"), Source("docs/guarantee.md", "T1"), Source("report.json", "/n")])
    ['report.json /day /n', 'guarantee.md T1']
    """
    files = dict.fromkeys(source.file for source in sources)
    places = {file: [source.place for source in sources if source.file == file] for file in files}
    return [" ".join([file.removeprefix(DOCS), *filter(None, found)]) for file, found in places.items()]


def blanks(sections: Sequence[Section]) -> Iterator[Blank]:
    """Every blank, in its order."""
    for section in sections:
        yield from (item for item in section.items if isinstance(item, Blank))
