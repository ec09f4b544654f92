"""Mistakes that people make in a specification, made at random: each line knows what must be said about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

KEYS = {
    "algorithm", "alternatives", "bounds", "budget", "columns", "constraints", "contact", "count", "criteria",
    "criterion", "description", "epsilon", "families", "family", "gamma", "generator", "groups", "hierarchy",
    "match", "min_count", "missing", "neighbours", "never", "outside", "policy", "projection", "public_because",
    "query", "records", "reference", "scheme", "selection", "source", "statistic", "synthetic", "target",
    "threshold", "title", "total", "values", "where", "within",
}  # fmt: skip
_KEY = re.compile(r"^(\s*(?:- )?)([a-z_0-9]+):(?=\s|$)")
EPSILONS = ("epsilon", "total", "generator", "test")


@dataclass(frozen=True)
class Line:
    """A line of a specification, and the code of the mistake that was made in it."""

    text: str
    code: str | None = None


Mutation = Callable[[str], list[Line] | None]


def _misspelled(text: str) -> list[Line] | None:
    found = _KEY.match(text)
    if not found or found[2] not in KEYS:
        return None
    word = found[2]
    half = len(word) // 2
    return [Line(f"{found[1]}{word[:half]}{word[half + 1 :]}{text[found.end(2) :]}", "E205")]


def _twice(text: str) -> list[Line] | None:
    found = re.match(r"^\s*([a-z_]+): [\w.]+$", text)
    return [Line(text), Line(text, "E202")] if found and found[1] in KEYS else None


def _seeded(text: str) -> list[Line] | None:
    found = re.match(r"^(\s*)(threshold|total|min_count|gamma|title|outside|never|policy): ", text)
    return [Line(text), Line(f"{found[1]}seed: 7", "E206")] if found else None


def _swapped(pattern: str, new: str, code: str) -> Mutation:
    """Replace the group of a pattern."""

    def mutate(text: str) -> list[Line] | None:
        found = re.search(pattern, text)
        if not found:
            return None
        return [Line(text[: found.start(1)] + found.expand(new) + text[found.end(1) :], code)]

    return mutate


MUTATIONS: dict[str, Mutation] = {
    "a key is misspelled": _misspelled,
    "a key is given twice": _twice,
    "a seed": _seeded,
    "a number is a word": _swapped(r"^\s*(?:threshold|gamma|count|decimals): ([\d.]+)$", "many", "E200"),
    "an epsilon is a word": _swapped(rf"^\s*(?:{'|'.join(EPSILONS)}): ([\d.]+)$", "much", "E201"),
    "an epsilon is negative": _swapped(rf"^\s*(?:{'|'.join(EPSILONS)}): ([\d.]+)$", r"-\1", "E201"),
    "bounds are automatic": _swapped(r"^\s*bounds: (\[.*\])$", "auto", "E211"),
    "a list is a word": _swapped(r"^\s*(?:min_count|algorithm|match|by): (\[.*\])$", "word", "E200"),
    "a mapping is a word": _swapped(r"^\s*(?:map|grid|numbers): (\{.*\})$", "word", "E200"),
    "a criterion speaks of no column": _swapped(r"^\s*(?:of|target): (\w+)$", r"\1x", "E213"),
    "a rule speaks of no column": _swapped(r"^\s*(?:- )?(?:never|where): (?!any )(\w+)", r"\1x", "E213"),
    "a rule cannot be read": _swapped(r"^\s*(?:- )?never: (\w+)", r"and", "E200"),
    "a kind of criterion is misspelled": _swapped(r"criterion: ([\w-]+)$", r"\1x", "E213"),
    "a family is misspelled": _swapped(r"family: (\w+)$", r"\1x", "E213"),
    "a hyperparameter is misspelled": _swapped(r"^\s*(theta|degree|sampling|num_query):", r"\1x", "E213"),
    "a choice is misspelled": _swapped(r"^\s*(?:mode|policy|scheme|statistic): ([\w-]+)$", r"\1x", "E213"),
    "a bin cannot be read": _swapped(r"^\s+[a-z_]+: \[.*?[ \[](\d+-\d+)[,\]]", "oops", "E200"),
    "a value is lost": _swapped(r"^\s*(?:title|unit|threshold|criterion): (.+)$", "", "E2.."),
}  # fmt: skip


def mutants(text: str) -> Iterator[tuple[int, str, list[Line]]]:
    """Every mistake that can be made in a line of the text: its place, its name, the lines instead."""
    for place, line in enumerate(text.splitlines()):
        for name, mutate in MUTATIONS.items():
            lines = mutate(line)
            if lines is not None:
                yield place, name, lines


def mutated(text: str, chosen: dict[int, list[Line]]) -> tuple[str, list[tuple[int, str]]]:
    """The text with some lines replaced, and what must be found: line and code."""
    lines: list[Line] = []
    for place, line in enumerate(text.splitlines()):
        lines.extend(chosen.get(place, [Line(line)]))
    wanted = [(number, line.code) for number, line in enumerate(lines, 1) if line.code is not None]
    return "\n".join(line.text for line in lines) + "\n", wanted
