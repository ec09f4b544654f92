"""Regression, exact linear functions, numbers and face privacy of tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from facsimile.table.faces import face_privacy
from facsimile.table.linear import Linear, fitted, newton_terms
from facsimile.table.numbers import grid, mean, scaled, variance
from facsimile.table.regression import Scaling, design, least_squares, mean_absolute_error
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(4, 3, 5)
RANDOM = np.random.default_rng(8)
ROWS = RANDOM.integers(0, [4, 3, 5], (300, 3))
TABLE = Table.from_rows(DOMAIN, ROWS)


def test_means_and_variances_are_exact() -> None:
    assert float(mean(TABLE, "a")) == pytest.approx(ROWS[:, 0].mean(), abs=1e-12)
    assert float(variance(TABLE, "c")) == pytest.approx(ROWS[:, 2].var(), abs=1e-12)
    assert scaled(DOMAIN.axis("a"))[1] == 1
    assert grid(Fraction(1, 3)) == Fraction(349525, 2**20)


def test_least_squares_equals_the_textbook() -> None:
    scaling = Scaling.by(TABLE, "c")
    x = np.column_stack([np.ones(300), *((ROWS[:, i] - ROWS[:, i].mean()) / ROWS[:, i].std() for i in (0, 1))])
    expected = np.linalg.lstsq(x, ROWS[:, 2].astype(float), rcond=None)[0]
    found = least_squares(TABLE, scaling)
    assert found is not None
    assert found == pytest.approx(expected, abs=1e-5)
    error = np.abs(ROWS[:, 2] - np.clip(x @ expected, 1, 3)).mean()
    assert mean_absolute_error(TABLE, scaling, found, (1.0, 3.0)) == pytest.approx(error, abs=1e-5)


def test_a_constant_column_counts_with_deviation_one_and_leaves_the_fit_open() -> None:
    flat = Table.from_rows(DOMAIN, np.column_stack([ROWS[:, 0], np.zeros(300, int), ROWS[:, 2]]))
    scaling = Scaling.by(flat, "c")
    assert scaling.deviations[1] == 1
    assert least_squares(flat, scaling) is None
    assert fitted(flat, scaling) is None
    assert newton_terms(flat, "c") is None


def test_exact_predictions_follow_the_floats() -> None:
    scaling = Scaling.by(TABLE, "c")
    coefficients = fitted(TABLE, scaling)
    assert coefficients is not None
    model = Linear.scaled(DOMAIN, scaling, coefficients)
    x, y = design(TABLE, scaling)
    assert model.predict(TABLE.codes) / model.unit == pytest.approx(x @ np.array(coefficients, float), abs=1e-5)
    assert model.target_units(TABLE.codes) / model.unit == pytest.approx(y)


def test_newton_terms_follow_the_floats_and_vanish_at_the_own_fit() -> None:
    scaling = Scaling.by(TABLE, "c")
    terms, coefficients = newton_terms(TABLE, "c"), least_squares(TABLE, scaling)
    assert terms is not None
    assert coefficients is not None
    x, y = design(TABLE, scaling)
    inverse = np.linalg.inv(x.T @ (x * TABLE.counts[:, None]) / TABLE.n)
    expected = (x @ inverse) * (y - x @ coefficients)[:, None]
    assert terms.of(TABLE.codes) / terms.unit == pytest.approx(expected, abs=2e-3)
    assert np.abs(TABLE.counts @ terms.of(TABLE.codes)).sum() / TABLE.n / terms.unit < 0.01


def test_one_newton_step_is_close_to_the_difference_of_coefficients() -> None:
    other = Table.from_rows(DOMAIN, np.concatenate([ROWS[:-20], RANDOM.integers(0, [4, 3, 5], (20, 3))]))
    scaling = Scaling.by(TABLE, "c")
    terms = newton_terms(TABLE, "c")
    one, two = least_squares(TABLE, scaling), least_squares(other, scaling)
    assert terms is not None
    assert one is not None
    assert two is not None
    step = (other.counts @ terms.of(other.codes)) / other.n / terms.unit
    assert step == pytest.approx(two - one, abs=0.02)


def test_face_privacy_counts_rows_and_groups() -> None:
    table = Table.from_rows(DOMAIN, [[0, 0, 0]] * 5 + [[1, 1, 1]] * 2 + [[1, 1, 2]])
    found = face_privacy(table, k=2, b=2)
    assert (found.min_count, found.unique_rows, found.smallest_group) == (1, 1, 1)
    assert not found.k_anonymous
    assert face_privacy(table, k=2, b=9).smallest_group == 1
    assert face_privacy(table.project(("a", "b")), k=3, b=1).k_anonymous
    smallest = min(table.project(c).counts.min() for c in combinations("abc", 2))
    assert found.smallest_group == smallest
