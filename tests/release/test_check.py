"""What `check` promises: totals against formulas in floats, and noise at the births paper's values."""

import copy
import json
import math
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from facsimile.acceptance.planned import APART, Assumed, NoiseLine, declared
from facsimile.errors import FacsimileError
from facsimile.privacy.renyi import Curve, epsilon_of
from facsimile.release.check import Check, check, show_upper
from facsimile.release.plan import plan_of
from facsimile.spec.load import dump, load, parse, validated
from facsimile.spec.release import Specification
from programs import Program
from releases import approximate
from specs import SMALL, changed

GENERATOR, TEST, ONCE = 4.0, 0.2, 0.1
MODES: dict[str, dict[str, str]] = {
    "paper": {},
    "coin": {"gamma": "0.05"},
    "capped-coin": {"gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
    "rising-coin": {"a": "0.5"},
    "single": {},
}


def births_data(births: Path) -> dict[str, Any]:
    data, _ = parse((births / "release.yaml").read_bytes())
    assert isinstance(data, dict)
    return data


def births_with(births: Path, **changes: Any) -> Specification:
    """The births specification with some of its keys replaced."""
    return validated(births_data(births) | changes)


def coarse_births(births: Path, **changes: Any) -> Specification:
    """The same with one way to cut each column: no total depends on how many there are, but time does."""
    columns = [
        column | {"alternatives": {"released": column["alternatives"]["released"]}}
        for column in births_data(births)["columns"]
    ]
    return births_with(births, columns=columns, **changes)


def lines(found: Check) -> dict[str, NoiseLine]:
    return {line.criterion: line for line in found.noise}


def search(mode: str, one: float) -> float:
    """What each mode's theorem says, in floats."""
    coin = one + math.log((math.exp(one) + 0.05) / (1 + 0.05 * math.exp(one)))
    return {
        "paper": 2 * one,
        "coin": coin,
        "capped-coin": coin + 0.05,
        "rising-coin": 1.5 * one,
        "single": one,
    }[mode]


@pytest.mark.parametrize(("scheme", "mode"), list(product(["paper", "test-then-measure", "train-once"], MODES)))
@pytest.mark.parametrize("once", [False, True])
def test_the_total_of_every_scheme_and_mode(births: Path, scheme: str, mode: str, once: bool) -> None:
    budget = {"total": "100", "generator": "4"}
    budget |= {} if scheme == "paper" else {"test": "0.2"}
    budget |= {"once": "0.1"} if once else {}
    criteria = births_data(births)["criteria"]
    shared = {"criterion": "regression-coefficients", "target": "birth_weight", "threshold": "30"}
    if once:
        criteria = [shared if c["criterion"] == "regression-coefficients" else c for c in criteria]
    if not once:  # without it only the paper's scheme has a regression of the original
        criteria = [c for c in criteria if c["criterion"] != "regression-mae" or scheme == "paper"]
    selection = {"mode": mode, **MODES[mode]}
    found = check(coarse_births(births, scheme=scheme, selection=selection, budget=budget, criteria=criteria))
    measured = sum(float(c.get("epsilon", 0)) for c in criteria)
    expected = {
        "paper": search(mode, GENERATOR + measured),
        "test-then-measure": search(mode, GENERATOR + TEST) + measured,
        "train-once": GENERATOR + search(mode, TEST) + measured,
    }[scheme] + ONCE * once
    assert float(found.total) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "paper"])
@pytest.mark.parametrize("shared", [0, 3, 8])
def test_the_total_of_scheme_measured(births: Path, mode: str, shared: int) -> None:
    """Fit, one shared number and the others' own, each time; nothing after it."""
    criteria = [copy.deepcopy(c) for c in births_data(births)["criteria"]]
    for criterion in criteria[:shared]:
        del criterion["epsilon"]
    budget = {"total": "100", "generator": "4", "once": "0.1"} | ({"test": "0.2"} if shared else {})
    changes = {"scheme": "measured", "statistic": "sharp", "budget": budget, "criteria": criteria}
    found = check(coarse_births(births, selection={"mode": mode, **MODES[mode]}, **changes))
    own = sum(float(c["epsilon"]) for c in criteria[shared:])
    assert float(found.total) == pytest.approx(
        search(mode, GENERATOR + TEST * bool(shared) + own) + ONCE, abs=1e-9
    )
    notes = [line.note for line in found.budget]
    assert notes.count("by the test of a candidate") == shared
    assert notes.count("measured in each iteration") == 8 - shared


