"""The planner on studies with made-up trials: the cheapest option, its honesty, what it writes."""

import math
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from conftest import EXAMPLES
from facsimile.errors import FacsimileError
from facsimile.explore.chances import Rooms
from facsimile.explore.explore import level_after, racing
from facsimile.explore.ground import Ground
from facsimile.explore.judge import ONCE, Reading, Room
from facsimile.explore.narrowed import narrowed
from facsimile.explore.planner import BOUNDED, SCHEMES, Planned, ceil_to, curve, levels, plan, round_up
from facsimile.explore.race import Rule
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial
from facsimile.release.plan import plan_of
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import loads
from facsimile.table.domain import Domain
from facsimile.table.table import Table

SOURCE = """\
# a comment that stays
facsimile: 1
title: People
unit: one person
neighbours: replace-one
records: {count: 1000, public_because: it is printed}
columns:
  - name: age
    description: Age in years
    bounds: [0, 90]
    # two ways to cut
    alternatives:
      coarse: [<18, 18-64, 64<]
      fine: [<18, 18..64 by 47, 64<]
    outside: clip
  - {name: sex, description: Sex, values: [M, F], alternatives: {coarse: [M, F], joined: {all: [M, F]}}}
constraints:
  policy: declared
families:
  - family: mst
  - family: privbayes
    grid: {flavour: [theta], theta: [4, 8], epsilon_split: [0.25]}
# how rare rows go
projection:
  min_count: [2, 3]
criteria:
  - criterion: marginals-absolute  # the strictest
    threshold: 0.1
    epsilon: 0.1
  - {criterion: total-variation, ways: 1, threshold: 0.2, epsilon: 0.3, statistic: sharp}
selection: {mode: coin, gamma: 0.05}
budget:
  total: 5
  generator: 2
  test: 0.1
"""
RULE = Rule(steps=1, finalists=2, fresh=40)


def room(name: str, value: float, limit: float, sensitivity: float, once: str | None = None) -> Room:
    return Room(name, value, limit, sensitivity, (value - limit) / sensitivity, once)


def slack_at(generator: float) -> float:
    """How far below its limit a criterion lies, in units of Δ: less at a smaller epsilon."""
    return 60 * generator


def made(path: Path, source: str = SOURCE, rule: Rule = RULE, good: int = 2, weak: int = 0) -> Study:
    """A study whose first `good` configurations pass, some more weakly, down to an epsilon where none does."""
    spec = loads(source)
    domain = Domain(spec.finest())
    table = Table.from_rows(domain, [[0] * len(domain.axes)], [spec.n])
    study = Study.create(path, source, Ground(spec, table, 1), rule, "public.csv")
    configurations = racing(study)[: good + weak]
    random = np.random.default_rng(3)
    for step in range(rule.steps + 1):
        generator = level_after(spec.budget.generator, step)
        for place, configuration in enumerate(configurations):
            numbers = [*range(rule.trials), *range(FRESH, FRESH + rule.fresh)]
            rate = 0.2 if place >= good else 1.0
            trials = []
            for number in numbers:
                fine = bool(random.random() < rate)
                slack = slack_at(float(generator)) * (1 if fine else -1) * random.uniform(0.5, 1)
                readings = tuple(Reading(c.name, 0.5, 1.0, fine) for c in spec.criteria)
                rooms = [room(c.name, 200 - slack, 200, 1.0) for c in spec.criteria]
                trials.append(_trial(configuration.identifier, generator, number, fine, readings, tuple(rooms)))
            study.add([configuration], trials)
    return study


@cache
def planned(study: Study, accept: float, *schemes: str) -> Planned:
    return plan(study, accept, schemes=schemes or BOUNDED)  # type: ignore[arg-type]


def _trial(
    name: str,
    generator: Fraction,
    number: int,
    fine: bool,
    readings: tuple[Reading, ...],
    rooms: tuple[Room, ...],
) -> Trial:
    return Trial(name, show_decimal(generator), number, fine, readings, rooms, 0.5, 0.25)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return made(tmp_path_factory.mktemp("plan") / "people.study")


