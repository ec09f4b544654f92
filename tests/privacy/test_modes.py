"""Selection modes: costs are never understated and no larger than proved; all else follows from the coins."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import facsimile
from facsimile.acceptance.decision import margin
from facsimile.privacy.modes import MODES, CappedCoin, Coin, Mode, RisingCoin, Single, UntilSuccess, mode_of
from facsimile.spec.release import Selection

EXACT = Context(prec=120)
SLACK = Fraction(1, 10**39)
ALPHA = Fraction(1, 20)
epsilons = st.fractions(Fraction(1, 1000), 12, max_denominator=1000)
coins = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
EVERY: list[Mode] = [
    Single(false_accept=ALPHA),
    *(RisingCoin(false_accept=ALPHA, a=Fraction(k, 10)) for k in (3, 9, 10)),
    *(Coin(false_accept=ALPHA, gamma=Fraction(k, 20)) for k in (1, 10, 20)),
    *(CappedCoin(false_accept=ALPHA, gamma=Fraction(1, 5), cap=cap, epsilon_0=Fraction(1)) for cap in (2, 9)),
    UntilSuccess(false_accept=ALPHA),
]


def selection_coin(one: Fraction, gamma: Fraction) -> Fraction:
    return Coin(false_accept=ALPHA, gamma=gamma).cost(one)


def selection_rising(one: Fraction, a: Fraction) -> Fraction:
    return RisingCoin(false_accept=ALPHA, a=a).cost(one)


def capped(gamma: Fraction, epsilon_0: Fraction, more: int = 0) -> CappedCoin:
    """A coin with its smallest cap, or one that differs."""
    least = CappedCoin(false_accept=ALPHA, gamma=gamma, cap=1, epsilon_0=epsilon_0).smallest_cap
    return CappedCoin(false_accept=ALPHA, gamma=gamma, cap=least + more, epsilon_0=epsilon_0)


def decimal(value: Fraction) -> Decimal:
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def true_log(value: Fraction) -> Fraction:
    """ln(value) to 119 digits."""
    return Fraction(EXACT.ln(decimal(value)))


def true_coin(one: Fraction, gamma: Fraction) -> Fraction:
    growth = Fraction(EXACT.exp(decimal(one)))
    return one + true_log((growth + gamma) / (1 + gamma * growth))


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
    assert one <= selection_coin(one, gamma) <= UntilSuccess(false_accept=ALPHA).cost(one) + SLACK
    assert one <= selection_rising(one, gamma) <= UntilSuccess(false_accept=ALPHA).cost(one)


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
    cap = capped(gamma, epsilon_0).cap
    assert cap - 1 < needed <= cap
    assert not list(capped(gamma, epsilon_0).mistakes())
    if cap > 1:
        (told,) = capped(gamma, epsilon_0, -1).mistakes()
        assert told.place == ("selection", "cap") and told.items == {"choice": f"cap: {cap}"}


@given(epsilons, st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_a_capped_coin_costs_the_coin_and_half_of_epsilon_0(one: Fraction, epsilon_0: Fraction) -> None:
    gamma = Fraction(1, 20)
    cost = capped(gamma, epsilon_0).cost(one)
    assert cost == selection_coin(one, gamma) + epsilon_0 / 2 <= 2 * one + epsilon_0


@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.3, 0.9])
@pytest.mark.parametrize("epsilon_0", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("one", [0.1, 1.0, 3.0])
def test_no_pair_of_laws_beats_the_capped_coin(gamma: float, epsilon_0: float, one: float) -> None:
    """Both outcomes' exact probabilities, over a grid of acceptance rates of two neighbours."""
    mode = capped(Fraction(str(gamma)), Fraction(str(epsilon_0)))
    cap, cost = mode.cap, float(mode.cost(Fraction(str(one))))
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
        capped(half, half, -1).cost(one)
    with pytest.raises(ValueError, match="coin is between"):
        CappedCoin(false_accept=ALPHA, gamma=Fraction(0), epsilon_0=half, cap=10**6)
    for epsilon_0 in (Fraction(0), Fraction(2)):
        with pytest.raises((ValueError, ZeroDivisionError)):
            CappedCoin(false_accept=ALPHA, gamma=half, epsilon_0=epsilon_0, cap=10**6).cost(one)
    for gamma in (Fraction(0), Fraction(-1), Fraction(3, 2)):
        with pytest.raises(ValueError, match="coin is between"):
            selection_coin(one, gamma)
        with pytest.raises(ValueError, match="a is between"):
            selection_rising(one, gamma)


