"""Law: precision by the share of a budget, and the shares that tables deserve."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.explore.design.law import GAUSSIAN, LAPLACE, Law, law_of
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals, NoisyScores
from facsimile.synthesizers.tilt import normed
from facsimile.table.scores import Factor, RowScores
from facsimile.testing import small_domain

BOTH = pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=lambda law: law.name)
SIZES = st.lists(st.integers(2, 500), min_size=2, max_size=6)


def share_of(law: Law, share: float) -> Fraction:
    return Fraction(share) if law == LAPLACE else Rho(share)


@BOTH
@pytest.mark.parametrize("share", [0.01, 0.5, 3.0])
def test_precision_is_that_of_the_mechanisms(law: Law, share: float) -> None:
    budget = share_of(law, share)
    assert law_of(budget) == law
    precision = float(law.precision(np.array([share]))[0])
    assert law.cell / precision == pytest.approx(NoisyMarginals.variance(budget))
    scores = RowScores(small_domain(3), ((Factor(0, ((("a",), np.array([-9, 0, 9])),)),),))
    question = NoisyScores(normed(scores, budget), 7, budget)
    assert question.scores.norm == (1 if law == LAPLACE else 2)
    assert law.score * question.units**2 / precision == pytest.approx(question.variance)


@BOTH
@given(sizes=SIZES, nudges=st.lists(st.floats(-0.5, 0.5), min_size=6, max_size=6))
def test_no_other_shares_leave_less_squared_error(law: Law, sizes: list[int], nudges: list[float]) -> None:
    cells, roots = np.array(sizes, float), np.array([law.root([size]) for size in sizes])
    others = roots * np.exp(nudges[: len(sizes)])
    best, other = ((cells / law.precision(s / s.sum())).sum() for s in (roots, others))
    assert best <= other * (1 + 1e-9)


@given(sizes=SIZES)
def test_what_is_best_under_one_law_tells_what_is_under_the_other(sizes: list[int]) -> None:
    for law, other in ((LAPLACE, GAUSSIAN), (GAUSSIAN, LAPLACE)):
        mine, theirs = ([one.root([size]) for size in sizes] for one in (law, other))
        assert law.under(other, theirs) == pytest.approx(mine)


@BOTH
def test_noise_has_variance_one_and_its_own_tails(law: Law) -> None:
    """100,000 draws: six deviations of a mean square, √(5/N) for Laplace noise; fourth moments are 6 and 3."""
    drawn = law.noise(np.random.default_rng(1), (100_000,))
    assert (drawn**2).mean() == pytest.approx(1, abs=6 * (5 / 100_000) ** 0.5)
    assert (drawn**4).mean() == pytest.approx(6 if law == LAPLACE else 3, rel=0.2)


@BOTH
@given(times=st.fractions(Fraction(1, 9), 9, max_denominator=50))
def test_a_scaled_budget_has_as_much_less_noise(law: Law, times: Fraction) -> None:
    budget = share_of(law, 0.5)
    scaled = law.scaled(budget, times)
    assert law_of(scaled) == law
    assert law.quieter(budget, scaled) == pytest.approx(float(times))
    less = NoisyMarginals.variance(budget) / NoisyMarginals.variance(scaled)
    assert less == pytest.approx(float(times) ** 2)
