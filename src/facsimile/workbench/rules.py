"""Rules on the page: constraints as sentences, with the public records that break each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.spec.columns import Column
from facsimile.spec.constraints import Among, Atom, Compare, Condition, Every, Missing, Some
from facsimile.spec.decimals import show_decimal
from facsimile.spec.people import Source
from facsimile.spec.release import Specification
from facsimile.table.cleaning import BAD
from facsimile.table.conditions import Mask, implausible
from facsimile.table.encoding import recode
from facsimile.table.values import BLANK, Values

MOST_SHOWN = 8
SIGNS = {
    "<": "below",
    "<=": "at most",
    ">": "above",
    ">=": "at least",
    "=": "equal to",
    "!=": "other than",
}


@dataclass(frozen=True)
class Example:
    """A public record that breaks a rule: its values by column, and how many records have them all."""

    values: tuple[str, ...]
    records: int


@dataclass(frozen=True)
class RuleLine:
    """A rule for people. `records`: of the public file, as far as it is known, that break it."""

    item: str
    kind: str
    never: str
    sentence: str
    source: str
    bins: str
    records: int | None
    examples: tuple[Example, ...]


def lines(specification: Specification, values: Values | None) -> Iterator[RuleLine]:
    """Every rule, the raw ones first."""
    yield from (raw_line(specification, values, i) for i in range(len(specification.constraints.raw)))
    table = None if values is None else values.table(specification)
    coded = None if table is None else recode(specification, table, specification.first)
    for i, rule in enumerate(specification.constraints.synthetic):
        number = None
        if coded is not None:
            rows = implausible([specification.synthetic_conditions[i]], coded.domain, coded.codes)
            number = int(coded.counts[rows].sum())
        words = sentence(rule.condition(specification.names))
        item = f"constraints.synthetic.{i + 1}"
        yield RuleLine(item, "synthetic", rule.never, words, _source(rule.source), rule.bins or "", number, ())


def raw_line(specification: Specification, values: Values | None, place: int) -> RuleLine:
    """A rule about the original, with the public records that break it."""
    rule = specification.constraints.raw[place]
    item, words = f"constraints.raw.{place + 1}", sentence(rule.condition(specification.names))
    number, examples = None, tuple[Example, ...]()
    if values is not None:
        broken = values.breaking(specification, place)
        number = int(values.counts[broken].sum())
        examples = tuple(_examples(specification, values, broken))
    return RuleLine(item, "raw", rule.never, words, _source(rule.source), "", number, examples)


def _source(source: Source | str) -> str:
    if isinstance(source, str):
        return source
    return ", ".join(str(part) for part in (source.by, source.why, source.when) if part)


def sentence(condition: Condition) -> str:
    """A rule as a sentence.

    >>> from facsimile.spec.constraints import parse_condition
    >>> sentence(parse_condition("mother_age < 23 and parity > 6"))
    'No record has mother age below 23 and parity above 6.'
    """
    return f"No record has {_words(condition)}."


def _words(condition: Condition) -> str:
    if isinstance(condition, Every):
        return " and ".join(f"({_words(p)})" if isinstance(p, Some) else _words(p) for p in condition.parts)
    if isinstance(condition, Some):
        return " or ".join(map(_words, condition.parts))
    return _atom(condition)


def _atom(atom: Atom) -> str:
    name = atom.name.replace("_", " ")
    if isinstance(atom, Missing):
        return f"{'a blank' if atom.missing else 'a value'} in {name}"
    if isinstance(atom, Among):
        return f"{name} {'one' if atom.among else 'none'} of {', '.join(map(_shown, atom.values))}"
    assert isinstance(atom, Compare)
    other = str(atom.other).replace("_", " ") if atom.other_is_name else _shown(atom.other)
    return f"{name} {SIGNS[atom.sign]} {other}"


def _shown(value: Fraction | str) -> str:
    return value if isinstance(value, str) else show_decimal(value)


def _examples(specification: Specification, values: Values, broken: Mask) -> Iterator[Example]:
    """The most frequent rows that break a rule, as the file has them."""
    rows = np.flatnonzero(broken)
    for row in rows[np.argsort(-values.counts[rows], kind="stable")][:MOST_SHOWN]:
        shown = tuple(_value(column, int(values.fields[column.name][row])) for column in specification.columns)
        yield Example(shown, int(values.counts[row]))


def _value(column: Column, value: int) -> str:
    if value == BLANK:
        return "blank"
    if column.values is not None:
        return column.values[value] if value < len(column.values) else "another text"
    return "no number" if value == BAD else show_decimal(value * column.step)
