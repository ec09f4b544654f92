"""Questions in words: read as they are meant, or refused in one line."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from facsimile.errors import FacsimileError
from facsimile.spec.criteria import EVENT
from facsimile.spec.formula import Formula

READ: list[tuple[str, Question]] = [
    ("count", Count()),
    ("count where age < 18 and sex = 'not on where'", Count("age < 18 and sex = 'not on where'")),
    ("proportion sex = F", Proportion("sex = F")),
    ("share (age<18)given(sex=F)", Proportion("(age<18)", "(sex=F)")),
    ("mean age where sex = F", Mean("age", "sex = F")),
    ("median age", Quantile("age")),
    ("quantile 0.9 age where sex = F", Quantile("age", Fraction(9, 10), "sex = F")),
    ("table age by sex by colour where age < 18", Crossing(("age", "sex", "colour"), "age < 18")),
    (
        "regress age on sex c(colour) sex*colour",
        Regression(Formula("age", ("sex", "colour", "sex*colour"), ("colour",))),
    ),
    ("regress age on sex + colour, sex * colour", Regression(Formula("age", ("sex", "colour", "sex*colour")))),
    (
        "logit age < 18 on sex where colour = warm",
        Regression(Formula(EVENT, ("sex",)), "age < 18", "colour = warm"),
    ),
]


@pytest.mark.parametrize(("text", "question"), READ)
def test_a_question_is_read(text: str, question: Question) -> None:
    assert parse_question(text) == question
    assert parse_question(f"  {text.replace('count', 'COUNT', 1)} ") == question


@pytest.mark.parametrize("question", [question for _, question in READ])
def test_a_question_says_itself(question: Question) -> None:
    assert parse_question(str(question)) == question


@pytest.mark.parametrize(
    "text",
    [
        "",
        "how many",
        "count age",
        "count where",
        "proportion",
        "proportion given sex = F",
        "mean",
        "mean two words",
        "quantile age",
        "quantile 1 age",
        "quantile 1e3 age",
        "table",
        "table a by",
        "table a by a",
        "table a by b by c by d",
        "regress y",
        "regress y on",
        "regress y on a*b*c",
        "regress y on c(",
        "regress y on a a",
        "logit on a",
        "count " * 1000,
    ],
)
def test_what_is_no_question_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(FacsimileError) as refused:
        parse_question(text)
    assert refused.value.code == "E430" and refused.value.exit_code == 2


KEYS = (
    "count where given by on mean table quantile regress logit proportion a b",
    "c(a) * 0.5 and or not in is",
)
WORDS = st.sampled_from([*" ".join(KEYS).split(), *"<='\"()[]é\0"])


@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join)))
def test_no_text_ends_in_anything_but_a_question_or_a_refusal(text: str) -> None:
    try:
        parse_question(text)
    except FacsimileError as refused:
        assert refused.code == "E430"
