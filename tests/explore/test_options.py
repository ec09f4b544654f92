"""Options: the halves of the fresh trials, what is measured, what is kept, what a regression costs."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from budgets import RULE, SOURCE, made, room
from facsimile.explore.chances import Distances
from facsimile.explore.judge import ONCE
from facsimile.explore.narrowed import narrowed
from facsimile.explore.options import LOSSES, ROOMS, Option, _splits, levels, options, round_up
from facsimile.explore.race import RaceRule
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial
from facsimile.release.plan import plan_of
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import loads


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return made(tmp_path_factory.mktemp("plan") / "people.study")


def every(study: Study, keep: float = 0.1, noise: float = 0.1) -> list[Option]:
    return options(study.setup.specification, levels(study), keep, noise)


def test_levels_hold_the_fresh_trials_of_finalists(study: Study) -> None:
    found = levels(study)
    assert [float(level.generator) for level in found] == [2, 1.7, 1.4]
    assert [level.predicted for level in found] == [False, True, False]
    for level in found:
        assert len(level.trials) == 2
        assert all(trial.number >= FRESH for trials in level.trials.values() for trial in trials)


def test_one_half_of_the_fresh_trials_chooses_and_the_other_states(study: Study) -> None:
    for option in [option for option in every(study) if option.test is not None][::97]:
        level = next(level for level in levels(study) if level.generator == option.generator)
        for half, used in enumerate((option.chosen, option.stated)):
            mine = [t for c in option.configurations for t in level.trials[c.identifier][half::2]]
            assert option.test is not None and len(used) == RULE.fresh // 2 * len(option.configurations)
            assert np.allclose(np.sort(Distances.of(mine).joint(option.test, option.mode.luck)), np.sort(used))


def test_noise_is_the_asked_part_of_the_threshold(study: Study) -> None:
    """Limits are 200 Δ: a scale of a tenth needs ε = 1/20."""
    for noise, epsilon in ((0.1, Fraction(1, 20)), (0.05, Fraction(1, 10))):
        after = ("test-then-measure", "train-once")
        bounded = [option for option in every(study, noise=noise) if option.scheme in after]
        assert {dict(option.measured)["marginals-absolute"] for option in bounded} == {epsilon}


def test_in_scheme_measured_criteria_share_one_number_or_each_has_the_epsilon_its_room_asks_for(
    study: Study,
) -> None:
    """The same test and the same chances as test-then-measure, for less; or a value for each criterion."""
    found = every(study)
    mine = [option for option in found if option.scheme == "measured"]
    shared, own = ([o for o in mine if o.valued is valued] for valued in (False, True))
    assert shared and own and {o.variant for o in own} == {"measured, with values"}
    names = {criterion.name for criterion in study.declared.criteria}
    for option in own:
        assert option.test is None and {name for name, _ in option.measured} == names
    others = [o for o in found if o.scheme == "test-then-measure"]

    def key(option: Option) -> str:
        names = [configuration.identifier for configuration in option.configurations]
        return repr((option.test, option.once, str(option.mode), option.generator, names))

    twins = {key(option): option for option in others}
    for option in shared[::53]:
        twin = twins[key(option)]
        assert option.measured == () and np.array_equal(option.stated, twin.stated)
        assert option.total < twin.total
        assert option.plan.after == 0 == option.plan.once


def test_a_cheap_criterion_gets_little_and_losses_are_as_planned() -> None:
    """Rooms of 50 and 5,000 Δ: by Lagrange's rule, and nearly the loss that was asked for."""
    rooms = (room("wide", 0, 5_000, 1), room("narrow", 0, 50, 1))
    trials = [Trial("one", "1", 1000, True, (), rooms, 1.0, 2.0)] * 4
    distances, luck = Distances.of(trials), Fraction(1, 20)
    for loss, split in zip(LOSSES * len(ROOMS), _splits(distances, luck), strict=True):
        assert split["wide"] < split["narrow"] / 20
        chance = distances.by_measurement([split["wide"], split["narrow"]], None, luck)
        assert 1 - 1.1 * loss <= chance.min() <= 1


def test_only_configurations_with_enough_acceptance_are_kept(tmp_path: Path) -> None:
    rule = RaceRule(steps=0, finalists=12, fresh=40)
    found = made(tmp_path / "s", rule=rule, good=12, weak=6)
    for keep in (0.1, 0.9):
        kinds = set()
        for option in every(found, keep=keep):
            kinds.add(len({repr((c.alternatives, c.projection)) for c in option.configurations}))
            parts = np.split(option.chosen, len(option.configurations))
            assert all(part.mean() >= keep for part in parts)
        assert 1 in kinds and max(kinds) > 1, "those of one transformation and projection, and all together"


def test_trials_that_share_a_fit_count_as_one(tmp_path: Path) -> None:
    """Two projections of a fit succeed and fail together: their trials vouch for no more than one's."""
    found = made(tmp_path / "s", rule=RaceRule(steps=0, finalists=12, fresh=40), good=12)
    option = max(every(found), key=lambda option: len(option.configurations))
    assert option.shared == 2 and len(option.configurations) == 12
    alone = replace(
        option, configurations=tuple(c for c in option.configurations if c.projection["min_count"] == "2")
    )
    assert alone.shared == 1
    assert alone.least > option.least
    assert alone.chance(0.95)[1] > option.chance(0.95)[1]
    assert alone.chance(0.95, 240)[1:] == option.chance(0.95, 480)[1:]


