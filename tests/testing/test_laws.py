from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from facsimile.testing.laws import ALPHA, at_least, at_most, discrete_laplace, fits, likely, permute_and_flip


def by_orders(scores: list[int], sensitivity: int, epsilon: Fraction) -> list[float]:
    """Permute-and-flip as it is told: every order of the candidates."""
    accept = [math.exp(float(epsilon) * (q - max(scores)) / (2 * sensitivity)) for q in scores]
    found, orders = [0.0] * len(scores), list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            found[i] += left * accept[i] / len(orders)
            left *= 1 - accept[i]
    return found


@pytest.mark.parametrize("scores", [[0], [3, 1], [5, 5, 0], [-4, -1, 0, 0], [9, 8, 7, 3, 1, 0]])
def test_permute_and_flip_by_its_integral_is_what_all_orders_give(scores: list[int]) -> None:
    found = permute_and_flip(scores, 2, Fraction(3, 2))
    assert found == pytest.approx(by_orders(scores, 2, Fraction(3, 2)), abs=1e-12)
    assert sum(found) == pytest.approx(1)


def test_many_scores_have_chances_that_add_up() -> None:
    assert sum(permute_and_flip(list(range(60)), 3, Fraction(1))) == pytest.approx(1, abs=1e-9)


def test_clopper_and_pearson_bound_a_chance_from_both_sides() -> None:
    """By their definition: at the bound, so many hits or more (fewer) have probability α."""
    from scipy.stats import binom

    for hits in (1, 7, 99):
        assert binom.sf(hits - 1, 100, at_least(hits, 100, 0.01)) == pytest.approx(0.01)
        assert binom.cdf(hits, 100, at_most(hits, 100, 0.01)) == pytest.approx(0.01)
    assert at_least(0, 100, 0.01) == 0 and at_most(100, 100, 0.01) == 1
    assert at_least(50, 100, ALPHA) < at_least(50, 100, 0.01) < 0.5 < at_most(50, 100, 0.01)


def test_a_law_fits_its_own_counts_and_no_others() -> None:
    law = discrete_laplace(2.0, 12)
    assert fits(10_000 * law, law)
    assert not fits(10_000 * law, discrete_laplace(1.4, 12)) and not fits(
        10_000 * law, discrete_laplace(2.6, 12)
    )
    with pytest.raises(ValueError, match="too few"):
        fits([1, 2], [0.5, 0.5])


def test_an_event_is_likely_or_not() -> None:
    assert likely(500, 1000, 0.5) and likely(0, 5, 0.5)
    assert not likely(600, 1000, 0.5) and not likely(400, 1000, 0.5)
    assert likely(int(np.round(1e4 * 0.1)), 10_000, 0.1)
