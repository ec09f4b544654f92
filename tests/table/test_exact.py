"""Exact sums against Python's integers, around every edge at which 64 bits wrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table.exact import LARGEST, dot, integers, largest, product, rounded, total

EDGES = [sign * (edge + shift) for edge in (0, 2**31, 2**53, 2**62, 2**63, 10**30) for shift in (-1, 0, 1)
         for sign in (1, -1)]  # fmt: skip
NUMBER = st.one_of(st.sampled_from(EDGES), st.integers(-(2**70), 2**70), st.integers(-9, 9))
NUMBERS = st.lists(NUMBER, min_size=1, max_size=5)
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(NUMBERS)
def test_an_array_holds_the_integers_in_64_bits_where_they_fit(values: list[int]) -> None:
    found = integers(values)
    assert found.tolist() == values
    assert (found.dtype == np.int64) is all(abs(value) < LARGEST for value in values)
    assert all(type(value) is int for value in found.tolist())


def test_arrays_have_64_bits_below_2_to_the_62_and_only_there() -> None:
    def bits(*found: np.ndarray) -> list[bool]:
        return [array.dtype == np.int64 for array in found]

    assert bits(integers([2**62 - 1]), integers([2**62]), integers([])) == [True, False, True]
    assert bits(rounded(np.array([2.0**61])), rounded(np.array([2.0**62])), rounded(np.zeros((0, 2)))) == [
        True, False, True,
    ]  # fmt: skip
    power = np.array([2**31])
    assert bits(product(power, power - 1), product(power, power)) == [True, False]
    terms, counts = np.array([[2**31] * 4]), np.array([2**31 - 4, 1, 1, 1])
    assert bits(dot(terms, counts), dot(terms, counts + 1)) == [True, False]


@given(NUMBERS)
def test_the_largest_and_the_total_are_pythons(values: list[int]) -> None:
    found = integers(values)
    assert (largest(found), total(found)) == (max(map(abs, values)), sum(values))
    assert largest(found[:0]) == total(found[:0]) == 0


@given(st.lists(INT64, min_size=1, max_size=6))
def test_even_of_arrays_that_somebody_else_filled_to_the_brim(values: list[int]) -> None:
    found = np.array(values, np.int64)
    assert (largest(found), total(found)) == (max(map(abs, values)), sum(values))
    assert int(dot(found, found)) == sum(value * value for value in values)


@given(NUMBERS, NUMBERS)
def test_products_are_pythons(one: list[int], other: list[int]) -> None:
    found = product(integers(one)[:, None], integers(other)[None, :])
    assert found.tolist() == [[a * b for b in other] for a in one]


@given(st.data(), st.integers(1, 4), st.integers(1, 4))
def test_sums_of_terms_with_counts_are_pythons(data: st.DataObject, lines: int, cells: int) -> None:
    terms = [data.draw(st.lists(NUMBER, min_size=cells, max_size=cells)) for _ in range(lines)]
    counts = data.draw(st.lists(st.one_of(NUMBER, st.integers(0, 10**7)), min_size=cells, max_size=cells))
    wanted = [sum(t * c for t, c in zip(line, counts, strict=True)) for line in terms]
    flat = integers(value for line in terms for value in line)
    assert dot(flat.reshape(lines, cells), integers(counts)).tolist() == wanted
    assert int(dot(integers(terms[0]), integers(counts))) == wanted[0]


@given(st.lists(st.floats(-1e200, 1e200, allow_nan=False), min_size=1, max_size=4))
def test_rounded_floats_are_the_nearest_integers(values: list[float]) -> None:
    assert rounded(np.array(values)).tolist() == [round(value) for value in values]


def test_nothing_is_summed_to_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    assert (largest(nothing), total(nothing), rounded(np.zeros(0)).size) == (0, 0, 0)


@pytest.mark.parametrize("n", [10, 2_000_000])
def test_ordinary_numbers_stay_in_64_bits(n: int) -> None:
    assert dot(np.array([10**6, -3]), np.array([n, n])).dtype == np.int64
    assert dot(np.array([10**13, 0]), np.array([n, n])).dtype == (np.int64 if n == 10 else object)
