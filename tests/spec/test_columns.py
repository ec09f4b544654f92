from fractions import Fraction
from typing import Any

import pytest

from facsimile.errors import Refused, SpecRefused
from facsimile.spec.load import validated
from specs import SMALL, changed, small


def test_a_bin_has_one_number() -> None:
    spec = small()
    assert spec.column("age").axis("coarse").numbers == tuple(map(Fraction, (18, 41, 64)))
    assert spec.column("sex").axis("coarse").numbers == (Fraction(0), Fraction(1), Fraction(1, 2))


def test_missing_values_may_have_a_code() -> None:
    assert small().column("sex").finest.labels == ("M", "F", "unknown")


def test_booleans_are_read_in_every_spelling() -> None:
    mapping = small().column("sex").map or {}
    assert {mapping[text] for text in ("true", "True", "1", "t")} == {"F"}
    assert {mapping[text] for text in ("false", "False", "0", "f")} == {"M"}


def test_groups_follow_the_bins() -> None:
    column = small().column("age")
    assert column.coarsening(column.axis("coarse")) == (("<18", "17<"), (0, 1, 1))


def test_recoding_leads_from_the_finest_refinement_to_an_alternative() -> None:
    data = changed("columns.0.alternatives", {"a": ["<10", "10-19", "19<"], "b": ["<15", "14<"]})
    data["columns"][0]["groups"] = None
    column = validated(data).column("age")
    assert column.finest.labels == ("<10", "10-14", "15-19", "19<")
    assert column.recoding("a") == (0, 1, 1, 2)
    assert column.recoding("b") == (0, 0, 1, 1)


def test_categories_are_refined_by_what_alternatives_tell_apart() -> None:
    data = changed("columns.1", {
        "name": "sex", "description": "Diagnosis", "values": ["A", "B", "C", "D"],
        "alternatives": {"x": {"AB": ["A", "B"], "CD": ["C", "D"]}, "y": {"ABC": ["A", "B", "C"], "D": "D"}},
        "hierarchy": {"all": {"any": ["A", "B", "C", "D"]}},
    })  # fmt: skip
    column = small("columns", data["columns"]).column("sex")
    assert column.finest.labels == ("AB", "C", "D")
    assert column.recoding("x") == (0, 1, 1)
    assert column.coarsening(column.finest, "all") == (("any",), (0, 0, 0))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("columns.0.groups", ["<30", "29<"], "cut the bin 18-64"),
        ("columns.0.alternatives", {}, "at least one alternative"),
        ("columns.0.alternatives", {"a": ["<18", "17<"], "b": ["1-17", "17<"]}, "different values"),
        ("columns.0.bounds", ["0", "50"], "outside its bounds"),
        ("columns.0.bounds", ..., "needs `bounds`"),
        ("columns.0.outside", "OTHER", "outside"),
        ("columns.1.numbers", {"M": "0"}, "one number to each value"),
        ("columns.1.map", {"1": "X"}, "not among `values`"),
        ("columns.1.alternatives", {"coarse": ["M"]}, "each value exactly once"),
        ("columns.1.values", ["M", "M", "F"], "twice"),
        ("columns.1.missing", {"code": "M"}, "label of a bin"),
        ("columns.0.missing", {"value": "x"}, "not in its domain"),
        ("columns.0.name", "Age!", "small letters"),
        ("columns.1.decimals", "1", "lists `values`"),
        ("columns.0.decimals", "7", "less than or equal to 6"),
    ],
)
def test_an_inconsistent_column_is_refused(path: str, value: Any, words: str) -> None:
    with pytest.raises(SpecRefused, match=words) as refused:
        small(path, value)
    assert refused.value.code == "E200"


@pytest.mark.parametrize("label", ["=1+1", "@x", "+x", "-x", "\tx", "a\u202eb"])
def test_a_label_that_a_spreadsheet_would_run_is_refused(label: str) -> None:
    values = {"values": ["M", label], "numbers": None, "map": None, "alternatives": {"c": ["M", label]}}
    with pytest.raises(Refused) as refused:
        small("columns.1", SMALL["columns"][1] | values)
    assert refused.value.code in ("E161", "E200")


def test_bounds_are_never_taken_from_the_data() -> None:
    with pytest.raises(SpecRefused) as refused:
        small("columns.0.bounds", "auto")
    assert refused.value.code == "E211"