def test_one_index_costs_itself_and_until_success_costs_two() -> None:
    one = Fraction(499, 100)
    assert Single(false_accept=ALPHA).cost(one) == selection_coin(one, Fraction(1)) == one
    assert UntilSuccess(false_accept=ALPHA).cost(one) == 2 * one
    assert float(selection_coin(one, Fraction(1, 10**12))) == pytest.approx(9.98)


def test_a_coin_whose_index_is_not_private_at_all_still_costs_its_logarithm() -> None:
    """Beyond an ε of 1000 the exponential is not computed: the bound 1/γ on p'/p takes its place."""
    for one in (Fraction(999), Fraction(1000), Fraction(1001), Fraction(10**6)):
        assert 0 <= selection_coin(one, ALPHA) - one - true_log(1 / ALPHA) <= SLACK


def law(mode: Mode, bad: float, good: float = 0.0) -> tuple[float, float, float]:
    """Tried indices, and the probabilities that a bad and any table is released, by the coins themselves."""
    alive, tried = 1.0, 0.0
    for j in range(1, 40_000):
        tried += alive
        alive *= (1 - bad - good) * (1 - float(mode.halts_after(j)))
        if alive < 1e-15:
            break
    return tried, bad * tried, (bad + good) * tried


@pytest.mark.parametrize("mode", EVERY, ids=str)
@pytest.mark.parametrize("q", [0.05, 0.4, 0.9, 1.0])
def test_tried_and_released_follow_from_the_coins(mode: Mode, q: float) -> None:
    """Sum over the index at which a search ends, with the very coins that a release tosses."""
    tried, _, released = law(mode, q)
    assert math.isclose(float(mode.tried(q)), tried, rel_tol=1e-6)
    assert math.isclose(float(mode.released(q)), released, rel_tol=1e-6)


@pytest.mark.parametrize("mode", EVERY, ids=str)
def test_the_chance_of_a_release_is_total_and_rises(mode: Mode) -> None:
    grid = np.linspace(0, 1, 101)
    with np.errstate(all="raise"):
        released, tried = mode.released(grid), np.asarray(mode.tried(grid[1:]))
    assert released[0] == 0 and (np.diff(released) >= -1e-12).all() and (released <= 1 + 1e-12).all()
    assert (np.diff(tried) <= 1e-12).all() and tried[-1] == pytest.approx(1)
    assert mode.repeats or (tried == 1).all()
    assert mode.halting or (released[1:] == pytest.approx(1))


@pytest.mark.parametrize("mode", [mode for mode in EVERY if mode.halting], ids=str)
@pytest.mark.parametrize("good", [0.0, 0.01, 0.3])
def test_a_search_releases_a_bad_table_with_at_most_the_stated_probability(mode: Mode, good: float) -> None:
    """Each index accepts a bad table as often as luck allows, and a good one now and then."""
    _, released, _ = law(mode, float(mode.luck), good)
    assert released <= float(mode.false_accept) * (1 + 1e-9)


@given(st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000), coins)
def test_luck_is_as_large_as_the_bound_allows(alpha: Fraction, setting: Fraction) -> None:
    """Where every index is bad: a single search and a coin err with exactly α, a rising coin nearly."""
    coin = Coin(false_accept=alpha, gamma=setting)
    assert coin.luck / (setting + (1 - setting) * coin.luck) == alpha
    assert alpha * setting <= coin.luck <= alpha
    single, rising = Single(false_accept=alpha), RisingCoin(false_accept=alpha, a=max(setting, Fraction(1, 50)))
    assert single.luck == UntilSuccess(false_accept=alpha).luck == alpha
    power = EXACT.power(decimal(alpha), 1 / decimal(rising.a))
    assert Fraction(999_998, 10**6) < rising.luck / Fraction(power) < 1


def test_the_luck_of_the_usual_coin() -> None:
    """α = γ = 5 %: 1/381 instead of αγ = 1/400, and a margin of 26,879 units instead of 27,128 (ε = 0.2)."""
    luck = Coin(false_accept=ALPHA, gamma=ALPHA).luck
    assert luck == Fraction(1, 381)
    assert [margin(p, Fraction(1, 5), 1024) for p in (luck, ALPHA * ALPHA)] == [26_879, 27_128]


@pytest.mark.parametrize("gamma", [Fraction(1, 20), Fraction(1, 2), Fraction(1)])
def test_a_coin_whose_candidates_are_all_bad_errs_as_stated(gamma: Fraction) -> None:
    """Every sequence of coins and tests up to sixty indices, in exact numbers; what is left is still alive."""
    mode, alive, erred = Coin(false_accept=ALPHA, gamma=gamma), Fraction(1), Fraction(0)
    for j in range(1, 61):
        erred += alive * mode.luck
        alive *= (1 - mode.luck) * (1 - mode.halts_after(j))
    assert erred <= ALPHA <= erred + alive


