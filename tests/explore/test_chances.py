"""Chances: the law of the test's noise, the chance of a release and its interval."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.acceptance.decision import GRID, margin
from facsimile.explore.chances import Distances, at_most, interval
from facsimile.explore.judge import Noiseless
from facsimile.explore.trials import Trial
from facsimile.privacy.noise import RehearsalNoise

LUCK = Fraction(1, 20)


def room(name: str, value: float, limit: float, sensitivity: float, once: str | None = None) -> Noiseless:
    return Noiseless(name, value, limit, sensitivity, (value - limit) / sensitivity, once)


def trial(*rooms: Noiseless, number: int = 1000) -> Trial:
    return Trial("one", "1", number, True, (), rooms, 1.0, 2.0)


@given(st.integers(-50, 50), st.floats(0.01, 3))
def test_the_tail_of_discrete_laplace_noise(k: int, rate: float) -> None:
    """Σ_{z ≤ k} a^|z| (1−a)/(1+a), summed far enough."""
    a = math.exp(-rate)
    mass = [a ** abs(z) * (1 - a) / (1 + a) for z in range(-3000, k + 1)]
    assert math.isclose(float(at_most(np.array([float(k)]), rate)[0]), math.fsum(mass), rel_tol=1e-9)


def test_far_tails_do_not_overflow() -> None:
    assert at_most(np.array([-1e9, 1e9]), 0.5).tolist() == [0.0, 1.0]


@given(st.floats(-300, 50), st.sampled_from(["0.05", "0.2", "1"]), st.sampled_from(["0.05", "0.0025", "1e-9"]))
def test_the_joint_test_by_its_definition(excess: float, epsilon: str, luck: str) -> None:
    """⌊K·M⌋ + Z ≤ −margin, with the limit far enough for hope."""
    step = margin(Fraction(luck), Fraction(epsilon), GRID)
    rooms = Distances.of([trial(room("a", excess + 1e6, 1e6, 1.0), room("b", 0.0, 1e7, 1.0))])
    k = -step - math.floor(GRID * rooms.slack[0, 0] * -1)
    expected = float(at_most(np.array([float(k)]), float(epsilon) / GRID)[0])
    assert math.isclose(float(rooms.joint(Fraction(epsilon), Fraction(luck))[0]), expected, abs_tol=1e-12)


def test_the_joint_test_agrees_with_drawn_noise() -> None:
    """100,000 draws of the rehearsal's noise; six standard errors."""
    epsilon, noise = Fraction(1, 5), RehearsalNoise(3)
    step = margin(LUCK, epsilon, GRID)
    units = math.floor(GRID * -20.0)
    drawn = noise.laplace(np.full(100_000, units), GRID, epsilon) <= -step
    chance = float(Distances.of([trial(room("a", 0.0, 20.0, 1.0))]).joint(epsilon, LUCK)[0])
    assert 0.05 < chance < 0.95
    assert abs(drawn.mean() - chance) < 6 * math.sqrt(chance * (1 - chance) / 100_000)


def test_in_scheme_measured_a_chance_is_a_product_over_numbers() -> None:
    """Drawn noise, on the grid of each: a shared number of two criteria and one of a third.

    40,000 draws: an error of 0.0125 or more has probability below 10⁻⁶ (Hoeffding).
    """
    luck, own, test = Fraction(1, 20), Fraction(1, 10), Fraction(1, 5)
    trials = [trial(room("a", 0, 30, 1), room("b", 5, 25, 1), room("c", 0.02, 0.06, 0.001))]
    found = Distances.of(trials).by_measurement([Fraction(0), Fraction(0), own], test, luck)
    noise, draws = RehearsalNoise(4), 40_000
    joint = noise.laplace(np.full(draws, -20 * GRID), GRID, test) <= -margin(luck, test, GRID)
    alone = noise.laplace(np.full(draws, 20), 1, own) <= 60 - margin(luck, own, 1)
    assert found[0] == pytest.approx(float((joint & alone).mean()), abs=0.0125)
    nothing = Distances.of(trials).by_measurement([Fraction(0), Fraction(0), Fraction(1, 50)], test, luck)
    assert nothing[0] == 0, "a margin as wide as the threshold"


