"""Conditions as people say them: `mother_age < 23 and parity > 6`.

    condition  :=  part ("or" part)*
    part       :=  factor ("and" factor)*
    factor     :=  "not" factor | "(" condition ")" | atom
    atom       :=  term ("<" | "<=" | ">" | ">=" | "=" | "!=") term
                |  NAME ["not"] "in" "[" term ("," term)* "]"
                |  NAME "is" ["not"] "missing"  |  "any column is missing"

A condition is parsed into a small tree, never evaluated as code. `not` is pushed down to the atoms, so
the tree is monotone: only `and`, `or` and atoms. Every reading of it (a raw record, a bin, an SQL filter)
is then a choice of what an atom means. An atom that meets a missing value does not hold.

>>> str(parse_condition("not (a < 3 or b = x)"))
'a >= 3 and b != x'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Literal, TypeVar

from pydantic import Field

from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin, Span
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.mistakes import Mistake, Place
from facsimile.spec.model import Label, Model, optional
from facsimile.spec.people import Sourced

ANY = "any column"
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "!=": ne}
T = TypeVar("T")


class _Atom:
    """What atoms share: a name, or two, and the constants that it is compared with."""

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the atom reads."""
        return (self.name,)

    @property
    def constants(self) -> tuple[Fraction | str, ...]:
        """The numbers and labels that it speaks of."""
        return ()

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The numbers among them."""
        return tuple(constant for constant in self.constants if isinstance(constant, Fraction))


@dataclass(frozen=True)
class Compare(_Atom):
    """A name against a number, a label or another name."""

    name: str
    sign: str
    other: Fraction | str
    other_is_name: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, str(self.other)) if self.other_is_name else (self.name,)

    @property
    def constants(self) -> tuple[Fraction | str, ...]:
        return () if self.other_is_name else (self.other,)

    def negated(self) -> Compare:
        """The atom that holds on exactly the present values on which this one does not."""
        return Compare(self.name, NEGATION[self.sign], self.other, self.other_is_name)

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {_show(self.other)}"


@dataclass(frozen=True)
class Among(_Atom):
    """A name among listed values, or not among them."""

    name: str
    values: tuple[Fraction | str, ...]
    among: bool = True

    @property
    def constants(self) -> tuple[Fraction | str, ...]:
        return self.values

    def negated(self) -> Among:
        """The opposite atom."""
        return Among(self.name, self.values, not self.among)

    def __str__(self) -> str:
        listed = ", ".join(_show(v) for v in self.values)
        return f"{self.name} {'in' if self.among else 'not in'} [{listed}]"


@dataclass(frozen=True)
class Missing(_Atom):
    """A name whose value is missing, or present; `any column` stands for all of them."""

    name: str
    missing: bool = True

    def negated(self) -> Missing:
        """The opposite atom."""
        return Missing(self.name, not self.missing)

    def __str__(self) -> str:
        return f"{self.name} is {'missing' if self.missing else 'not missing'}"


@dataclass(frozen=True)
class Every:
    """All parts hold."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, Some) else str(p) for p in self.parts)


