from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from facsimile.risk.rates import Excess, Guessed, Rate, excess


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_an_interval_of_a_rate_misses_at_most_as_often_as_it_says(alpha: float) -> None:
    """Exactly, over all outcomes; and not by far, or it would say nothing."""
    n, missed = 30, []
    for p in np.linspace(0.01, 0.99, 50):
        bounds = [Rate(k, n).bounds(alpha) for k in range(n + 1)]
        missed.append(sum(binom.pmf(k, n, p) for k, (low, high) in enumerate(bounds) if not low <= p <= high))
    assert max(missed) <= alpha
    assert max(missed) > alpha / 4


def test_the_interval_of_an_excess_is_of_the_corners_with_half_of_alpha_each() -> None:
    found = Excess(Rate(70, 100), Rate(40, 100))
    (low, high), (least, most) = Rate(70, 100).bounds(0.05), Rate(40, 100).bounds(0.05)
    assert found.bounds(0.1) == (excess(low, most), excess(high, least))
    assert found.risk == pytest.approx(0.5)


def test_the_interval_of_an_excess_misses_at_most_as_often_as_it_says() -> None:
    """Exactly, over all outcomes of 12 attacks on each group."""
    n, alpha = 12, 0.2
    bounds = {(k, m): Excess(Rate(k, n), Rate(m, n)).bounds(alpha) for k in range(n + 1) for m in range(n + 1)}
    for s, c in ((0.5, 0.5), (0.9, 0.2), (0.3, 0.6), (0.99, 0.5)):
        true = excess(s, c)
        missed = sum(
            binom.pmf(k, n, s) * binom.pmf(m, n, c)
            for (k, m), (low, high) in bounds.items()
            if not low <= true <= high
        )
        assert missed <= alpha


def test_more_attacks_give_narrower_intervals_around_the_estimate() -> None:
    widths = []
    for n in (50, 500, 5000):
        found = Excess(Rate(n * 7 // 10, n), Rate(n // 2, n))
        low, high = found.bounds(0.01)
        assert low < found.risk < high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True) and widths[-1] < 0.25


def test_nothing_tried_says_nothing() -> None:
    assert Excess(Rate(0, 0), Rate(0, 0)).bounds(0.05) == (-1.0, 1.0)


def test_guesses_of_coins_have_half_as_their_control() -> None:
    assert Guessed(Rate(100, 100)).risk == 1
    assert Guessed(Rate(50, 100)).risk == 0
    low, high = Guessed(Rate(75, 100)).bounds(0.05)
    assert (low, high) == tuple(2 * x - 1 for x in Rate(75, 100).bounds(0.05))
