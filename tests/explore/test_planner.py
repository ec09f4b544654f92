"""The planner on studies with made-up trials: one curve, the cheapest point on it, and what it writes."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import RULE, SOURCE, made
from conftest import EXAMPLES
from facsimile.api.plans import PlannedRelease
from facsimile.errors import FacsimileError
from facsimile.explore import planner
from facsimile.explore.curve import curve_of
from facsimile.explore.narrowed import narrowed, restricted
from facsimile.explore.options import SCHEMES, VARIANTS
from facsimile.explore.planner import BOUNDED, Curves, Planned, chosen, plan
from facsimile.explore.race import RaceRule
from facsimile.explore.study import Study
from facsimile.release.check import check, show_upper
from facsimile.release.plan import plan_of
from facsimile.spec.choices import SchemeName
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import loads

LISTED = ("  - {alternatives: ", "  - {family: ")
WISHES = (0.01, 0.1, 0.5, 0.9, 0.999)


@cache
def curves(study: Study) -> Curves:
    """Of a study that gets no more trials."""
    return Curves.of(study)


def planned(study: Study, accept: float, *schemes: SchemeName) -> Planned:
    return planner.planned(curves(study), accept, schemes or BOUNDED)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return made(tmp_path_factory.mktemp("plan") / "people.study")


@settings(max_examples=6)
@given(
    fresh=st.integers(2, 40),
    good=st.integers(0, 3),
    rate=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    slack=st.sampled_from([5.0, 20.0, 60.0]),
    total=st.sampled_from(["2.1", "2.4", "3", "5", "60"]),
    seed=st.integers(0, 1000),
)
def test_a_plan_is_the_smallest_total_of_the_curve_that_reaches_the_wish(
    fresh: int, good: int, rate: float, slack: float, total: str, seed: int
) -> None:
    """Whatever a study holds: a plan within the declared total, or a refusal that the curve bears out."""
    source = SOURCE.replace("total: 5", f"total: {total}")
    rule = RaceRule(steps=1, finalists=2, fresh=fresh, trials=6)
    with TemporaryDirectory() as folder:
        study = made(Path(folder) / "s", source, rule, good, weak=1, rate=rate, slack=slack, seed=seed)
        curve, limit = curve_of(study), Fraction(total)
        for variant in VARIANTS:
            mine = [point for point in curve.points if point.variant == variant]
            assert [p.release for p in mine] == sorted({p.release for p in mine}), "it rises"
            assert [p.total for p in mine] == sorted(p.total for p in mine)
        for schemes in (BOUNDED, ("paper",)):
            points = [point for point in curve.points if point.scheme in schemes]
            for wish in WISHES:
                reach = min((p.total for p in points if p.release >= wish), default=None)
                try:
                    found = chosen(curve, wish, limit, schemes)
                except FacsimileError as error:
                    within = [p for p in points if p.total <= limit]
                    best = max((p.release for p in within), default=None)
                    assert reach is None or reach > limit
                    assert error.exit_code == 2
                    if not points:
                        assert error.code == "E415"
                    elif reach is not None:
                        assert error.code == "E416"
                        assert error.sentence.endswith(f"needs a total of {show_decimal(reach)}.")
                        assert (
                            f"probability {best:.3f};" if best is not None else "no release"
                        ) in error.sentence
                    else:
                        assert error.code in ("E417", "E418")
                        named = best if best is not None else min(points, key=lambda p: p.total).release
                        assert f"the best is {named:.3f} (" in error.sentence
                        high = float(re.findall(r"to ([0-9.]+)\)", error.sentence)[0])
                        assert (high < wish) == (error.code == "E417"), "out of reach, or not to be told"
                else:
                    assert found.total == reach and reach <= limit
                    assert found.release >= wish
        try:
            whole = plan(study, 0.5)
        except FacsimileError as error:
            assert error.code in ("E415", "E416", "E417", "E418")
        else:
            assert [vars(p) | {"option": 0} for p in whole.curve.points] == [
                vars(p) | {"option": 0} for p in curve.points
            ]
            assert whole.option.total == chosen(curve, 0.5, limit, BOUNDED).total
            assert (whole.fresh is None) == (whole.point.low >= 0.5)
            assert whole.bought.release >= whole.point.release and whole.bought.total <= limit
            assert whole.sure is None or (whole.sure.low >= 0.5 and whole.sure.total <= limit)
            written = loads(narrowed(study.source, whole.option, []))
            check(written)
            assert written.budget.total == whole.option.total >= plan_of(written).total().epsilon


def test_a_higher_wish_never_costs_less(study: Study) -> None:
    totals = [planned(study, wish).option.total for wish in WISHES]
    assert totals == sorted(totals) and totals[0] < totals[-1]


def test_a_plan_stays_within_the_declared_total_unless_asked(tmp_path: Path) -> None:
    study = made(tmp_path / "s", SOURCE.replace("total: 5", "total: 2.05"), replace(RULE, steps=0))
    with pytest.raises(FacsimileError, match="E416") as refused:
        plan(study, 0.99)
    needed = re.findall(r"needs a total of ([0-9.]+)\.", refused.value.sentence)[0]
    assert Fraction(needed) > Fraction("2.05")
    asked = plan(study, 0.99, total=Fraction(needed))
    assert asked.option.total == asked.limit == Fraction(needed)


def test_what_is_shown_to_reach_the_wish_is_within_the_total(study: Study) -> None:
    """A dearer point is surer: it is named only where the total allows it."""
    whole = planner.planned(curves(study), 0.6, total=Fraction(50))
    assert whole.sure is not None and whole.sure.total > whole.option.total
    less = planner.planned(curves(study), 0.6, total=whole.sure.total - Fraction(1, 10_000))
    assert less.option.total == whole.option.total and less.sure is None


def test_a_study_that_cannot_tell_says_how_many_trials_would(tmp_path: Path) -> None:
    """With that many trials of the same kind it does tell."""
    few = made(tmp_path / "few", rule=replace(RULE, steps=0, fresh=8, finalists=1), good=1, slack=20)
    found = plan(few, 0.5)
    assert found.point.release >= 0.5 > found.point.low
    assert found.fresh is not None and 8 < found.fresh < 5000
    rule = replace(RULE, steps=0, fresh=4 * found.fresh, finalists=1)
    many = plan(made(tmp_path / "many", rule=rule, good=1, slack=20), 0.5, total=found.option.total * 2)
    assert many.point.tells(0.5) or many.sure is not None


def test_a_wish_out_of_reach_is_told_from_one_that_cannot_be_told(tmp_path: Path) -> None:
    rule = replace(RULE, steps=0, finalists=1)
    for fresh, wish, code in ((400, 0.999, "E417"), (8, 0.9, "E418")):
        study = made(tmp_path / str(fresh), rule=replace(rule, fresh=fresh), good=1, rate=0.5)
        with pytest.raises(FacsimileError, match=code):
            plan(study, wish)


def test_what_the_declared_total_buys(study: Study) -> None:
    found = planned(study, 0.5)
    assert found.bought.total <= found.limit == 5
    assert found.bought.release >= found.point.release
    assert found.tighter is not None
    assert 0.4 <= found.tighter < 1, "values lie between 80 and 140 of 200 at the largest epsilon"


def test_what_another_total_buys(study: Study) -> None:
    """The more, the likelier a release; nothing where even the cheapest option costs more."""
    some, much = (planner.planned(curves(study), 0.5, total=Fraction(total)) for total in ("2.2", "50"))
    assert some.option.total == much.option.total
    assert some.bought.total <= Fraction("2.2")
    assert some.bought.release <= much.bought.release
    assert some.tighter is not None and much.tighter is not None
    assert much.tighter <= some.tighter
    with pytest.raises(FacsimileError, match=r"E416 A total of 0.001 buys no release; probability 0.5 needs"):
        planner.planned(curves(study), 0.5, total=Fraction("0.001"))


def test_no_plan_without_fresh_trials(tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match="E415"):
        plan(made(tmp_path / "s", good=0), 0.5)


@pytest.mark.parametrize("accept", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_written_specification_is_the_plan(study: Study, scheme: SchemeName, accept: float) -> None:
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
    assert written.space.whole == before.space.whole, "and so does what was allowed"
    for kept_ in ("statistic", "families", "projection", "columns"):
        assert getattr(written, kept_) == getattr(before, kept_)
    assert [c.statistic for c in written.criteria] == [c.statistic for c in before.criteria]
    assert [c.threshold for c in written.criteria] == [c.threshold for c in before.criteria]
    assert {c.name: c.epsilon for c in written.criteria if c.epsilon} == dict(option.measured)
    again = plan_of(loads(narrowed(text, option, [])))
    assert again.total() == option.plan.total(), "a narrowed specification can be narrowed again"


@pytest.fixture(scope="module")
def approximate(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The same study with δ."""
    source = SOURCE.replace("  test: 0.1\n", "  test: 0.1\n  delta: 0.000000001\n")
    return made(tmp_path_factory.mktemp("approximate") / "people.study", source)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_plan_keeps_its_delta_and_takes_only_what_is_proved_with_it(
    approximate: Study, study: Study, scheme: SchemeName
) -> None:
    """The written specification passes `check`; its total is what the option said it would be."""
    option = planned(approximate, 0.5, scheme).option
    text = narrowed(approximate.source, option, ["Planned."])
    written = loads(text)
    assert written.budget.delta == option.delta == Fraction(1, 10**9)
    assert "  delta: 0.000000001\n" in text
    found = check(written)
    assert (found.total, found.delta) == (option.plan.total().epsilon, option.delta)
    assert found.total <= written.budget.total == option.total
    assert scheme == "train-once" or option.mode.name in ("single", "coin")
    assert plan_of(written) == option.plan
    assert planned(study, 0.5, scheme).option.delta == 0
    only = restricted(approximate.source, option.configurations, ["Kept."])
    assert loads(only).budget == loads(approximate.source).budget