@pytest.mark.parametrize(("gamma", "total"), [("0.01", 9.08), ("0.05", 7.86), ("1", 4.99)])
def test_a_coin_at_the_births_iteration(births: Path, gamma: str, total: float) -> None:
    found = check(coarse_births(births, selection={"mode": "coin", "gamma": gamma}))
    assert float(found.total) == pytest.approx(total, abs=0.005)


def test_the_lines_say_where_the_total_comes_from(births: Path) -> None:
    found = check(coarse_births(births))
    parts = {line.part: line.epsilon for line in found.budget}
    assert parts["one iteration of the search"] == Fraction("4.99")
    assert parts["the whole search"] == found.total == Fraction("9.98")
    iteration = sum((line.epsilon for line in found.budget[:-2]), Fraction(0))
    assert iteration == parts["one iteration of the search"]


def test_parts_above_the_total_are_refused_with_both_sums(births: Path) -> None:
    with pytest.raises(FacsimileError) as caught:
        check(coarse_births(births, budget={"total": "9.97", "generator": "4"}))
    assert caught.value.code == "E203"
    assert "9.98" in caught.value.sentence
    assert "9.97" in caught.value.sentence


def test_a_total_that_is_too_low_by_a_hair_is_refused(births: Path) -> None:
    coin = {"mode": "coin", "gamma": "0.05"}
    exact = check(coarse_births(births, selection=coin)).total
    below = show_upper(exact - Fraction(1, 10**6))
    with pytest.raises(FacsimileError, match=r"E203"):
        check(coarse_births(births, selection=coin, budget={"total": below, "generator": "4"}))
    enough = {"total": show_upper(exact), "generator": "4"}
    assert check(coarse_births(births, selection=coin, budget=enough)).total == exact


def test_a_cap_that_is_too_small_is_refused_with_one_that_is_not(births: Path) -> None:
    budget = {"total": "20", "generator": "4"}
    short = {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "59"}
    with pytest.raises(FacsimileError) as caught:
        check(coarse_births(births, selection=short, budget=budget))
    assert (caught.value.code, caught.value.next_step) == ("E204", "Choose cap: 60.")
    check(coarse_births(births, selection=short | {"cap": "60"}, budget=budget))


def test_no_domain_is_too_large_but_for_families_that_hold_every_row(births: Path) -> None:
    data = births_data(births)
    check(validated(data))
    data["columns"][-1]["alternatives"] = {"released": ["<1500", "1500..4499 by 10", "4499<"]}
    with pytest.raises(
        FacsimileError, match="mwem cannot hold a domain of more than 10,000,000 rows: use mwem-t"
    ):
        check(validated(data))
    for family in data["families"]:
        family["family"] = family["family"].replace("mwem", "mwem-tables").replace("pep", "pep-tables")
    assert check(validated(data)).finest_cells > 10**7


def test_approximate_families_alone_make_no_release(births: Path) -> None:
    with pytest.raises(FacsimileError, match=r"Every family needs a delta\.") as caught:
        check(births_with(births, families=[{"family": "dpctgan"}, {"family": "patectgan"}]))
    assert caught.value.code == "E204"


