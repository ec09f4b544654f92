"""Costs are never understated, and no larger than their theorems say."""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.budget import (
    Cost,
    log_upper,
    selection_capped,
    selection_coin,
    selection_rising,
    selection_until_success,
    smallest_cap,
)

EXACT = Context(prec=120)
SLACK = Fraction(1, 10**39)
epsilons = st.fractions(Fraction(1, 1000), 12, max_denominator=1000)
coins = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)


def decimal(value: Fraction) -> Decimal:
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def true_log(value: Fraction) -> Fraction:
    """ln(value) to 119 digits."""
    return Fraction(EXACT.ln(decimal(value)))


def true_coin(one: Fraction, gamma: Fraction) -> Fraction:
    growth = Fraction(EXACT.exp(decimal(one)))
    return one + true_log((growth + gamma) / (1 + gamma * growth))


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_a_logarithm_is_rounded_up_and_not_far(value: Fraction) -> None:
    assert true_log(value) < log_upper(value) <= true_log(value) + SLACK


@given(epsilons, coins)
def test_the_coin_is_rounded_up_and_not_far(one: Fraction, gamma: Fraction) -> None:
    true = true_coin(one, gamma)
    assert true <= selection_coin(one, gamma) + Fraction(1, 10**100)
    assert selection_coin(one, gamma) <= true + SLACK


@pytest.mark.parametrize(("gamma", "cost"), [("0.01", 9.08), ("0.05", 7.86)])
def test_the_coin_at_the_births_iteration(gamma: str, cost: float) -> None:
    assert float(selection_coin(Fraction("4.99"), Fraction(gamma))) == pytest.approx(cost, abs=0.005)


@given(epsilons, epsilons, coins, coins)
def test_more_epsilon_costs_more_and_a_likelier_halt_costs_less(
    one: Fraction, more: Fraction, gamma: Fraction, other: Fraction
) -> None:
    assert selection_coin(one, gamma) <= selection_coin(one + more, gamma)
    assert selection_coin(one, max(gamma, other)) <= selection_coin(one, min(gamma, other)) + SLACK


@given(epsilons, coins)
def test_a_coin_costs_between_one_iteration_and_no_coin(one: Fraction, gamma: Fraction) -> None:
    assert one <= selection_coin(one, gamma) <= selection_until_success(one) + SLACK
    assert one <= selection_rising(one, gamma) <= selection_until_success(one)


@given(
    st.fractions(Fraction(1, 100), 6, max_denominator=100),
    coins,
    st.floats(1e-6, 1 - 1e-6),
    st.floats(-1, 1),
)
def test_no_pair_of_neighbours_exceeds_the_coin(one: Fraction, gamma: Fraction, pi: float, move: float) -> None:
    """Acceptance probabilities of neighbours bound each other both ways; the output moves at most so far."""
    epsilon, g, cost = float(one), float(gamma), float(selection_coin(one, gamma))
    high = min(pi * _exp(epsilon), 1 - (1 - pi) * _exp(-epsilon))
    low = max(pi * _exp(-epsilon), 1 - (1 - pi) * _exp(epsilon))
    other = low + (high - low) * (move + 1) / 2
    stop, stop_other = g + (1 - g) * pi, g + (1 - g) * other
    assert epsilon + abs(_ln(stop_other / stop)) <= cost + 1e-9
    assert abs(_ln((1 - other) / (1 - pi) * stop / stop_other)) <= cost + 1e-9


@given(st.fractions(Fraction(1, 2), 6, max_denominator=100), coins)
def test_the_coin_is_reached_at_its_kink(one: Fraction, gamma: Fraction) -> None:
    epsilon, g = float(one), float(gamma)
    pi = 1 / (1 + _exp(epsilon))
    other = _exp(epsilon) * pi
    measured = epsilon + _ln((g + (1 - g) * other) / (g + (1 - g) * pi))
    assert measured == pytest.approx(float(selection_coin(one, gamma)), abs=1e-9)


