"""Random data as YAML in random styles: what a person may have written, with comments and their owners."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from facsimile.spec.mistakes import Place, named
from facsimile.spec.text import read
from facsimile.spec.written import scalar

ODD = [
    "true",
    "null",
    "",
    "<18",
    "44<",
    "a: b",
    " a",
    "b ",
    "#c",
    "d #e",
    "it's",
    '"q"',
    "[x",
    "y, z",
    "- f",
    "~",
]
ODD += [
    "two\nlines",
    "clipped\n",
    "kept\n\n",
    "a\n\nb",
    "several plain words",
    "80≤",
    "0.30",
    "א",
    "a:",
    "? g",
    "*h",
    "&i",
    "!j",
    "%k",
    "@l",
    "tab\there",
    "\u2028",
    "\x85",
]
WORDS = st.one_of(st.sampled_from(ODD), st.text("abc XYZ1_é", max_size=9), st.text(max_size=6))
TEXTS = WORDS.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))
VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.none(), st.text("ab c", min_size=100, max_size=160)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5)
RANDOM = st.integers(0, 2**32).map(Random)


@dataclass
class Writer:
    """Writes data line by line; each line has owners: the places that it shows, and its comment the last."""

    random: Random
    lines: list[tuple[str, set[Place]]] = field(default_factory=list)
    comments: dict[str, Place] = field(default_factory=dict)

    def text(self, data: dict[str, Any]) -> str:
        """The whole text, with its line ends and perhaps a byte order mark."""
        self.mapping(data, (), 0, "")
        newline = self.random.choice(["\n", "\n", "\r\n"])
        ending = newline if self.random.random() < 0.8 or self.open else ""
        return self.random.choice(["", "", "\ufeff"]) + newline.join(line for line, _ in self.lines) + ending

    @property
    def open(self) -> bool:
        """Whether the last line belongs to a block scalar, whose last line break counts."""
        return any(line.endswith((" |", " |+")) for line, _ in self.lines)

    def comment(self, place: Place, column: int) -> None:
        """Perhaps a blank line, perhaps a comment line of its own."""
        if self.random.random() < 0.15 and not any(line.endswith(" |+") for line, _ in self.lines):
            self.lines.append(("", set()))
        if self.random.random() < 0.2:
            self.lines.append((" " * column + self.note(place), {place}))

    def note(self, place: Place) -> str:
        word = f"# note {len(self.comments)} of it: 'x"
        self.comments[word] = place
        return word

    def behind(self, place: Place) -> str:
        return "  " + self.note(place) if self.random.random() < 0.15 else ""

    def word(self, value: Any, flow: bool) -> str:
        """A scalar in one of the ways in which it may be written."""
        usual = scalar(value, flow)
        if isinstance(value, str) and self.random.random() < 0.2 and not usual.startswith('"'):
            usual = "'" + value.replace("'", "''") + "'"
        return "" if value is None and not flow and self.random.random() < 0.5 else usual

    def flow(self, value: Any) -> str:
        blank = self.random.choice(["", " "])
        comma = self.random.choice(["", "", ","]) if value else ""
        if isinstance(value, dict):
            pairs = (f"{self.word(key, True)}: {self.flow(item)}" for key, item in value.items())
            return "{" + blank + ", ".join(pairs) + comma + blank + "}"
        if isinstance(value, list):
            return "[" + blank + ", ".join(map(self.flow, value)) + comma + blank + "]"
        return self.word(value, True)

    def value(self, value: Any, place: Place, column: int, lead: str) -> None:
        """A value behind its key or dash; `column` is that of the key or dash."""
        rich = isinstance(value, dict | list) and value
        if rich and self.random.random() < 0.65:
            self.lines.append((lead + self.behind(place), {place}))
            inner = column + self.random.choice([1, 2, 2, 2, 4])
            if isinstance(value, list):
                indentless = lead.endswith(":") and self.random.random() < 0.3
                self.sequence(value, place, column if indentless else inner)
            else:
                self.mapping(value, place, inner, "")
        elif isinstance(value, str) and value.strip() and self.random.random() < 0.4 and self.long(value):
            self.scalar_lines(value, place, column, lead)
        elif rich and self.random.random() < 0.3:
            self.lines.append((f"{lead} {self.flow(value)[0]}{self.behind(place)}", {place}))
            margin = " " * (column + 3)
            items = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
            for i, (key, inside) in enumerate(items):
                word = f"{self.word(key, True)}: " if isinstance(value, dict) else ""
                comma = "," if i + 1 < len(items) or self.random.random() < 0.3 else ""
                self.lines.append((f"{margin}{word}{self.flow(inside)}{comma}{self.behind(place)}", {place}))
            self.lines.append((" " * (column + 1) + ("}" if isinstance(value, dict) else "]"), {place}))
        else:
            whole = self.flow(value) if isinstance(value, dict | list) else self.word(value, False)
            self.lines.append((f"{lead} {whole}".rstrip(" ") + self.behind(place), {place}))

    def long(self, value: str) -> bool:
        """Whether a text may be written over several lines."""
        return all(line.isprintable() for line in value.split("\n")) and value.strip() == value.rstrip("\n")

    def scalar_lines(self, value: str, place: Place, column: int, lead: str) -> None:
        """A text in lines of its own, or plain over two lines."""
        inner = " " * (column + self.random.choice([1, 2, 3]))
        body = value.split("\n")
        ends = len(value) - len(value.rstrip("\n"))
        if not ends and len(body) == 1 and scalar(value) == value and " " in value and "  " not in value:
            first, second = value.split(" ", 1)
            if scalar(second) == second and scalar(f"x {second}") == f"x {second}":
                self.lines += [(f"{lead} {first}", {place}), (inner + second + self.behind(place), {place})]
                return
        style = ("-", "", "+")[min(ends, 2)]
        style = self.random.choice([style, "+"]) if ends else style
        sign = "|" if len(body) > 1 else self.random.choice("|>")
        self.lines.append((f"{lead} {sign}{style}", {place}))
        self.lines += [(inner + line if line else "", {place}) for line in (body[:-1] if ends else body)]

    def mapping(self, data: dict[str, Any], place: Place, column: int, first: str) -> None:
        for i, (key, value) in enumerate(data.items()):
            here = (*place, str(key))
            margin = first if i == 0 and first else " " * column
            if not (i == 0 and first):
                self.comment(here, column)
            self.value(value, here, column, f"{margin}{self.word(key, True)}:")

    def sequence(self, data: list[Any], place: Place, column: int) -> None:
        for i, item in enumerate(data):
            here = (*place, i)
            self.comment(here, column)
            margin = " " * column
            if isinstance(item, dict) and item and self.random.random() < 0.6:
                self.mapping(item, here, column + 2, f"{margin}- ")
            else:
                self.value(item, here, column, f"{margin}-")


def places(data: Any, place: Place = ()) -> list[Place]:
    """Every place of data but the root."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    found: list[Place] = []
    for key, value in items:
        here = (*place, key if isinstance(data, list) else str(key))
        found += [here, *places(value, here)]
    return found


def at(data: Any, place: Place) -> Any:
    """The value at a place."""
    for part in place:
        data = named(data)[part]
    return data


def data_of(text: str) -> Any:
    """The plain data of a text."""
    return read(text).data
