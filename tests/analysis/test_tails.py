"""Tails of sums of integer noise: exact where they say so, never too short, and not much too long."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, isclose, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.analysis.tails import Cells, Gaussian, Laplace, Law, _chernoff, cell, half_width, law_of
from facsimile.privacy.budget import Rho
from facsimile.table.exact import Floats

LAWS = st.one_of(
    st.floats(0.3, 4).map(Laplace), st.floats(0.2, 6).map(Gaussian), st.sampled_from([law_of(Fraction(1))])
)


def probabilities(law: Law, last: int) -> Floats:
    """P[Z = z] for z from −last to last."""
    z = np.arange(-last, last + 1)
    if isinstance(law, Laplace):
        a = exp(-law.rate)
        return np.asarray((1 - a) / (1 + a) * a ** np.abs(z))
    assert isinstance(law, Gaussian)
    weights = np.exp(-(z**2) / (2 * law.spread))
    return np.asarray(weights / weights.sum())


def test_the_check_values_of_one_cell() -> None:
    law = law_of(Fraction(1))
    assert isclose(law.beyond(6), 0.037593, abs_tol=5e-7)
    assert isclose(law.variance, 7.83540, abs_tol=5e-6)


def test_a_share_of_epsilon_and_one_of_rho_are_two_laws() -> None:
    widths = [half_width([Cells(1.0, law_of(share), 2)], 0.05) for share in (Fraction(1, 4), Rho(1, 4))]
    assert widths[0] > 2 * widths[1]


@settings(max_examples=60, deadline=None)
@given(LAWS, st.floats(1e-6, 0.9))
def test_one_cell_has_the_smallest_integer_that_keeps_its_level(law: Law, beta: float) -> None:
    t = cell(law, beta)
    law_of_z = probabilities(law, 400)
    outside = [law_of_z[np.abs(np.arange(-400, 401)) > x].sum() for x in (t, t - 1)]
    assert outside[0] <= beta * (1 + 1e-7)
    assert t == 0 or outside[1] > beta * (1 - 1e-7)


@settings(max_examples=25, deadline=None)
@given(LAWS, st.integers(2, 6), st.floats(1e-5, 0.5))
def test_equal_weights_are_exact(law: Law, times: int, beta: float) -> None:
    single = probabilities(law, 300)
    summed = single
    for _ in range(times - 1):
        summed = np.convolve(summed, single)
    z = np.abs(np.arange(len(summed)) - len(summed) // 2)
    width = round(half_width([Cells(2.0, law, times)], beta) / 2)
    assert summed[z > width].sum() <= beta
    assert width == 0 or summed[z > width - 1].sum() > 0.99 * beta - 1e-9


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(0.8, 3)), min_size=2, max_size=3, unique_by=lambda p: p[0]),
    st.floats(1e-3, 0.5),
)
def test_any_weights_keep_their_level_by_enumeration(pairs: list[tuple[float, float]], beta: float) -> None:
    """All outcomes of two or three cells, one of them Gaussian; what is cut off is below 10⁻⁷."""
    laws: list[Law] = [Laplace(rate) for _, rate in pairs[:-1]]
    laws.append(Gaussian(pairs[-1][1]))
    width = half_width([Cells(w, law) for (w, _), law in zip(pairs, laws, strict=True)], beta)
    sums, chances = np.zeros(1), np.ones(1)
    for (weight, _), law in zip(pairs, laws, strict=True):
        sums = np.add.outer(sums, weight * np.arange(-24, 25)).ravel()
        chances = np.multiply.outer(chances, probabilities(law, 24)).ravel()
    assert chances[np.abs(sums) > width].sum() <= beta + 1e-9


def test_a_grid_is_close_to_what_normal_noise_would_need() -> None:
    """Many cells with unequal weights: 1.96 deviations and a few per cent, where Chernoff takes 2.7."""
    law = law_of(Fraction(1))
    cells = tuple(Cells(1 + k / 37, law, 20) for k in range(30))
    deviation = sqrt(sum(c.times * c.weight**2 * law.variance for c in cells))
    assert 1.95 < half_width(cells, 0.05) / deviation < 2.02
    assert _chernoff(cells, 0.05) / deviation > 2.6


def test_a_smaller_level_is_never_narrower_and_none_is_infinite() -> None:
    cells = [Cells(1.0, law_of(Fraction(1)), 3), Cells(0.5, law_of(Rho(1, 9)), 4)]
    widths = [half_width(cells, beta) for beta in (0.5, 0.05, 1e-3, 1e-6, 1e-9, 1e-15)]
    assert widths == sorted(widths) and half_width(cells, 0) == float("inf")
    assert half_width([], 0.05) == half_width([Cells(0.0, law_of(Fraction(1)), 3)], 0.05) == 0


@pytest.mark.parametrize(("one", "other"), [*product((1.0, 2.0), repeat=2)])
def test_signs_of_weights_do_not_matter(one: float, other: float) -> None:
    law = law_of(Fraction(1, 2))
    kept = half_width([Cells(one, law), Cells(other, law)], 0.01)
    assert kept == half_width([Cells(-one, law), Cells(other, law)], 0.01)


def test_a_rough_width_is_never_narrower() -> None:
    for weights in ((1.0, 1.0), (1.0, 0.3), (2.0, 5.0)):
        cells = [Cells(weight, law_of(Fraction(1, 2)), 3) for weight in weights]
        for beta in (0.5, 0.05, 1e-4, 1e-9):
            assert half_width(cells, beta, rough=True) >= half_width(cells, beta) * (1 - 1e-12)
