"""Divergences and what they are at a δ: check values, and laws that are enumerated."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from facsimile.privacy.budget import Rho, log_upper
from facsimile.privacy.renyi import Curve, _order, epsilon_of, rho_of
from facsimile.table.exact import Floats

MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)
rhos = st.fractions(Fraction(1, 10**5), 5, max_denominator=10**6)
deltas = st.integers(2, 15).map(lambda k: Fraction(1, 10**k))
epsilons = st.fractions(Fraction(1, 1000), 8, max_denominator=1000)


def d3(pure: list[Fraction], rho: Fraction, delta: Fraction) -> Fraction:
    """The least, over prefixes A of the pure charges in ascending order, of Σ_{∉A} ε + ε(ρ + Σ_A ε²/2, δ)."""
    ordered = sorted(pure)
    return min(
        sum(ordered[k:], Fraction(0))
        + epsilon_of(rho + sum((e * e / 2 for e in ordered[:k]), Fraction(0)), delta)
        for k in range(len(ordered) + 1)
    )


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [("0.1", MILLIONTH, 2.14194), ("0.5", MILLIONTH, 5.22153), ("0.02", BILLIONTH, 1.16329)],
)
def test_the_epsilon_of_a_rho_has_its_check_value(rho: str, delta: Fraction, epsilon: float) -> None:
    assert float(epsilon_of(Fraction(rho), delta)) == pytest.approx(epsilon, abs=5e-6)


def test_a_pure_epsilon_has_its_divergence() -> None:
    assert float(Curve(pure=(Fraction(1),)).at(Fraction(2))) == pytest.approx(0.735326, abs=5e-7)


@pytest.mark.parametrize(("rho", "gamma", "epsilon"), [("0.02", "0.05", 1.4916), ("0.1", "0.2", 2.9905)])
def test_a_coin_over_a_rho_has_its_check_value(rho: str, gamma: str, epsilon: float) -> None:
    pull, curve = log_upper(1 / Fraction(gamma)), Curve(Fraction(rho))
    assert float(curve.epsilon(MILLIONTH, curve.kept(pull), pull)) == pytest.approx(epsilon, abs=5e-5)


def test_charges_fixed_in_advance_cost_no_more_than_by_prefixes() -> None:
    """2.8321 by the best prefix, 3.4716 by sums, 5.6521 all as zCDP; by divergences of pure ε 2.7863."""
    pure, rho = [Fraction(1, 20)] * 20 + [Fraction(1)], Fraction(1, 20)
    assert float(d3(pure, rho, MILLIONTH)) == pytest.approx(2.8321, abs=5e-5)
    assert float(sum(pure) + epsilon_of(rho, MILLIONTH)) == pytest.approx(3.4716, abs=5e-5)
    every = rho + sum((e * e / 2 for e in pure), Fraction(0))
    assert float(epsilon_of(every, MILLIONTH)) == pytest.approx(5.6521, abs=5e-5)
    assert float(Curve(rho, tuple(pure)).epsilon(MILLIONTH)) == pytest.approx(2.7863, abs=5e-5)


@given(st.lists(epsilons, max_size=5), rhos, deltas)
def test_divergences_never_cost_more_than_prefixes(
    pure: list[Fraction], rho: Fraction, delta: Fraction
) -> None:
    assert Curve(rho, tuple(pure)).epsilon(delta) <= d3(pure, rho, delta) * Fraction(1_000_001, 1_000_000)


@given(epsilons, st.fractions(Fraction(101, 100), 60, max_denominator=100))
def test_the_divergence_of_a_pure_epsilon_is_that_of_randomised_response(
    one: Fraction, order: Fraction
) -> None:
    p = 1 / (1 + math.exp(-float(one)))
    a = float(order)
    true = math.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)
    found = Curve(pure=(one,)).at(order)
    assert true <= float(found) + 1e-9
    assert found <= min(one, order * one * one / 2)
    assert float(found) <= true + 1e-6


def test_the_divergence_of_a_pure_epsilon_never_exceeds_either_simple_bound() -> None:
    """Rounding up would: where the two are as good as equal, the simple bound is taken."""
    tiny, huge = Fraction(1, 10**12), Fraction(200)
    assert Curve(pure=(tiny,)).at(Fraction(3)) == 3 * tiny**2 / 2
    assert Curve(pure=(huge,)).at(Fraction(4)) == huge
    assert Curve(pure=(Fraction(1),)).at(Fraction(1000)) < Fraction(9997, 10_000)
    assert Curve(pure=(Fraction(1),)).at(Fraction(1001)) == 1, "exponents would grow too large"


@given(st.lists(epsilons, min_size=1, max_size=3), rhos, st.integers(2, 9).map(Fraction))
def test_the_search_looks_at_what_the_simple_bounds_say(
    pure: list[Fraction], rho: Fraction, order: Fraction
) -> None:
    simple = order * rho + sum(min(e, order * e * e / 2) for e in pure)
    assert Curve(rho, tuple(pure)).about(float(order)) == pytest.approx(float(simple))


@pytest.mark.parametrize("best", [1e-5, 0.3, 1.0, 77.0, 5e5])
def test_an_order_is_found_by_golden_sections(best: float) -> None:
    asked = []

    def about(order: float) -> float:
        asked.append(order - 1)
        return abs(math.log((order - 1) / best))

    assert float(_order(about) - 1) == pytest.approx(best, rel=1e-5)
    assert len(asked) <= 2 + math.ceil(math.log(math.log(1e12) / 1e-7) / math.log((1 + math.sqrt(5)) / 2))
    assert min(asked) > 1e-6 and max(asked) < 1e6


def hockey_stick(one: Floats, other: Floats, epsilon: float) -> float:
    """The smallest δ at which two laws are within ε."""
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def gaussian(sigma: float, shift: int, reach: int) -> Floats:
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-((z - shift) ** 2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("sigma", [2.0, 5.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_a_discrete_gaussian_is_within_its_epsilon_and_delta(sigma: float, delta: float) -> None:
    """A number that moves by 1 with noise of σ is 1/(2σ²)-zCDP: its true δ at our ε is below, and not far."""
    rho = Fraction(1) / (2 * Fraction(sigma) ** 2)
    epsilon, reach = float(epsilon_of(rho, Fraction(delta))), int(40 * sigma)
    one, other = gaussian(sigma, 0, reach), gaussian(sigma, 1, reach)
    assert hockey_stick(one, other, epsilon) <= delta
    assert hockey_stick(one, other, 0.75 * epsilon) > delta


@given(epsilons, deltas)
def test_a_rho_for_an_epsilon_is_within_it_and_uses_nearly_all(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of(epsilon, delta)
    assert isinstance(rho, Rho)
    assert epsilon_of(rho, delta) <= epsilon
    assert not rho or epsilon_of(rho * Fraction(1001, 1000), delta) > epsilon or rho < Rho(1, 10**10)


def test_no_rho_is_found_for_an_epsilon_that_is_too_small() -> None:
    assert rho_of(Fraction(1, 10**9), BILLIONTH) == 0


@given(rhos, deltas)
def test_every_order_holds_so_a_search_that_ends_badly_only_costs_more(rho: Fraction, delta: Fraction) -> None:
    best = epsilon_of(rho, delta)
    for order in (Fraction(11, 10), Fraction(2), Fraction(10), Fraction(1000)):
        value = order * rho + log_upper(1 / (order * delta)) / (order - 1) + log_upper(1 - 1 / order)
        assert best <= max(Fraction(0), value) * Fraction(1_000_001, 1_000_000)


def test_a_coin_that_pulls_nothing_adds_nothing() -> None:
    assert Curve(Fraction(1)).kept(Fraction(0)) == 0


@given(rhos, st.fractions(Fraction(1, 100), 20))
def test_what_a_coin_adds_is_the_least_of_all_orders(rho: Fraction, pull: Fraction) -> None:
    """(1 − 1/λ)λρ + pull/λ = λρ − ρ + pull/λ is least at λ = √(pull/ρ), with 2√(pull·ρ) − ρ."""
    assume(pull > 2 * rho)
    least = 2 * math.sqrt(pull * rho) - float(rho)
    assert float(Curve(rho).kept(pull)) == pytest.approx(least, rel=1e-9)


def test_where_chance_covers_everything_nothing_is_spent() -> None:
    assert epsilon_of(Fraction(1, 10**9), Fraction(9, 10)) == 0


def searched(law: list[float], gamma: float) -> Floats:
    """Accept with x or y, or end with nothing: gQ/p with g = 1 on acceptance, γ else."""
    weighted = np.array(law) * np.array([1, 1, gamma])
    return np.asarray(weighted / weighted.sum())


def renyi(one: Floats, other: Floats, order: float) -> float:
    return math.log(float((one**order * other ** (1 - order)).sum())) / (order - 1)


@pytest.mark.parametrize("gamma", [0.05, 0.3, 1.0])
def test_a_coin_moves_a_divergence_by_no_more_than_its_bound(gamma: float) -> None:
    """All pairs of laws of an index on a grid; their own largest λρ is the ρ of the index."""
    orders = [1.05, 1.5, 2.0, 4.0, 10.0, 40.0]
    grid = [k / 12 for k in range(1, 12)]
    every = [np.array([x, y, 1 - x - y]) for x, y in product(grid, repeat=2) if x + y < 1 - 1e-9]
    pull = log_upper(1 / Fraction(str(gamma))) if gamma < 1 else Fraction(0)
    for one, other in product(every[::3], every[::2]):
        rho = max(renyi(one, other, a) / a for a in [1.001, *orders, *np.geomspace(1.01, 60, 40)]) + 1e-9
        curve = Curve(Fraction(rho))
        kept = curve.kept(pull)
        a, b = searched(one.tolist(), gamma), searched(other.tolist(), gamma)
        for order in orders:
            bound = float(curve.at(Fraction(order)) + kept + pull / (Fraction(order) - 1))
            assert renyi(a, b, order) <= bound + 1e-6