def test_levels_hold_the_fresh_trials_of_finalists(study: Study) -> None:
    found = levels(study)
    assert [float(level.generator) for level in found] == [2, 1.4]
    for level in found:
        assert len(level.trials) == 2
        assert all(trial.number >= FRESH for trials in level.trials.values() for trial in trials)


def test_a_plan_reaches_what_is_wanted_at_the_smallest_total(study: Study) -> None:
    found = planned(study, 0.5)
    chance, low, high = found.option.chance()
    assert found.option.least >= 0.5
    assert 0 <= low <= chance <= high <= 1
    assert found.option.scheme in BOUNDED
    assert found.option.total >= found.option.plan.total().epsilon > found.option.total - Fraction(1, 5000)
    dearer = planned(study, 0.9)
    assert dearer.option.total >= found.option.total
    assert all(p.total >= found.option.total for p in found.curve if p.low >= 0.5 and p.scheme in BOUNDED)
    with pytest.raises(FacsimileError, match="E415"):
        plan(study, 0.9999)


def test_the_chance_is_stated_by_trials_that_had_no_part_in_the_choice(study: Study) -> None:
    option = planned(study, 0.5).option
    level = next(level for level in levels(study) if level.generator == option.generator)
    halves = [
        Rooms.of([t for c in option.configurations for t in level.trials[c.identifier][h::2]]) for h in (0, 1)
    ]
    assert option.test is not None
    for half, used in zip(halves, (option.chosen, option.stated), strict=True):
        assert np.allclose(np.sort(half.joint(option.test, option.selection)), np.sort(used))


def test_noise_is_the_asked_part_of_the_threshold(study: Study) -> None:
    """Limits are 200 Δ: a scale of a tenth needs ε = 1/20."""
    assert dict(planned(study, 0.5).option.measured) == dict.fromkeys(
        ["marginals-absolute", "total-variation-worst"], Fraction(1, 20)
    )
    quiet = plan(study, 0.5, noise=0.05)
    assert {epsilon for _, epsilon in quiet.option.measured} == {Fraction(1, 10)}


def test_only_configurations_with_enough_acceptance_are_kept(tmp_path: Path) -> None:
    rule = Rule(steps=0, finalists=12, fresh=40)
    found = made(tmp_path / "s", rule=rule, good=12, weak=6)
    many = plan(found, 0.3, keep=0.1).option.configurations
    strict = plan(found, 0.3, keep=0.9).option.configurations
    assert 1 <= len(strict) <= len(many)
    for one in (many, strict):
        assert len({tuple(sorted(c.alternatives.items())) for c in one}) == 1
        assert len({tuple(sorted(c.projection.items())) for c in one}) == 1


def test_the_curve_rises_in_every_scheme(study: Study) -> None:
    points = curve(study)
    assert {point.scheme for point in points} == set(SCHEMES)
    for scheme in SCHEMES:
        mine = [point for point in points if point.scheme == scheme]
        assert [p.total for p in mine] == sorted(p.total for p in mine)
        assert all(p.low <= p.release <= p.high for p in mine)
        assert mine[-1].release > mine[0].release


def test_what_the_declared_total_buys(study: Study) -> None:
    found = planned(study, 0.5)
    assert found.bought is not None
    assert found.bought.total <= found.other == 5
    assert found.bought.release >= found.option.chance()[0] - 0.05
    assert found.tighter is not None
    assert 0.4 <= found.tighter < 1, "values lie between 80 and 140 of 200 at the largest epsilon"


def test_what_another_total_buys(study: Study) -> None:
    """The more, the likelier a release; nothing where even the cheapest option costs more."""
    found = [plan(study, 0.5, other=Fraction(total)) for total in ("0.001", "2", "50")]
    assert [one.option.total for one in found] == [found[0].option.total] * 3
    assert (found[0].bought, found[0].tighter) == (None, None)
    some, much = found[1], found[2]
    assert some.bought is not None and much.bought is not None
    assert some.bought.total <= 2
    assert some.bought.release <= much.bought.release + 0.01
    assert some.tighter is not None and much.tighter is not None
    assert much.tighter <= some.tighter


