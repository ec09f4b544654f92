"""Exploring: the same trials in any order, after any stop and after any kill."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import log10, sqrt
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.explore import run as module
from facsimile.explore import schedule as schedule_module
from facsimile.explore.race import RaceRule, rank, standing
from facsimile.explore.run import (
    ATTEMPTS,
    News,
    Summary,
    begin,
    explore,
    level_after,
    racing,
    summary,
)
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.explore.trials import FAILED, FRESH, Job, Trial, run
from facsimile.sources.address import Address
from studies import (
    RULE,
    Here,
    World,
    configurations,
    new_study,
    patiently,
    setup,
    timeless,
    write_files,
)

SETUP = setup()
EVERY = configurations(SETUP.specification)
RULES = st.builds(
    RaceRule,
    wanted=st.sampled_from([0.1, 0.3]),
    trials=st.integers(2, 12),
    audited=st.sampled_from([0.0, 0.5]),
    finalists=st.integers(1, 3),
    fresh=st.integers(1, 3),
    steps=st.integers(0, 3),
)
WORLDS = st.builds(World, st.integers(0, 10**6))
RUNS = settings(max_examples=15)
Work = Callable[[Job], list[Trial]]


class Kept(Study):
    """A study in memory."""

    def __init__(self, rule: RaceRule, setup: Setup = SETUP) -> None:
        super().__init__(Path("memory"))
        self.__dict__.update(setup=setup, rule=rule, kept={})

    def add(self, configurations: Any, trials: Sequence[Trial]) -> None:
        kept: dict[tuple[str, str, int], Trial] = self.__dict__["kept"]
        for trial in trials:
            assert trial.name not in kept, "no trial is run twice"
            kept[trial.name] = trial

    def trials(self) -> list[Trial]:
        return sorted(self.__dict__["kept"].values(), key=lambda trial: trial.name)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        yield


class Scrambled:
    """A pool whose jobs end in a random order; some lose their workers first."""

    lost: tuple[type[BaseException], ...] = (CancelledError,)

    def __init__(
        self, work: Work, room: int = 1, seed: int = 0, loses: Callable[[Job], bool] | None = None
    ) -> None:
        self.work, self._room, self.chance, self.loses = work, room, Random(seed), loses
        self.jobs: dict[Future[list[Trial]], Job] = {}
        self.submitted: list[Job] = []

    def slots(self) -> int:
        return self._room

    def submit(self, job: Job) -> Future[list[Trial]]:
        assert len(self.jobs) < self._room
        future: Future[list[Trial]] = Future()
        self.jobs[future] = job
        self.submitted.append(job)
        return future

    def stranded(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def wait(self, running: dict[Future[list[Trial]], Any], *how: Any) -> SimpleNamespace:
        """In place of the real `wait`: some of the jobs end now."""
        done = self.chance.sample(list(running), self.chance.randint(1, len(running)))
        for future in done:
            job = self.jobs.pop(future)
            if self.loses is not None and self.loses(job):
                future.set_exception(CancelledError())
            else:
                future.set_result(self.work(job))
        return SimpleNamespace(done=done)


def explored(
    study: Study,
    pool: Scrambled,
    watch: Callable[[News], None] = lambda news: None,
    seconds: float | None = None,
) -> Summary:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "wait", pool.wait)
        return explore(study, pool, watch, seconds)


def unbroken(rule: RaceRule, world: World) -> tuple[Kept, Summary]:
    study = Kept(rule)
    return study, explored(study, Scrambled(world.run))


@given(RULES, WORLDS, st.integers(1, 8), st.integers(0, 1000))
@RUNS
def test_trials_do_not_depend_on_the_order_in_which_jobs_end(
    rule: RaceRule, world: World, room: int, seed: int
) -> None:
    one, said = unbroken(rule, world)
    other = Kept(rule)
    assert explored(other, Scrambled(world.run, room, seed)) == said
    assert other.trials() == one.trials()
    assert said.finished
    assert (said.running, said.trials) == (0, len(one.trials()))


class Stopped(Exception):
    """The exploration was interrupted here."""


@given(RULES, WORLDS, st.integers(1, 6), st.lists(st.integers(1, 25), max_size=12))
@RUNS
def test_an_interrupted_study_ends_with_the_trials_of_an_unbroken_one(
    rule: RaceRule, world: World, room: int, stops: list[int]
) -> None:
    one, said = unbroken(rule, world)
    other = Kept(rule)
    for stop in stops:
        told: list[News] = []

        def watch(news: News, told: list[News] = told, stop: int = stop) -> None:
            told.append(news)
            if len(told) == stop:
                raise Stopped

        with contextlib.suppress(Stopped):
            explored(other, Scrambled(world.run, room, stop), watch)
    assert explored(other, Scrambled(world.run, room)) == said
    assert other.trials() == one.trials()


@given(RULES, WORLDS, st.integers(1, 6), st.integers(0, 1000))
@RUNS
def test_lost_workers_change_nothing(rule: RaceRule, world: World, room: int, seed: int) -> None:
    """Every job loses its worker up to twice."""
    one, said = unbroken(rule, world)
    chance, losses = Random(seed), Counter[Job | tuple[tuple[str, str, int], ...]]()

    def loses(job: Job) -> bool:
        name = tuple(job.names())
        losses[name] += 1
        return losses[name] < ATTEMPTS and chance.random() < 0.4

    other = Kept(rule)
    assert explored(other, Scrambled(world.run, room, seed, loses)) == said
    assert other.trials() == one.trials()


@pytest.mark.parametrize("room", [1, 4])
def test_a_job_that_always_loses_its_worker_is_given_up_and_the_others_finish(room: int) -> None:
    world, rule = World(5, (0.5,)), replace(RULE, audited=0.0)
    killer = EVERY[0].identifier
    pool = Scrambled(world.run, room, 1, lambda job: any(c.identifier == killer for c in job.configurations))
    study = Kept(rule)
    said = explored(study, pool)
    assert said.finished
    lost = [trial for trial in study.trials() if trial.refused == FAILED]
    together = next(job for job in pool.submitted if killer in {c.identifier for c in job.configurations})
    assert sorted(t.name for t in lost) == sorted(together.names())
    assert pool.submitted.count(together) == ATTEMPTS == 3
    assert not any(trial.accepted or trial.readings or trial.noiseless for trial in lost)
    others = {trial.configuration for trial in study.trials()} - {trial.configuration for trial in lost}
    assert len(others) == len(EVERY) - 2
    assert all(trial == world.trial(*trial.name) for trial in study.trials() if trial.refused != FAILED)


def test_an_error_of_the_program_is_heard_and_loses_nothing(tmp_path: Path) -> None:
    world, study = World(1), new_study(tmp_path / "a", replace(RULE, trials=2, fresh=1, steps=0))
    ran: list[Job] = []

    def work(job: Job) -> list[Trial]:
        ran.append(job)
        if len(ran) == 6:
            raise ZeroDivisionError
        return world.run(job)

    with pytest.raises(ZeroDivisionError):
        explored(study, Scrambled(work))
    assert [t.name for t in study.trials()] == sorted(name for job in ran[:5] for name in job.names())
    assert explored(study, Scrambled(world.run)).finished, "the lock was let go"


def test_a_time_limit_of_nothing_starts_nothing() -> None:
    study = Kept(RULE)
    said = explored(study, Scrambled(World(1).run), seconds=0.0)
    assert (said.finished, said.trials, said.running) == (False, 0, len(EVERY))


def test_a_finished_study_is_finished_whatever_the_time_limit() -> None:
    world = World(1, (0.9,))
    study, said = unbroken(RULE, world)
    pool = Scrambled(world.run)
    assert explored(study, pool, seconds=0.0) == said
    assert explored(study, pool) == said
    assert not pool.submitted


class Clock:
    """Each look at the clock takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1
        return self.now


