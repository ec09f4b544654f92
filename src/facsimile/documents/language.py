"""Language: the words of the documents, in one catalogue for each language (`languages/en.yaml`, …).

A text is a small template: conditions, plurals and numerals are written as its language needs them. A report
brings some English along, such as the sentence of a criterion. That is a phrase: known by its English form, so
that any report can be told in any language. What a phrase does not know stays as it is.

In a language that is written from right to left, every part that comes from elsewhere (a name, a label, a
number) is isolated, so that its direction does not mix with that of the sentence: by `<bdi>` in the page, by
the isolates of Unicode where no mark-up can stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, Template, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from facsimile.documents import numerals
from facsimile.spec.people import is_mail
from facsimile.spec.publisher import is_link

FOLDER = files("facsimile.documents") / "languages"
ENGLISH = "en"
FORWARDS, ISOLATE, END = "\u2066", "\u2068", "\u2069"
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BACKWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_WRITTEN = {"digits": r"\d+", "edge": r"[-−]?[\d.,]+", "number": r"[-−]?\d[\d.,]*(?:\s?%)?"}
"""Slots that take some characters only."""


def languages() -> list[str]:
    """The languages that have a catalogue."""
    return sorted(
        found.name.removesuffix(".yaml") for found in FOLDER.iterdir() if found.name.endswith(".yaml")
    )


@cache
def language(code: str) -> Language:
    """The words of a language."""
    content = yaml.safe_load((FOLDER / f"{code}.yaml").read_text(encoding="utf-8"))
    flat = {f"{part}.{key}": text for part, texts in content["texts"].items() for key, text in texts.items()}
    return Language(code, content["language"], flat, content["phrases"])


@dataclass(frozen=True, eq=False)
class Language:
    """A catalogue: how the language is written, its texts by `part.key`, and its phrases by group and key."""

    code: str
    ways: Mapping[str, str]
    texts: Mapping[str, str]
    phrases: Mapping[str, Mapping[str, str]]

    @property
    def backwards(self) -> bool:
        """Whether it is written from right to left."""
        return self.ways["direction"] == "rtl"

    # Texts

    def say(self, key: str, /, **told: Any) -> Markup:
        """A text for the page, its parts escaped."""
        return Markup(self._text(key, marked=True).render(told))

    def plain(self, key: str, /, **told: Any) -> str:
        """A text without mark-up: for drawings and attributes."""
        return self._text(key, marked=False).render(told)

    def own(self, value: Any) -> Any:
        """A text of the specification, or a number, as it stands in a page."""
        if isinstance(value, Markup) or not isinstance(value, str | int | float):
            return value
        words = escape(printable(str(value)))
        if not self.backwards or not words:
            return words
        direction = "" if _BACKWARDS.search(words) else ' dir="ltr"'
        return Markup(f"<bdi{direction}>{words}</bdi>")

    def apart(self, words: str) -> str:
        """The same where no mark-up can stand."""
        if not self.backwards or not words:
            return words
        return f"{ISOLATE if _BACKWARDS.search(words) else FORWARDS}{words}{END}"

    def listed(self, names: Iterable[str], by: str = "and") -> str:
        """Names in a row: `and` or `or` before the last, `and_word` where they are words of the language."""
        every = list(names) if by == "and_word" else [self.apart(name) for name in names]
        return self.ways[by].join([self.ways["comma"].join(every[:-1]), every[-1]] if every[1:] else every)

    def _text(self, key: str, marked: bool) -> Template:
        return self._marked[key] if marked else self._plain[key]

    @cached_property
    def _marked(self) -> _Templates:
        return _Templates(self.environment(autoescape=True, finalize=self.own), self.texts)

    @cached_property
    def _plain(self) -> _Templates:
        def finalize(value: Any) -> Any:
            return self.apart(printable(str(value))) if isinstance(value, str | int | float) else value

        return _Templates(self.environment(autoescape=False, finalize=finalize), self.texts)

    def environment(self, **settings: Any) -> Environment:
        """Templates that know the language: its texts (`say`), its numerals and its way to set names apart."""
        found = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **settings)
        filters: dict[str, Callable[..., Any]] = {
            "number": self.number,
            "above": self.above,
            "exact": lambda value: self.figure(numerals.exact(value)),
            "count": self.count,
            "decimal": lambda text: self.figure(numerals.decimal(text)),
            "day": self.day,
            "figure": self.figure,
            "own": self.own,
        }
        found.filters |= filters
        found.tests |= {"mail": is_mail, "link": is_link}
        found.globals |= {"say": self._said, "link": self.link, "address": self.address}
        found.globals |= {"phrase": self.phrase, "small": lambda text: self.figure(numerals.small(text))}
        return found

    @pass_context
    def _said(self, context: Context, key: str, /, **told: Any) -> Markup:
        return self.say(key, **(context.get_all() | told))

    # What a page is made of

    def link(self, to: str | None, words: str) -> Any:
        """A link to the world, or the words alone."""
        shown = self.own(words)
        return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(to, shown) if to else shown

    def address(self, to: str) -> Any:
        """Where people write to: an e-mail address, a link, or words."""
        return self.link(f"mailto:{to}" if is_mail(to) else to if is_link(to) else None, to)

    # Numerals

    def figure(self, text: str) -> str:
        """What numerals.py writes, as the language writes it."""
        known = self._read("numeral", text)
        if known is not None:
            return known
        separators = str.maketrans({",": self.ways["thousands"], ".": self.ways["decimal"]})
        return text.translate(separators).replace("\u00a0%", self.ways["percent"])

    def number(
        self, value: float | None, rounding: str = ROUND_HALF_EVEN, digits: int = numerals.DIGITS
    ) -> str:
        """A number with four significant digits, or another number of them."""
        return self.figure(numerals.number(value, rounding, digits))

    def above(self, value: float | None) -> str:
        """A bound, never below the value."""
        return self.figure(numerals.above(value))

    def count(self, value: int) -> str:
        """A whole number."""
        return self.figure(numerals.count(value))

    def day(self, day: str) -> str:
        """A day as people write it, or a month or a year."""
        return self.phrase("day", numerals.spoken_day(day))

    # Phrases

    def phrase(self, group: str, text: str) -> str:
        """A text of the report in this language; as it is where the group does not know it.

        >>> language("he").phrase("month", "May")
        'מאי'
        """
        if self.code == ENGLISH:
            return text
        known = self._read(group, text)
        return text if known is None else known

    def meaning(self, label: str, words: str) -> str:
        """What a label holds; one that says it itself stays as it is."""
        return words if words == label else self.phrase("meaning", words)

    def _read(self, group: str, text: str) -> str | None:
        for key, pattern, kinds in _patterns(group):
            found = pattern.fullmatch(text)
            parts = None if found is None else self._parts(found.groupdict(), kinds)
            if parts is not None:
                return _filled(self.phrases[group][key], parts)
        return None

    def _parts(self, found: Mapping[str, str], kinds: Mapping[str, str | None]) -> dict[str, str] | None:
        """What stands in the slots; None where a slot takes no such text."""
        parts = {name: self._part(kinds[name], text) for name, text in found.items()}
        return None if None in parts.values() else {name: part or "" for name, part in parts.items()}

    def _part(self, kind: str | None, text: str) -> str | None:
        match kind:
            case "list":
                return self.listed(re.split(", | and ", text))
            case "choice":
                return self.listed(re.split(", | or ", text), "or")
            case "meanings":
                every = (self._read("meaning", label) or self.apart(label) for label in text.split(", "))
                return self.ways["comma"].join(every)
            case "number":
                return self.apart(self.figure(text))
            case None | "digits" | "edge":
                return self.apart(text)
        return self._read(kind, text)


class _Templates(dict[str, Template]):
    """Texts, each made a template when it is first said."""

    def __init__(self, environment: Environment, texts: Mapping[str, str]) -> None:
        self._environment, self._texts = environment, texts

    def __missing__(self, key: str) -> Template:
        made = self[key] = self._environment.from_string(self._texts[key])
        return made


Pattern = tuple[str, re.Pattern[str], dict[str, str | None]]


@cache
def _patterns(group: str) -> list[Pattern]:
    """The English phrases of a group, those with most letters of their own first."""
    phrases = language(ENGLISH).phrases[group]
    ordered = sorted(phrases.items(), key=lambda pair: -len(_SLOT.sub("", pair[1])))
    return [(key, re.compile(_expression(text, (group,), _named)), dict(slots(text))) for key, text in ordered]


def slots(phrase: str) -> list[tuple[str, str | None]]:
    """The slots of a phrase and what each takes."""
    return [(name, kind or None) for name, kind in _SLOT.findall(phrase)]


def _named(slot: str, inside: str) -> str:
    """A slot as a named group."""
    return f"(?P<{slot}>{inside})"


def _expression(phrase: str, within: tuple[str, ...], wrapped: Callable[[str, str], str]) -> str:
    """A phrase as a regular expression; a slot for a phrase of a group takes the phrases of that group."""
    made, place = "", 0
    for slot in _SLOT.finditer(phrase):
        made += re.escape(phrase[place : slot.start()]) + wrapped(slot[1], _inside(slot[2], within))
        place = slot.end()
    return made + re.escape(phrase[place:])


def _inside(kind: str | None, within: tuple[str, ...]) -> str:
    if kind in _WRITTEN:
        return _WRITTEN[kind]
    if kind in (None, "list", "choice", "meanings") or kind in within:
        return ".+?"
    options = (
        _expression(text, (*within, kind), _unnamed) for text in language(ENGLISH).phrases[kind].values()
    )
    return f"(?:{'|'.join(options)})"


def _filled(phrase: str, parts: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot: parts[slot[1]], phrase)


def _unnamed(_: str, inside: str) -> str:
    return inside


def printable(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _UNPRINTABLE.sub("\ufffd", text)