def test_hopeless_and_failed_candidates_have_no_chance() -> None:
    near, missing = trial(room("a", 0.0, 1.0, 1.0)), trial()
    rooms = Distances.of([near, missing, trial(room("a", 0.0, 1e6, 1.0))])
    chances = rooms.joint(Fraction(1, 10), LUCK)
    assert chances[0] == chances[1] == 0 < chances[2]
    assert rooms.one_by_one([1.0])[1] == 0
    assert Distances.of([missing]).joint(Fraction(1), LUCK).tolist() == [0.0]
    assert Distances.of([missing]).one_by_one([]).tolist() == [0.0]


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=4), st.floats(0.1, 3))
def test_one_by_one_is_a_product(slacks: list[float], epsilon: float) -> None:
    rooms = Distances.of([trial(*(room(str(i), -x, 0.0, 1.0) for i, x in enumerate(slacks)))])
    single = [1 - math.exp(-x * epsilon) / 2 if x >= 0 else math.exp(x * epsilon) / 2 for x in slacks]
    found = float(rooms.one_by_one([epsilon] * len(slacks))[0])
    assert math.isclose(found, math.prod(single), rel_tol=1e-9)


def test_one_epsilon_of_the_regression_at_a_time() -> None:
    rooms = Distances.of(
        [trial(room("a", 0, 1, 0.1), room("mae", 9, 5, 1.0, "0.1"), room("mae", 1, 5, 1.0, "0.2"))]
    )
    assert rooms.onces() == ("0.1", "0.2")
    assert rooms.at("0.2").criteria == (("a", None), ("mae", "0.2"))
    assert rooms.at("0.2").slack.tolist() == [[10.0, 4.0]]
    assert Distances.of([trial(room("a", 0, 1, 0.1))]).onces() == (None,)
    same = [room("mae", 1, 5, 1.0, "0.1"), room("mae", 1, 5, 1.0, "0.2")]
    assert Distances.of([trial(*same)]).onces() == ("0.1",), "a dearer one that changes nothing is left out"


@given(st.floats(0.05, 1.0))
def test_tighter_thresholds_leave_the_value(factor: float) -> None:
    rooms = Distances.of([trial(room("a", 2.0, 10.0, 0.5))])
    direct = Distances.of([trial(room("a", 2.0, 10.0 * factor, 0.5))])
    assert np.allclose(rooms.tightened(factor).slack, direct.slack)
    assert np.allclose(rooms.tightened(factor).limit, direct.limit)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.sampled_from([0.8, 0.95]))
def test_the_interval_is_where_the_entropy_allows(values: list[float], confidence: float) -> None:
    x, n = float(np.mean(values)), len(values)
    low, high = interval(x, n, confidence)
    assert 0 <= low <= x + 1e-12
    assert x - 1e-12 <= high <= 1
    for bound in (low, high):
        if 1e-6 < bound < 1 - 1e-6 and 1e-6 < x < 1 - 1e-6:
            entropy = x * math.log(x / bound) + (1 - x) * math.log((1 - x) / (1 - bound))
            assert math.isclose(n * entropy, math.log(2 / (1 - confidence)), rel_tol=1e-3)


def test_the_interval_covers() -> None:
    """Values that are chances themselves, 2,000 repetitions: misses stay below 5 % (six standard errors)."""
    random = np.random.default_rng(11)
    misses = 0
    for _ in range(2000):
        low, high = interval(float(random.beta(2, 1, 25).mean()), 25, 0.95)
        misses += not low <= 2 / 3 <= high
    assert misses / 2000 < 0.05 + 6 * math.sqrt(0.05 * 0.95 / 2000)
    assert interval(0.0, 0, 0.95) == (0.0, 1.0)