def test_only_a_law_that_counts_nothing_survives_a_crash() -> None:
    """A search that begins anew after k failures has the law of one that goes on, or it is not resumed."""
    for mode in EVERY:
        forgets = all(mode.halts_after(j) == mode.halts_after(1) for j in range(1, 30))
        assert mode.resumable or not forgets or mode.name in ("capped-coin", "rising-coin")
        assert forgets or not mode.resumable
    assert {name for name, kind in MODES.items() if not kind.resumable} == {"capped-coin", "rising-coin"}


def test_every_mode_of_a_specification_has_its_class() -> None:
    modes = Selection.model_json_schema()["properties"]["mode"]["enum"]
    assert set(MODES) == set(modes)
    for mode in EVERY:
        given = {name: getattr(mode, name) for name in mode.settings()}
        assert mode_of(Selection.model_validate({"mode": mode.name, **given})) == mode
        assert mode.ending.endswith(".")
    assert {name for name, kind in MODES.items() if not kind.repeats} == {"single"}
    assert {name for name, kind in MODES.items() if not kind.halting} == {"paper"}
    assert str(EVERY[-2]) == "capped-coin gamma 0.2 cap 9 epsilon_0 1"
    assert str(EVERY[0]) == "single"


NEW = '''@dataclass(frozen=True, kw_only=True)
class Two(Mode):
    """At most two indices.

    Theorem.  2ε-DP.
    Proof.    The search is a function of two indices that are ε-DP each.  QED
    """

    name, resumable = "two", False
    ending = "After a failure there was a second try."

    def cost(self, one: Fraction) -> Fraction:
        """2ε."""
        return 2 * one

    def halts_after(self, index: int) -> Fraction:
        """For certain after the second."""
        return Fraction(index // 2)

    @property
    def luck(self) -> Fraction:
        """Half of α: h is at most 2."""
        return self.false_accept / 2

    def tried(self, q: Chance) -> Chance:
        """2 − q."""
        return 2 - q


MODES = {'''
USED = """
import contextlib, io, json, sys
from pathlib import Path
import yaml
from budgets import SOURCE, made
from facsimile.cli import main
from facsimile.explore.options import levels, options
from facsimile.explore.race import RaceRule
from facsimile.privacy.noise import RehearsalNoise
from facsimile.release.check import check
from facsimile.release.plan import plan_of
from releases import specification, write_data

folder = Path(sys.argv[1])
spec = specification(selection={"mode": "two"})
plan, tried = plan_of(spec), []
plan.search(lambda j: tried.append(j), RehearsalNoise(1))
source = SOURCE.replace("mode: coin, gamma: 0.05", "mode: two")
study = made(folder / "people.study", source, RaceRule(steps=0, finalists=2, fresh=8))
ways = {o.mode.name: o.iterations() for o in options(study.setup.specification, levels(study), 0.1, 0.1)}
search = next(line for line in check(spec).budget if line.part == "the whole search")
(folder / "s.yaml").write_text(yaml.safe_dump(spec.model_dump(mode="json", exclude_none=True)))
asked = ["release", folder / "s.yaml", "--data", write_data(folder), "--out", folder / "bundle"]
sys.argv = ["facsimile", *map(str, asked), "--rehearse", "--seed", "1"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
page = (folder / "bundle" / "README.html").read_text()
said = {"index": str(plan.index), "cost": str(search.epsilon), "note": search.note, "tried": tried}
print(json.dumps(said | {"offered": sorted(ways), "iterations": ways["two"], "told": "a second try" in page}))
"""


