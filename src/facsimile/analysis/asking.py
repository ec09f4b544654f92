"""Asking: a question in words becomes an answer; where nothing is guaranteed, replicates estimate.

A replicate is the whole scheme run again with the release in the place of the original (a pair: the table it
was made from, and the table it made). The spread of the figure's errors on them estimates that on the release:
no guarantee, and marked so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

from facsimile.analysis.answers import ESTIMATED, GUARANTEED, NONE, Analyst, Found
from facsimile.analysis.basis import Basis
from facsimile.analysis.combining import FEWEST, combine, scaled
from facsimile.analysis.events import event_of
from facsimile.analysis.intervals import Claim, Interval
from facsimile.analysis.questions import (
    Count,
    Crossing,
    Mean,
    Proportion,
    Quantile,
    Question,
    Regression,
    parse_question,
)
from facsimile.analysis.regressions import regressed
from facsimile.errors import FacsimileError
from facsimile.spec.calibration import Kind
from facsimile.table.domain import Domain
from facsimile.table.table import Table

Pair = tuple[Table, Table]
REPLICATES = "replicates"
REPLICATES_WHY = "The release was made again from itself; the spread of the figure estimates its error."
COUNTED: tuple[Kind, ...] = ("one-way", "two-way", "three-way")


@dataclass(frozen=True)
class Row:
    """One figure of an answer: its labels (a cell's, or a coefficient's name) and what was found."""

    labels: tuple[str, ...]
    found: Found


@dataclass(frozen=True)
class Answer:
    """A question, and its figures: one, or those of all cells or coefficients under their heads."""

    question: str
    kind: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    confidence: Fraction
    together: int

    @property
    def found(self) -> Found:
        """The figure, where there is one."""
        return self.rows[0].found

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        said = {"question": self.question, "kind": self.kind, "confidence": float(self.confidence)}
        shown = [dict(zip(self.heads, row.labels, strict=True)) | plain(row.found) for row in self.rows]
        body = {"rows": shown} if self.heads else shown[0]
        return {**said, "together": self.together, **body}


def plain(found: Found) -> dict[str, Any]:
    """What was found as plain data."""
    ends = found.interval
    said: dict[str, Any] = {"value": found.value, "status": found.status}
    said["low"], said["high"] = (None, None) if ends is None else (_finite(ends.low), _finite(ends.high))
    if found.labels is not None:
        said["bins"] = dict(zip(("value", "low", "high"), found.labels, strict=True))
    rules = [{"rule": claim.rule, "why": claim.why} for claim in found.rules]
    return {
        **said,
        "rules": rules,
        "promise": found.promise if found.status == GUARANTEED else None,
        "holds": found.holds,
    }


def _finite(number: float) -> float | None:
    return number if abs(number) < inf else None


def ask(analyst: Analyst, question: Question | str, replicates: Callable[[], Sequence[Pair]] = tuple) -> Answer:
    """The answer to a question; `replicates` are called for where something is not guaranteed."""
    asked = parse_question(question) if isinstance(question, str) else question
    heads, rows = _rows(analyst, asked)
    if any(row.found.status == NONE for row in rows) and len(pairs := replicates()) >= FEWEST:
        rows = _estimated(analyst, asked, rows, pairs)
    kind = type(asked).__name__.lower()
    return Answer(str(asked), kind, heads, rows, analyst.confidence, analyst.together)


def _rows(analyst: Analyst, question: Question) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    match question:
        case Count():
            found = analyst.count(question)
        case Proportion():
            found = analyst.proportion(question)
        case Mean():
            found = analyst.mean(question)
        case Quantile():
            found = analyst.quantile(question)
        case Crossing():
            return question.by, tuple(Row(cell.labels, cell.found) for cell in analyst.cells(question))
        case Regression():
            return ("term",), tuple(Row((one.name,), one.found) for one in regressed(analyst, question))
    return (), (Row((), found),)


def _estimated(
    analyst: Analyst, question: Question, rows: tuple[Row, ...], replicates: Sequence[Pair]
) -> tuple[Row, ...]:
    """Figures without a guarantee with an estimate, as combining.py has it, at the level of the question; a
    figure that some replicate does not have stays without one."""
    spec = analyst.basis.specification
    pairs = [[_values(Analyst(Basis(spec, table, ())), question) for table in pair] for pair in replicates]
    confidence = 1 - float((1 - analyst.confidence) / analyst.together)
    calibration, kind = spec.calibration, kind_of(question, analyst.basis.table.domain)
    own = None if calibration is None else calibration.kappa.get(kind)
    kappa = None if own is None else scaled(float(own), len(replicates), confidence)
    why = (
        REPLICATES_WHY
        if own is None or calibration is None
        else f"{REPLICATES_WHY} Calibrated on {calibration.data}."
    )
    found = []
    for row in rows:
        before, after = ([one[place].get(row.labels) for one in pairs] for place in (0, 1))
        value = row.found.value
        if row.found.status == NONE and value is not None and None not in (*before, *after):
            made = combine(value, _floats(after), _floats(before), confidence=confidence, kappa=kappa)
            ends = Interval(float(made.low), float(made.high))
            rule = Claim(REPLICATES, why, ends)
            row = Row(row.labels, replace(row.found, interval=ends, status=ESTIMATED, rules=(rule,)))
        found.append(row)
    return tuple(found)


def kind_of(question: Question, domain: Domain) -> Kind:
    """What a question is for a calibration: a count by its columns, or what is asked."""
    match question:
        case Mean():
            return "means"
        case Proportion():
            return "proportions"
        case Quantile():
            return "medians"
        case Regression():
            return "coefficients"
    columns = {
        *event_of(question.where, domain).columns,
        *(question.by if isinstance(question, Crossing) else ()),
    }
    return COUNTED[min(max(len(columns), 1), len(COUNTED)) - 1]


def _floats(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _values(analyst: Analyst, question: Question) -> dict[tuple[str, ...], float | None]:
    """The figures on one table; none where it does not determine them."""
    try:
        return {row.labels: row.found.value for row in _rows(analyst, question)[1]}
    except FacsimileError:
        return {}
