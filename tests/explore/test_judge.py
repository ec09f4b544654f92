"""The judge says what a release would say: the same values, limits and laws of noise, only sooner."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate, Verdict, as_tested, exact_errors
from facsimile.acceptance.decision import GRID
from facsimile.acceptance.kind import cheapest_first
from facsimile.acceptance.regression import Fit, fit_once
from facsimile.explore.chances import Distances, at_most
from facsimile.explore.judge import ONCE, Judge, Judgement
from facsimile.explore.setup import Setup
from facsimile.explore.trials import Trial, candidate_of
from facsimile.privacy.curator import Curator
from facsimile.privacy.modes import mode_of
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.queries import Unmatched
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe
from facsimile.spec.criteria import RegressionError
from facsimile.spec.decimals import show_decimal
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from studies import EVERY_CRITERION, configurations, paper, setup, specification

ALL = list(EVERY_CRITERION)
BUDGET = {"total": "90", "generator": "2", "test": "0.5", "once": "0.2"}
JOINT = specification(criteria=ALL, budget=BUDGET)
SHARING = [c | {"epsilon": "0.2"} if c["criterion"] == "regression-coefficients" else c for c in ALL]
JOINT_PAPER = specification(criteria=SHARING, budget=BUDGET, statistic="paper")
PAPER = paper(criteria=ALL)
PAPER_ONCE = paper(criteria=SHARING, budget={"total": "90", "generator": "2", "once": "0.2"})
PAPER_SHARP = paper(criteria=ALL, statistic="sharp", budget={"total": "90", "generator": "2", "once": "0.2"})
SPECIFICATIONS = {"joint": JOINT, "joint paper": JOINT_PAPER, "paper": PAPER, "paper sharp": PAPER_SHARP}
SPECIFICATIONS["paper once"] = PAPER_ONCE
ALONE = [
    {key: given for key, given in c.items() if key != "epsilon" or place % 2} for place, c in enumerate(ALL)
]
SPECIFICATIONS["measured"] = specification(criteria=ALONE, budget=BUDGET, scheme="measured")


@cache
def candidates() -> list[tuple[Configuration, Table]]:
    """Good and bad ones, coarse and fine."""
    found = setup()
    chosen = [c for c in configurations(found.specification) if c.projection["min_count"] == "2"]
    return [(c, candidate_of(found, c, Fraction(2), number)) for number, c in enumerate(chosen) if number != 1]


KNOWN: dict[int, tuple[Specification, Setup]] = {}


def setup_of(spec: Specification) -> Setup:
    """One setup for each specification."""
    if id(spec) not in KNOWN:
        KNOWN[id(spec)] = spec, setup(spec)
    return KNOWN[id(spec)][1]


def judge(
    spec: Specification, place: int, name: object = 0, whole: bool = True, noiseless: bool = True
) -> Judge:
    configuration, table = candidates()[place]
    return Judge(setup_of(spec), Recipe(spec, configuration), table, ("trial", name), whole, noiseless)


def paid_once(judge: Judge, epsilon: Fraction | None) -> Fit | None:
    """The regression of the original that a release would have paid for, with the trial's own noise."""
    if epsilon is None:
        return None
    table = judge.setup.table
    seed = judge.setup.draws("once", show_decimal(epsilon), *judge.name)
    return fit_once(Curator.rehearsal(rehearse(table), seed), judge.spec, Formula("height"), epsilon)


def asked(judge: Judge) -> Candidate:
    """The candidate as a release asks about it."""
    return Candidate(judge.spec, judge.table, paid_once(judge, judge.spec.budget.once))


@pytest.fixture(scope="module", autouse=True)
def made() -> None:
    """The candidates are made before any test changes the noise."""
    candidates()