@given(st.fractions(Fraction(1, 100), 6, max_denominator=100), coins, st.floats(0.001, 0.999), st.floats(-1, 1))
def test_no_pair_of_neighbours_exceeds_the_rising_coin(
    one: Fraction, a: Fraction, pi: float, move: float
) -> None:
    epsilon, rise, cost = float(one), float(a), float(selection_rising(one, a))
    high = min(pi * _exp(epsilon), 1 - (1 - pi) * _exp(-epsilon))
    low = max(pi * _exp(-epsilon), 1 - (1 - pi) * _exp(epsilon))
    other = low + (high - low) * (move + 1) / 2
    assert epsilon + abs((rise - 1) * _ln(other / pi)) <= cost + 1e-9
    assert abs(_ln((1 - other**rise) / (1 - pi**rise))) <= cost + 1e-6


@given(st.fractions(Fraction(1, 200), 1, max_denominator=200), st.fractions(Fraction(1, 100), 1))
def test_the_smallest_cap_is_the_smallest(gamma: Fraction, epsilon_0: Fraction) -> None:
    needed = max(
        true_log(2 / epsilon_0) / gamma,
        1 + 1 / (gamma * Fraction(EXACT.exp(Decimal(1)))),
    )
    cap = smallest_cap(gamma, epsilon_0)
    assert cap - 1 < needed <= cap


@given(epsilons, st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_a_capped_coin_costs_the_coin_and_half_of_epsilon_0(one: Fraction, epsilon_0: Fraction) -> None:
    gamma = Fraction(1, 20)
    cost = selection_capped(one, gamma, epsilon_0, smallest_cap(gamma, epsilon_0))
    assert cost == selection_coin(one, gamma) + epsilon_0 / 2 <= 2 * one + epsilon_0


@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("epsilon_0", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("one", [0.1, 1.0, 3.0])
def test_no_pair_of_laws_beats_the_capped_coin(gamma: float, epsilon_0: float, one: float) -> None:
    """Both outcomes' exact probabilities, over a grid of acceptance rates of two neighbours."""
    given = (Fraction(str(one)), Fraction(str(gamma)), Fraction(str(epsilon_0)))
    cap = smallest_cap(given[1], given[2])
    cost = float(selection_capped(*given, cap))
    pi = np.concatenate(
        [np.logspace(-6, -0.001, 400), 1 - np.logspace(-6, -2, 100), 1 / np.array([cap, cap + 1])]
    )

    def laws(accepts: Any) -> tuple[Any, Any]:
        p, r = gamma + (1 - gamma) * accepts, (1 - gamma) * (1 - accepts)
        return (1 - r**cap) / p, (gamma * (1 - accepts) + accepts * r**cap) / p

    farthest = np.minimum(np.exp(one) * pi, 1 - np.exp(-one) * (1 - pi))
    for share in (0.25, 0.5, 1.0):
        (tried, none), (other_tried, other_none) = laws(pi), laws(pi + share * (farthest - pi))
        assert one + np.log(tried / other_tried).max() <= cost + 1e-9
        assert np.log(none / other_none).max() <= cost + 1e-9


def test_what_has_no_theorem_is_refused() -> None:
    one, half = Fraction(1), Fraction(1, 2)
    with pytest.raises(ValueError, match="cap is too small"):
        selection_capped(one, half, half, smallest_cap(half, half) - 1)
    with pytest.raises(ValueError, match="cap is too small"):
        selection_capped(one, Fraction(0), half, 10**6)
    for gamma in (Fraction(0), Fraction(-1), Fraction(3, 2)):
        with pytest.raises(ValueError, match="coin is between"):
            selection_coin(one, gamma)
        with pytest.raises(ValueError, match="a is between"):
            selection_rising(one, gamma)


def test_costs_add_exactly() -> None:
    tenth = Cost(Fraction("0.1"), Fraction("0.00001"))
    assert sum([tenth] * 9, tenth) == Cost(Fraction(1), Fraction("0.0001"))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(-1))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(1), Fraction(-1))


def _exp(value: float) -> float:
    return float(EXACT.exp(Decimal(value)))


def _ln(value: float) -> float:
    return float(EXACT.ln(Decimal(value)))
