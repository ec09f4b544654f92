"""Bounds for data users, against the paper's check values and against simulated noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from facsimile.acceptance.bounds import ALPHA as SHARED
from facsimile.acceptance.bounds import CONFIDENCE, deviation, level, upper, upper_if_accepted
from facsimile.privacy.noise import RehearsalNoise
from laws import ALPHA

N = 165_915


def test_the_births_papers_table_gives_960_records_and_no_bound_for_the_ratio() -> None:
    """E_abs: 0.440 % of the records at ε 0.01, threshold 1 %. The ratio: c = 0.30 > 0.05."""
    found = upper_if_accepted(round(0.0044 * N), 1, Fraction(1, 100), math.ceil(0.01 * N) - 1)
    assert found == pytest.approx(960, abs=5)
    grid, scale = 10_000, 0.28 / 0.3
    last, noisy = round(1.4 * grid), round((1.4 - scale * math.log(1 / 0.3)) * grid)
    assert upper_if_accepted(noisy, round(scale * 0.3 * grid), Fraction(3, 10), last) is None


@given(st.integers(1, 50), st.fractions(Fraction(1, 100), Fraction(2)), st.sampled_from(["0.05", "0.01"]))
def test_an_upper_bound_is_the_smallest_that_the_tail_allows(units: int, epsilon: Fraction, alpha: str) -> None:
    level = Fraction(alpha)
    t = upper(0, units, epsilon, level)
    a = math.exp(-float(epsilon) / units)
    assert a ** (t + 1) / (1 + a) <= float(level) * (1 + 1e-9)
    if t > 1 and epsilon < units:
        assert a ** (t - 1) / (1 + a) > float(level) * (1 - 1e-9)


@pytest.mark.parametrize("exact", [0, 40, 90])
def test_bounds_cover_the_exact_value(exact: int) -> None:
    """With fresh noise, and given that the value was published because it was low enough."""
    units, epsilon, draws, last = 10, Fraction(1), 40_000, 60
    noisy = RehearsalNoise(3).laplace(np.full(draws, exact), units, epsilon)
    missed = sum(upper(int(x), units, epsilon) < exact for x in noisy)
    assert missed <= binom.ppf(1 - ALPHA, draws, 0.05)
    published = [int(x) for x in noisy if x <= last]
    bounds = [upper_if_accepted(x, units, epsilon, last) for x in published]
    failed = sum(b is not None and b < exact for b in bounds)
    assert failed <= binom.ppf(1 - ALPHA, max(1, len(published)), 0.05)


@given(st.integers(1, 400))
def test_bounds_at_the_shared_level_hold_together(bounds: int) -> None:
    """(1 − α)^k ≥ 0.95 exactly, and no larger level of nine digits would do."""
    assert (1 - level(bounds)) ** bounds >= CONFIDENCE
    assert (1 - level(bounds) - Fraction(2, 10**9)) ** bounds < CONFIDENCE
    assert level(bounds) >= SHARED / bounds - Fraction(1, 10**9)


@pytest.mark.parametrize("accepted", [False, True], ids=["fresh", "accepted by the same noise"])
def test_eight_bounds_cover_all_exact_values_at_once(accepted: bool) -> None:
    """Also where the eight values were published because all of them were low enough."""
    draws, bounds = 60_000, 8
    units, epsilon, last = 10, Fraction(1), 25
    exact = np.arange(bounds) * 4
    noisy = RehearsalNoise(5).laplace(np.tile(exact, (draws, 1)).ravel(), units, epsilon).reshape(draws, bounds)
    seen = noisy[(noisy <= last).all(axis=1)] if accepted else noisy
    assert len(seen) > 2_000
    found = {}
    for value in np.unique(seen):
        args = (int(value), units, epsilon)
        bound = upper_if_accepted(*args, last, level(bounds)) if accepted else upper(*args, level(bounds))
        found[int(value)] = math.inf if bound is None else bound
    tops = np.array([[found[int(x)] for x in row] for row in seen])
    missed = int((tops < exact).any(axis=1).sum())
    assert missed <= binom.ppf(1 - ALPHA, len(seen), 0.05)
    assert accepted or missed >= binom.ppf(ALPHA, len(seen), 0.02)


def test_the_deviation_is_that_of_the_noise() -> None:
    drawn = RehearsalNoise(1).laplace(np.zeros(200_000, np.int64), 7, Fraction(1, 2))
    assert float(np.std(drawn)) == pytest.approx(deviation(7, Fraction(1, 2)), rel=0.03)
