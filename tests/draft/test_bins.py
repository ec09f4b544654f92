"""Bins: round numbers, nested, none too small."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.bins import STEPS, Spread, coarser, joined, nested, released, roundest

SPREADS = st.dictionaries(st.integers(-(10**6), 10**6), st.integers(1, 500), min_size=2, max_size=60).map(
    lambda counts: Spread(np.array(sorted(counts)), np.array([counts[v] for v in sorted(counts)]))
)


def spread(values: np.ndarray) -> Spread:
    return Spread(*np.unique(values, return_counts=True))


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9))
def test_the_roundest_number_lies_between_and_no_rounder_one_does(low: int, width: int) -> None:
    found = roundest(low, low + width)
    assert low <= found <= low + width
    own = max(step for step in STEPS if found % step == 0)
    assert not found or all(-(-low // step) * step > low + width for step in STEPS if step > own)


@given(SPREADS)
def test_cuts_are_nested_and_each_is_coarser(found: Spread) -> None:
    cuts = nested(found, released(found))
    assert all(set(coarse) < set(fine) for fine, coarse in pairwise(cuts))
    assert all(len(cut) >= 1 and list(cut) == sorted(set(cut)) for cut in cuts)


@given(SPREADS)
def test_no_bin_is_rare_unless_there_would_be_one_only(found: Spread) -> None:
    cut = released(found)
    assert len(cut) == 1 or found.shares(cut).min() >= found.rare


@given(SPREADS, st.lists(st.floats(0, 1), max_size=4))
def test_a_coarser_cut_is_of_the_same_places(found: Spread, wanted: list[float]) -> None:
    cut = released(found)
    assert set(coarser(found, cut, wanted, 0.1)) <= set(cut)


def test_people_of_all_ages_are_cut_by_tens() -> None:
    ages = np.random.default_rng(1).integers(0, 95, 20_000)
    assert released(spread(ages)) == tuple(range(10, 91, 10))


def test_skewed_numbers_are_cut_at_round_numbers_of_growing_size() -> None:
    incomes = np.exp(np.random.default_rng(1).normal(10, 0.7, 30_000)).astype(int)
    cut = released(spread(incomes))
    assert 8 <= len(cut) + 1 <= 13
    assert all(start % 500 == 0 for start in cut)
    assert spread(incomes).shares(cut).min() >= 0.005


def test_a_heap_is_a_bin_of_its_own() -> None:
    random = np.random.default_rng(1)
    costs = np.where(random.random(9000) < 0.6, 0, random.integers(1, 5000, 9000))
    assert released(spread(costs))[0] == 1
    hours = np.where(random.random(9000) < 0.45, 40, random.integers(1, 99, 9000))
    assert {40, 41} <= set(released(spread(hours)))


def test_few_values_have_a_bin_each_and_rare_ones_are_joined() -> None:
    answers = Spread(np.arange(1, 6), np.array([100, 300, 300, 200, 100]))
    assert released(answers) == (2, 3, 4, 5)
    children = Spread(np.arange(8), np.array([4000, 3000, 2000, 600, 300, 60, 10, 2]))
    assert released(children) == (1, 2, 3, 4, 5)


@pytest.mark.parametrize("records", [2, 3, 30])
def test_a_handful_of_records_is_cut_once_at_least(records: int) -> None:
    assert len(released(spread(np.arange(records)))) >= 1


def test_what_is_rare_joins_its_smaller_neighbour() -> None:
    found = Spread(np.arange(4), np.array([500, 1, 100, 400]))
    assert joined(found, (1, 2, 3)) == (1, 3)
