"""Asking: a question in words becomes an answer; where nothing is guaranteed, replicates estimate.

A replicate is the whole scheme run again with the release in the place of the original (a pair: the table it
was made from, and the table it made). The spread of the figure's errors on them estimates that on the release:
no guarantee, and marked so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, sqrt
from typing import Any

from scipy.special import stdtrit

from facsimile.analysis.answers import ESTIMATED, NONE, Analyst, Found
from facsimile.analysis.basis import Basis
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
from facsimile.table.table import Table

Pair = tuple[Table, Table]
REPLICATES = "replicates"
REPLICATES_WHY = "The release was made again from itself; the spread of the figure estimates its error."
FEWEST = 2


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
        "promise": found.promise if ends is not None else None,
        "holds": found.holds,
    }


def _finite(number: float) -> float | None:
    return number if abs(number) < inf else None


def ask(analyst: Analyst, question: Question | str, replicates: Sequence[Pair] = ()) -> Answer:
    """The answer to a question."""
    asked = parse_question(question) if isinstance(question, str) else question
    heads, rows = _rows(analyst, asked)
    if len(replicates) >= FEWEST and any(row.found.status == NONE for row in rows):
        rows = _estimated(analyst, asked, rows, replicates)
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
    """Figures without a guarantee with an estimate: ±κ·√mean(e²), κ Student's, e a replicate's error.

    At the level of the question; a figure that some replicate does not have stays without one.
    """
    spec = analyst.basis.specification
    pairs = [[_values(Analyst(Basis(spec, table, ())), question) for table in pair] for pair in replicates]
    alpha = (1 - analyst.confidence) / analyst.together
    kappa = float(stdtrit(len(replicates), 1 - float(alpha) / 2))
    found = []
    for row in rows:
        values = [(one.get(row.labels), other.get(row.labels)) for one, other in pairs]
        errors = [b - a for a, b in values if a is not None and b is not None]
        own = row.found
        if own.status == NONE and own.value is not None and len(errors) == len(values):
            reach = kappa * sqrt(sum(e * e for e in errors) / len(errors))
            ends = Interval(own.value - reach, own.value + reach)
            rule = Claim(REPLICATES, REPLICATES_WHY, ends)
            row = Row(row.labels, replace(own, interval=ends, status=ESTIMATED, rules=(rule,)))
        found.append(row)
    return tuple(found)


def _values(analyst: Analyst, question: Question) -> dict[tuple[str, ...], float | None]:
    """The figures on one table; none where it does not determine them."""
    try:
        return {row.labels: row.found.value for row in _rows(analyst, question)[1]}
    except FacsimileError:
        return {}
