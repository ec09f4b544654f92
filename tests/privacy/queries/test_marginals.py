"""Errors of marginals: what a joint test sees of a ratio, in records."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import Unlikeness
from facsimile.table.table import Table
from facsimile.testing import small_domain

CELLS = st.lists(st.integers(0, 60), min_size=3, max_size=3).filter(any)
THRESHOLDS = st.fractions(Fraction(1, 10), Fraction(19, 10), max_denominator=20)
NOISE = RehearsalNoise(1)


def table(counts: list[int]) -> Table:
    """So many records of each value."""
    rows = [[code] for code, count in enumerate(counts) if count]
    return Table.from_rows(small_domain(3), rows, [count for count in counts if count])


@given(CELLS, CELLS, THRESHOLDS)
def test_the_excess_of_a_ratio_tells_whether_it_is_met_and_bounds_it(
    r: list[int], s: list[int], threshold: Fraction
) -> None:
    query, real = Unlikeness(table(s)), table(r)
    value, excess = query.value(real, NOISE), query.excess(real, threshold, NOISE)
    assert (value < threshold) is (excess < 0)
    assert value <= threshold + max(excess * step for step in query.steps(threshold))


@given(CELLS, CELLS, THRESHOLDS, st.integers(0, 2), st.integers(0, 2))
def test_one_replaced_record_moves_it_by_one_at_most(
    r: list[int], s: list[int], threshold: Fraction, out: int, into: int
) -> None:
    if r[out]:
        query, moved = Unlikeness(table(s)), r.copy()
        moved[out] -= 1
        moved[into] += 1
        one, other = (query.excess(table(counts), threshold, NOISE) for counts in (r, moved))
        assert abs(one - other) <= 1


@given(CELLS, CELLS, THRESHOLDS)
def test_it_leaves_no_less_room_than_the_ratio_itself(r: list[int], s: list[int], threshold: Fraction) -> None:
    query, real = Unlikeness(table(s)), table(r)
    value, excess = query.value(real, NOISE), query.excess(real, threshold, NOISE)
    if value < threshold < 1:
        assert excess <= (value - threshold) / query.sensitivity()


def test_too_many_records_need_a_step_of_their_own() -> None:
    """100 records, 190 in the original, a ratio of 2: what bounds too few does not bound too many."""
    query, real, half = Unlikeness(table([100, 100, 100])), table([190, 90, 90]), Fraction(1, 2)
    value, excess = query.value(real, NOISE), query.excess(real, half, NOISE)
    assert excess == 191 - 202
    assert value > half + excess * Fraction(1, 101)
    assert value <= half + excess * Fraction(1, 101) / 4
