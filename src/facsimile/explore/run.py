"""Explore: run the trials of a study until the race is over or the time is up.

    level 0     every configuration races at the declared generator epsilon; then the rounds among survivors
    level k     the finalists of the level above race at an epsilon smaller by √2, and get fresh trials
    the end     no configuration survives, or the last level is done

A time limit ends the race early, in the interest of finalists, if some configuration has survived by then; the
same command without one goes on with it.

The writer hands out jobs, takes back trials and writes them, one transaction for each job. There is a
job on its way for every worker, whatever stage the race is at.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from pathlib import Path
from random import Random

from facsimile.errors import refusal
from facsimile.explore.pool import Pool
from facsimile.explore.priors import prior_of
from facsimile.explore.race import RaceRule, audited, survives
from facsimile.explore.schedule import ROUNDS, Schedule
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.explore.trials import FAILED, FRESH, Job, Trial
from facsimile.privacy.modes import mode_of
from facsimile.privacy.reader import read_public
from facsimile.release.check import check, mistakes, thorough
from facsimile.sources.address import Address
from facsimile.spec.load import dump, loads
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.spec.text import read_limited

ATTEMPTS = 3
POLL_SECONDS = 1.0
RACING, IN_ROUNDS = 0.6, 0.7
"""The shares of a time limit after which the race and the rounds end, so that finalists get their trials."""


@dataclass(frozen=True)
class News:
    """What somebody who watches is told after each job.

    `trials`: of the study; `done`: of this run, since `started`; `left`: of this stage, at most.
    """

    stage: str
    trials: int
    done: int
    running: int
    survivors: int
    left: int
    started: float


Watch = Callable[[News], None]


@dataclass(frozen=True)
class Summary:
    """What an exploration ended with: each configuration survives, was dropped, is undecided, or runs."""

    finished: bool
    configurations: int
    trials: int
    cpu_seconds: float
    level: str
    survivors: tuple[str, ...]
    dropped: int
    undecided: int
    running: int
    audited: int
    wrongly_dropped: int
    finalists: dict[str, tuple[str, ...]]


def begin(specification: Path | Specification, data: Address, out: Path, rule: RaceRule, seed: int) -> Study:
    """A new study, or the one that is there if it is of the same specification, data, rule and seed."""
    if isinstance(specification, Specification):
        source, declared = dump(specification), specification
        check(specification)
    else:
        source = read_limited(specification).decode("utf-8-sig")
        declared = loads(source, mistakes, thorough, folder=specification.parent)
    table, prior = read_public(data, declared), prior_of(declared, data)
    sized = declared.sized(table.n)
    rule = replace(rule, luck=0.0 if sized.scheme == "paper" else float(mode_of(sized.selection).luck))
    setup = Setup(sized, table, seed, prior)
    if not out.exists():
        return Study.create(out, source, setup, rule, data.name)
    study = Study.open(out)
    if not study.setup.same(setup) or study.rule != rule:
        raise refusal("E414")
    return study


def level_after(generator: Fraction, steps: int) -> Fraction:
    """The declared epsilon divided by √2 `steps` times, to two digits.

    >>> [str(level_after(Fraction(4), k)) for k in range(4)]
    ['4', '14/5', '2', '7/5']
    """
    return two_digits(float(generator) * 2 ** (-steps / 2)) if steps else generator


def two_digits(value: float) -> Fraction:
    """The nearest decimal of two digits.

    >>> [str(two_digits(value)) for value in (0.3535, 14.1)]
    ['7/20', '14']
    """
    digits = 1 - floor(log10(value))
    return Fraction(round(value * 10**digits), 1) / Fraction(10) ** digits


def racing(study: Study) -> list[Configuration]:
    """The configurations that race: all of them, or a sample that depends on the seed alone."""
    space = study.setup.specification.drawable
    places: Iterable[int] = range(space.size)
    if space.size > study.rule.most:
        places = sorted(Random(study.setup.seed).sample(range(space.size), study.rule.most))
    return [space.configuration(place) for place in places]


def schedules(study: Study, trials: list[Trial]) -> Iterator[Schedule]:
    """The levels of a study, each from the finalists of the one above; as far as trials exist."""
    members = racing(study)
    declared = study.setup.specification.budget.generator
    for step in range(study.rule.steps + 1):
        schedule = Schedule(members, level_after(declared, step), study.rule, study.setup.seed, trials)
        yield schedule
        members = [schedule.members[name] for name in schedule.finalists()]
        if not members:
            return


def explore(
    study: Study, pool: Pool, watch: Watch = lambda news: None, seconds: float | None = None
) -> Summary:
    """Run what is missing; a time limit lets running trials end and starts no more."""
    runner = _Runner(study, pool, watch, seconds)
    with study.writing():
        finished = runner.run()
    return summary(study, finished, runner.trials)


class _Runner:
    def __init__(self, study: Study, pool: Pool, watch: Watch, seconds: float | None) -> None:
        self.study, self.pool, self.watch, self.seconds = study, pool, watch, seconds
        self.trials = study.trials()
        self.started, self.before = time.monotonic(), len(self.trials)

    def run(self) -> bool:
        """Level by level; False when something is missing because the time is up."""
        finished = True
        for schedule in schedules(self.study, self.trials):
            stage = f"epsilon {float(schedule.generator):g}"
            finished &= self._race(schedule, f"{stage}: race")
            for number in range(len(ROUNDS) + 1):
                jobs = schedule.in_round(number)
                finished &= self._known(schedule, f"{stage}: round {number + 1}", jobs, IN_ROUNDS)
            finished &= self._known(schedule, f"{stage}: finalists", schedule.fresh(), 1.0)
        return finished

    def _race(self, schedule: Schedule, stage: str) -> bool:
        """Every group job after job, until it has none; time is left for finalists once there can be any."""
        groups = {c.identifier: group for group in schedule.groups for c in group}
        first = [job for job in (schedule.next_in_race(group) for group in schedule.groups) if job is not None]

        def after(job: Job) -> Job | None:
            return schedule.next_in_race(groups[job.configurations[0].identifier])

        def late() -> bool:
            return self._late(1.0) or (self._late(RACING) and bool(schedule.survivors()))

        return self._work(schedule, stage, first, after, schedule.left_in_race, late)

    def _known(self, schedule: Schedule, stage: str, jobs: Sequence[Job], share: float) -> bool:
        """Jobs that bring no others."""
        left = sum(len(job.configurations) for job in jobs)

        def after(job: Job) -> None:
            nonlocal left
            left -= len(job.configurations)

        return self._work(schedule, stage, jobs, after, lambda: left, lambda: self._late(share))

    def _work(
        self,
        schedule: Schedule,
        stage: str,
        first: Iterable[Job],
        after: Callable[[Job], Job | None],
        left: Callable[[], int],
        late: Callable[[], bool],
    ) -> bool:
        """Lowest numbers first; a job that ends may bring another. None starts when it is late."""
        queue = [(job.number, place, job, 1) for place, job in enumerate(first)]
        heapq.heapify(queue)
        place, running = len(queue), dict[Future[list[Trial]], tuple[Job, int]]()
        while queue or running:
            while queue and len(running) < self.pool.slots() and not late():
                job, attempt = heapq.heappop(queue)[2:]
                running[self.pool.submit(job)] = (job, attempt)
            if not running or (self._late(1.0) and self.pool.stranded()):
                return False
            for future in wait(running, POLL_SECONDS, FIRST_COMPLETED).done:
                job, attempt = running.pop(future)
                trials = self._result(future, job, attempt)
                follower: Job | None = job
                if trials is not None:
                    self.study.add(job.configurations, trials)
                    self.trials += trials
                    schedule.add(trials)
                    self.watch(self._news(schedule, stage, left()))
                    follower, attempt = after(job), 0
                if follower is not None:
                    place += 1
                    heapq.heappush(queue, (follower.number, place, follower, attempt + 1))
        return True

    def _result(self, future: Future[list[Trial]], job: Job, attempt: int) -> list[Trial] | None:
        """The trials; None when the worker was lost and the job is worth another attempt."""
        try:
            return future.result()
        except self.pool.lost:
            if attempt < ATTEMPTS:
                return None
            return [Trial(*name, False, (), (), 0.0, 0.0, FAILED) for name in job.names()]

    def _late(self, share: float) -> bool:
        return self.seconds is not None and time.monotonic() - self.started >= share * self.seconds

    def _news(self, schedule: Schedule, stage: str, left: int) -> News:
        states = [schedule.standing(name) for name in schedule.members]
        running = sum(s.state == "running" for s in states)
        survivors = sum(survives(s, schedule.rule) for s in states)
        count = len(self.trials)
        return News(stage, count, count - self.before, running, survivors, left, self.started)


def summary(study: Study, finished: bool, trials: list[Trial]) -> Summary:
    """Where a study stands after these trials, all that it has."""
    every = list(schedules(study, trials))
    first, rule = every[0], study.rule
    standings = {name: first.standing(name) for name in first.members}
    checked = [
        name
        for name, s in standings.items()
        if s.state == "dropped" and audited(name, study.setup.seed, rule) and first.raced(name) >= rule.trials
    ]
    reached = [
        name for name in checked if sum(t.accepted for t in first.trials(name)) >= rule.wanted * rule.trials
    ]
    states = [s.state for s in standings.values() if not survives(s, rule)]
    return Summary(
        finished,
        len(standings),
        len(trials),
        sum(t.fit_seconds + t.seconds for t in trials),
        f"{float(first.generator):g}",
        tuple(first.survivors()),
        states.count("dropped"),
        states.count("undecided"),
        states.count("running"),
        len(checked),
        len(reached),
        {
            f"{float(schedule.generator):g}": tuple(schedule.finalists())
            for schedule in every
            if any(trial.number >= FRESH for name in schedule.finalists() for trial in schedule.trials(name))
        },
    )
