"""Trials: a name says everything, one fit serves all projections, and what cannot be fitted is no accident."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import refusal
from facsimile.explore import setup as memory
from facsimile.explore import trials as module
from facsimile.explore.judge import Judge
from facsimile.explore.schedule import Schedule
from facsimile.explore.setup import Setup
from facsimile.explore.trials import FRESH, Job, Trial, candidate_of, fit_key, run
from facsimile.release.recipe import Recipe
from facsimile.release.scheme import presentable
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import Answers, RowModel
from facsimile.table.table import Table
from studies import EVERY_CRITERION, RULE, configurations, paper, setup, specification, timeless

SETUP = setup()
CONFIGURATIONS = configurations(SETUP.specification)
TWO = Fraction(2)


def groups() -> list[tuple[Configuration, ...]]:
    """Configurations that share a fit."""
    return Schedule(CONFIGURATIONS, TWO, RULE, SETUP.seed, []).groups


JOBS = [Job(group, TWO, number) for group in groups() for number in (0, 3, FRESH)] + [
    Job(group, Fraction(1), 0) for group in groups()[:3]
]
ALONE = {trial.name: trial for job in JOBS for trial in timeless(run(setup(), job))}


def test_groups_differ_in_their_projection_only() -> None:
    for group in groups():
        assert len(group) == 2
        assert len({fit_key(c) for c in group}) == 1
        assert len({(tuple(c.alternatives.items()), c.family) for c in group}) == 1
        assert len({c.projection["min_count"] for c in group}) == 2


@given(st.lists(st.sampled_from(JOBS), min_size=1, max_size=6), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=12)
def test_a_trial_is_the_same_whatever_ran_before(jobs: list[Job], tables: int, marginals: int) -> None:
    """On a setup of its own, or after others, or twice, however little the setup remembers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "RECODED", tables)
        patch.setattr(memory, "MARGINALS", marginals)
        shared = setup()
        for job in jobs:
            for trial in timeless(run(shared, job)):
                assert trial == ALONE[trial.name]


def test_a_trial_is_the_same_after_packing() -> None:
    moved = Setup.unpacked(SETUP.packed())
    for job in JOBS[::3]:
        assert timeless(run(moved, job)) == [ALONE[name] for name in sorted(job.names())]


def test_a_trial_is_the_same_alone_and_with_others_of_its_fit() -> None:
    for job in JOBS[::2]:
        for configuration in job.configurations:
            (trial,) = timeless(run(SETUP, Job((configuration,), job.generator, job.number)))
            assert trial == ALONE[trial.name]


def test_a_trial_has_the_name_of_its_job_and_spends_time() -> None:
    for job in JOBS[:4]:
        found = run(SETUP, job)
        assert [trial.name for trial in found] == list(job.names())
        assert all(trial.refused is None and trial.fit_seconds > 0 and trial.seconds > 0 for trial in found)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Judge]]:
    """Every judge that was asked."""
    seen: list[Judge] = []

    class Seen(Judge):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            seen.append(self)

    monkeypatch.setattr(module, "Judge", Seen)
    yield seen


def test_the_table_that_was_judged_can_be_made_again(judged: list[Judge]) -> None:
    for job in JOBS[::2]:
        judged.clear()
        run(SETUP, job)
        for configuration, judge in zip(job.configurations, judged, strict=True):
            again = candidate_of(setup(), configuration, job.generator, job.number)
            assert again == judge.table
            assert presentable(Recipe(SETUP.specification, configuration), again)
            assert judge.name == (configuration.identifier, f"{float(job.generator):g}", job.number)


@pytest.mark.parametrize(
    ("number", "whole", "rooms"), [(0, True, False), (1, False, False), (FRESH, True, True)]
)
def test_the_first_trial_is_whole_and_fresh_ones_have_rooms(
    number: int, whole: bool, rooms: bool, judged: list[Judge]
) -> None:
    run(SETUP, Job((CONFIGURATIONS[0],), TWO, number))
    assert [(judge.whole, judge.noiseless) for judge in judged] == [(whole, rooms)]


def test_every_trial_has_randomness_of_its_own(judged: list[Judge]) -> None:
    """Other numbers, epsilons, configurations and seeds: other tables and other noise."""
    several = [
        (SETUP, Job(group, level, number))
        for group in groups()[:4]
        for level in (TWO, Fraction(1))
        for number in (0, 1, FRESH)
    ]
    other = setup(seed=SETUP.seed + 1)
    several += [(other, job) for _, job in several]
    for where, job in several:
        run(where, job)
    tables = [judge.table for judge in judged]
    drawn = {(t.domain.shape, t.codes.tobytes(), t.counts.tobytes()) for t in tables}
    assert len(drawn) >= len(tables) - len(several), "two projections of one fit may be equal, no others"
    noise = [int(judge.original.noise.below(2**62)) for judge in judged]
    assert len(set(noise)) == len(noise)