PAPER = SOURCE.replace("  test: 0.1\n", "").replace(
    "selection: {mode: coin, gamma: 0.05}", "selection: {mode: paper}"
)
PAPER = PAPER.replace("criteria:\n", "scheme: paper\nstatistic: paper\ncriteria:\n").replace(
    ", statistic: sharp", ""
)
RATIO = "  - {criterion: marginals-relative, threshold: 2, clip: 2, epsilon: 0.3}\n"


@pytest.mark.parametrize("ratio", ["", RATIO], ids=["plain", "ratio"])
def test_the_paper_scheme_can_be_planned_as_it_was_tried(tmp_path: Path, ratio: str) -> None:
    """With the declared epsilons a trial was accepted or it was not; where the paper's form tests a ratio below
    its limit, no other epsilons are known."""
    study = made(tmp_path / "s", PAPER.replace("selection:", f"{ratio}selection:"), rate=0.6)
    spec = study.setup.specification
    declared = tuple((criterion.name, criterion.epsilon) for criterion in spec.criteria)
    paper = [option for option in every(study) if option.scheme == "paper"]
    tried = [option for option in paper if option.measured == declared]
    assert {option.mode.name for option in tried} == {"single", "rising-coin", "coin", "paper"}
    assert {option.generator for option in tried} == {Fraction(2), Fraction("1.4")}
    level = levels(study)[0]
    for option in (option for option in tried if option.generator == 2):
        for half, used in enumerate((option.chosen, option.stated)):
            mine = [t.accepted for c in option.configurations for t in level.trials[c.identifier][half::2]]
            assert used.tolist() == [float(accepted) for accepted in mine]
    assert (len(paper) > len(tried)) == (not ratio)


def test_a_regression_paid_once_is_part_of_the_split(tmp_path: Path) -> None:
    """An expensive regression is chosen only because the cheap one fails."""
    study = made(tmp_path / "s", good=1)
    trials = []
    for trial in study.trials():
        rooms = [
            room("regression-mae", 9.0 if once < Fraction("0.2") else 1.0, 5.0, 0.02, show_decimal(once))
            for once in ONCE
        ]
        trials.append(Trial(*trial.name, True, trial.readings, (*trial.noiseless, *rooms), 0.5, 0.25))
    fresh = made(tmp_path / "t", good=0)
    fresh.add(study.configurations().values(), trials)
    reached = [option for option in every(fresh) if option.least > 0.5 and option.scheme != "paper"]
    assert reached and {option.once for option in reached} == {Fraction("0.2")}


def test_a_total_is_what_the_plan_charges_rounded_up(study: Study) -> None:
    for option in every(study):
        assert option.total >= option.plan.total().epsilon > option.total - Fraction(1, 10_000)


def test_rounding_up() -> None:
    for value in (0.0231, 0.5, 1.0, 12.34, 0.99999):
        found = float(round_up(value))
        assert value <= found + 1e-9 <= value * 1.1 + 1e-9
    assert math.isclose(float(round_up(0.1)), 0.1)


REGRESSIONS = """\
  - criterion: regression-coefficients
    target: age
    threshold: 30
  - {criterion: regression-mae, target: age, threshold: 5, epsilon: 0.2}
"""


@pytest.mark.parametrize("given", ["", "    epsilon: 0.25\n"], ids=["left out", "given"])
def test_coefficients_that_a_regression_paid_once_serves_are_not_charged(tmp_path: Path, given: str) -> None:
    """What an option charges is what the specification written for it charges, whatever its scheme."""
    source = PAPER.replace("  generator: 2\n", "  generator: 2\n  once: 0.25\n").replace("total: 5", "total: 9")
    source = source.replace("joined: {all: [M, F]}", "other: [F, M]").replace(
        "values: [M, F]", "values: [M, F], numbers: {M: 0, F: 1}"
    )
    extra = REGRESSIONS.replace("threshold: 30\n", f"threshold: 30\n{given}")
    source = source.replace("selection: {", f"{extra}selection: {{")
    study = made(tmp_path / "s", source, good=1)
    trials = []
    for trial in study.trials():
        rooms = [room("regression-mae", 1.0, 5.0, 0.02, show_decimal(once)) for once in ONCE]
        kept = [r for r in trial.noiseless if r.criterion != "regression-mae"]
        trials.append(Trial(*trial.name, True, trial.readings, (*kept, *rooms), 0.5, 0.25))
    fresh = made(tmp_path / "t", source, good=0)
    fresh.add(study.configurations().values(), trials)
    by_scheme = {option.scheme: option for option in every(fresh)}
    assert set(by_scheme) == {"paper", "test-then-measure", "train-once"}
    for option in by_scheme.values():
        assert "regression-coefficients" not in dict(option.measured)
        written = loads(narrowed(source, option, ["a note"]))
        assert plan_of(written).total() == option.plan.total()
        assert written.budget.once == option.once
