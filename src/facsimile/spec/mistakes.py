"""Mistakes of a specification: each with its place, all of them reported at once.

A part of a specification tells its mistakes one by one (`Model.mistakes`). A mistake hides the value that it is
about: a check that looks at a hidden value raises `Unknown` and says nothing, so that one mistake is told once.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from facsimile.errors import FacsimileError, SpecRefused, refusal

Place = tuple[str | int, ...]
SEED = "seed"
UNCLEAR = ""
MOST_SHOWN = 20
MOST_TOLD = 1000
LONGEST_WORD = 60
LONGEST_SENTENCE = 400
MOST_COMPARED = 1000
CLOSE = 0.6


class Unknown(Exception):
    """A check looked at a value that another mistake hides."""


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong: where it stands (keys, and places in lists), and what is said about it.

    For a name that nothing bears, `word` is that name and `known` are the names that could be meant.
    """

    place: Place
    problem: str
    code: str = "E200"
    items: Mapping[str, str] = field(default_factory=dict)
    word: str = ""
    known: Collection[str] = ()
    hides: bool = True

    def within(self, place: Place) -> Mistake:
        """The same mistake, seen from a part that holds the other."""
        return replace(self, place=(*place, *self.place))

    def refusal(self, line: int | None) -> FacsimileError:
        """The mistake as people read it."""
        items = {"problem": _sentence(self.problem), "key": cut(self.word), **self.items}
        if self.code in ("E205", "E213"):
            items["suggestion"] = suggestion(self.word, self.known)
        return refusal(self.code, line=line, **items)


def unknown_name(place: Place, problem: str, word: str, known: Collection[str]) -> Mistake:
    """A name that nothing bears, and the names that could be meant."""
    return Mistake(place, problem, "E213", word=word, known=known)


def unclear(place: Place) -> Mistake:
    """No mistake by itself, but another one makes it unclear what is meant: it is hidden and not told."""
    return Mistake(place, "", UNCLEAR)


def every(*checks: Iterator[Mistake], at: Place = ()) -> Iterator[Mistake]:
    """The mistakes of all checks of the part at a place; a check ends where it needs what a mistake hides."""
    for check in checks:
        try:
            yield from (mistake.within(at) for mistake in check)
        except Unknown:
            pass
        except ValueError as error:
            yield Mistake(at, str(error))


def refused(mistakes: Iterable[Mistake], lines: Mapping[Place, int]) -> SpecRefused:
    """All mistakes in the order of the file; the first ones in words, the rest as a number."""
    ordered = sorted(((line_of(m.place, lines), m) for m in mistakes), key=lambda located: located[0] or 0)
    told = [mistake.refusal(line) for line, mistake in ordered[:MOST_SHOWN]]
    return SpecRefused.of(told, len(ordered) - len(told), len(ordered) >= MOST_TOLD)


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """The line of a place, or of the innermost part around it that stands in the file."""
    for length in range(len(place), -1, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def named(data: Any) -> dict[str | int, Any]:
    """The parts of plain data by what a place calls them: items by number, keys by their text.

    >>> named({True: "F", "1": "M"})
    {'True': 'F', '1': 'M'}
    """
    if isinstance(data, list):
        return dict(enumerate(data))
    return {str(key): item for key, item in data.items()} if isinstance(data, dict) else {}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The name that is written almost like this word.

    >>> nearest("treshold", ["epsilon", "threshold"])
    'threshold'
    """
    small: dict[str, str] = {}
    for name in islice((n for n in known if len(n) <= LONGEST_WORD), MOST_COMPARED):
        small.setdefault(name.casefold(), name)
    close = difflib.get_close_matches(word.casefold(), small, n=1, cutoff=CLOSE)
    return small[close[0]] if close else None


def suggestion(word: str, known: Collection[str]) -> str:
    """What could be meant: the nearest name, or the names there are."""
    close = nearest(word, known)
    if close is not None:
        return f"Did you mean {close}?"
    if not known:
        return "Remove it."
    return f"Known here: {listed(known)}."


def listed(names: Collection[str], most: int = 12) -> str:
    """Some names as people read them.

    >>> listed(["a", "b", "c"], most=2)
    'a, b, …'
    """
    return ", ".join([*(cut(name) for name in islice(names, most)), *(["…"] if len(names) > most else [])])


def cut(text: str, most: int = LONGEST_WORD) -> str:
    """A text of the specification, short enough to be repeated."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _sentence(text: str) -> str:
    text = cut(text.removesuffix("."), LONGEST_SENTENCE)
    return f"{text[:1].upper()}{text[1:]}."
