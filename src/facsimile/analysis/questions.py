"""Questions: what a data user may ask of a release, read from the words that people write.

    count where mother_age = '<18' and parity = 1
    proportion gestation_week < 37 given parity = 1
    mean birth_weight where birth_sex = F
    median birth_weight               quantile 0.9 birth_weight where parity = 1
    table mother_age by parity where birth_sex = F
    regress birth_weight on parity mother_age c(birth_month) parity*mother_age
    logit gestation_week < 37 on mother_age parity

Conditions are those of a specification. A predictor `c(name)` enters by indicators of its bins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.criteria import EVENT
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.formula import Formula
from facsimile.spec.mistakes import cut

LONGEST = 4000
MOST_BY = 3


@dataclass(frozen=True)
class Count:
    """How many records satisfy a condition; without one, all of them."""

    where: str | None = None

    def __str__(self) -> str:
        return f"count{_where(self.where)}"


@dataclass(frozen=True)
class Proportion:
    """The share of records that satisfy a condition, among all or among those that satisfy another."""

    of: str
    given: str | None = None

    def __str__(self) -> str:
        return f"proportion {self.of}" + ("" if self.given is None else f" given {self.given}")


@dataclass(frozen=True)
class Mean:
    """The mean of a column's numbers."""

    of: str
    where: str | None = None

    def __str__(self) -> str:
        return f"mean {self.of}{_where(self.where)}"


@dataclass(frozen=True)
class Quantile:
    """The smallest bin of a column that a share `at` of the records does not exceed."""

    of: str
    at: Fraction = Fraction(1, 2)
    where: str | None = None

    def __str__(self) -> str:
        which = "median" if self.at == Fraction(1, 2) else f"quantile {show_decimal(self.at)}"
        return f"{which} {self.of}{_where(self.where)}"


@dataclass(frozen=True)
class Crossing:
    """The count of every combination of the bins of some columns."""

    by: tuple[str, ...]
    where: str | None = None

    def __str__(self) -> str:
        return f"table {' by '.join(self.by)}{_where(self.where)}"


@dataclass(frozen=True)
class Regression:
    """A linear regression of a column, or a logistic one of an event."""

    formula: Formula
    event: str | None = None
    where: str | None = None

    def __str__(self) -> str:
        on = " ".join(f"c({t})" if t in self.formula.indicators else t for t in self.formula.on or ())
        verb, of = ("regress", self.formula.target) if self.event is None else ("logit", self.event)
        return f"{verb} {of} on {on}{_where(self.where)}"


Question = Count | Proportion | Mean | Quantile | Crossing | Regression


def _where(condition: str | None) -> str:
    return "" if condition is None else f" where {condition}"


def parse_question(text: str) -> Question:
    """Read a question; what cannot be read is refused."""
    if len(text) > LONGEST:
        raise _unreadable(f"it has more than {LONGEST} characters")
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match verb.lower():
        case "count":
            before, where = _split(rest, "where")
            if before:
                raise _unreadable(f"{cut(before)} stands where `where` is expected")
            return Count(where)
        case "proportion" | "share":
            of, given = _split(rest, "given")
            return Proportion(_needed(of, "a condition"), given)
        case "mean":
            of, where = _split(rest, "where")
            return Mean(_word(of), where)
        case "median":
            of, where = _split(rest, "where")
            return Quantile(_word(of), where=where)
        case "quantile":
            at, _, rest = rest.partition(" ")
            of, where = _split(rest.strip(), "where")
            return Quantile(_word(of), share_of(at), where)
        case "table":
            by, where = _split(rest, "where")
            return Crossing(several(tuple(_word(name) for name in re.split(r"\s+by\s+|\s*,\s*", by))), where)
        case "regress":
            model, where = _split(rest, "where")
            target, on = _split(model, "on")
            return Regression(formula_of(_word(target), on), None, where)
        case "logit":
            model, where = _split(rest, "where")
            event, on = _split(model, "on")
            return Regression(formula_of(EVENT, on), _needed(event, "a condition"), where)
    raise _unreadable(f"{cut(verb) or 'nothing'} is no kind of question")


def share_of(text: str) -> Fraction:
    """Which quantile: between 0 and 1."""
    try:
        found = parse_decimal(text)
    except ValueError:
        found = Fraction(0)
    if not 0 < found < 1:
        raise _unreadable("a quantile is a number between 0 and 1, such as 0.9")
    return found


def several(by: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a table: up to three, each once."""
    if not 1 <= len(by) <= MOST_BY or len(set(by)) < len(by):
        raise _unreadable(f"a table is of one to {MOST_BY} columns, each named once")
    return by


def formula_of(target: str, on: str | None) -> Formula:
    """The formula of a regression: columns, products of two, and `c(name)`."""
    texts = re.split(r"[\s,+]+", re.sub(r"\s*\*\s*", "*", _needed(on or "", "`on` and predictors")))
    terms, indicators = list[str](), list[str]()
    for text in filter(None, texts):
        parts = [re.fullmatch(r"(?:([cC])\((\w+)\)|(\w+))", part) for part in text.split("*")]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts) or len(parts) > 2:
            raise _unreadable(f"a predictor is a column, a product of two, or c(column): not {cut(text)}")
        names = [part[2] or part[3] for part in found]
        terms.append("*".join(names))
        indicators += [part[2] for part in found if part[1]]
    if len(set(terms)) < len(terms):
        raise _unreadable("a predictor is named twice")
    return Formula(target, tuple(terms), tuple(dict.fromkeys(indicators)))


def _split(text: str, word: str) -> tuple[str, str | None]:
    """What stands before and after the first such word outside of quotes; None where there is none."""
    quote = ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif re.match(rf"{word}(?![\w'\"])", text[place:]) and (place == 0 or text[place - 1] in " \t\n)]}"):
            return text[:place].strip(), _needed(text[place + len(word) :].strip(), f"a part after `{word}`")
    return text.strip(), None


def _word(text: str) -> str:
    if not re.fullmatch(r"\w+", text.strip()):
        raise _unreadable(f"the name of a column is expected, not {cut(text.strip()) or 'nothing'}")
    return text.strip()


def _needed(text: str, what: str) -> str:
    if not text:
        raise _unreadable(f"{what} is missing")
    return text


def _unreadable(problem: str) -> FacsimileError:
    return refusal("E430", problem=problem)
