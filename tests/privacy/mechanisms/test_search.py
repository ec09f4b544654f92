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

from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import mode_of
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