@dataclass(frozen=True)
class Some:
    """At least one part holds."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(str(p) for p in self.parts)


Atom = Compare | Among | Missing
Condition = Compare | Among | Missing | Every | Some


@dataclass(frozen=True)
class Possible:
    """On bins: some record behind them satisfies the condition (witnesses.py), not each."""

    condition: Condition


Judged = Condition | Possible

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)(?![\w.])|(?P<sign><=|>=|==|!=|<|>|=|≤|≥|≠)"
    r"|(?P<mark>[()\[\]{},])|\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<word>[\w][\w./-]*))"
)
_SIGNS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
_RESERVED = {"and", "or", "not", "in", "is", "missing"}
LONGEST = 2000
DEEPEST = 20


@lru_cache(maxsize=512)
@lru_cache(maxsize=256)
def parse_condition(text: str) -> Condition:
    """Read a condition; a ValueError says what is wrong and where."""
    return _Parser(text).whole()


def unreadable(text: str, place: Place) -> Iterator[Mistake]:
    """What is wrong with a condition, if it cannot be read."""
    try:
        parse_condition(text)
    except ValueError as error:
        yield Mistake(place, str(error))


def names(condition: Judged) -> tuple[str, ...]:
    """The names a condition reads, in order of appearance, each once."""
    plain = condition.condition if isinstance(condition, Possible) else condition
    return tuple(dict.fromkeys(name for atom in atoms(plain) for name in atom.names))


def alternatives(condition: Judged) -> Iterator[Judged]:
    """The conditions that an "or" joins; any other condition by itself."""
    if isinstance(condition, Possible):
        yield from (
            Possible(part) for part in alternatives(condition.condition) if not isinstance(part, Possible)
        )
    elif isinstance(condition, Some):
        for part in condition.parts:
            yield from alternatives(part)
    else:
        yield condition


def connected(sets: Sequence[set[str]]) -> list[list[int]]:
    """The places of sets, those together that share an element or are linked by others.

    >>> connected([{"a"}, {"b"}, {"a", "c"}, {"c"}])
    [[1], [0, 2, 3]]
    """
    found: list[tuple[set[str], list[int]]] = []
    for i, names_ in enumerate(sets):
        linked = [part for part in found if part[0] & names_]
        found = [part for part in found if not part[0] & names_]
        found.append((names_.union(*(p[0] for p in linked)), sorted([i, *(j for p in linked for j in p[1])])))
    return [places for _, places in found]


def atoms(condition: Condition) -> Iterator[Atom]:
    """Every atom of the tree."""
    if isinstance(condition, Every | Some):
        for part in condition.parts:
            yield from atoms(part)
    else:
        yield condition


def fold(
    condition: Condition,
    atom: Callable[[Atom], T],
    every: Callable[[Sequence[T]], T],
    some: Callable[[Sequence[T]], T],
) -> T:
    """Read the tree with a meaning for atoms, for `and` and for `or`."""
    if isinstance(condition, Every):
        return every([fold(part, atom, every, some) for part in condition.parts])
    if isinstance(condition, Some):
        return some([fold(part, atom, every, some) for part in condition.parts])
    return atom(condition)


def holds(condition: Condition, record: Mapping[str, Fraction | str | None]) -> bool:
    """Whether a record (None: missing) satisfies the condition."""
    return fold(condition, lambda a: _holds_on_values(a, record), all, any)


def holds_on_bins(atom: Atom, bins: Mapping[str, Bin]) -> bool:
    """Whether every value (or pair of values) of the bins satisfies the atom."""
    found = bins[atom.name]
    if isinstance(atom, Missing):
        return isinstance(found, MissingBin) is atom.missing
    if isinstance(found, MissingBin):
        return False
    sign = atom.sign if isinstance(atom, Compare) else "=" if atom.among else "!="
    other = bins[str(atom.other)] if isinstance(atom, Compare) and atom.other_is_name else None
    if isinstance(found, CategoryBin):
        labels = other.values if isinstance(other, CategoryBin) else {_as_label(c) for c in atom.constants}
        if isinstance(atom, Compare) and (not labels or (sign == "=" and len(labels) > 1)):
            return False
        return found.values <= labels if sign == "=" else not found.values & labels
    spans = [other.span] if isinstance(other, NumberBin) else [(number, number) for number in atom.numbers]
    quantifier = all if isinstance(atom, Among) and not atom.among else any
    return quantifier(_ordered(sign, found.span, span) for span in spans)


def _ordered(sign: str, left: Span, right: Span) -> bool:
    """Whether the sign holds between every value of the left interval and every value of the right one."""
    if sign in (">", ">="):
        return _ordered(MIRROR[sign], right, left)
    if sign == "=":
        return left[0] is not None and left[0] == left[1] == right[0] == right[1]
    if sign == "!=":
        return _ordered("<", left, right) or _ordered("<", right, left)
    top, bottom = left[1], right[0]
    return top is not None and bottom is not None and (top < bottom or (sign == "<=" and top == bottom))


def _holds_on_values(atom: Atom, record: Mapping[str, Fraction | str | None]) -> bool:
    if isinstance(atom, Missing):
        return (record[atom.name] is None) is atom.missing
    value = record[atom.name]
    if value is None:
        return False
    if isinstance(atom, Among):
        return (value in [_matching(value, v) for v in atom.values]) is atom.among
    other = record[str(atom.other)] if atom.other_is_name else _matching(value, atom.other)
    if other is None or type(other) is not type(value):
        return False
    return _COMPARED[atom.sign](value, other)


def _matching(value: Fraction | str, constant: Fraction | str) -> Fraction | str:
    """A label may be written with digits only: against a category, a number is its text."""
    return _as_label(constant) if isinstance(value, str) else constant


def _as_label(constant: Fraction | str) -> str:
    return constant if isinstance(constant, str) else show_decimal(constant)


def _show(value: Fraction | str) -> str:
    if isinstance(value, Fraction):
        return show_decimal(value)
    return value if re.fullmatch(r"[A-Za-z_][\w./-]*", value) and value not in _RESERVED else f'"{value}"'


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise ValueError(f"a condition has at most {LONGEST} characters")
        self.tokens = list(_tokens(text))
        self.place = 0
        self.depth = 0

    def whole(self) -> Condition:
        condition = self.some()
        if self.place < len(self.tokens):
            raise ValueError(f"the condition goes on at {self.tokens[self.place][1]!r} where it should end")
        return condition

    def some(self) -> Condition:
        return self.joined("or", self.every, Some)

    def every(self) -> Condition:
        return self.joined("and", self.factor, Every)

    def joined(self, word: str, part: Callable[[], Condition], kind: type[Every | Some]) -> Condition:
        parts = [part()]
        while self.take("word", word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else kind(tuple(parts))

    def factor(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"a condition nests at most {DEEPEST} deep")
        try:
            if self.take("word", "not"):
                return _negate(self.factor())
            if self.take("mark", "("):
                inner = self.some()
                self.need("mark", ")")
                return inner
            return self.atom()
        finally:
            self.depth -= 1

    def atom(self) -> Atom:
        if self.words("any", "column", "is", "missing"):
            return Missing(ANY)
        kind, text = self.next("a name")
        if self.take("word", "is"):
            present = self.take("word", "not")
            self.need("word", "missing")
            return Missing(_name(kind, text), not present)
        absent = self.take("word", "not")
        if absent or self.at("word", "in"):
            self.need("word", "in")
            return Among(_name(kind, text), self.listed(), not absent)
        _, sign = self.need("sign")
        other_kind, other = self.next("a value")
        sign = _SIGNS.get(sign, sign)
        if kind == "number":
            kind, text, other_kind, other, sign = other_kind, other, kind, text, MIRROR[sign]
        return Compare(_name(kind, text), sign, _constant(other_kind, other), other_kind == "word")

    def listed(self) -> tuple[Fraction | str, ...]:
        closing = {"[": "]", "{": "}", "(": ")"}
        _, opening = self.next("a list")
        if opening not in closing:
            raise ValueError(f"a list such as [A, B] is expected at {opening!r}")
        values = [_constant(*self.next("a value"))]
        while self.take("mark", ","):
            values.append(_constant(*self.next("a value")))
        self.need("mark", closing[opening])
        return tuple(values)

    def at(self, kind: str, text: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] == (kind, text)

    def take(self, kind: str, text: str) -> bool:
        found = self.at(kind, text)
        self.place += found
        return found

    def words(self, *texts: str) -> bool:
        found = self.tokens[self.place : self.place + len(texts)] == [("word", t) for t in texts]
        self.place += len(texts) if found else 0
        return found

    def next(self, expected: str) -> tuple[str, str]:
        if self.place >= len(self.tokens):
            raise ValueError(f"the condition ends where {expected} is expected")
        self.place += 1
        return self.tokens[self.place - 1]

    def need(self, kind: str, text: str | None = None) -> tuple[str, str]:
        token = self.next(text or "a comparison such as <")
        if token[0] != kind or (text is not None and token[1] != text):
            raise ValueError(f"{text or 'a comparison such as <'} is expected at {token[1]!r}")
        return token


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"the condition is not readable at {text[place:].strip()[:12]!r}")
        kind = str(match.lastgroup)
        yield ("quoted" if kind in ("single", "double") else kind), match[kind]
        place = match.end()


def _name(kind: str, text: str) -> str:
    if kind != "word" or text in _RESERVED:
        raise ValueError(f"a name is expected at {text!r}")
    return text


def _constant(kind: str, text: str) -> Fraction | str:
    if kind == "number":
        return parse_decimal(text)
    if kind == "quoted" or (kind == "word" and text not in _RESERVED):
        return text
    raise ValueError(f"a value is expected at {text!r}")


def _negate(condition: Condition) -> Condition:
    return fold(condition, lambda a: a.negated(), lambda ps: Some(tuple(ps)), lambda ps: Every(tuple(ps)))


def resolve(condition: Condition, known: Sequence[str]) -> Condition:
    """Tell names from labels on the right of a comparison, and spell out `any column`."""

    def resolved(atom: Atom) -> Condition:
        if isinstance(atom, Compare):
            is_name = atom.other_is_name and atom.other in known
            return Compare(atom.name, atom.sign, atom.other, is_name)
        if isinstance(atom, Missing) and atom.name == ANY:
            each = tuple(Missing(name, atom.missing) for name in known)
            return Some(each) if atom.missing else Every(each)
        return atom

    return fold(condition, resolved, lambda parts: Every(tuple(parts)), lambda parts: Some(tuple(parts)))


class Constraint(Model):
    """What never happens, and who says so."""

    never: str = Field(description="A condition that no plausible record satisfies.")
    source: Sourced = Field(description="Who says so, as a sentence or as `by`, `why` and `when`.")
    clamp: dict[str, Label] | None = optional(
        "Policy `clamp`: the values a record gets that satisfies the condition."
    )
    bins: Literal["all", "any"] = optional(
        "A synthetic rule: a row falls if all records behind its bins break it, or if any does.",
        "all",
        exclude_if=lambda reading: reading == "all",
    )

    def mistakes(self) -> Iterator[Mistake]:
        """The condition can be read."""
        yield from unreadable(self.never, ("never",))

    def condition(self, columns: Sequence[str]) -> Condition:
        """The parsed condition, its names told from its labels."""
        return resolve(parse_condition(self.never), columns)

    def judged(self, columns: Sequence[str]) -> Judged:
        """The same as it is read on bins."""
        condition = self.condition(columns)
        return Possible(condition) if self.bins == "any" else condition
