"""Ranges of squares, products and moments: what planning takes as the sensitivity of a regression."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from itertools import product as every

import pytest

from facsimile.acceptance.planned import moments, product, square

RANGES = [(-3, 2), (-2, 3), (-3, -1), (1, 4), (0, 2), (-2, 0), (2, 2), (-1, 1), (0, 0)]


def points(low: int, high: int) -> list[Fraction]:
    return [Fraction(x, 4) for x in range(4 * low, 4 * high + 1)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_a_square_has_exactly_its_range(low: int, high: int) -> None:
    squares = [x * x for x in points(low, high)]
    assert square((Fraction(low), Fraction(high))) == max(squares) - min(squares)


@pytest.mark.parametrize(("left", "right"), list(every(RANGES, repeat=2)))
def test_a_product_has_exactly_its_range(left: tuple[int, int], right: tuple[int, int]) -> None:
    products = [x * y for x, y in every(points(*left), points(*right))]
    exact = (Fraction(left[0]), Fraction(left[1])), (Fraction(right[0]), Fraction(right[1]))
    assert product(*exact) == max(products) - min(products)


@pytest.mark.parametrize(("first", "second", "target"), list(every(RANGES[:5], RANGES[2:6], RANGES[:4])))
def test_moments_move_no_more_than_their_sensitivity(
    first: tuple[int, int], second: tuple[int, int], target: tuple[int, int]
) -> None:
    one = (Fraction(1), Fraction(1))
    ranges = [(Fraction(low), Fraction(high)) for low, high in (first, second, target)]
    declared = moments([one, *ranges[:2]], ranges[2])
    corners = [
        [Fraction(x) for x in {low, high, *([0] if low <= 0 <= high else [])}]
        for low, high in (first, second, target)
    ]
    records = [(Fraction(1), *values) for values in every(*corners)]
    measured = max(
        sum(abs(a - b) for a, b in zip(monomials(r), monomials(o), strict=True))
        for r, o in every(records, repeat=2)
    )
    assert measured <= declared


def test_one_moment_is_reached() -> None:
    """With the constant as the only feature, Σy is released: its range is the range of y."""
    one, target = (Fraction(1), Fraction(1)), (Fraction(-2), Fraction(5))
    assert moments([one], target) == 7


def monomials(record: tuple[Fraction, ...]) -> list[Fraction]:
    *features, target = record
    pairs = combinations_with_replacement(range(len(features)), 2)
    return [features[i] * features[j] for i, j in pairs] + [x * target for x in features]
