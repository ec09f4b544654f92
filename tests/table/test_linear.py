"""Linear functions of bins in exact integers, against Python's, with numbers that leave 64 bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from facsimile.table.domain import Domain
from facsimile.table.linear import BITS, COARSE, Linear, Terms, _fits, newton_terms, predictable
from facsimile.table.regression import Scaling
from facsimile.table.table import Table
from facsimile.table.view import Shown, View
from facsimile.testing.neighbours import numbered_domain

LARGE = [10, 10**9, 10**13, 10**30, 10**120]


def model(domain: Domain, constant: int, slope: Fraction) -> Linear:
    return Linear.scaled(
        domain, Scaling("a", ("b",), (Fraction(1, 3),), (Fraction(1, 2),)), (Fraction(constant), slope)
    )


def rows(domain: Domain) -> list[tuple[int, ...]]:
    return list(product(*(range(size) for size in domain.shape)))


def expected(one: Linear, row: tuple[int, ...]) -> int:
    return one.constant + sum(
        int(table.tolist()[row[one.domain.place(name)]]) for (name,), table in one.contributions
    )


@pytest.mark.parametrize("number", LARGE)
def test_predictions_clips_and_terms_are_exact(number: int) -> None:
    domain = numbered_domain([0, 1, number], [-number, 0, number])
    one, other = model(domain, number, Fraction(number)), model(domain, 1, Fraction(1, 3))
    codes = np.array(rows(domain))
    predicted = [expected(one, row) for row in rows(domain)]
    assert one.predict(codes).tolist() == predicted
    bounds = (Fraction(-1, 3), Fraction(number) + Fraction(2, 3))
    unit = one.unit
    cut = [min(max(p, -(unit // 3)), int(bounds[1] * unit)) for p in predicted]
    assert one.clipped(codes, bounds).tolist() == cut
    terms = Terms(other, (one, other))
    shift = 2 * BITS - COARSE
    targets = [(domain.axes[0].numbers or ())[row[0]] * unit for row in rows(domain)]
    for line, row, target in zip(terms.of(codes).tolist(), rows(domain), targets, strict=True):
        residual = int(target) - expected(other, row)
        assert line == [(expected(m, row) * residual + (1 << (shift - 1))) >> shift for m in terms.rows]
    assert all(
        sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= terms.reach()
        for x, y in product(terms.of(codes).tolist(), repeat=2)
    )


def test_the_reach_allows_for_the_rounding_of_every_coefficient() -> None:
    """±513/1024 are rounded to ±1: three coefficients move by six; without rounding it would be three."""
    domain = numbered_domain([-1, 1], [0, 1])
    terms = Terms(Linear(domain, "a", 0, ()), (Linear(domain, "a", 513, ()),) * 3)
    low, high = terms.of(np.array([[0, 0], [1, 0]])).tolist()
    assert sum(abs(x - y) for x, y in zip(low, high, strict=True)) == 6 == terms.reach()


@pytest.mark.parametrize(("numbers", "farthest"), [([0, 1], 1), ([1, 3], 3), ([-2, 1], 3)])
def test_no_chance_is_farther_from_an_event_than_its_numbers_allow(numbers: list[int], farthest: int) -> None:
    domain = numbered_domain(numbers, [0, 1])
    assert Terms(Linear(domain, "a", 5, ()), (), odds=True).farthest == farthest << BITS


def test_the_reach_is_that_of_the_entries_with_the_largest_norm() -> None:
    """‖A·x‖₁ is 3 + 1 + (5 + 4), each residual is 2^40 ones: every unit of a table counts."""
    domain = numbered_domain([0, 2**40], [0, 1, 2])
    tables = [np.array(table) for table in ([5, -1, 0], [4, 7, -7])]
    lines = [Linear(domain, "a", c, ((("b",), t),)) for c, t in zip((3, -1), tables, strict=True)]
    terms = Terms(Linear(domain, "a", 0, ()), tuple(lines))
    assert terms.reach() == ((2 * (3 + 1 + 9) << (40 + BITS)) >> (2 * BITS - COARSE)) + 2


def test_columns_of_one_table_share_it_and_features_of_two_are_read_in_one_cell() -> None:
    domain = numbered_domain([0, 1], [0, 1, 5], [0, 2])
    square = Shown.numbers("b*b", ("b",), map(Fraction, (0, 1, 25)), (3,))
    both = Shown.numbers("b*c", ("b", "c"), map(Fraction, (0, 0, 0, 2, 0, 10)), (3, 2))
    view = View(domain, (Shown.plain(domain.axis("b")), square, both, Shown.plain(domain.axis("a"))))
    scaling = Scaling("a", ("b", "b*b", "b*c"), (Fraction(0),) * 3, (Fraction(1),) * 3)
    line = Linear.scaled(domain, scaling, (Fraction(7), Fraction(1), Fraction(2), Fraction(3)), view)
    assert [clique for clique, _ in line.contributions] == [("b", "c")]
    codes = np.array(rows(domain))
    b, c = np.array([0, 1, 5])[codes[:, 1]], np.array([0, 2])[codes[:, 2]]
    assert (line.predict(codes) == (7 + b + 2 * b**2 + 3 * b * c) * line.unit).all()
    assert line.ends == (7 * line.unit, (7 + 5 + 50 + 30) * line.unit)


@pytest.mark.parametrize("number", LARGE)
def test_what_is_too_steep_for_62_bits_is_known_from_the_model(number: int) -> None:
    domain = numbered_domain([0, 1, number], [-number, 0, number])
    assert predictable(model(domain, 0, Fraction(1))) is (number < 10**12)


@pytest.mark.parametrize("number", LARGE)
def test_one_step_from_a_narrow_candidate_is_answered_or_left_to_the_candidate(number: int) -> None:
    """The candidate lies in 0 and 1; the domain goes on to a number that is never seen."""
    domain = numbered_domain([0, 1, number], [0, 1, number])
    candidate = Table.from_rows(domain, [[0, 0], [0, 1], [1, 1], [0, 0]], [7, 2, 9, 1])
    assert (newton_terms(candidate, "a") is None) is (number > 10)


def test_terms_fit_while_neither_a_product_nor_a_sum_of_all_leaves_62_bits() -> None:
    def terms(product: int) -> Any:
        return SimpleNamespace(products=(1, product))

    scale = 2 * BITS - COARSE
    assert _fits(terms(2**60 - 1), 1) and not _fits(terms(2**60), 1)
    assert _fits(terms(2**50), 2 ** (9 + scale)) and not _fits(terms(2**50), 2 ** (10 + scale))
