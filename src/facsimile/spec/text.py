"""The text of a specification: strict YAML in, plain data and the line of every value out.

Scalars stay text (so that `0.30` is exact, `010` keeps its zero and `no` is a word); only true, false and
null are themselves. Anchors, aliases, tags and what is too large are refused while the text is read, before
anything is built from it. A key that is given twice is remembered, and its first value counts.

>>> read("a: 0.30\\nb: [x, y]").lines
{(): 1, ('a',): 1, ('b',): 2, ('b', 0): 2, ('b', 1): 2}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.bins import spelled_out
from facsimile.spec.mistakes import Mistake, Place

LARGEST = 1_000_000
MOST_VALUES = 20_000
DEEPEST = 30
LOOSE_BRACKETS = 500
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {"true": True, "false": False, "": None, "null": None, "~": None}
_SMALLER = "Give the specification itself: it is a few pages of text."


@dataclass(frozen=True)
class Text:
    """What a text holds: its data, the line of every value, and the keys that are given twice."""

    data: Any
    lines: dict[Place, int]
    twice: tuple[Mistake, ...]


def read_limited(path: Path) -> bytes:
    """A small text file, whole."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError:
        raise refusal("E212", file=path.name) from None


def read(content: bytes | str, most: int = MOST_VALUES) -> Text:
    """Read a text; what is not plain YAML is refused, and what holds too many values."""
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(raw) > LARGEST:
        raise _broken("it has more than 1 MB.", _SMALLER)
    try:
        text = raw.decode("utf-8-sig")
        _check_brackets(text)
        return _Reader(text, most).whole()
    except UnicodeDecodeError:
        raise _broken("it is not UTF-8.", "Save it as UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        line = min(error.problem_mark.line + 1, len(text.splitlines())) if error.problem_mark else None
        steps = "Look here and just above: colon and blank, quotes, brackets, and indents of blanks, not tabs."
        raise _broken("its syntax is broken.", steps, line) from None
    except yaml.YAMLError:
        raise _broken("it holds characters that no text file has.", "Save it as plain text.") from None


def plain(text: str, style: str | None) -> str | bool | None:
    """What a scalar says: quotes make a text of it; without them true, false and null are themselves."""
    return text if style else _PLAIN.get(text, text)


def _broken(problem: str, suggestion: str, line: int | None = None) -> FacsimileError:
    return refusal("E210", line=line, problem=problem, suggestion=suggestion)


def _check_brackets(text: str) -> None:
    """Refuse very deep nesting before a parser sees it."""
    depth = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        depth = max(0, depth + (1 if bracket[0] in "[{" else -1))
        if depth > LOOSE_BRACKETS:
            raise _broken("it nests too deep.", "Write it flat.")


class _Reader:
    """One pass over the events of a text."""

    def __init__(self, text: str, most: int) -> None:
        self.events: Iterator[yaml.Event] = yaml.parse(text, Loader=LOADER)
        self.lines: dict[Place, int] = {}
        self.twice: list[Mistake] = []
        self.count, self.most = 0, most

    def whole(self) -> Text:
        data, documents = None, 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _broken("it has several documents.", "Remove the line `---`.", _line(event))
            elif not isinstance(event, yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentEndEvent):
                data = self.value(event, ())
        return Text(data, self.lines, tuple(self.twice))

    def value(self, event: yaml.Event, place: Place) -> Any:
        line = _line(event)
        if isinstance(event, yaml.ScalarEvent):
            self.count += spelled_out(event.value)
        self.count += 1
        if self.count > self.most:
            problem = f"it holds more than {self.most:,} values, bins of shorthands included."
            raise _broken(problem, _SMALLER, line)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _broken("it uses an anchor or alias.", "Write it without & and *, or in quotes.", line)
        if getattr(event, "tag", None):
            raise _broken("it uses a tag.", "Write it without !, or in quotes.", line)
        if len(place) > DEEPEST:
            raise _broken("it nests too deep.", "Write it flat.", line)
        self.lines[place] = line
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(place)
        assert isinstance(event, yaml.ScalarEvent)
        return plain(event.value, event.style)

    def mapping(self, place: Place) -> dict[Any, Any]:
        built: dict[Any, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = _line(event)
            if not isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
                raise _broken("a key is not a plain text.", "Write each key as one word.", line)
            key = self.value(event, (*place, "?"))
            del self.lines[(*place, "?")]
            again = key in built
            here = (*place, f"{key} again in line {line}" if again else str(key))
            found = self.value(next(self.events), here)
            self.lines[here] = line
            if again:
                self.twice.append(Mistake(here, "", "E202", items={"key": str(key)}))
            else:
                built[key] = found
        return built

    def sequence(self, place: Place) -> list[Any]:
        built: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            built.append(self.value(event, (*place, len(built))))
        return built


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
