"""Bins moved under the values of a public file give the table that a reading gives."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public, read_public_values
from facsimile.spec.release import Specification
from facsimile.table.cleaning import BAD, FAR
from facsimile.table.encoding import Encoding
from facsimile.table.values import BLANK, form, pieces
from table.nasty import TEXTS
from table.oracle import specified

CATEGORY = {"name": "sort", "values": ["abc", "true", "5"], "alternatives": {"a": ["abc", "true", "5"]}}


def people(edges: list[int], outside: str = "drop", raw: Any = ()) -> Specification:
    bins = [f"<{edges[0]}", *(f"{a}-{b - 1}" for a, b in pairwise(edges)), f"{edges[-1]}≤"]
    number = {"name": "age", "bounds": [-1000, 1000], "alternatives": {"a": bins}}
    rules = {"missing": {"code": "none"}, "malformed": "missing"}
    return specified([number | rules, CATEGORY | {"missing": "drop", "outside": outside}], raw=raw)


def frame(texts: list[str | None], others: list[str | None]) -> pyarrow.Table:
    both = [*zip(texts, others, strict=True), ("5", "abc"), ("7", "true")]
    return pyarrow.table({"age": [a for a, _ in both], "sort": [b for _, b in both]})


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(TEXTS), st.sampled_from(["abc", "5", "x", None, " true "])), max_size=30
    ),
    st.sets(st.integers(-20, 20), min_size=1, max_size=5),
    st.sets(st.integers(-20, 20), min_size=1, max_size=5),
    st.sampled_from(["drop", "abc"]),
)
def test_moved_bins_give_what_a_reading_gives(
    rows: list[tuple[str | None, str | None]], first: set[int], second: set[int], outside: str
) -> None:
    data = frame([a for a, _ in rows], [b for _, b in rows])
    values = read_public_values(data, people(sorted(first), "drop"))
    raw = [{"never": "age > 6 and sort = abc", "source": "x"}]
    moved = people(sorted(second), outside, raw)
    assert values.fits(moved)
    assert values.table(moved) == read_public(data, moved)
    broken = values.breaking(moved, 0)
    kept = values.counts[~broken].sum()
    assert kept >= values.table(moved).n


def test_every_value_has_the_piece_of_the_reference() -> None:
    encoding = Encoding(people([-3, 0, 4]))
    plain = [-FAR, -FAR - 1, BAD, FAR, -4, -3, -1, 0, 3, 4, 17]
    age = encoding.columns["age"]
    assert pieces(age, np.array([*plain, BLANK])).tolist() == [*map(age.piece, plain), age.piece(None)]
    sort = encoding.columns["sort"]
    assert pieces(sort, np.array([0, 2, 3, BLANK])).tolist() == [*map(sort.piece, [0, 2, 3]), sort.piece(None)]


def test_another_reading_of_a_field_does_not_fit() -> None:
    spec = people([0])
    for change in ({"decimals": 1}, {"source": "other"}, {"round": "down"}, {"name": "b"}):
        columns = (spec.columns[0].model_copy(update=change), spec.columns[1])
        assert form(spec.model_copy(update={"columns": columns})) != form(spec)


def test_values_are_counted_without_blanks_and_what_is_no_number() -> None:
    values = read_public_values(frame(["1", None, "x", "1", "-2"], ["abc"] * 5), people([0]))
    numbers, counts = values.numbers("age")
    assert (numbers.tolist(), counts.tolist()) == ([-2, 1, 5, 7], [1, 2, 1, 1])


def test_values_of_a_confidential_file_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("age,sort\n5,abc\n6,true\n", encoding="utf-8")
    assert read_public_values(data, people([0])).counts.sum() == 2
    data.with_name("data.csv.key").touch()
    with pytest.raises(FacsimileError) as refused:
        read_public_values(data, people([0]))
    assert refused.value.code == "E207"
