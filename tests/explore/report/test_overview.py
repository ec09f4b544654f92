"""The overview: how the values of a criterion lie over trials."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from facsimile.explore.report.overview import spread


@given(st.lists(st.none() | st.floats(-1, 100), min_size=1, max_size=60), st.integers(1, 20))
def test_a_thinned_spread_keeps_ends_counts_and_medians(values: list[float | None], points: int) -> None:
    found = spread(values, points)
    known = sorted(float("inf") if value is None else value for value in values)
    failed = [value for value in known if value >= 1]
    assert (found["trials"], found["failed"], found["undefined"]) == (
        len(values),
        len(failed),
        values.count(None),
    )
    assert len(found["values"]) <= points and set(found["values"]) <= set(known)
    assert found["values"][0] == known[0]
    assert points == 1 or found["values"][-1] == known[-1]
    assert found["q50"] == known[(len(known) - 1) // 2]
    assert (found["overshoot"] is None) == (not failed)