def test_no_two_jobs_draw_from_one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit, sample, projection, test and regression: each has a seed that no other job has."""
    drawn: list[int] = []
    draws = Setup.draws

    def spy(where: Setup, *name: object) -> int:
        drawn.append(draws(where, *name))
        return drawn[-1]

    monkeypatch.setattr(Setup, "draws", spy)
    budget = {"total": "90", "generator": "2", "once": "2"}
    found = setup(paper(criteria=list(EVERY_CRITERION), budget=budget))
    several = [
        Job(group, level, number) for group in groups()[:2] for level in (TWO, Fraction(1)) for number in (1, 2)
    ]
    seen: set[int] = set()
    for job in several:
        drawn.clear()
        run(found, job)
        assert len(set(drawn)) == len(drawn) >= 2 + 4 * len(job.configurations)
        assert not seen & set(drawn)
        seen |= set(drawn)


def test_another_seed_gives_another_trial() -> None:
    job = Job((CONFIGURATIONS[0],), TWO, 0)
    (one,), (other,) = run(SETUP, job), run(setup(seed=8), job)
    assert one.readings != other.readings


def test_one_fit_serves_all_projections(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[Configuration] = []
    fit, drawn = Recipe.fit, Recipe.drawn
    samples: list[Configuration] = []

    def spy(recipe: Recipe, answers: Answers, epsilon: Fraction, random: np.random.Generator) -> RowModel:
        fits.append(recipe.configuration)
        return fit(recipe, answers, epsilon, random)

    def drawing(recipe: Recipe, model: RowModel, random: np.random.Generator) -> Table:
        samples.append(recipe.configuration)
        return drawn(recipe, model, random)

    monkeypatch.setattr(Recipe, "fit", spy)
    monkeypatch.setattr(Recipe, "drawn", drawing)
    for group in groups():
        fits.clear()
        samples.clear()
        assert len(run(SETUP, Job(group, TWO, 5))) == 2
        assert (len(fits), len(samples)) == (1, 1)


UNFITTING = {"family": "privbayes", "grid": {"theta": ["nonsense"]}}


@pytest.mark.parametrize("scheme", [specification, paper])
def test_what_cannot_be_fitted_is_refused_and_dropped(scheme: Any) -> None:
    found = setup(scheme(families=[UNFITTING, {"family": "mst"}]))
    every = configurations(found.specification)
    schedule = Schedule(every, TWO, replace(RULE, audited=0.0), found.seed, [])
    for group in schedule.groups:
        job = schedule.next_in_race(group)
        assert job is not None
        schedule.add(run(found, job))
    for configuration in every:
        (trial,) = schedule.trials(configuration.identifier)
        standing = schedule.standing(configuration.identifier)
        if configuration.family == "privbayes":
            assert (trial.refused, trial.accepted, trial.readings, trial.noiseless) == ("E200", False, (), ())
            assert (standing.state, standing.after, standing.by) == ("dropped", 1, "E200")
        else:
            assert trial.refused is None
            assert standing.state == "running"
    assert all(
        schedule.next_in_race(group) is None for group in schedule.groups if group[0].family == "privbayes"
    )


@pytest.mark.parametrize("code", ["E160", "E701"])
def test_a_refusal_while_fitting_leaves_trials_with_its_code(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(recipe: Recipe, answers: Answers, epsilon: Fraction, random: np.random.Generator) -> RowModel:
        raise refusal(code, family="mst", name="mst")

    monkeypatch.setattr(Recipe, "fit", refusing)
    found = run(SETUP, Job(groups()[0], TWO, 0))
    assert [trial.refused for trial in found] == [code, code]
    assert not any(trial.accepted or trial.readings or trial.noiseless for trial in found)


def test_an_error_in_one_configuration_leaves_the_others_their_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study remembers that it failed; the race goes on without it."""
    group = groups()[0]
    sound = run(SETUP, Job(group, TWO, 1))
    broken, judgement = group[0].identifier, Judge.judgement

    def failing(judge: Judge) -> Any:
        if judge.recipe.configuration.identifier == broken:
            raise ZeroDivisionError
        return judgement(judge)

    monkeypatch.setattr(Judge, "judgement", failing)
    first, *others = run(SETUP, Job(group, TWO, 1))
    assert (first.name, first.refused, first.accepted, first.readings) == (sound[0].name, "E700", False, ())
    assert timeless(others) == timeless(sound[1:])
    assert others


@pytest.mark.parametrize("stage", ["fit", "projected"])
def test_memory_that_runs_out_says_nothing_about_a_configuration(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is heard as the loss of a worker, and the job is given out again."""

    def full(*given: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(Recipe, stage, full)
    with pytest.raises(MemoryError):
        run(SETUP, Job(groups()[0], TWO, 0))


def test_names_tell_trials_apart() -> None:
    assert len(ALONE) == sum(len(job.configurations) for job in JOBS)
    trial = next(iter(ALONE.values()))
    assert isinstance(trial, Trial)
    assert trial.name == (trial.configuration, trial.generator, trial.number)