def test_a_plan_with_delta_says_it(approximate: Study, study: Study) -> None:
    made_ = PlannedRelease(approximate, planned(approximate, 0.5))
    lines = [part for part in made_.page().parts if isinstance(part, str)]
    total = show_upper(made_.found.option.total)
    assert lines[0].startswith(f"Total epsilon {total}, delta 0.000000001: a release with probability ")
    assert made_.as_json()["delta"] == "0.000000001"
    assert "delta" not in PlannedRelease(study, planned(study, 0.5)).as_json()
    assert made_.specification.budget.delta == Fraction(1, 10**9)


def test_a_plan_says_why_and_what_the_others_cost(study: Study) -> None:
    """The cheapest of each scheme that reaches the wish, whichever were asked for; values where wanted."""
    found = planned(study, 0.5)
    assert found.option.scheme == "measured" and not found.option.valued
    assert list(found.compared) == [*SCHEMES, "measured, with values"]
    for name, point in found.compared.items():
        assert point is not None and point.variant == name and point.release >= 0.5
        assert point.total >= found.point.total or name == "paper"
        cheaper = [p for p in found.curve.points if p.variant == name and p.total < point.total]
        assert all(p.release < 0.5 for p in cheaper)
    valued = planner.planned(curves(study), 0.5, values=True)
    assert valued.option.valued
    assert valued.point.total == min(
        p.total for p in found.compared.values() if p and p.option.valued and p.scheme != "paper"
    )
    reason = PlannedRelease(study, found).reason
    assert reason.startswith("Why measured: the measurement is the test")
    for name, point in found.compared.items():
        assert point is not None and (name == "measured" or f"{name} {show_upper(point.total)}" in reason)