def test_a_regression_paid_once_is_part_of_the_split(tmp_path: Path) -> None:
    """An expensive regression is chosen only because the cheap one fails."""
    study = made(tmp_path / "s", good=1)
    trials = []
    for trial in study.trials():
        rooms = [
            room("regression-mae", 9.0 if once < Fraction("0.2") else 1.0, 5.0, 0.02, show_decimal(once))
            for once in ONCE
        ]
        trials.append(Trial(*trial.name, True, trial.readings, (*trial.rooms, *rooms), 0.5, 0.25))
    fresh = made(tmp_path / "t", good=0)
    fresh.add(study.configurations().values(), trials)
    assert plan(fresh, 0.5).option.once == Fraction("0.2")


def test_no_plan_without_fresh_trials(tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match="E415"):
        plan(made(tmp_path / "s", good=0), 0.5)


@pytest.mark.parametrize("accept", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_written_specification_is_the_plan(study: Study, scheme: str, accept: float) -> None:
    option = planned(study, accept, scheme).option
    text = narrowed(study.source, option, ["Planned."])
    written, before = loads(text), loads(study.source)
    assert text.startswith("# Planned.\n# a comment that stays\n")
    for kept in ("# two ways to cut", "# how rare rows go", "# the strictest"):
        assert kept in text
    assert plan_of(written).total().epsilon <= written.budget.total == option.total
    assert plan_of(written).total() == option.plan.total()
    assert written.scheme == scheme
    assert {written.space.configuration(i).identifier for i in range(written.space.size)} == {
        c.identifier for c in option.configurations
    }
    assert written.finest() == before.finest(), "references and cuts stay"
    assert [c.threshold for c in written.criteria] == [c.threshold for c in before.criteria]
    assert {c.name: c.epsilon for c in written.criteria} == dict(option.measured)
    again = plan_of(loads(narrowed(text, option, [])))
    assert again.total() == option.plan.total(), "a narrowed specification can be narrowed again"


def test_a_specification_in_one_line_is_written_anew(study: Study) -> None:
    option = planned(study, 0.5).option
    flow = yaml.safe_dump(yaml.safe_load(SOURCE), default_flow_style=True, width=100_000)
    assert loads(narrowed(flow, option, [])).canonical() == loads(narrowed(SOURCE, option, [])).canonical()


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_the_examples_can_be_narrowed_where_they_stand(path: Path, study: Study) -> None:
    """Their comments stay: the text is edited, not written anew."""
    source = path.read_text(encoding="utf-8")
    if not source.startswith("facsimile: 1") and "\nfacsimile: 1" not in source:
        return
    spec = loads(source)
    option = planned(study, 0.5).option
    pure = spec.space.pure()
    measured = tuple((criterion.name, Fraction(1, 20)) for criterion in spec.criteria)
    changed = type(option)(
        option.scheme, option.generator, option.test, Fraction(1, 10), measured, option.selection,
        (pure.configuration(0),), option.chosen, option.stated, 1.0,
    )  # fmt: skip
    text = narrowed(source, changed, [])
    replaced = "".join(re.findall(r"^(?:families|projection):\n(?:[ #].*\n|\n)*", source, re.MULTILINE))
    comments = [line for line in source.splitlines() if line.strip().startswith("#") and line not in replaced]
    assert comments
    for line in comments:
        assert line in text
    assert loads(text).space.size == 1


def test_rounding_up() -> None:
    for value in (0.0231, 0.5, 1.0, 12.34, 0.99999):
        found = float(round_up(value))
        assert value <= found + 1e-9 <= value * 1.1 + 1e-9
    assert ceil_to(Fraction(1, 3), 4) == Fraction(3334, 10_000)
    assert math.isclose(float(round_up(0.1)), 0.1)