def test_families_that_need_delta_are_listed(births: Path) -> None:
    """Without δ they are left out; which of the others there are does not depend on it."""
    notes = {line.family: line.note for line in check(births_with(births)).families}
    left_out = {name for name, note in notes.items() if note == "needs budget.delta: left out"}
    assert left_out == {"dpctgan", "patectgan"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheme", ["paper", "test-then-measure", "train-once"])
def test_the_budget_with_delta_in_every_scheme_and_mode(scheme: str, mode: str) -> None:
    """The generator's ε and ρ say the same at δ; an iteration, the search and the total are composed."""
    spec = approximate(scheme, selection={"mode": mode, **MODES[mode]})
    if scheme != "train-once" and mode not in ("coin", "single"):
        with pytest.raises(
            FacsimileError, match=rf"Selection mode {mode} has no guarantee with delta"
        ) as caught:
            check(spec)
        assert caught.value.code == "E204" and "mode: coin with gamma: 0.05" in caught.value.next_step
        return
    found = check(spec)
    parts = {line.part: line for line in found.budget}
    fit, one, whole = (parts[n] for n in ("generator", "one iteration of the search", "the whole search"))
    assert found.delta == spec.budget.delta and fit.epsilon == 3 and fit.rho is not None
    assert fit.epsilon - Fraction(1, 10**6) <= epsilon_of(fit.rho, found.delta) <= fit.epsilon
    assert 0 < one.epsilon <= whole.epsilon <= found.total
    pure = plan_of(spec.model_copy(update={"budget": spec.budget.model_copy(update={"delta": Fraction(0)})}))
    if mode == "single":
        assert found.total < pure.total().epsilon, "parts compose to less than their sum"
    if scheme == "train-once":
        assert one.epsilon == 2 and whole.epsilon == pure.mode.cost(Fraction(2))
        assert "delta" not in one.note + whole.note and "before the search" in fit.note
    else:
        tried = plan_of(spec).index
        assert one.epsilon == Curve(fit.rho, (tried,)).epsilon(found.delta) < 3 + tried
        assert one.note.endswith("delta 0.000001") and whole.note.endswith("delta 0.000001")


def test_a_generator_with_next_to_no_epsilon_has_nothing_to_spend_at_delta() -> None:
    budget = {"total": "30", "generator": "0.0000001", "test": "2", "delta": "0.000000001"}
    with pytest.raises(FacsimileError, match="leaves no noise to draw at this delta"):
        check(approximate(budget=budget))


def test_delta_is_printed_beside_the_total(tmp_path: Path, run: Program) -> None:
    (tmp_path / "delta.yaml").write_text(dump(approximate()), encoding="utf-8")
    shown, said = run("check", tmp_path / "delta.yaml").out, run("check", tmp_path / "delta.yaml", "--json").out
    total = show_upper(check(approximate()).total)
    assert f"total {total}, delta 0.000001" in shown and re.search(r"generator +3  one fit: rho 0\.\d+", shown)
    budget = json.loads(said)["budget"]
    assert budget["delta"] == "0.000001" and [line["part"] for line in budget["lines"] if "rho" in line] == [
        "generator"
    ]
    named = json.loads(run("plan-hash", tmp_path / "delta.yaml", "--json").out)
    assert (named["delta"], named["epsilon"]) == ("0.000001", total)


def test_configurations_of_the_births_paper(births: Path) -> None:
    counts = {line.family: line.configurations for line in check(births_with(births)).families}
    assert counts == {"privbayes": 1440, "mwem": 432, "pep": 1296, "dpctgan": 2304, "patectgan": 768}


def test_noise_at_the_births_paper_values(births: Path) -> None:
    """The paper's table gives standard deviations: √2 times a Laplace scale."""
    found = lines(check(births_with(births)))
    deviations = {name: math.sqrt(2) * (line.scale or 0) for name, line in found.items()}
    assert round(deviations["marginals-absolute"], 3) == round(deviations["faithfulness"], 3) == 0.001
    assert deviations["mean-parity"] == pytest.approx(0.044, rel=0.03)
    assert deviations["mean-birth_weight"] == pytest.approx(3.821, rel=0.03)
    assert deviations["mean-gestation_week"] == pytest.approx(0.033, rel=0.03)
    assert deviations["regression-mae"] == pytest.approx(1.364, abs=0.001)
    assert found["regression-mae"].sensitivity == pytest.approx(0.0386, abs=0.00005)
    assert found["marginals-relative"].sensitivity == pytest.approx(0.0755, abs=0.00005)
    assert found["marginals-relative"].tested_at == pytest.approx(1.42, abs=0.005)


def test_a_ratio_is_tested_where_the_specification_says(births: Path) -> None:
    data = births_data(births)
    relative = data["criteria"][1]
    for threshold, given, at in (
        ("1.8", None, 1.420733),
        ("2", "1.4", 1.4),
        ("1.4", None, 1.4),
        ("1.5", "1.2", 1.2),
    ):
        relative |= {"threshold": threshold, "tested_at": given}
        line = lines(check(validated({**data, "criteria": _without_none(data["criteria"])})))[
            "marginals-relative"
        ]
        assert line.tested_at == at
    relative |= {"threshold": "9", "tested_at": "1.4"}
    with pytest.raises(FacsimileError, match="always passes"):
        validated(data)


def _without_none(criteria: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in c.items() if value is not None} for c in criteria]


