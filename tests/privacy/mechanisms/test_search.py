"""The law of a private search: what it puts out, how often it halts, and how far a neighbour can move that.

The search runs on scripts: every sequence of coins and outcomes up to a length is played, each with its exact
probability, so that the law is enumerated rather than sampled.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.search import Approximate, Plan
from facsimile.privacy.modes import mode_of
from facsimile.privacy.renyi import Curve, epsilon_of, rho_of
from facsimile.spec.release import Selection

DEPTH = 14
MODES: dict[str, dict[str, str]] = {
    "paper": {},
    "coin": {"gamma": "0.3"},
    "capped-coin": {"gamma": "0.3", "cap": "12", "epsilon_0": "0.5"},
    "rising-coin": {"a": "0.5"},
    "single": {},
}


def plan(mode: str, index: Fraction = Fraction(1)) -> Plan:
    return Plan(
        Fraction(0), index, Fraction(0), mode_of(Selection.model_validate({"mode": mode, **MODES[mode]}))
    )


class End(Exception):
    """A script is over before the search is."""


class Script:
    """Coins and outcomes that were written beforehand; it knows how likely what was used is."""

    def __init__(self, coins: tuple[bool, ...], outcomes: tuple[str | None, ...]) -> None:
        self.coins, self.outcomes = iter(coins), iter(outcomes)
        self.weights: list[Fraction] = []
        self.order: list[str] = []

    def coin(self, probability: Fraction) -> bool:
        self.order.append("coin")
        if probability in (0, 1):
            return probability == 1
        found = next(self.coins, None)
        if found is None:
            raise End
        self.weights.append(probability if found else 1 - probability)
        return found

    def index(self, law: dict[str | None, Fraction]) -> Callable[[int], str | None]:
        def run(_: int) -> str | None:
            self.order.append("index")
            try:
                found = next(self.outcomes)
            except StopIteration:
                raise End from None
            self.weights.append(law[found])
            return found

        return run


def enumerated(mode: str, law: dict[str | None, Fraction], depth: int = DEPTH) -> dict[str | None, Fraction]:
    """The law of the output; failures are played in order, so a path is told by its length and its end."""
    chosen = plan(mode)
    found: dict[str | None, Fraction] = {}
    for failures in range(depth):
        for last in law:
            for halts in (False,) if mode in ("paper", "single") else (False, True):
                script = Script((*(False,) * failures, halts), (*(None,) * failures, last))
                try:
                    out = chosen.search(script.index(law), script)  # type: ignore[arg-type]
                except End:
                    continue
                if len([w for w in script.order if w == "index"]) == failures + 1:
                    weight = math.prod(script.weights, start=Fraction(1))
                    found[out] = found.get(out, Fraction(0)) + weight
    return found


LAWS: list[dict[str | None, Fraction]] = [
    {"x": Fraction(1, 4), "y": Fraction(1, 2), None: Fraction(1, 4)},
    {"x": Fraction(3, 4), "y": Fraction(1, 8), None: Fraction(1, 8)},
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mode", ["paper", "coin", "rising-coin", "single"])
def test_the_law_of_the_output_is_the_formula(mode: str, law: dict[str | None, Fraction]) -> None:
    success = float(1 - law[None])
    released = {
        "paper": 1.0,
        "coin": success / (success + 0.3 * (1 - success)),
        "rising-coin": success**0.5,
        "single": success,
    }[mode]
    found = enumerated(mode, law)
    tail = float(law[None]) ** DEPTH
    assert float(found["x"]) == pytest.approx(float(law["x"]) / success * released, abs=2 * tail + 1e-12)
    assert float(found["y"]) == pytest.approx(float(law["y"]) / success * released, abs=2 * tail + 1e-12)
    assert float(found.get(None, Fraction(0))) == pytest.approx(1 - released, abs=2 * tail + 1e-12)


def laws(epsilon: float) -> Iterator[tuple[list[float], list[float]]]:
    """Neighbouring laws of one index over (x, y, failure): every ratio within e^ε, the extremes among them."""
    grid = [i / 20 for i in range(1, 20)]
    for x, y in product(grid, repeat=2):
        if x + y < 1:
            one = [x, y, 1 - x - y]
            for signs in product((-1, 1), repeat=3):
                moved = [min(1.0, p * math.exp(s * epsilon)) for p, s in zip(one, signs, strict=True)]
                for free in range(3):
                    other = moved.copy()
                    other[free] = 1 - sum(moved[:free]) - sum(moved[free + 1 :])
                    ratios = [b / a for a, b in zip(one, other, strict=True)]
                    if min(other) > 0 and all(abs(math.log(r)) <= epsilon + 1e-12 for r in ratios):
                        yield one, other


def output(mode: str, law: list[float]) -> list[float]:
    """The closed form, which the test above holds to the enumeration."""
    x, y, failure = law
    success = x + y
    released = {
        "paper": 1.0,
        "coin": success / (success + 0.3 * failure),
        "rising-coin": success**0.5,
        "single": success,
    }[mode]
    return [x / success * released, y / success * released, 1 - released]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("mode", ["paper", "coin", "rising-coin", "single"])
def test_a_neighbour_moves_the_output_by_no_more_than_the_cost(mode: str, epsilon: float) -> None:
    cost = float(plan(mode, Fraction(epsilon)).total().epsilon)
    worst = 0.0
    for one, other in laws(epsilon):
        for p, q in zip(output(mode, one), output(mode, other), strict=True):
            if p > 1e-12 and q > 1e-12:
                worst = max(worst, abs(math.log(p / q)))
    assert worst <= cost + 1e-9
    assert worst >= 0.75 * cost


def test_the_coin_of_an_index_is_drawn_before_it_runs() -> None:
    script = Script((False, False, True), (None, None, None))
    chosen = plan("coin")
    assert chosen.search(script.index({None: Fraction(1)}), script) is None  # type: ignore[arg-type]
    assert script.order == ["coin", "index"] * 3


def test_success_precedes_halt_at_the_same_index() -> None:
    script = Script((True,), ("x",))
    assert plan("coin").search(script.index({"x": Fraction(1)}), script) == "x"  # type: ignore[arg-type]


def test_a_cap_halts_for_certain() -> None:
    chosen = plan("capped-coin").mode
    assert chosen.halts_after(11) == Fraction(3, 10)
    assert chosen.halts_after(12) == 1


class Never:
    """A coin that never halts."""

    def coin(self, probability: Fraction) -> bool:
        return False


def test_the_lowest_index_decides_whoever_finishes_first() -> None:
    """Index 2 succeeds at once, index 1 only afterwards: the first is the answer."""
    second_done = threading.Event()

    def index(j: int) -> int | None:
        if j == 1:
            assert second_done.wait(10)
            return 1
        second_done.set()
        return j

    for _ in range(20):
        second_done.clear()
        noise: Any = Never()
        assert plan("paper").search(index, noise, workers=2) == 1


def test_indices_beyond_a_halting_one_are_not_started() -> None:
    started: list[int] = []

    def index(j: int) -> None:
        started.append(j)

    noise: Any = Script((False, True), ())
    assert plan("coin").search(index, noise, workers=4) is None
    assert sorted(started) == [1, 2]


def test_the_total_is_the_sum_of_the_parts() -> None:
    chosen = Plan(Fraction(1, 10), Fraction(1), Fraction(1, 5), mode_of(Selection(mode="rising-coin", a="0.5")))
    assert chosen.total().epsilon == Fraction(1, 10) + Fraction(3, 2) + Fraction(1, 5)


# --- plans with δ

BILLIONTH = Fraction(1, 10**9)
COIN = mode_of(Selection(mode="coin", gamma="0.05"))
SINGLE = mode_of(Selection(mode="single"))
PARTS = Fraction(1, 10), Fraction(1, 5), Fraction(1, 20)


def test_one_index_with_rho_composes_with_pure_parts() -> None:
    found = Plan(*PARTS, SINGLE, Approximate.of(Fraction(1), BILLIONTH)).total()
    rho = rho_of(Fraction(1), BILLIONTH)
    assert found == Cost(Curve(rho, PARTS).epsilon(BILLIONTH), BILLIONTH)
    assert 1 < found.epsilon <= 1 + sum(PARTS)


def test_a_fit_before_the_search_leaves_its_indices_pure() -> None:
    rho = rho_of(Fraction(1), BILLIONTH)
    for mode in (COIN, SINGLE, plan("paper").mode, plan("rising-coin").mode):
        found = Plan(*PARTS, mode, Approximate.of(Fraction(1), BILLIONTH, once=True)).total()
        pure = (PARTS[0], mode.cost(PARTS[1]), PARTS[2])
        assert found == Cost(Curve(rho, pure).epsilon(BILLIONTH), BILLIONTH)
        assert found.epsilon <= 1 + sum(pure)


def test_a_coin_over_rho_is_planned_by_its_divergence() -> None:
    """δ = 10⁻⁶, ρ = 0.02, γ = 0.05: 1.4916; as an index of (ε, δ) it would be 1.6 or more."""
    none, delta, rho = Fraction(0), Fraction(1, 10**6), Fraction(2, 100)
    found = Plan(none, none, none, COIN, Approximate(delta, rho)).total().epsilon
    assert float(found) == pytest.approx(1.4916, abs=5e-5)
    assert COIN.cost(epsilon_of(rho, delta / 20)) > Fraction(16, 10)


def test_a_family_of_its_own_delta_is_searched_within_the_declared_one() -> None:
    one, delta = Fraction(1), Fraction(1, 10**6)
    own = delta / COIN.delta(one + PARTS[1], one)
    found = Plan(*PARTS, COIN, Approximate.of(one, delta, own)).total()
    assert found == Cost(PARTS[0] + COIN.cost(one + PARTS[1]) + PARTS[2], delta)
    with pytest.raises(ValueError, match="exceed the declared delta"):
        Plan(*PARTS, COIN, Approximate.of(one, delta, own * Fraction(1001, 1000))).total()
    once = Plan(*PARTS, COIN, Approximate.of(one, delta, delta, once=True)).total()
    assert once == Cost(PARTS[0] + one + COIN.cost(PARTS[1]) + PARTS[2], delta)
    with pytest.raises(ValueError, match="exceed the declared delta"):
        Plan(*PARTS, COIN, Approximate.of(one, delta, delta * Fraction(1001, 1000), once=True)).total()


@pytest.mark.parametrize("mode", ["paper", "rising-coin", "capped-coin"])
@pytest.mark.parametrize("own", [None, Fraction(1, 10**12)])
def test_no_plan_repeats_delta_until_success(mode: str, own: Fraction | None) -> None:
    repeated = plan(mode).mode
    with pytest.raises(ValueError, match="no theorem"):
        Plan(*PARTS, repeated, Approximate.of(Fraction(1), BILLIONTH, own)).total()


def test_what_a_generator_may_spend_is_one_of_two_and_in_one_place() -> None:
    rho = rho_of(Fraction(1), BILLIONTH)
    inside = Plan(*PARTS, SINGLE, Approximate.of(Fraction(1), BILLIONTH, BILLIONTH))
    both = (Cost(PARTS[1], rho=rho), Cost(PARTS[1] + 1, BILLIONTH))
    assert inside.spendable(PARTS[1], first=False) == both
    assert inside.spendable(PARTS[0], first=True) == (Cost(PARTS[0]),)
    before = Plan(*PARTS, SINGLE, Approximate.of(Fraction(1), BILLIONTH, once=True))
    assert before.spendable(PARTS[1], first=False) == (Cost(PARTS[1]),)
    assert before.spendable(PARTS[0], first=True) == (Cost(PARTS[0], rho=rho),)


def test_a_rho_that_does_not_hold_at_its_epsilon_and_delta_is_refused() -> None:
    rho = rho_of(Fraction(1), BILLIONTH)
    Approximate(BILLIONTH, rho, Cost(Fraction(1), BILLIONTH))
    Approximate(BILLIONTH, rho, Cost(epsilon_of(rho, BILLIONTH), BILLIONTH))
    broken: list[tuple[Fraction, Fraction, Cost | None]] = [
        (BILLIONTH, rho * 2, Cost(Fraction(1), BILLIONTH)),
        (BILLIONTH, rho, Cost(Fraction(1), BILLIONTH / 1000)),
        (Fraction(0), rho, None),
        (Fraction(1), rho, None),
        (BILLIONTH, Fraction(0), None),
    ]
    for given in broken:
        with pytest.raises(ValueError):
            Approximate(*given)
