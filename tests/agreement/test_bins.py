"""Bins that people move stay bins, and say the same in as few words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.agreement.bins import bins_of, listed, moved, placed, starts
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Column

COLUMN: dict[str, Any] = {
    "name": "age",
    "description": "Age",
    "bounds": ["0", "100"],
    "alternatives": {
        "fine": ["<18", "18..29", "30-64", "64<"],
        "named": {"young": "<18", "adult": "18-64", "old": "65≤"},
    },
    "numbers": {"30-64": "40", "64<": "75"},
    "groups": ["<18", "18≤"],
    "hierarchy": {"two": ["<65", "65≤"]},
}


@st.composite
def spans(draw: st.DrawFn) -> list[tuple[Fraction | None, Fraction | None]]:
    edges = sorted(draw(st.sets(st.integers(-30, 30), min_size=1, max_size=12)))
    low, high = draw(st.sampled_from([None, -31])), draw(st.sampled_from([None, 40]))
    lows = [low, *edges]
    highs = [*(edge - 1 for edge in edges), high]
    one = [None if v is None else Fraction(v) for v in lows]
    other = [None if v is None else Fraction(v) for v in highs]
    return list(zip(one, other, strict=True))


@given(spans(), st.booleans(), st.booleans())
def test_what_is_written_is_what_was_meant(
    wanted: list[tuple[Fraction | None, Fraction | None]], low: bool, high: bool
) -> None:
    texts = listed(wanted, Fraction(1), (low, high))
    assert [b.span for b in parse_bins(texts, Fraction(1))] == wanted
    assert len(texts) <= len(wanted)


def test_regular_runs_are_shorthands() -> None:
    assert (
        moved(COLUMN, "fine", [str(n) for n in range(18, 31)] + ["65"])["alternatives"]["fine"][1] == "18..29"
    )
    wide = {"name": "w", "alternatives": {"a": ["<0", "0..399 by 100", "399<"]}}
    edges = [str(n) for n in range(0, 401, 100)]
    assert moved(wide, "a", edges)["alternatives"]["a"] == ["<0", "0..399 by 100", "399<"]


@given(st.sets(st.integers(1, 99), min_size=14, max_size=14))
def test_moved_edges_make_a_column(edges: set[int]) -> None:
    found = moved(COLUMN, "fine", [str(edge) for edge in sorted(edges)])
    assert [int(edge) for edge in starts(bins_of(found, found["alternatives"]["fine"]))] == sorted(edges)


def test_an_edge_moves_wherever_the_column_uses_it() -> None:
    edges = ["20", *(str(n) for n in range(21, 31)), "31", "32", "66"]
    found = moved(COLUMN, "fine", edges)
    assert found["alternatives"]["named"] == {"young": "<20", "adult": "20-65", "old": "66≤"}
    assert found["groups"] == ["<20", "20≤"] and found["hierarchy"] == {"two": ["<66", "66≤"]}
    assert Column(**found).groups == ["<20", "20≤"]


def test_joined_and_split_bins_are_one_alternatives_own() -> None:
    joined = moved(COLUMN, "named", ["65"])
    assert joined["alternatives"]["named"] == {"young and adult": "<65", "old": "65≤"}
    assert joined["groups"] == COLUMN["groups"]
    split = moved(COLUMN, "named", ["18", "40", "65"])
    assert list(split["alternatives"]["named"]) == ["young", "18-39", "40-64", "old"]


def test_numbers_of_bins_that_are_gone_go_too() -> None:
    edges = [str(n) for n in range(18, 31)]
    assert "numbers" not in moved(COLUMN, "fine", [*edges, "60"])
    assert moved(COLUMN, "fine", [*edges[:-1], "32", "65"])["numbers"] == {"64<": "75"}
    assert moved(COLUMN, "fine", [*edges, "65"])["numbers"] == COLUMN["numbers"]


@pytest.mark.parametrize("edges", [["20", "18"], ["20", "20"], ["x"], [""], ["20.5"]])
def test_edges_that_make_no_bins_are_refused(edges: list[str]) -> None:
    with pytest.raises(ValueError):
        moved(COLUMN, "named", edges)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6, unique=True), st.data())
def test_every_value_is_placed_once(values: list[str], data: st.DataObject) -> None:
    labels = {value: data.draw(st.sampled_from(["a", "b", "rest", " "])) for value in values}
    found = placed(values, labels)
    inside = found if isinstance(found, list) else [
        v for held in found.values() for v in ([held] if isinstance(held, str) else held)
    ]  # fmt: skip
    assert sorted(inside) == sorted(values)
