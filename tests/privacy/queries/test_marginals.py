"""Errors of marginals: what a joint test sees of a ratio, in records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import (
    ClippedRatio,
    LargestDifference,
    TailDifference,
    TotalVariation,
    Unlikeness,
)
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


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=6, max_size=6)
WIDE = small_domain(3, 2)


@given(ROWS, ROWS, st.sampled_from([Fraction(k, 8) for k in range(9)]))
def test_differences_are_those_of_cells_counted_one_by_one(
    r: list[tuple[int, int]], s: list[tuple[int, int]], beyond: Fraction
) -> None:
    real, candidate = (Table.from_rows(WIDE, rows) for rows in (r, s))

    def gaps(*places: int) -> list[int]:
        sides = [Counter(tuple(row[p] for p in places) for row in rows) for rows in (r, s)]
        return [
            abs(sides[0][cell] - sides[1][cell]) for cell in product(*(range(WIDE.shape[p]) for p in places))
        ]

    one, two, both = gaps(0), gaps(1), gaps(0, 1)
    for ways, most in ((None, max(one + two + both)), (1, max(one + two)), (2, max(one + two + both))):
        assert LargestDifference(candidate, ways).value(real, NOISE) == Fraction(most, 6)
    names = (("a",), ("a", "b"))
    apart = [Fraction(sum(one), 12), Fraction(sum(both), 12)]
    assert TotalVariation(candidate, names).value(real, NOISE) == max(apart)
    assert TotalVariation(candidate, names, average=True).value(real, NOISE) == sum(apart) / 2
    cells = sorted(one + both)
    found = TailDifference(candidate, names, beyond).value(real, NOISE) * 6
    assert sum(gap > found for gap in cells) <= beyond * len(cells)
    assert found == cells[0] or sum(gap >= found for gap in cells) > beyond * len(cells)
    ratio = max(
        Fraction(max(x, y) + 1, min(x, y) + 1) for name in "ab" for x, y in _pairs(real, candidate, name)
    )
    assert Unlikeness(candidate).value(real, NOISE) == 1 - 1 / ratio
    assert ClippedRatio(candidate, Fraction(5, 2)).value(real, NOISE) == min(ratio, Fraction(5, 2))


def _pairs(one: Table, other: Table, name: str) -> Iterator[tuple[int, int]]:
    yield from zip(*(table.marginal((name,)).tolist() for table in (one, other)), strict=True)


def test_parameters_fit_up_to_their_limits() -> None:
    s = Table.from_rows(WIDE, [[0, 0], [2, 1]])
    names, little = (("a",),), Fraction(1, 10**9)
    for good in (
        LargestDifference(s), LargestDifference(s, 1), LargestDifference(s, 9), ClippedRatio(s, 1 + little),
        TailDifference(s, names, Fraction(0)), TailDifference(s, names, Fraction(1)),
        TailDifference(s, names, 1),  # type: ignore[arg-type]
    ):  # fmt: skip
        good.check(WIDE, 2)
    for bad in (
        LargestDifference(s, 0), LargestDifference(s, True), ClippedRatio(s, Fraction(1)),
        TotalVariation(s, ()),
        ClippedRatio(s, 1.5), TailDifference(s, names, -little), TailDifference(s, names, 1 + little),  # type: ignore[arg-type]
        TailDifference(s, names, 0.5), TailDifference(s, (), little), TotalVariation(s, (("z",),)),  # type: ignore[arg-type]
    ):  # fmt: skip
        with pytest.raises(ValueError):
            bad.check(WIDE, 2)


def test_a_share_beyond_a_tail_takes_its_cells_from_the_top() -> None:
    """Gaps of 0, 1, 2 and 3 between counts: a quarter beyond leaves 2, all beyond leaves the least."""
    domain = small_domain(4)
    real, candidate = (
        Table.from_rows(domain, [[0], [1], [2], [3]], counts) for counts in ([9, 8, 5, 1], [9, 7, 3, 4])
    )
    for beyond, gap in ((0, 3), ("1/4", 2), ("1/3", 2), ("1/2", 1), ("3/4", 0), (1, 0)):
        found = TailDifference(candidate, (("a",),), Fraction(beyond)).value(real, NOISE)
        assert found == Fraction(gap, 23)


def test_too_many_records_need_a_step_of_their_own() -> None:
    """100 records, 190 in the original, a ratio of 2: what bounds too few does not bound too many."""
    query, real, half = Unlikeness(table([100, 100, 100])), table([190, 90, 90]), Fraction(1, 2)
    value, excess = query.value(real, NOISE), query.excess(real, half, NOISE)
    assert excess == 191 - 202
    assert value > half + excess * Fraction(1, 101)
    assert value <= half + excess * Fraction(1, 101) / 4
