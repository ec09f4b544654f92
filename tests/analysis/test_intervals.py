"""Intervals of ratios and means against every table that they allow."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.analysis.intervals import Claim, Interval, intersected, mean, ratio

ENDS = st.tuples(st.integers(0, 3), st.integers(0, 2)).map(lambda pair: Interval(pair[0], pair[0] + pair[1]))


def inside(ends: Interval) -> range:
    return range(int(ends.low), int(ends.high) + 1)


@given(ENDS, ENDS, st.integers(0, 2), st.integers(0, 2))
def test_a_ratio_is_the_extremes_of_all_counts(part: Interval, rest: Interval, lower: int, higher: int) -> None:
    whole = Interval(part.low + rest.low + lower, part.high + rest.high - higher)
    found = ratio(part, rest, whole)
    every = [
        a / (a + c)
        for a, c in product(inside(part), inside(rest))
        if a + c > 0 and whole.low <= a + c <= whole.high
    ]
    assert all(found.low - 1e-12 <= one <= found.high + 1e-12 for one in every)
    if every and not lower and not higher and part.low + rest.low > 0:
        assert found.low == pytest.approx(min(every)) and found.high == pytest.approx(max(every))


@given(st.lists(st.tuples(st.integers(-3, 3), ENDS), min_size=1, max_size=4))
def test_a_mean_is_the_extremes_of_all_counts(bins: list[tuple[int, Interval]]) -> None:
    numbers, counts = [x for x, _ in bins], [ends for _, ends in bins]
    every = [
        sum(x * r for x, r in zip(numbers, rows, strict=True)) / sum(rows)
        for rows in product(*(inside(ends) for ends in counts))
        if sum(rows)
    ]
    if every:
        found = mean(numbers, counts)
        assert found.low == pytest.approx(min(every)) and found.high == pytest.approx(max(every))


def test_claims_are_intersected_and_those_that_decide_are_named() -> None:
    claims = [Claim("a", "", Interval(2, 9)), Claim("b", "", Interval(0, 7)), Claim("c", "", Interval(-5, 50))]
    found, binding = intersected(claims, Interval(0, 20))
    assert found == Interval(2, 7) and [claim.rule for claim in binding] == ["a", "b"]


def test_claims_that_contradict_each_other_leave_everything_between_them() -> None:
    found, binding = intersected(
        [Claim("a", "", Interval(1, 2)), Claim("b", "", Interval(5, 60))], Interval(0, 20)
    )
    assert found == Interval(1, 20) and len(binding) == 2


def test_integers_are_rounded_outwards_by_a_hair_only() -> None:
    assert Interval(1.0000000001, 2.9999999999).whole() == Interval(1, 3)
    assert Interval(1.1, 2.9).whole() == Interval(2, 2)
