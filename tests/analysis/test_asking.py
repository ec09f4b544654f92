"""Answers as data: no bare number, estimates marked as such."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import basis, domain_of, noisy_table, specification
from facsimile.analysis.answers import ESTIMATED, NONE, Analyst
from facsimile.analysis.asking import Answer, ask
from facsimile.analysis.basis import Basis
from facsimile.errors import FacsimileError
from facsimile.table.table import Table

SPEC = specification(600)
DOMAIN = domain_of(SPEC)
ROWS = [row for row in np.ndindex(*DOMAIN.shape) if row[:2] != (2, 0)]


def drawn(seed: int) -> Table:
    counts = np.random.default_rng(seed).multinomial(600, np.full(len(ROWS), 1 / len(ROWS)))
    return Table.from_rows(DOMAIN, ROWS, counts)


@pytest.mark.parametrize(
    "question",
    [
        "count where sex = F",
        "proportion sex = F given age < 18",
        "mean age where sex = F",
        "median age",
        "table age by sex",
        "regress age on sex colour",
        "logit age < 18 on colour",
    ],
)
def test_every_figure_says_what_it_is_worth(question: str) -> None:
    real = drawn(1)
    found = ask(
        Analyst(basis(SPEC, real, real, [noisy_table(real, ("age", "sex"), SPEC.budget.generator)])), question
    )
    said = json.loads(json.dumps(found.as_json()))
    for row in said.get("rows", [said]):
        assert row["status"] in ("guaranteed", "none")
        assert (row["low"] is None) == (row["high"] is None) == (row["status"] == "none")
        assert bool(row["rules"]) == (row["status"] == "guaranteed")
        assert row["holds"] and (row["promise"] in ("given this release", "of the search")) == bool(
            row["rules"]
        )
    assert said["question"] == question and said["confidence"] == 0.95


def estimated(question: str) -> Answer:
    pairs = [(drawn(10 + i), drawn(20 + i)) for i in range(8)]
    return ask(Analyst(Basis(SPEC, drawn(1), ())), question, pairs)


def test_replicates_estimate_where_nothing_is_guaranteed() -> None:
    found = estimated("mean age").found
    pairs = [(drawn(10 + i), drawn(20 + i)) for i in range(8)]
    values = [
        [ask(Analyst(Basis(SPEC, one, ())), "mean age").found.value or 0.0 for one in pair] for pair in pairs
    ]
    spread = float(np.sqrt(np.mean([(b - a) ** 2 for a, b in values])))
    assert found.status == ESTIMATED and [claim.rule for claim in found.rules] == ["replicates"]
    assert found.interval is not None and found.value is not None
    assert found.interval.high - found.value == pytest.approx(2.306 * spread, rel=1e-3)
    terms = estimated("regress age on sex c(colour)")
    assert {row.found.status for row in terms.rows} == {ESTIMATED}


def test_a_figure_that_a_replicate_does_not_have_is_not_estimated() -> None:
    empty = Table.from_rows(DOMAIN, [ROWS[0]], [600])
    found = ask(
        Analyst(Basis(SPEC, drawn(1), ())), "mean age where sex = F", [(empty, empty), (empty, drawn(2))]
    )
    assert found.found.status == NONE


ORIGINAL = drawn(1)
TOLD = basis(SPEC, ORIGINAL, drawn(2), [noisy_table(ORIGINAL, ("age", "sex"), SPEC.budget.generator)])
KEYS = (
    "count where given by on mean median table quantile 0.5 regress logit proportion age sex colour c(age)",
    "c(colour) age*sex age*age < = != >= 18 64 65 F M warm cold unknown '<18' '64<' and or not in [F,M] is",
    "missing ( ) any column",
)
WORDS = " ".join(KEYS).split()
KINDS = st.sampled_from(
    [
        "count where",
        "mean age where",
        "table age by",
        "regress age on",
        "logit age < 18 on",
        "median colour where",
    ]
)


@settings(max_examples=150)
@given(st.tuples(KINDS | st.just(""), st.lists(st.sampled_from(WORDS), max_size=7)))
def test_no_question_ends_in_anything_but_an_answer_or_a_refusal(parts: tuple[str, list[str]]) -> None:
    try:
        found = ask(Analyst(TOLD), " ".join([parts[0], *parts[1]]))
        assert found.rows and json.dumps(found.as_json())
    except FacsimileError as refused:
        assert refused.code in ("E430", "E431", "E432", "E433", "E434")