@pytest.mark.parametrize("scheme", SPECIFICATIONS)
def test_exact_readings_are_the_exact_errors(scheme: str) -> None:
    spec = SPECIFICATIONS[scheme]
    for place, (_, table) in enumerate(candidates()):
        found = judge(spec, place)
        errors = {verdict.name: verdict for verdict in exact_errors(spec, found.original.table, table)}
        readings = found.judgement().readings
        assert [r.criterion for r in readings] == [kind.criterion.name for kind in cheapest_first(spec)]
        for reading in readings:
            expected = errors[reading.criterion]
            assert reading.error == pytest.approx(expected.value, rel=1e-9, abs=1e-12)
            assert reading.threshold == float(expected.threshold)
            if spec.scheme != "paper":
                assert reading.met == expected.met


def few(criterion: dict[str, Any], real: list[list[int]], synthetic: list[list[int]]) -> tuple[Verdict, Judge]:
    """Ten people by hand: the exact verdict, and a judge."""
    spec = specification(criteria=[criterion]).sized(10)
    finest = Domain(spec.axes(spec.alternatives_named("coarse")))
    one, other = Table.from_rows(Domain(spec.finest()), real), Table.from_rows(finest, synthetic)
    configuration = replace(configurations(spec)[0], projection={"algorithm": "margins", "min_count": "1"})
    found = Judge(Setup(spec, one, 1), Recipe(spec, configuration), other, ("few",), True, True)
    return exact_errors(spec, found.original.table, other)[0], found


@pytest.mark.parametrize(
    ("criterion", "moved"),
    [
        ({"criterion": "marginals-absolute", "threshold": "0.3"}, 3),
        ({"criterion": "marginals-absolute", "threshold": "0.1"}, 1),
        ({"criterion": "faithfulness", "match": ["sex"], "reference": "coarse", "threshold": "0.1"}, 1),
        ({"criterion": "faithfulness", "match": ["sex"], "reference": "coarse", "threshold": "0.3"}, 3),
    ],
)
def test_an_error_equal_to_its_threshold_is_not_met(criterion: dict[str, Any], moved: int) -> None:
    """Strictly below, here and in `evaluate`: a rounded number is no reason to pass."""
    real = [[0, 0, 0]] * 10
    verdict, found = few(criterion | {"epsilon": "1"}, real, [[0, 1, 0]] * moved + real[moved:])
    (reading,) = found.judgement().readings
    assert reading.error == pytest.approx(float(verdict.threshold))
    assert not reading.met
    assert not verdict.met


def exact_chance(judge: Judge) -> float:
    """P[⌊K·M⌋ + Z ≤ −margin] with M as the release computes it."""
    test = asked(judge).joint_test()
    assert test is not None
    question = test.question()
    units = floor(GRID * question.query.value(judge.original.table, RehearsalNoise(0)))
    rate = float(question.epsilon) / question.units
    return float(at_most(np.array([-test.margin - units], np.float64), rate)[0])


MARGINALS = [{"criterion": "marginals-absolute", "threshold": "0.02", "epsilon": "0.5"}]


