"""The schedule: what comes next follows from the finished trials alone, and nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore.race import RaceRule, audited, rank, survives
from facsimile.explore.schedule import ROUNDS, Schedule, Sharing
from facsimile.explore.trials import FRESH, Job, Trial, fit_key
from studies import World, configurations, specification

SPEC = specification(
    families=[
        {"family": "mst", "grid": {"sampling": ["iid", "systematic"]}},
        {"family": "privbayes", "grid": {"theta": ["1", "2", "3", "4", "5"]}},
    ]
)
EVERY = configurations(SPEC)
TWO = Fraction(2)
SEED = 3
SIZES = st.integers(1, len(EVERY))
RULES = st.builds(
    RaceRule,
    wanted=st.sampled_from([0.1, 0.3, 0.6]),
    trials=st.integers(1, 20),
    audited=st.sampled_from([0.0, 0.5, 1.0]),
    finalists=st.integers(1, 5),
    fresh=st.integers(0, 3),
)
WORLDS = st.builds(World, st.integers(0, 10**6))
RUNS = settings(max_examples=40)


def stages(schedule: Schedule) -> list[Callable[[], Callable[[Sharing], Job | None]]]:
    """What follows in each stage; a round is asked for when it begins."""

    def one_round(number: int) -> Callable[[Sharing], Job | None]:
        def following(group: Sharing) -> Job | None:
            mine = {c.identifier for c in group}
            return next(
                (job for job in schedule.in_round(number) if job.configurations[0].identifier in mine), None
            )

        return following

    return [lambda: schedule.next_in_race, *(partial(one_round, number) for number in range(len(ROUNDS) + 1))]


def run_to_the_end(schedule: Schedule, world: World, chance: Random) -> list[Job]:
    """Every stage, groups in a random order; the jobs in the order they were run."""
    jobs: list[Job] = []

    def run(job: Job) -> None:
        jobs.append(job)
        schedule.add(world.run(job))

    for stage in stages(schedule):
        following = stage()
        waiting = list(schedule.groups)
        while waiting:
            group = chance.choice(waiting)
            job = following(group)
            if job is None:
                waiting.remove(group)
            else:
                run(job)
    fresh = schedule.fresh()
    chance.shuffle(fresh)
    for job in fresh:
        run(job)
    return jobs


def of_jobs(jobs: list[Job]) -> list[tuple[str, str, int]]:
    return [name for job in jobs for name in job.names()]


def ended(size: int, rule: RaceRule, world: World, order: int = 0) -> tuple[Schedule, list[Job]]:
    schedule = Schedule(EVERY[:size], TWO, rule, SEED, [])
    return schedule, run_to_the_end(schedule, world, Random(order))


def told(schedule: Schedule) -> list[object]:
    """Everything that a schedule says, but for the order of finished trials."""
    return [
        [schedule.next_in_race(group) for group in schedule.groups],
        [schedule.entrants(number) for number in range(len(ROUNDS) + 1)],
        [schedule.in_round(number) for number in range(len(ROUNDS) + 1)],
        {name: (schedule.standing(name), schedule.raced(name)) for name in schedule.members},
        schedule.survivors(),
        schedule.finalists(),
        schedule.fresh(),
        schedule.left_in_race(),
    ]


@given(SIZES, RULES, WORLDS, st.integers(0, 100))
@RUNS
def test_the_trials_of_a_field_do_not_depend_on_the_order_of_its_jobs(
    size: int, rule: RaceRule, world: World, order: int
) -> None:
    (one, jobs), (other, others) = ended(size, rule, world), ended(size, rule, world, order)
    assert sorted(of_jobs(jobs)) == sorted(of_jobs(others))
    assert told(one) == told(other)


@given(SIZES, RULES, WORLDS)
@RUNS
def test_no_trial_is_asked_twice_and_numbers_have_no_gaps(size: int, rule: RaceRule, world: World) -> None:
    schedule, jobs = ended(size, rule, world)
    assert set(Counter(of_jobs(jobs)).values()) <= {1}
    finalists = set(schedule.finalists())
    for name in schedule.members:
        numbers = [number for configuration, _, number in of_jobs(jobs) if configuration == name]
        raced = [number for number in numbers if number < FRESH]
        assert raced == list(range(len(raced))), "in order, from 0"
        assert len(raced) == schedule.raced(name) <= rule.trials
        fresh = range(FRESH, FRESH + rule.fresh) if name in finalists else ()
        assert sorted(set(numbers) - set(raced)) == list(fresh)
        assert len(raced) >= 1, "every configuration races"


@given(SIZES, RULES, WORLDS)
@RUNS
def test_each_configuration_runs_as_far_as_its_standing_says(size: int, rule: RaceRule, world: World) -> None:
    schedule, _ = ended(size, rule, world)
    in_rounds = [set(schedule.entrants(number)) for number in range(len(ROUNDS) + 1)]
    for name in schedule.members:
        found = schedule.standing(name)
        assert found.state != "running"
        wanted = found.after
        if found.state == "dropped" and audited(name, SEED, rule):
            refused = [trial.number + 1 for trial in schedule.trials(name) if trial.refused is not None]
            wanted = min([rule.trials, *refused])
        for number, chosen in enumerate(in_rounds):
            if name in chosen:
                wanted = max(wanted, schedule.until(number))
        assert schedule.raced(name) == wanted
        assert (name in in_rounds[0]) == survives(found, rule)


@given(SIZES, RULES, WORLDS)
@RUNS
def test_rounds_are_nested_and_keep_the_best(size: int, rule: RaceRule, world: World) -> None:
    schedule, _ = ended(size, rule, world)
    rounds = [schedule.entrants(number) for number in range(len(ROUNDS) + 1)]
    assert rounds[0] == schedule.survivors()
    for number, (before, after) in enumerate(zip(rounds, [*rounds[1:], schedule.finalists()], strict=True)):
        assert set(after) <= set(before)
        last = number == len(ROUNDS)
        third = 0 if last else -(-len(before) // 3)
        assert len(after) == min(len(before), max(rule.finalists, third))
        until = rule.trials if last else schedule.until(number)

        def seen(name: str, until: int = until) -> tuple[tuple[float, float], str]:
            return rank([trial for trial in schedule.trials(name) if trial.number < until]), name

        left = set(before) - set(after)
        assert not left or max(map(seen, after)) < min(map(seen, left))
    for name in schedule.finalists():
        assert schedule.raced(name) == rule.trials


@given(SIZES, RULES, WORLDS, st.data())
@RUNS
def test_what_comes_next_depends_on_the_set_of_finished_trials_only(
    size: int, rule: RaceRule, world: World, data: st.DataObject
) -> None:
    """Any moment of any run; read back in another order, at once or one by one."""
    schedule, jobs = ended(size, rule, world, data.draw(st.integers(0, 5)))
    moment = data.draw(st.integers(0, len(jobs)))
    trials = [trial for job in jobs[:moment] for trial in world.run(job)]
    at_once = Schedule(EVERY[:size], TWO, rule, SEED, trials)
    shuffled: list[Trial] = data.draw(st.permutations(trials)) if len(trials) < 50 else trials[::-1]
    one_by_one = Schedule(EVERY[:size], TWO, rule, SEED, [])
    for trial in shuffled:
        told(one_by_one) if len(trials) < 10 else one_by_one.survivors()
        one_by_one.add([trial])
    assert told(at_once) == told(one_by_one)
    assert told(Schedule(EVERY[:size][::-1], TWO, rule, SEED, shuffled)) == told(at_once)
    rest = run_to_the_end(at_once, world, Random(moment))
    assert sorted(of_jobs(rest) + [trial.name for trial in trials]) == sorted(of_jobs(jobs))
    assert told(at_once) == told(schedule)


@given(SIZES, RULES, WORLDS)
@RUNS
def test_what_is_left_is_never_less_than_what_comes(size: int, rule: RaceRule, world: World) -> None:
    """The race may end sooner than it could; rounds and fresh trials are known beforehand."""
    schedule = Schedule(EVERY[:size], TWO, rule, SEED, [])
    assert schedule.left_in_race() == size * rule.trials
    for group in schedule.groups:
        while (job := schedule.next_in_race(group)) is not None:
            before = schedule.left_in_race()
            schedule.add(world.run(job))
            assert schedule.left_in_race() <= before - len(job.configurations)
    assert schedule.left_in_race() == 0
    for number in range(len(ROUNDS) + 1):
        for job in schedule.in_round(number):
            schedule.add(world.run(job))
        assert schedule.in_round(number) == []
    assert sum(len(job.configurations) for job in schedule.fresh()) == len(schedule.finalists()) * rule.fresh


@given(SIZES, RULES, WORLDS)
@RUNS
def test_a_job_is_one_fit_for_all_that_miss_its_number(size: int, rule: RaceRule, world: World) -> None:
    _, jobs = ended(size, rule, world)
    for job in jobs:
        assert len({fit_key(c) for c in job.configurations}) == 1
        assert job.generator == TWO
    asked = Counter((fit_key(job.configurations[0]), job.number) for job in jobs if job.number >= FRESH)
    assert set(asked.values()) <= {1}


def test_a_round_fills_gaps_lowest_number_first() -> None:
    """Those that are behind catch up, so that one fit serves the whole group again."""
    schedule = Schedule(EVERY[:2], TWO, RaceRule(trials=9, finalists=2), SEED, [])
    ahead, behind = (c.identifier for c in EVERY[:2])
    won = [
        replace(World(1).trial(name, "2", number), accepted=True)
        for name in (ahead, behind)
        for number in (0, 1)
    ]
    schedule.add([*won, World(1).trial(ahead, "2", 3)])
    asked = [(name, number) for job in schedule.in_round(0) for name, _, number in job.names()]
    assert [number for _, number in asked] == sorted(number for _, number in asked)
    assert sorted(asked) == sorted([(ahead, n) for n in (2, 4, 5, 6, 7)] + [(behind, n) for n in range(2, 8)])


def test_the_order_of_groups_depends_on_the_seed_alone() -> None:
    one = Schedule(EVERY, TWO, RaceRule(), SEED, []).groups
    assert one == Schedule(EVERY[::-1], Fraction(1), replace(RaceRule(), trials=3), SEED, []).groups
    assert one != Schedule(EVERY, TWO, RaceRule(), SEED + 1, []).groups
    assert sorted(c.identifier for group in one for c in group) == sorted(c.identifier for c in EVERY)


def test_trials_of_other_fields_are_passed_over() -> None:
    world = World(1)
    name = EVERY[0].identifier
    others = [world.trial(name, "1.4", 0), world.trial(EVERY[5].identifier, "2", 0)]
    schedule = Schedule(EVERY[:2], TWO, RaceRule(), SEED, others)
    assert told(schedule) == told(Schedule(EVERY[:2], TWO, RaceRule(), SEED, []))


def test_a_configuration_that_is_named_twice_races_once() -> None:
    """`min_count: [2, 2]`, or a family that is listed twice, makes no second configuration."""
    twice = configurations(specification(projection={"algorithm": ["margins"], "min_count": ["2", "2"]}))
    assert len({c.identifier for c in twice}) == len(twice) // 2
    schedule = Schedule(twice, TWO, RaceRule(trials=5, audited=0), SEED, [])
    jobs = run_to_the_end(schedule, World(2), Random(0))
    assert set(Counter(of_jobs(jobs)).values()) == {1}
    for name in schedule.members:
        numbers = sorted(t.number for t in schedule.trials(name) if t.number < FRESH)
        assert numbers == list(range(len(numbers)))
