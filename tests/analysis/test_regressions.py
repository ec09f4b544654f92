"""Regressions: the release's coefficients in plain units, and a guarantee only where it is proved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import basis, domain_of, specification
from facsimile.analysis.answers import GUARANTEED, NONE, Analyst
from facsimile.analysis.basis import Basis
from facsimile.analysis.questions import Regression, parse_question
from facsimile.analysis.regressions import regressed
from facsimile.errors import FacsimileError
from facsimile.table.table import Table

CRITERIA: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "threshold": "0.5"},
    {"criterion": "regression-coefficients", "target": "age", "on": ["sex", "colour"], "threshold": "90"},
]
N = 4000
SPEC = specification(N, CRITERIA)
DOMAIN = domain_of(SPEC)
ROWS = [row for row in np.ndindex(*DOMAIN.shape) if row[:2] != (2, 0)]


def asked(text: str) -> Regression:
    found = parse_question(text)
    assert isinstance(found, Regression)
    return found


def table(weights: list[int]) -> Table:
    """About N records, every plausible row among them."""
    share = np.array(weights) + 40
    counts = share * N // share.sum()
    counts[0] += N - counts.sum()
    return Table.from_rows(DOMAIN, ROWS, counts)


TABLES = st.lists(st.integers(0, 2), min_size=len(ROWS), max_size=len(ROWS)).map(table)


def test_coefficients_are_those_of_least_squares_in_plain_units() -> None:
    one = table(list(range(len(ROWS))))
    found = regressed(Analyst(Basis(SPEC, one, ())), asked("regress age on sex colour sex*colour"))
    numbers = [np.array([float(x) for x in axis.numbers or ()]) for axis in DOMAIN.axes]
    age, sex, colour = (numbers[i][one.codes[:, i]] for i in range(3))
    middle = [float(x) for x in (Fraction(1, 2), Fraction(5, 2))]
    x = np.column_stack([np.ones(len(age)), sex, colour, (sex - middle[0]) * (colour - middle[1])])
    weights = np.sqrt(one.counts)
    own = np.linalg.lstsq(x * weights[:, None], age * weights, rcond=None)[0]
    assert [c.found.value for c in found] == pytest.approx(own.tolist(), rel=1e-6)
    assert [c.name for c in found] == ["constant", "sex", "colour", "colour*sex"]
    assert all(c.found.status == NONE and c.found.interval is None for c in found)


@settings(max_examples=15)
@given(TABLES, TABLES)
def test_a_guarantee_holds_the_originals_coefficients(real: Table, released: Table) -> None:
    question = asked("regress age on colour sex")
    found = regressed(Analyst(basis(SPEC, real, released)), question)
    truth = regressed(Analyst(Basis(SPEC, real, ())), question)
    for one, other in zip(found, truth, strict=True):
        ends, value = one.found.interval, other.found.value
        assert one.found.status == GUARANTEED and ends is not None and value is not None
        assert ends.low <= value <= ends.high


def test_another_formula_other_records_and_an_event_have_no_guarantee() -> None:
    one = table([0] * len(ROWS))
    analyst = Analyst(basis(SPEC, one, one))
    for text in (
        "regress age on sex",
        "regress age on sex c(colour)",
        "regress age on sex colour where age < 65",
        "regress sex on age colour",
        "logit age < 18 on colour",
    ):
        assert {c.found.status for c in regressed(analyst, asked(text))} == {NONE}


def test_counts_that_may_be_far_off_leave_no_guarantee() -> None:
    one = table([0] * len(ROWS))
    far = basis(SPEC, one, one, noise=N // 4)
    assert {c.found.status for c in regressed(Analyst(far), asked("regress age on sex colour"))} == {NONE}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("regress age on size", "E431"),
        ("regress size on age", "E431"),
        ("regress age on age", "E434"),
        ("logit age < 18 on age", "E434"),
        ("logit age < 20 on sex", "E433"),
        ("regress age on sex where age < 18 and sex = unknown and colour = cold", "E434"),
        ("regress age on colour where colour = cold", "E434"),
    ],
)
def test_what_cannot_be_fitted_is_refused(text: str, code: str) -> None:
    with pytest.raises(FacsimileError) as refused:
        regressed(Analyst(Basis(SPEC, table([0] * len(ROWS)), ())), asked(text))
    assert refused.value.code == code
