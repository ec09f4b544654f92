"""Errors of a regression: a joint test takes every choice of signs of a norm in units of its own."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import OneStep, PredictionGap, regression
from facsimile.privacy.queries.regression import MOST_SIGNED, MOST_SIGNS, Cells
from facsimile.table.linear import Linear, Terms, newton_terms
from facsimile.table.table import Table
from facsimile.testing import random_pairs, small_domain
from facsimile.testing.neighbours import numbered_domain

DOMAIN = small_domain(4, 3, 3)
NOISE = RehearsalNoise(1)


def step() -> OneStep:
    codes = np.random.default_rng(5).integers(0, DOMAIN.shape, (60, 3))
    codes[:, 0] = (codes[:, 0] + codes[:, 1]) // 2
    terms = newton_terms(Table.from_rows(DOMAIN, codes), "a")
    assert terms is not None
    return OneStep(terms, Cells(np.ones(DOMAIN.shape, bool)), 60)


def test_each_choice_of_signs_has_a_step_and_the_largest_is_the_sensitivity() -> None:
    query = step()
    found = query.steps(Fraction(1))
    assert len(found) == 4 and max(found) == query.sensitivity() and min(found) < max(found)


def test_one_record_moves_the_excess_by_one_and_the_smallest_step_would_be_too_small() -> None:
    query, threshold = step(), Fraction(2)
    moved, naive, room = [], [], []
    for one, other in random_pairs(DOMAIN, 60, 400):
        values = [query.value(t, NOISE) for t in (one, other)]
        moved.append(abs(query.excess(one, threshold, NOISE) - query.excess(other, threshold, NOISE)))
        naive.append(abs(values[0] - values[1]) / min(query.steps(threshold)))
        room.append(query.excess(one, threshold, NOISE) - (values[0] - threshold) / query.sensitivity())
        assert (values[0] < threshold) is (query.excess(one, threshold, NOISE) < 0)
    assert max(moved) <= 1 < max(naive)
    assert min(room) < 0


def test_where_cells_are_too_many_there_is_one_step() -> None:
    query = OneStep(step().terms, None, 60)
    assert query.steps(Fraction(1)) == [query.sensitivity()]
    (one, _), *_ = random_pairs(DOMAIN, 60, 1)
    wanted = (query.value(one, NOISE) - 2) / query.sensitivity()
    assert query.excess(one, Fraction(2), NOISE) == wanted


def test_where_signs_are_too_many_the_least_of_three_bounds_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    query = step()
    z = query.terms.of(np.argwhere(np.ones(DOMAIN.shape, bool))).tolist()
    low, high = ([pick(line[j] for line in z) for j in range(len(z[0]))] for pick in (min, max))
    middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
    around = [
        2 * max(sum(abs(x - m) for x, m in zip(line, ms, strict=True)) for line in z)
        for ms in ([0] * 3, middle)
    ]
    ranges = sum(high) - sum(low)
    assert query.terms.unit == 2**10
    signs, cells = 2 ** (len(z[0]) - 1), len(z)
    assert (MOST_SIGNED, MOST_SIGNS) == (2**30, 2**12)
    for name, most in (("MOST_SIGNS", signs), ("MOST_SIGNED", signs * cells)):
        monkeypatch.setattr(regression, name, most)
        assert len(step().steps(Fraction(1))) == signs
        monkeypatch.setattr(regression, name, most - 1)
        (only,) = step().steps(Fraction(1))
        assert only == Fraction(min(ranges, *around), 60 * 2**10)
        monkeypatch.undo()


@pytest.mark.parametrize("shift", [0, 1000, -1000])
def test_each_of_the_three_bounds_can_be_the_least(shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms of two coordinates whose norms lie around zero, around a middle, or far from both."""
    monkeypatch.setattr(regression, "MOST_SIGNS", 0)
    domain = numbered_domain([-1, 1], [0, 1])
    rows = (Linear(domain, "a", 2**20, ()), Linear(domain, "a", 2**20 * (1 + shift), ((("b",), UNITS),)))
    query = OneStep(Terms(Linear(domain, "a", 0, ()), rows), Cells(np.ones((2, 2), bool)), 7)
    z = query.terms.of(np.argwhere(np.ones((2, 2), bool)))
    low, high = z.min(axis=0), z.max(axis=0)
    bounds = [(high - low).sum(), *(2 * np.abs(z - m).sum(axis=1).max() for m in (0 * low, (low + high) // 2))]
    assert query.sensitivity() == Fraction(int(min(bounds)), 7 * 2**10)


UNITS = np.array([0, 2**21])


def test_terms_that_no_record_moves_have_the_smallest_step_there_is() -> None:
    domain = numbered_domain([5], [0, 1])
    flat = Terms(Linear(domain, "a", 0, ()), (Linear(domain, "a", 0, ()),))
    for cells in (Cells(np.ones((1, 2), bool)), None):
        assert OneStep(flat, cells, 7).sensitivity() == Fraction(1, 7 * 2**10)
    same = PredictionGap(*(Linear(domain, "a", 0, ()),) * 2, (Fraction(0), Fraction(1)), Cells(ONES), 7)
    assert same.sensitivity() == Fraction(1, 7 * 2**20)


ONES = np.ones((1, 2), bool)


@pytest.mark.parametrize("mask", [np.ones((3, 2), np.int64), np.zeros((3, 2), bool), np.ones((3, 2))])
def test_allowed_cells_are_a_mask_with_a_cell(mask: Any) -> None:
    with pytest.raises(ValueError, match="at least one cell"):
        Cells(mask)


@pytest.mark.parametrize("cells", [None, Cells(np.array([[0, 1], [1, 1], [1, 0]]) > 0)])
def test_a_prediction_gap_is_the_difference_of_mean_errors(cells: Cells | None) -> None:
    domain, bounds = numbered_domain([0, 1, 4], [0, 3]), (Fraction(1, 3), Fraction(4))
    models = [Linear(domain, "a", c, ((("b",), np.array([0, s])),)) for c, s in ((2**19, 2**20), (2**22, 5))]
    query = PredictionGap(models[0], models[1], bounds, cells, 6)
    low, high = -(-(2**20) // 3), 4 * 2**20

    def gap(a: int, b: int) -> int:
        if cells is not None and not cells.allowed[a, b]:
            a, b = 0, 1
        one, other = (min(max(c + b * s, low), high) for c, s in ((2**19, 2**20), (2**22, 5)))
        return abs((0, 1, 4)[a] * 2**20 - one) - abs((0, 1, 4)[a] * 2**20 - other)

    rows = [(0, 0), (1, 1), (2, 0), (2, 1), (1, 0), (1, 0)]
    value = query.value(Table.from_rows(domain, rows), NOISE)
    assert value == Fraction(abs(sum(gap(*row) for row in rows)), 6 * 2**20)
    every = [gap(a, b) for a in range(3) for b in range(2)]
    sharp = Fraction(max(every) - min(every), 6 * 2**20)
    assert query.sensitivity() == (2 * (4 - Fraction(1, 3)) / 6 if cells is None else sharp)


@pytest.mark.parametrize(("size", "kind"), [(2**61 // 3, np.int64), (2**61 // 3 + 1, object)])
def test_sums_of_signed_terms_do_not_wrap(size: int, kind: type) -> None:
    terms = SimpleNamespace(of=lambda codes: np.array([[size, -size, size]]))
    held = SimpleNamespace(cells=Cells(np.ones((1,), bool)), terms=terms)
    found = vars(OneStep)["_listed"].func(held)
    assert found is not None and found.dtype == kind
