"""Between: what trials at two epsilons foretell about those between them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore.between import Level, filled, foretold
from facsimile.explore.chances import Distances
from facsimile.explore.judge import Noiseless
from facsimile.explore.trials import FRESH, Trial
from facsimile.spec.space import Configuration

NAME = Configuration({}, "mst", {}, {})
DELTA = 0.01


def rung(epsilon: str, errors: list[float]) -> Level:
    trials = [
        Trial("a", epsilon, FRESH + i, True, (), (Noiseless("c", e, 1.0, DELTA, (e - 1) / DELTA),), 0.0, 0.0)
        for i, e in enumerate(errors)
    ]
    return Level(Fraction(epsilon), {"a": NAME}, {"a": trials})


def chance(level: Level, half: int | None = None) -> float:
    trials = level.trials["a"] if half is None else level.trials["a"][half::2]
    return float(Distances.of(trials).joint(Fraction(1, 5), Fraction(1, 20)).mean())


def test_rungs_stay_as_they_are_and_one_is_predicted_between_any_two() -> None:
    rungs = [rung(e, [0.5] * 8) for e in ("1", "0.71", "0.5", "0.35")]
    found = filled(rungs)
    assert [float(level.generator) for level in found] == [1, 0.84, 0.71, 0.6, 0.5, 0.42, 0.35]
    assert [level for level in found if not level.predicted] == rungs
    assert filled(rungs[:1]) == rungs[:1] and filled([]) == []


def test_noise_alone_is_foretold_exactly() -> None:
    """Errors c/ε at every rung: so they are between, whichever rung foretells them."""
    found = filled([rung("1", [0.4] * 8), rung("0.5", [0.8] * 8)])
    for level in found:
        errors = [trial.noiseless[0].value for trial in level.trials["a"]]
        assert errors == pytest.approx([0.4 / float(level.generator)] * 8)


@settings(max_examples=40)
@given(st.lists(st.floats(0.05, 0.99), min_size=4, max_size=40), st.floats(0.5, 2.0))
def test_more_epsilon_never_foretells_less(errors: list[float], worse: float) -> None:
    """The same errors on both rungs but for a factor: between them they lie in order, never outside of both.

    Below 1 the rungs contradict each other, above √2 they differ by more than noise: then k is at its end.
    """
    levels = filled([rung("0.7", sorted(errors)), rung("0.5", [e * worse for e in sorted(errors)])])
    every = [[trial.noiseless[0].value for trial in level.trials["a"]] for level in levels]
    if 1 <= worse <= 1.4:
        assert all((np.array(low) >= np.array(high) - 1e-9).all() for high, low in pairwise(every))
        chances = [chance(level) for level in levels]
        assert all(high >= low - 1e-9 for high, low in pairwise(chances))
    for found in every[1:-1]:
        assert (np.array(found) <= np.maximum(every[0], every[-1]) + 1e-9).all()


@given(st.integers(2, 60))
def test_both_halves_have_the_same_mix_of_both_rungs(pairs: int) -> None:
    found = filled([rung("0.8", [0.0] * 2 * pairs), rung("0.4", [2.0] * 2 * pairs)])[1]
    below = np.array([trial.generator == "0.4" for trial in found.trials["a"]])
    assert (below[::2] == below[1::2]).all()
    assert abs(below.sum() - pairs) <= 2


@given(st.floats(0.001, 3), st.floats(0.2, 3), st.floats(0.2, 5))
def test_an_excess_keeps_its_units(value: float, factor: float, unit: float) -> None:
    """A group with a smaller sensitivity than the largest decides: its unit is told by value and excess."""
    found = foretold(
        Trial("a", "1", FRESH, True, (), (Noiseless("c", value, 1.0, 9.0, (value - 1) / unit),), 0.0, 0.0),
        factor,
        {},
    ).noiseless[0]
    assert found.value == pytest.approx(factor * value)
    if abs(value - 1) > 1e-6:
        assert found.excess == pytest.approx((factor * value - 1) / unit, rel=1e-6, abs=1e-6)


def test_configurations_that_one_rung_lacks_are_left_out() -> None:
    above, below = rung("1", [0.5] * 4), rung("0.5", [0.5] * 4)
    other = Level(below.generator, {"b": NAME}, {"b": below.trials["a"]})
    assert filled([above, other]) == [above, other]
