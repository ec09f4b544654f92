"""Errors of a regression: a joint test takes every choice of signs of a norm in units of its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import OneStep
from facsimile.privacy.queries.regression import Cells
from facsimile.table.linear import newton_terms
from facsimile.table.table import Table
from facsimile.testing import random_pairs, small_domain

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