@pytest.mark.parametrize(("at", "problem"), [("1.95", "at most"), ("1", "above 1"), ("0.9", "above 1")])
def test_a_ratio_is_tested_above_one_and_not_above_its_threshold(births: Path, at: str, problem: str) -> None:
    data = births_data(births)
    data["criteria"][1] |= {"threshold": "1.9", "tested_at": at}
    with pytest.raises(FacsimileError, match=problem):
        validated(data)


@pytest.mark.parametrize("change", [{"planning_s_min": "0"}, {"epsilon": "0.1"}])
def test_a_ratio_that_luck_alone_can_pass_is_refused(births: Path, change: dict[str, str]) -> None:
    """Unless somebody says where it is tested."""
    data = births_data(births)
    data["criteria"][1] |= change
    with pytest.raises(FacsimileError, match="would pass by luck only"):
        check(validated(data))
    data["criteria"][1] |= {"tested_at": "1.4"}
    line = lines(check(validated(data)))["marginals-relative"]
    assert line.tested_at == 1.4
    assert "or more passes by luck with" in line.note


def test_sharp_forms_are_never_noisier(births: Path) -> None:
    paper = lines(check(births_with(births)))
    once = {"total": "10.08", "generator": "4", "once": "0.1"}
    sharp = lines(check(births_with(births, statistic="sharp", budget=once)))
    for name, line in sharp.items():
        if line.scale is not None:
            assert line.scale <= (paper[name].scale or 0)
    assert sharp["marginals-relative"].sensitivity == pytest.approx(1 / 51)
    assert sharp["marginals-relative"].tested_at == 0.5
    assert sharp["mean-birth_weight"].sensitivity == pytest.approx((4499 - 1500) / 6940, rel=1e-3)
    assert sharp["regression-coefficients"].scale == pytest.approx(0.332 / 0.43, rel=0.01)
    assert sharp["regression-coefficients"].note == APART


def test_no_share_is_empty_where_planning_is_complete(births: Path) -> None:
    for name in ("release", "narrowed", "ours"):
        specification = load(births / f"{name}.yaml")
        assert [line.criterion for line in check(specification).noise if line.share is None] == []


def test_the_noise_of_coefficients_is_a_distance_of_fits(births: Path) -> None:
    """About 20 of 30, as the births data give it; of a mean product it would be 0.005."""
    line = lines(check(births_with(births)))["regression-coefficients"]
    assert line.sensitivity is None
    assert line.scale == pytest.approx(20.7, rel=0.1)
    assert line.share == pytest.approx(0.69, rel=0.1)


def test_a_regression_paid_once_is_not_paid_again(births: Path) -> None:
    data = births_data(births)
    data["budget"] = {"total": "9.55", "generator": "4", "once": "0.43"}
    given = check(validated(data))
    assert given.total == Fraction("9.55") == Fraction("0.43") + 2 * (4 + Fraction("0.99") - Fraction("0.43"))
    parts = {line.part: (line.epsilon, line.note) for line in given.budget}
    assert parts["regression-coefficients"] == (Fraction(0), "paid by the fit before the loop")
    assert parts["one iteration of the search"][0] == Fraction("4.56")
    coefficients = next(c for c in data["criteria"] if c["criterion"] == "regression-coefficients")
    del coefficients["epsilon"]
    left_out = validated(data)
    assert left_out.canonical() == given.specification.canonical()
    coefficients["epsilon"] = "0.42"
    with pytest.raises(FacsimileError, match=r"leave its epsilon out, or make the two equal"):
        validated(data)


@pytest.mark.parametrize("change", ["sharp", "another target", "nothing paid once"])
def test_an_epsilon_is_left_out_only_where_a_fit_is_shared(births: Path, change: str) -> None:
    data = births_data(births)
    data["budget"] = {"total": "20", "generator": "4", "once": "0.43"}
    coefficients = next(c for c in data["criteria"] if c["criterion"] == "regression-coefficients")
    del coefficients["epsilon"]
    validated(data)
    if change == "sharp":
        coefficients["statistic"] = "sharp"
    elif change == "another target":
        coefficients["target"] = "parity"
    else:
        del data["budget"]["once"]
    with pytest.raises(FacsimileError, match="`epsilon` is missing"):
        validated(data)
    coefficients["epsilon"] = "0.1"
    criterion = next(c for c in validated(data).criteria if c.name == "regression-coefficients")
    assert not validated(data).shares_once(criterion)