@pytest.mark.parametrize("flow", [False, True], ids=["block", "flow"])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_an_epsilon_that_is_shared_from_now_on_goes(study: Study, flow: bool, place: str) -> None:
    option = planned(study, 0.5, "measured").option
    keys = ["criterion: marginals-absolute", "threshold: 0.1"]
    keys.insert({"first": 0, "middle": 1, "last": 2}[place], "epsilon: 0.1")
    old = SOURCE[SOURCE.index("  - criterion: marginals-absolute") : SOURCE.index("  - {criterion: total")]
    new = f"  - {{{', '.join(keys)}}}\n" if flow else "  - " + "\n    ".join(keys) + "\n"
    text = narrowed(SOURCE.replace(old, new), option, [])
    assert (
        "# two ways to cut" in text and "epsilon:" not in text[text.index("criteria:") : text.index("scheme:")]
    )
    assert [c.epsilon for c in loads(text).criteria] == [0, 0]


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
    changed = replace(
        planned(study, 0.5, "test-then-measure").option,
        once=Fraction(1, 10),
        measured=tuple((criterion.name, Fraction(1, 20)) for criterion in spec.criteria),
        configurations=(spec.drawable.configuration(0),),
        declared=(spec.budget.delta, spec.owned),
    )
    text = narrowed(source, changed, [])
    comments = [line for line in source.splitlines() if line.strip().startswith("#")]
    assert comments
    for line in comments:
        assert line in text
    written = loads(text)
    assert (written.space.size, written.space.whole) == (1, spec.space.whole)
    only = restricted(source, [spec.drawable.configuration(0)], ["Kept."])
    kept = only.removeprefix("# Kept.\n").splitlines()
    added = [line for line in kept if line == "configurations:" or line.startswith(LISTED)]
    assert len(added) == 2
    before = [line for line in source.splitlines() if line not in added and not line.startswith(LISTED)]
    assert [line for line in kept if line not in added] == before, "nothing else is touched"
    assert loads(only) == spec.model_copy(update={"configurations": loads(only).configurations})
