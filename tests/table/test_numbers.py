"""Means, variances and correlations of columns whose numbers leave 64 bits, and floats."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from facsimile.table.numbers import correlation, deviation, floats, mean, scaled, standardised, variance
from facsimile.table.table import Table
from facsimile.testing.neighbours import numbered_domain

LARGE = [10**9, 10**13, 10**13 + Fraction(1, 3), 10**30, 10**125]
COUNTS = [5, 2_000_000, 3, 1_999_990]
ROWS = [[0, 0], [1, 1], [0, 1], [1, 0]]


def both(number: Fraction | int) -> Table:
    return Table.from_rows(numbered_domain([0, number], [Fraction(1, 7), number]), ROWS, COUNTS)


def listed(table: Table, place: int) -> list[tuple[Fraction, int]]:
    """Each row's number of a column with its count, without any array."""
    numbers = table.domain.axes[place].numbers or ()
    return [
        (numbers[row[place]], c) for row, c in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
    ]


@pytest.mark.parametrize("number", LARGE)
def test_they_are_exact(number: Fraction | int) -> None:
    table = both(number)
    for place, name in enumerate("ab"):
        rows = listed(table, place)
        centre = sum(x * c for x, c in rows) / Fraction(table.n)
        assert mean(table, name) == centre
        assert variance(table, name) == sum((x - centre) ** 2 * c for x, c in rows) / table.n
        assert abs(deviation(table, name) ** 2 / variance(table, name) - 1) < Fraction(1, 10**6)
        numbers = table.domain.axis(name).numbers or ()
        assert floats(table.domain.axis(name)) == pytest.approx([float(x) for x in numbers])
        pairs = zip(standardised(table, name), table.marginal((name,)).tolist(), strict=True)
        assert abs(sum(x * count for x, count in pairs)) < table.n


@pytest.mark.parametrize("number", LARGE)
def test_a_correlation_does_not_depend_on_the_size_of_the_numbers(number: Fraction | int) -> None:
    ordinary = correlation(Table.from_rows(numbered_domain([0, 1], [0, 1]), ROWS, COUNTS), "a", "b")
    assert correlation(both(number), "a", "b") == pytest.approx(ordinary, abs=1e-6)
    tiny = Table.from_rows(numbered_domain([0, Fraction(1, 10**125)], [0, Fraction(1, 10**125)]), ROWS, COUNTS)
    assert correlation(tiny, "a", "b") == pytest.approx(ordinary, abs=1e-6)
    joint = Table.from_rows(tiny.domain, [[0, 0], [1, 1]])
    assert correlation(joint, "a", "b") == pytest.approx(sqrt(1))


def test_what_fits_stays_in_64_bits() -> None:
    values, unit = scaled(numbered_domain([0, Fraction(5, 2)]).axis("a"))
    assert values.dtype == np.int64
    assert (values.tolist(), unit) == ([0, 5], 2)