def test_a_planned_sensitivity_is_used_and_said(births: Path) -> None:
    data = births_data(births) | {"statistic": "sharp"}
    data["budget"] |= {"total": "10.08", "once": "0.1"}
    next(c for c in data["criteria"] if c["criterion"] == "regression-coefficients")["planning_sensitivity"] = (
        "0.43"
    )
    line = lines(check(validated(data)))["regression-coefficients"]
    assert (line.scale, line.note) == (1.0, "planned")


def test_a_criterion_may_choose_its_own_form(births: Path) -> None:
    data = births_data(births)
    data["criteria"][1]["statistic"] = "sharp"
    found = lines(check(validated(data)))
    assert found["marginals-relative"].statistic == "sharp"
    assert found["mean-parity"].statistic == "paper"


@pytest.mark.parametrize(
    ("kind", "name", "criterion"),
    [
        ("groups", "mother_age", "mean-parity"),
        ("groups", "birth_sex", "mean-birth_weight"),
        ("numbers", "parity", "regression-coefficients"),
    ],
)
def test_what_planning_does_not_know_is_asked_for(births: Path, kind: str, name: str, criterion: str) -> None:
    data = births_data(births)
    del data["planning"][kind][name]
    line = lines(check(validated(data)))[criterion]
    assert (line.sensitivity, line.scale, line.share) == (None, None, None)
    assert line.note == f"needs planning.{kind}.{name}"


def test_planning_may_be_absent(births: Path) -> None:
    data = copy.deepcopy(births_data(births))
    del data["planning"]
    found = lines(check(validated(data)))
    assert found["marginals-absolute"].scale is not None
    assert found["mean-parity"].scale is None


def test_public_sizes_replace_planning(births: Path) -> None:
    specification = births_with(births)
    planned = declared(specification)
    assert planned.s_min is None
    groups = dict.fromkeys(planned.groups, 2_659)
    found = lines(check(specification, Assumed(9, groups, planned.spreads)))
    assert found["marginals-relative"].note == (
        "smallest one-way count 9; a ratio of 2 or more passes by luck with 31.53% (more than `false_accept`)"
    )
    assert found["marginals-relative"].tested_at == 1.420733
    assert found["mean-parity"].note == "smallest group 999 (2,659 less slack)"


def test_a_mean_without_groups_is_over_all_records() -> None:
    data = changed("criteria.0", {"criterion": "mean", "of": "age", "threshold": "1", "epsilon": "0.5"})
    line = check(validated(data)).noise[0]
    assert line.note == "smallest group 6"
    assert line.sensitivity == pytest.approx((77.5 - 8.5) / 6)


@pytest.mark.parametrize(
    ("value", "shown"), [("9.98", "9.98"), ("12.3456141", "12.345615"), ("4", "4"), ("1/3", "0.333334")]
)
def test_epsilons_are_shown_rounded_up(value: str, shown: str) -> None:
    assert show_upper(Fraction(value)) == shown


@pytest.mark.parametrize(("target", "accepted"), [("age", True), ("sex", False)])
def test_a_fit_of_another_target_serves_no_predictions(target: str, accepted: bool) -> None:
    """In the paper's loop the fit of the coefficients serves the predictions of the same column only."""
    data = copy.deepcopy(SMALL) | {"scheme": "paper", "statistic": "paper"}
    common = {"threshold": "900", "epsilon": "0.1"}
    data["criteria"] = [
        {"criterion": "regression-coefficients", "target": target, **common},
        {"criterion": "regression-mae", "target": "age", **common},
    ]
    data["budget"] = {"total": "9", "generator": "1"}
    if accepted:
        assert check(validated(data))
    else:
        with pytest.raises(FacsimileError, match=r"budget\.once"):
            check(validated(data))


def test_a_language_without_words_is_refused() -> None:
    check(validated(changed("languages", ["en", "he"])))
    with pytest.raises(FacsimileError, match=r"no documents in xx: choose among en, he"):
        check(validated(changed("languages", ["en", "xx"])))