def test_a_mode_is_added_as_the_guide_says(tmp_path: Path) -> None:
    """In a copy of the program: a name in the specification, a class here, and every user knows it."""
    tree = shutil.copytree(Path(facsimile.__file__).parent, tmp_path / "src" / "facsimile")
    for file, old, new in (
        ("spec/release.py", 'Literal["paper", "coin",', 'Literal["two", "paper", "coin",'),
        ("privacy/modes.py", "MODES = {", NEW),
        ("privacy/modes.py", "in (Single, ", "in (Single, Two, "),
    ):
        text = (tree / file).read_text()
        assert text.count(old) == 1
        (tree / file).write_text(text.replace(old, new))
    path = os.pathsep.join([str(tree.parent), str(Path(__file__).parents[1])])
    script = [sys.executable, "-c", USED, str(tmp_path)]
    ran = subprocess.run(script, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["cost"] == str(2 * Fraction(said["index"])) and said["note"] == "selection mode two"
    assert said["told"] and said["tried"] == [1, 2] and 1 <= said["iterations"] <= 2
    assert said["offered"] == ["coin", "paper", "rising-coin", "single", "two"]


def _exp(value: float) -> float:
    return float(EXACT.exp(Decimal(value)))


def _ln(value: float) -> float:
    return float(EXACT.ln(Decimal(value)))


# --- an index with δ


def test_the_coin_over_an_approximate_index_has_its_check_value() -> None:
    coin = Coin(false_accept=ALPHA, gamma=Fraction(1, 20))
    assert float(coin.cost(Fraction(1))) == pytest.approx(1.890789, abs=5e-7)
    assert float(coin.delta(Fraction(1), Fraction(1, 10**8))) == pytest.approx(7.1647e-7, abs=5e-12)


def approximate(epsilon: float, delta: float) -> list[tuple[list[float], list[float]]]:
    """Pairs of laws of an index over (x, y, failure) that are (ε, δ)-close in both directions, extremes among
    them: within e^ε, then δ moved from one outcome to another."""
    grid, found = [k / 8 for k in range(1, 8)], []
    for x, y in product(grid, repeat=2):
        if x + y >= 1:
            continue
        one = [x, y, 1 - x - y]
        for signs in product((-1, 0, 1), repeat=3):
            moved = [p * math.exp(s * epsilon) for p, s in zip(one, signs, strict=True)]
            for free in range(3):
                other = moved.copy()
                other[free] = 1 - sum(moved[:free]) - sum(moved[free + 1 :])
                for source, target in product(range(3), repeat=2):
                    last = other.copy()
                    last[source] -= delta
                    last[target] += delta
                    if min(last) >= 0 and within(one, last, epsilon, delta):
                        found.append((one, last))
    return found


def searched(law: list[float], gamma: float) -> list[float]:
    """What a search with a coin puts out."""
    weighted = [law[0], law[1], gamma * law[2]]
    return [w / sum(weighted) for w in weighted]


def within(one: list[float], other: list[float], epsilon: float, delta: float) -> bool:
    """Whether two laws are (ε, δ)-close, both ways."""
    return all(
        sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(a, b, strict=True)) <= delta + 1e-12
        for a, b in ((one, other), (other, one))
    )


@pytest.mark.parametrize("gamma", ["0.05", "0.4", "1"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.02), (1.0, 0.1)])
def test_a_search_over_an_approximate_index_is_as_close_as_proved(
    gamma: str, epsilon: float, delta: float
) -> None:
    coin = Coin(false_accept=ALPHA, gamma=Fraction(gamma))
    cost = float(coin.cost(Fraction(epsilon)))
    most = float(coin.delta(Fraction(epsilon), Fraction(delta)))
    pairs, found = approximate(epsilon, delta), 0.0
    assert len(pairs) > 500
    for one, other in pairs:
        a, b = searched(one, float(gamma)), searched(other, float(gamma))
        assert within(a, b, cost, most)
        found = max(found, sum(max(0.0, p - math.exp(cost) * q) for p, q in zip(a, b, strict=True)))
    assert found > 0, "at this ε some δ is needed"


def test_a_search_until_success_would_show_what_delta_hides() -> None:
    """An index that accepts with probability δ and then shows a record is (0, δ)-DP; repeated, it shows it."""
    assert not UntilSuccess(false_accept=ALPHA).proved(Fraction(1, 10**9))
    for mode in EVERY:
        allowed = type(mode) in (Coin, Single)
        assert mode.proved(Fraction(1, 10**9)) is allowed
        assert mode.proved(Fraction(0))
        if not allowed:
            with pytest.raises(ValueError, match="no theorem"):
                mode.delta(Fraction(1), Fraction(1, 10))
            with pytest.raises(ValueError, match="no theorem"):
                mode.pull()


def test_a_delta_beyond_all_numbers_is_no_delta() -> None:
    """Once e^1000 stood for every larger one: a fit had a delta that a search does not keep."""
    coin = Coin(false_accept=ALPHA, gamma=Fraction(1, 20))
    assert coin.delta(Fraction(1000), Fraction(1)) > Fraction(10) ** 434
    with pytest.raises(ValueError, match="no delta is left"):
        coin.delta(Fraction(1001), Fraction(1))


def test_until_success_has_no_coin_to_set() -> None:
    with pytest.raises(TypeError):
        UntilSuccess(false_accept=ALPHA, gamma=Fraction(1, 2))  # type: ignore[call-arg]
