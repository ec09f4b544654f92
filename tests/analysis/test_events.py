"""Conditions on released bins: the same answer as on every value behind them, or none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bases import domain_of, specification
from facsimile.analysis.events import EVERYTHING, both, event_of, without
from facsimile.errors import FacsimileError
from facsimile.spec.constraints import holds, parse_condition, resolve

DOMAIN = domain_of(specification())
VALUES: dict[str, list[tuple[Fraction | str | None, int]]] = {
    "age": [(Fraction(v), 0 if v < 18 else 1 if v < 65 else 2) for v in (0, 17, 18, 19, 63, 64, 65, 90)],
    "sex": [("M", 0), ("F", 1), (None, 2)],
    "colour": [("red", 0), ("blue", 1), ("green", 1)],
}
ATOMS = st.one_of(
    st.builds("age {} {}".format, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), st.integers(-1, 91)),
    st.builds("sex {} {}".format, st.sampled_from(["=", "!="]), st.sampled_from("MF")),
    st.builds("sex is {}missing".format, st.sampled_from(["", "not "])),
    st.builds(
        "colour {} [{}]".format,
        st.sampled_from(["in", "not in"]),
        st.sampled_from(["red", "blue, green", "blue"]),
    ),
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)


@given(CONDITIONS)
def test_a_condition_with_an_answer_has_it_for_every_value_behind_the_bins(text: str) -> None:
    try:
        event = event_of(text, DOMAIN)
    except FacsimileError as refused:
        assert refused.code == "E433"
        return
    mask = np.broadcast_to(event.over(DOMAIN.names), DOMAIN.shape)
    condition = resolve(parse_condition(text), DOMAIN.names)
    for age, i in VALUES["age"]:
        for sex, j in VALUES["sex"]:
            for colour, k in VALUES["colour"]:
                assert mask[i, j, k] == holds(condition, {"age": age, "sex": sex, "colour": colour})


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("age = '<18'", [0]),
        ("age = '18-64'", [1]),
        ("age in ['<18', '64<']", [0, 2]),
        ("age != '<18'", [1, 2]),
        ("age < 18", [0]),
        ("age <= 64", [0, 1]),
        ("not age < 18", [1, 2]),
    ],
)
def test_bins_are_named_by_their_labels_too(text: str, cells: list[int]) -> None:
    assert np.flatnonzero(event_of(text, DOMAIN).mask).tolist() == cells


def test_a_released_label_of_several_categories_and_one_for_missing_values_are_known() -> None:
    assert event_of("colour = cold", DOMAIN).mask.tolist() == [False, True]
    assert event_of("sex = unknown", DOMAIN).mask.tolist() == [False, False, True]
    assert event_of("sex != F", DOMAIN).mask.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("age < 20", "E433", ["age", "age < 18 or age <= 64"]),
        ("age = 20", "E433", ["age = '18-64'"]),
        ("age > 70", "E433", ["age >= 65"]),
        ("colour = blue", "E433", ["colour = 'cold'"]),
        ("ages < 18", "E431", ["Did you mean age?"]),
        ("sex = G", "E432", ["Known here: M, F, unknown."]),
        ("age = old", "E432", ["<18, 18-64, 64<"]),
        ("sex < 3", "E434", ["no order"]),
        ("age <", "E430", ["ends"]),
        ("age < age", "E430", ["itself"]),
    ],
)
def test_what_has_no_answer_is_refused_with_what_has_one(text: str, code: str, said: list[str]) -> None:
    with pytest.raises(FacsimileError) as refused:
        event_of(text, DOMAIN)
    assert refused.value.code == code and all(words in str(refused.value) for words in said)


def test_an_event_forgets_columns_that_it_does_not_depend_on() -> None:
    assert event_of("age < 18 or (age >= 18 and sex = F) or (age >= 18 and sex != F)", DOMAIN).columns == (
        "age",
        "sex",
    )
    assert event_of(
        "(age < 18 and sex = F) or (age < 18 and not sex = F) or (age < 18 and sex is missing)", DOMAIN
    ).columns == ("age",)
    assert event_of(None, DOMAIN) is EVERYTHING


def test_both_and_without_split_an_event() -> None:
    one, other = event_of("age < 18", DOMAIN), event_of("sex = F", DOMAIN)
    together, rest = both(one, other, DOMAIN), without(one, other, DOMAIN)
    assert (together.mask | rest.mask).sum() == 3 and not (together.mask & rest.mask).any()