class Abandoned(Scrambled):
    """After some jobs all workers leave: what runs never ends."""

    def __init__(self, work: Work, jobs: int) -> None:
        super().__init__(work, 2)
        self.left = jobs

    def stranded(self) -> bool:
        return self.left <= 0

    def wait(self, running: dict[Future[list[Trial]], Any], *how: Any) -> SimpleNamespace:
        if self.stranded():
            return SimpleNamespace(done=[])
        found = super().wait(running)
        self.left -= len(found.done)
        return found


def test_a_time_limit_ends_the_wait_for_workers_that_left(monkeypatch: pytest.MonkeyPatch) -> None:
    world, study = World(1, (0.9,)), Kept(RULE)
    with monkeypatch.context() as patch:
        patch.setattr(module, "time", Clock())
        said = explored(study, Abandoned(world.run, 10), seconds=100.0)
    assert not said.finished
    assert 10 <= said.trials < 30
    assert explored(study, Scrambled(world.run)).finished


@given(RULES, WORLDS, st.integers(1, 4), st.integers(1, 400))
@RUNS
def test_a_study_that_ran_out_of_time_goes_on_to_the_same_end(
    rule: RaceRule, world: World, room: int, limit: int
) -> None:
    """The limit only adds trials of those who led when the race was cut short."""
    one, said = unbroken(rule, world)
    other = Kept(rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", Clock())
        cut = explored(other, Scrambled(world.run, room), seconds=float(limit))
    names = {trial.name for trial in one.trials()}
    assert not cut.finished or names <= {trial.name for trial in other.trials()}
    for found in (said, cut):
        counted = len(found.survivors) + found.dropped + found.undecided + found.running
        assert counted == found.configurations, "each configuration is counted once"
    again = explored(other, Scrambled(world.run, room))
    assert again.finished
    assert names <= {trial.name for trial in other.trials()}
    assert all(trial == world.trial(*trial.name) for trial in other.trials())
    assert (again.survivors, again.finalists) == (said.survivors, said.finalists)
    assert (again.dropped, again.undecided, again.running) == (said.dropped, said.undecided, 0)


@pytest.mark.parametrize("hopeless", [True, False])
def test_the_race_leaves_time_only_where_something_survives(
    hopeless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No core is idle while nothing is decided: the time for finalists goes to the race if there is none."""
    world, clock, limit = World(1, (1.0,)), Clock(), 120.0
    begun: list[tuple[int, float]] = []

    def work(job: Job) -> list[Trial]:
        begun.append((job.number, clock.now))
        found = world.run(job)
        return [replace(t, accepted=False, readings=(), refused=None) for t in found] if hopeless else found

    monkeypatch.setattr(module, "time", clock)
    rule = replace(RULE, trials=999, wanted=0.001, fresh=1000, steps=0)
    explored(Kept(rule), Scrambled(work, 1), seconds=limit)
    assert max(when for _, when in begun) > 0.9 * limit, "until the end"
    assert any(number >= FRESH for number, _ in begun) != hopeless, "with finalists, if there can be any"


def test_a_study_with_missing_levels_is_not_finished() -> None:
    """Stopped between two levels: nothing of the first is missing, and still there is more to do."""
    world, rule = World(1, (0.9,)), replace(RULE, steps=1)
    one, said = unbroken(rule, world)
    assert len(said.finalists) == 2
    study = Kept(rule)
    study.add((), [trial for trial in one.trials() if trial.generator == "2"])
    assert not explored(study, Scrambled(world.run), seconds=0.0).finished


def test_news_tells_how_far_it_is() -> None:
    told: list[News] = []
    study = Kept(RULE)
    world = World(3)
    said = explored(study, Scrambled(world.run, 3), told.append)
    assert [news.trials for news in told] == sorted(news.trials for news in told)
    assert told[-1].trials == told[-1].done == said.trials
    assert all(0 <= news.running <= len(EVERY) and news.left >= 0 for news in told)
    assert told[0].stage == "epsilon 2: race"
    first = [news for news in told if news.stage.startswith("epsilon 2:")]
    assert (first[-1].running, first[-1].survivors) == (0, len(said.survivors))
    stages = list(dict.fromkeys(news.stage.split(": ")[1] for news in first))
    assert stages == [s for s in ("race", "round 1", "round 2", "round 3", "finalists") if s in stages]


def test_finalists_are_ranked_once_however_many_fresh_trials_they_get(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of survivors a ranking takes a second: not after each trial."""
    ranked: list[int] = []

    def spy(trials: Sequence[Trial]) -> tuple[float, float]:
        ranked[-1] += 1
        return rank(trials)

    monkeypatch.setattr(schedule_module, "rank", spy)
    for fresh in (2, 20):
        ranked.append(0)
        unbroken(replace(RULE, fresh=fresh, steps=0), World(1, (0.9,)))
    assert ranked[0] == ranked[1] > 0


def test_audits_are_counted() -> None:
    """Everything that was dropped runs on: the share of those that were dropped wrongly can be checked.

    What had no candidate does not: it would only fail, or lose its worker, again.
    """
    rule = RaceRule(wanted=0.3, trials=12, confidence=0.6, audited=1.0, finalists=2, fresh=1, steps=0)
    study, said = unbroken(rule, World(11, (0.1, 0.3, 0.5)))
    by_name: dict[str, list[Trial]] = {c.identifier: [] for c in EVERY}
    for trial in study.trials():
        if trial.number < FRESH:
            by_name[trial.configuration].append(trial)
    dropped = [found for found in by_name.values() if standing(found, rule).state == "dropped"]
    failed = [found for found in dropped if any(trial.refused for trial in found)]
    assert failed
    assert all([trial.number for trial in found if trial.refused] == [len(found) - 1] for found in failed)
    checked = [found for found in dropped if found not in failed]
    assert {len(found) for found in checked} == {rule.trials}
    wrongly = [found for found in checked if sum(t.accepted for t in found) >= rule.wanted * rule.trials]
    assert (said.dropped, said.audited, said.wrongly_dropped) == (len(dropped), len(checked), len(wrongly))
    assert 0 < len(wrongly) < len(checked)


def test_a_large_space_is_sampled_by_the_seed_alone() -> None:
    rule = replace(RULE, most=5)
    chosen = racing(Kept(rule))
    assert len({c.identifier for c in chosen}) == 5
    assert {c.identifier for c in chosen} <= {c.identifier for c in EVERY}
    assert chosen == racing(Kept(replace(rule, trials=3)))
    assert chosen != racing(Kept(rule, setup(seed=12)))
    assert racing(Kept(replace(RULE, most=len(EVERY)))) == EVERY
    study = Kept(rule)
    assert explored(study, Scrambled(World(1).run)).configurations == 5
    assert {trial.configuration for trial in study.trials()} <= {c.identifier for c in chosen}


@given(st.decimals("0.01", "100", places=2), st.integers(0, 12))
def test_levels_fall_by_the_root_of_two_to_two_digits(generator: Any, steps: int) -> None:
    given = Fraction(str(generator))
    found = level_after(given, steps)
    exact = float(given) / sqrt(2) ** steps
    assert abs(float(found) / exact - 1) <= 0.0501
    if steps:
        assert found < level_after(given, steps - 1)
        digits = 1 - int(log10(float(found)) // 1)
        assert (found * Fraction(10) ** digits).denominator == 1


Files = tuple[Path, Address]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return written(tmp_path)


def written(folder: Path, **changes: Any) -> Files:
    spec, data = write_files(folder, **changes)
    return spec, Address.of(data)


def test_a_study_begins_once_and_is_taken_up_again(files: Files, tmp_path: Path) -> None:
    out = tmp_path / "people.study"
    study = begin(*files, out, RULE, 7)
    assert study.setup.same(SETUP), "the table that is read is the simulated one"
    assert study.rule == replace(RULE, luck=1 / 381)
    assert study.data == "people.csv"
    study.add(EVERY[:1], World(1).run(Job((EVERY[0],), Fraction(2), 0)))
    again = begin(*files, out, RULE, 7)
    assert len(again.trials()) == 1


@pytest.mark.parametrize("change", ["seed", "rule", "specification", "data"])
def test_another_study_is_not_mixed_in(files: Files, tmp_path: Path, change: str) -> None:
    out = tmp_path / "people.study"
    spec, data = files
    begin(spec, data, out, RULE, 7)
    if change == "specification":
        write_files(tmp_path, title="Others")
    if change == "data":
        write_files(tmp_path, n=1990)
    before = out.read_bytes()
    with pytest.raises(FacsimileError) as caught:
        begin(
            spec, data, out, replace(RULE, fresh=5) if change == "rule" else RULE, 8 if change == "seed" else 7
        )
    assert caught.value.code == "E414"
    assert out.read_bytes() == before


def test_in_the_paper_scheme_noise_is_no_luck(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"scheme": "paper", "selection": {"mode": "paper"}}
    files = written(tmp_path, budget={"total": "60", "generator": "2"}, **changes)
    assert begin(*files, tmp_path / "a", RULE, 7).rule.luck == 0.0


@pytest.mark.parametrize(
    ("kind", "code"), [("confidential", "E207"), ("no study", "E410"), ("no folder", "E403")]
)
def test_what_cannot_begin_is_refused(files: Files, tmp_path: Path, kind: str, code: str) -> None:
    out = tmp_path / ("absent/a" if kind == "no folder" else "a")
    if kind == "confidential":
        (tmp_path / "people.csv.key").write_bytes(b"0" * 32)
    if kind == "no study":
        out.write_text("something else")
    with pytest.raises(FacsimileError) as caught:
        begin(*files, out, RULE, 7)
    assert caught.value.code == code


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    with study.writing(), pytest.raises(FacsimileError) as caught:
        explore(Study.open(study.path), Here(SETUP))
    assert caught.value.code == "E411"


# real trials, real processes


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run in one go in this process."""
    study = new_study(tmp_path_factory.mktemp("whole") / "people.study")
    assert explore(study, Here(SETUP)).finished
    return study


def test_real_trials_in_any_order_are_the_same(whole: Study) -> None:
    found = Kept(RULE)
    assert explored(found, Scrambled(lambda job: run(SETUP, job), 5, 1)).finished
    assert timeless(found.trials()) == timeless(whole.trials())
    assert {t.generator for t in whole.trials()} == {"2", "1.4", "1"}
    assert summary(whole, True, whole.trials()).survivors == summary(found, True, found.trials()).survivors
    assert whole.configurations() == {c.identifier: c for c in EVERY}


class Server:
    """Starts explorations in process groups of their own (see studies.serve)."""

    def __init__(self) -> None:
        program = Path(__file__).parents[1] / "studies.py"
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | threads,
        )

    def ask(self, command: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    server = Server()
    yield server
    server.close()


def test_killed_ten_times_a_study_ends_with_the_trials_of_an_unbroken_one(
    whole: Study, server: Server, tmp_path: Path
) -> None:
    """kill -9 of the writer and its workers at random moments: before, between and in the middle of jobs."""
    path, chance = tmp_path / "people.study", Random(1)
    counts = [0]

    def count() -> int:
        return len(Study(path).trials()) if path.exists() else 0

    for killed in range(10):
        pid = server.ask(f"run {path} fork 2")
        wanted = counts[-1] + (1 if killed == 5 else chance.choice([0, 0, 1, 1, 2, 3, 5, 8]))
        patiently(partial(lambda wanted: count() >= wanted, wanted), 20)
        time.sleep(chance.random() / 50)
        if killed == 5:
            with pytest.raises(FacsimileError, match="E411"):
                explore(Study.open(path), Here(SETUP))
        os.killpg(pid, signal.SIGKILL)
        assert server.ask("wait") == -signal.SIGKILL, "it was killed before it ended"
        counts.append(count())
    assert counts == sorted(counts), "nothing is ever lost"
    assert 0 < counts[-1] < len(whole.trials())
    study = Study.open(path)
    assert explore(study, Here(study.setup)).finished
    assert timeless(study.trials()) == timeless(whole.trials())
    assert study.configurations() == whole.configurations()


def living(group: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = status.read_text().rsplit(")", 1)
            state, _, of = rest.split()[:3]
            if int(of) == group and state != "Z":
                found.append(int(pid.split()[0]))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_do_not_outlive_a_writer_that_was_killed(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "people.study"
    pid = server.ask(f"run {path} spawn 1")
    try:
        assert patiently(lambda: path.exists() and bool(Study(path).trials()), 60)
        assert len(living(pid)) > 1
        os.kill(pid, signal.SIGKILL)
        server.ask("wait")
        assert patiently(lambda: not living(pid), 10), "a worker is left behind for ever"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
