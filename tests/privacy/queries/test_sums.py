"""Worst sums: sums, centres and units against Python's integers, and what does not fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.table.table import Table
from facsimile.testing import small_domain

DOMAIN = small_domain(3, 2)
TABLE = Table.from_rows(DOMAIN, [[0, 0], [2, 1], [2, 1], [1, 0]])
NOISE = RehearsalNoise(1)
ONE = Sums(("a",), np.array([[0, 1, 3], [2, 0, -1]]), (4, 1), (Fraction(2), Fraction(5)))
TWO = Sums(("b", "a"), np.array([[[2**70, 0, 0], [0, 0, -1]]], object), (2**70 - 30,), (Fraction(3),))


def test_a_worst_sum_is_the_largest_distance_above_a_centre_in_its_unit() -> None:
    assert ONE.errors(TABLE) == [Fraction(7 - 4, 2), Fraction(0 - 1, 5)]
    assert ONE.ranges() == [Fraction(3, 2), Fraction(3, 5)]
    assert TWO.errors(TABLE) == [Fraction(28, 3)] and TWO.ranges() == [Fraction(2**70 + 1, 3)]
    both, threshold = WorstSum((ONE, TWO)), Fraction(1, 2)
    assert both.value(TABLE, NOISE) == Fraction(28, 3)
    assert both.steps(threshold) == [*ONE.ranges(), *TWO.ranges()]
    assert both.sensitivity() == Fraction(2**70 + 1, 3)
    assert both.excess(TABLE, threshold, NOISE) == Fraction(2, 3)
    low = WorstSum((replace(ONE, centres=(40, 40)),))
    assert low.value(TABLE, NOISE) == 0 > low.excess(TABLE, Fraction(0), NOISE)


@pytest.mark.parametrize(
    "changed",
    [
        {"clique": ("z",)}, {"clique": ("b",)}, {"centres": (4,)}, {"centres": (4, 1.0)},
        {"centres": (4, True)},
        {"units": (Fraction(1),)}, {"units": (Fraction(1),) * 3}, {"units": (Fraction(1), 0.5)},
        {"units": (Fraction(1), Fraction(0))}, {"units": (-Fraction(1), Fraction(1))},
        {"terms": np.array([[0, 1, 3]])}, {"terms": np.array([[0, 1, 3], [2, 0, 0.5]])},
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(changed: dict[str, Any]) -> None:
    WorstSum((ONE, TWO)).check(DOMAIN, 4)
    with pytest.raises(ValueError):
        WorstSum((TWO, replace(ONE, **changed))).check(DOMAIN, 4)
    with pytest.raises(ValueError):
        WorstSum(()).check(DOMAIN, 4)