@pytest.mark.parametrize("statistic", ["sharp", "paper"])
@pytest.mark.parametrize("criterion", ALL, ids=lambda criterion: str(criterion["criterion"]))
def test_rooms_give_the_chance_of_a_release(
    criterion: dict[str, Any], statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a plan computes from a trial is the probability that the release accepts this very candidate.

    Means in the paper's form draw records of larger groups: here the first ones, so that both see the same.
    """
    monkeypatch.setattr(RehearsalNoise, "below", lambda noise, n: 0)
    monkeypatch.setattr("facsimile.explore.judge._QuickNoise.below", lambda noise, n: 0)
    lenient = criterion | {"threshold": str(2 * Fraction(criterion["threshold"]))}
    lenient |= {"clip": lenient["threshold"]} if criterion["criterion"] == "marginals-relative" else {}
    if criterion["criterion"] == "regression-coefficients" and statistic == "paper":
        del lenient["epsilon"]  # the regression paid once serves it
    for epsilon in ("0.02", "0.1"):
        spec = specification(criteria=[lenient], budget=BUDGET | {"test": epsilon}, statistic=statistic)
        for place in range(len(candidates())):
            found = judge(spec, place)
            said = found.judgement()
            once = "0.2" if any(room.once for room in said.noiseless) else None
            rooms = Distances.of([trial_of(said)]).at(once)
            chance = float(rooms.joint(Fraction(epsilon), mode_of(spec.selection).luck)[0])
            test = asked(found).joint_test()
            assert test is not None
            expected = 0.0 if test.hopeless() else exact_chance(found)
            assert chance == pytest.approx(expected, rel=1e-3, abs=1e-9)


def test_in_scheme_measured_a_candidate_is_accepted_as_a_release_accepts_it() -> None:
    """With plenty of budget by its errors alone, whichever criteria share a number."""
    rich = [c | ({"epsilon": "1000"} if "epsilon" in c else {}) for c in ALONE]
    budget = {"total": "99000", "generator": "2", "test": "1000", "once": "1000"}
    spec = specification(criteria=rich, budget=budget, scheme="measured")
    for factor in (Fraction(1, 20), Fraction(20)):
        asked_for = tightened(spec, factor)
        found = [judge(asked_for, place).judgement() for place in range(len(candidates()))]
        assert [one.accepted for one in found] == [factor > 1] * len(found)


def trial_of(said: Judgement) -> Trial:
    return Trial("c", "2", 1000, said.accepted, said.readings, said.noiseless, 0.0, 0.0)


def test_a_candidate_that_misses_a_criterion_is_never_accepted() -> None:
    """A release accepts it by luck of the noise, with a probability that `luck` bounds."""
    strict = [MARGINALS[0] | {"threshold": "0.001"}]
    spec = specification(criteria=strict, budget=BUDGET | {"test": "100"})
    for place in range(len(candidates())):
        found = judge(spec, place)
        assert not all(reading.met for reading in found.judgement().readings)
        assert not any(judge(spec, place, name).judgement().accepted for name in range(20))
        assert exact_chance(found) <= mode_of(spec.selection).luck


def test_rooms_are_the_declared_forms() -> None:
    for place, (_, table) in enumerate(candidates()):
        found = judge(JOINT, place)
        rooms = list(found.judgement().noiseless)
        tested = as_tested(JOINT, found.original.table, table, "sharp")
        for criterion, expected in zip(JOINT.criteria, tested, strict=True):
            if isinstance(criterion, RegressionError):
                for epsilon in ONCE:
                    room = rooms.pop(0)
                    assert (room.criterion, room.once) == (criterion.name, show_decimal(epsilon))
                    question = Candidate(JOINT, table, paid_once(found, epsilon)).asked(criterion, "sharp")
                    assert question is not None
                    assert room.value == float(question.query.value(found.original.table, RehearsalNoise(0)))
                    assert (room.limit, room.sensitivity) == (
                        float(question.limit),
                        float(question.sensitivity),
                    )
            else:
                room = rooms.pop(0)
                assert expected is not None
                assert (room.criterion, room.once) == (criterion.name, None)
                assert room.value == expected.value
                assert (room.limit, room.sensitivity) == (expected.limit, expected.sensitivity)
        assert not rooms


@pytest.mark.parametrize("scheme", SPECIFICATIONS)
def test_rooms_are_read_where_they_are_asked_for(scheme: str) -> None:
    spec = SPECIFICATIONS[scheme]
    for place in range(len(candidates())):
        whole, short = judge(spec, place).judgement(), judge(spec, place, noiseless=False).judgement()
        assert len(whole.noiseless) == len(spec.criteria) + len(ONCE) - 1
        assert (short.accepted, short.readings, short.noiseless) == (whole.accepted, whole.readings, ())


def tightened(spec: Specification, factor: Fraction) -> Specification:
    """Every threshold but the ratio's multiplied, so that some criteria are missed."""
    scaled = [c | {"threshold": str(float(Fraction(c["threshold"]) * factor))} for c in ALL]
    given = [c for c in scaled if c["criterion"] != "marginals-relative"]
    plain = spec.model_dump(mode="json", exclude_none=True)
    for criterion in given:
        same = next(c for c in plain["criteria"] if c["criterion"] == criterion["criterion"])
        del criterion["epsilon"]
        criterion |= {"epsilon": same["epsilon"]} if "epsilon" in same else {}
    return specification(**(plain | {"criteria": given}))


@pytest.mark.parametrize("factor", [Fraction(1, 20), Fraction(1, 4), Fraction(2)])
@pytest.mark.parametrize("scheme", SPECIFICATIONS)
def test_a_short_judgement_ends_at_the_first_failure_and_decides_the_same(
    scheme: str, factor: Fraction
) -> None:
    spec = tightened(SPECIFICATIONS[scheme], factor)
    for place in range(len(candidates())):
        whole = judge(spec, place, noiseless=False).judgement()
        short = judge(spec, place, whole=False, noiseless=False).judgement()
        assert short.accepted == whole.accepted
        failed = [number for number, reading in enumerate(whole.readings) if not reading.met]
        read = len(whole.readings) if not failed else failed[0] + 1
        assert short.readings == whole.readings[:read]


def test_some_judgements_end_early_and_some_do_not() -> None:
    """The test above sees both."""
    read = {
        len(judge(tightened(JOINT, factor), place, whole=False, noiseless=False).judgement().readings)
        for place in range(len(candidates()))
        for factor in (Fraction(1, 20), Fraction(1, 4), Fraction(2))
    }
    assert len(read) > 2
    assert max(read) == len(ALL) - 1


@pytest.mark.parametrize("scheme", SPECIFICATIONS)
def test_the_deciding_ratio_is_below_one_exactly_where_a_criterion_is_met(scheme: str) -> None:
    """The race compares it with 1, so value and limit are on one scale."""
    for place in range(len(candidates())):
        for reading in judge(SPECIFICATIONS[scheme], place).judgement().readings:
            assert reading.met == (reading.deciding is not None and reading.deciding < 1), reading.criterion


@pytest.mark.parametrize("why", ["rare", "size"])
def test_what_cannot_be_presented_is_not_judged(why: str) -> None:
    configuration, table = candidates()[0]
    counts = table.counts.copy()
    if why == "rare":
        counts[np.argmax(counts)] += counts[0] - 1
        counts[0] = 1
    else:
        counts[0] += 2
    broken = Table.from_rows(table.domain, table.codes, counts)
    found = Judge(setup_of(JOINT), Recipe(JOINT, configuration), broken, ("x",), True, True)
    assert found.judgement() == Judgement(False)


def test_implausible_rows_are_not_judged() -> None:
    rules = {"policy": "declared", "synthetic": [{"never": "age < 30 and sex = F", "source": "a test"}]}
    spec = specification(constraints=rules)
    assert judge(spec, 0).judgement() == Judgement(False)


def test_a_judgement_follows_from_its_name() -> None:
    said = [judge(PAPER, 0, name).judgement() for name in ("a", "a", "b")]
    assert said[0] == said[1]
    assert [r.noisy for r in said[0].readings] != [r.noisy for r in said[2].readings]


@pytest.mark.parametrize("scheme", SPECIFICATIONS)
def test_a_matching_is_made_once(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a third of a second on real data, and has one form only."""
    made: list[int] = []
    value = Unmatched.value

    def spy(query: Unmatched, table: Table, noise: Noise) -> Any:
        made.append(1)
        return value(query, table, noise)

    monkeypatch.setattr(Unmatched, "value", spy)
    judge(SPECIFICATIONS[scheme], 0).judgement()
    assert len(made) == 1
