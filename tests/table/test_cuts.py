from __future__ import annotations

import ibis
import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.table.cuts import MOST_EXTRA_CODES, Cuts, _closest

some_cuts = st.one_of(
    st.lists(st.integers(-(10**6), 10**6), max_size=20),
    st.builds(
        lambda start, width, count, more: [*range(start, start + width * count, width), *more],
        st.integers(-1000, 1000),
        st.integers(1, 100),
        st.integers(0, 60),
        st.lists(st.integers(-2000, 2000), max_size=5),
    ),
)


@given(some_cuts, st.integers(-(2 * 10**6), 2 * 10**6))
def test_a_code_is_the_number_of_cuts_at_or_below(wanted: list[int], value: int) -> None:
    cuts = Cuts.at(wanted)
    assert set(wanted) <= set(cuts.all)
    assert list(cuts.all) == sorted(set(cuts.all))
    assert cuts.code(value) == sum(cut <= value for cut in cuts.all)


@given(some_cuts)
def test_cuts_between_are_few(wanted: list[int]) -> None:
    cuts = Cuts.at(wanted)
    assert len(cuts.all) <= len(set(wanted)) + MOST_EXTRA_CODES
    assert len(cuts.single) <= len(set(wanted))


def test_a_regular_grid_needs_no_comparison() -> None:
    assert Cuts.at(range(1500, 4501, 100)) == Cuts(1500, 100, 31, ())
    assert Cuts.at([0, 500, 1000]) == Cuts(0, 500, 3, ())
    assert Cuts.at([0, 500]) == Cuts(0, 1, 0, (0, 500)), "two are compared"
    assert Cuts.at([]) == Cuts(0, 1, 0, ())


@settings(max_examples=20)
@given(some_cuts)
def test_the_expression_equals_the_code(wanted: list[int]) -> None:
    cuts = Cuts.at(wanted)
    near = {cut + shift for cut in cuts.all for shift in (-1, 0, 1)}
    values = sorted({*near, 0, 2**63 - 1, -(2**63) + 1, 10**15, -(10**15)})
    connection = ibis.duckdb.connect()
    connection.con.register("data", pyarrow.table({"v": pyarrow.array(values, pyarrow.int64())}))
    table = connection.table("data")
    found = table.select("v", code=cuts.sql(table.v)).to_pyarrow().to_pylist()
    connection.disconnect()
    assert {row["v"]: row["code"] for row in found} == {value: cuts.code(value) for value in values}


def test_a_run_of_cuts_ends_where_too_many_would_be_added() -> None:
    far = 10 * MOST_EXTRA_CODES
    cuts = [0, far, far + 1, far + MOST_EXTRA_CODES + 4]
    assert _closest(cuts, 1) == cuts[1:3]
    assert _closest([*cuts[:3], far + MOST_EXTRA_CODES + 2], 1) == [*cuts[1:3], far + MOST_EXTRA_CODES + 2]
