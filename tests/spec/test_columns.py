from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import Refused, SpecRefused
from facsimile.spec.bins import NumberBin, parse_bins
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import validated
from specs import SMALL, changed, small


def test_a_bin_has_one_number() -> None:
    spec = small()
    assert spec.column("age").axis("coarse").numbers == (Fraction(17, 2), Fraction(41), Fraction(155, 2))
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


def numbered(numbers: dict[str, Any], **alternatives: Any) -> Any:
    data = changed("columns.0.numbers", numbers)
    if alternatives:
        data["columns"][0] |= {"alternatives": alternatives, "groups": None}
    return validated(data).column("age")


def test_a_declared_number_belongs_to_its_bin_in_every_alternative() -> None:
    column = numbered(
        {"old": "70.5", "18-64": "40"},
        coarse=["<18", "18-64", "64<"],
        named={"young": "<18", "middle": "18-64", "old": "65≤"},
        fine=["<18", "18-40", "41-64", "64<"],
    )
    young, old, middle = Fraction(17, 2), Fraction(141, 2), Fraction(40)
    assert column.axis("coarse").numbers == column.axis("named").numbers == (young, middle, old)
    assert column.axis("fine").numbers == (young, Fraction(29), Fraction(105, 2), old)
    assert column.finest.numbers == column.axis("fine").numbers


def test_an_open_bin_may_count_as_its_edge_where_that_is_declared() -> None:
    column = numbered({"<18": "18", "64<": "64"})
    assert column.axis("coarse").numbers == tuple(map(Fraction, (18, 41, 64)))
    assert numbered({"64<": "64"}).axis("coarse").numbers == (Fraction(17, 2), Fraction(41), Fraction(64))


def test_a_declared_edge_needs_no_room_within_the_bounds() -> None:
    data = changed("columns.0.bounds", ["0", "64"])
    data["columns"][0]["numbers"] = {"64<": "64"}
    assert (validated(data).column("age").axis("coarse").numbers or ())[-1] == 64


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"64<": "63.9"}, "63.9 lies outside the bin 64<"),
        ({"<18": "18.5"}, "18.5 lies outside the bin <18"),
        ({"18-64": "65"}, "65 lies outside the bin 18-64"),
        ({"18-64": "17.9"}, "outside the bin"),
        ({"64<": "91"}, "64< of coarse stands for 91, outside its bounds"),
        ({"65<": "70"}, "`numbers` speaks of 65<, the label of no bin"),
        ({"64<": "many"}, "decimal number"),
        ({"64<": "inf"}, "decimal number"),
        ({"64<": True}, "decimal number"),
    ],
)
def test_a_number_that_cannot_stand_for_its_bin_is_refused(numbers: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecRefused, match=words) as refused:
        numbered(numbers)
    assert refused.value.code == ("E213" if "65<" in numbers else "E200")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [({"old": "80"}, "the label of two different bins"), ({"64<": "80", "elder": "81"}, "two numbers")],
)
def test_a_number_that_belongs_to_no_one_bin_is_refused(numbers: dict[str, Any], words: str) -> None:
    choices = {"x": ["<65", "64<"], "y": {"young": "<65", "elder": "65≤"}, "z": {"rest": "<71", "old": "70<"}}
    with pytest.raises(SpecRefused, match=words):
        numbered(numbers, w={"few": "<81", "old": "80<"}, **choices)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(0, 40),
    st.integers(0, 3),
)
def test_default_numbers_lie_inside_their_bins_and_ascend(cuts: list[int], beyond: int, digits: int) -> None:
    """The bounds are around every edge; the grid has up to three decimals."""
    step = Fraction(1, 10**digits)
    inner = [f"{low}-{show_decimal(high - step)}" for low, high in pairwise(cuts)]
    data = changed("columns.0.alternatives", {"a": [f"<{cuts[0]}", *inner, f"{cuts[-1]}≤"]})
    data["columns"][0] |= {"bounds": [0, cuts[-1] + beyond], "groups": None, "decimals": digits}
    axis = validated(data).column("age").axis("a")
    numbers = axis.numbers or ()
    assert all(
        b.contains(number) for b, number in zip(axis.bins, numbers, strict=True) if isinstance(b, NumberBin)
    )
    assert len(numbers) == len(cuts) + 1
    assert all(one < other for one, other in pairwise(numbers))
    assert numbers[-1] == Fraction(2 * cuts[-1] + beyond, 2)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("columns.0.groups", ["<30", "29<"], "cut the bin 18-64"),
        ("columns.0.groups", ["<18"], "cut the bin 18-64"),
        ("columns.0.alternatives", {}, "at least one alternative"),
        ("columns.0.alternatives", {"a": ["<18", "17<"], "b": ["1-17", "17<"]}, "different values"),
        ("columns.0.bounds", ["0", "64"], "bounds leave nothing of bin 64< of coarse"),
        ("columns.0.bounds", ["18", "90"], "bounds leave nothing of bin <18 of coarse"),
        ("columns.0.bounds", ["90", "0"], "bounds leave nothing"),
        ("columns.0.alternatives", {"coarse": ["0-17", "18-170"]}, "18-170 of coarse stands for 94, outside"),
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
        ("columns.0.decimals", "7", "must be at most 6"),
    ],
)
def test_an_inconsistent_column_is_refused(path: str, value: Any, words: str) -> None:
    with pytest.raises(SpecRefused, match=words) as refused:
        small(path, value)
    assert refused.value.code in ("E200", "E213")
    assert not getattr(refused.value, "others", ())


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


def test_bins_are_read_once() -> None:
    """A column has one axis for an alternative, and a specification that is read again has the same bins."""
    once, again = (validated(SMALL).columns[0] for _ in range(2))
    for used in once.used:
        assert once.axis(used) is once.axis(used)
        assert once.axis(used) == again.axis(used) and hash(once.axis(used)) == hash(again.axis(used))
    assert parse_bins(["0..9"], Fraction(1)) is parse_bins(("0..9",), Fraction(1))
