"""Where trials run: processes and a Dask cluster give the trials of one process, also when some of them die."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.explore import pool as module
from facsimile.explore.pool import Cluster, Local, load, name_of, work
from facsimile.explore.run import News, explore
from facsimile.explore.study import Study
from facsimile.explore.trials import Job, Trial
from studies import RULE, Here, configurations, new_study, patiently, setup, timeless

SETUP = setup()
EVERY = configurations(SETUP.specification)
KILLER = EVERY[2].identifier


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run in this process."""
    study = new_study(tmp_path_factory.mktemp("alone") / "people.study")
    explore(study, Here(SETUP))
    return study


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    """Two workers; letting them go ends them."""
    found = Local(SETUP, 2)
    yield found
    found.close()
    assert patiently(lambda: not multiprocessing.active_children(), 20)


def workers() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def test_work_needs_a_setup_that_was_loaded() -> None:
    packed = SETUP.packed()
    load(name_of(packed), packed)
    job = Job((EVERY[0],), SETUP.specification.budget.generator, 0)
    assert timeless(work(name_of(packed), job)) == timeless(Here(SETUP).submit(job).result())
    assert name_of(packed) != name_of(setup(seed=8).packed())


def test_workers_compute_with_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with module._apart():
        assert {os.environ[key] for key in module._ONE_THREAD} == {"1"}
    assert dict(os.environ) == before


def test_two_processes_give_the_trials_of_one(alone: Study, local: Local, tmp_path: Path) -> None:
    """Ctrl-C is for the writer: workers do not mind it."""
    assert len(workers()) == local.slots() == 2
    for pid in workers():
        os.kill(pid, signal.SIGINT)
    study = new_study(tmp_path / "people.study")
    before = workers()
    assert explore(study, local).finished
    assert timeless(study.trials()) == timeless(alone.trials())
    assert workers() == before
    assert issubclass(MemoryError, local.lost), "what did not fit into memory is given out again"
    assert not local.stranded()


class Deadly:
    """Kills the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return signal.raise_signal, (signal.SIGKILL,)


class Poisoned:
    """A pool where every job of one configuration kills its worker."""

    def __init__(self, pool: Local) -> None:
        self.pool, self.lost, self.slots, self.close = pool, pool.lost, pool.slots, pool.close
        self.stranded = pool.stranded
        self.submitted: list[Job] = []

    def submit(self, job: Job) -> Future[list[Trial]]:
        self.submitted.append(job)
        deadly: Any = Deadly()
        return self.pool.submit(deadly if KILLER in {c.identifier for c in job.configurations} else job)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_lost_workers_cost_only_the_jobs_they_were_at(alone: Study, local: Local, tmp_path: Path) -> None:
    """One configuration kills each worker that gets it; later somebody kills a worker from outside."""
    study, pool = new_study(tmp_path / "people.study", replace(RULE, audited=0.0)), Poisoned(local)
    told: list[News] = []

    def watch(news: News) -> None:
        told.append(news)
        if len(told) == 40:
            os.kill(workers()[0], signal.SIGKILL)

    said = explore(study, pool, watch)
    assert said.finished
    lost = [trial for trial in study.trials() if trial.refused is not None]
    deadly = [job for job in pool.submitted if KILLER in {c.identifier for c in job.configurations}]
    assert {trial.name for trial in lost} == set(deadly[0].names())
    assert {trial.refused for trial in lost} == {"E700"}
    assert deadly == deadly[:1] * 3, "three attempts, and the configuration is dropped"
    again = len(pool.submitted) - len(deadly) - (len(told) - 1)
    assert 0 <= again <= 1, "a lost worker costs one job"
    gone = {trial.configuration for trial in lost}
    expected = [trial for trial in timeless(alone.trials()) if trial.configuration not in gone]
    assert [t for t in timeless(study.trials()) if t.configuration not in gone] == expected
    assert not gone & set(said.survivors)


# a cluster


def started(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """A process of Dask."""
    command = [sys.executable, "-m", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=os.environ | environment, **quiet)  # type: ignore[call-overload,no-any-return]


class Machines:
    """A scheduler and its workers, each a process on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self.scheduler = started(
            "distributed.cli.dask_scheduler",
            *("--port", "0", "--scheduler-file", str(self.file)),
            DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0",
        )
        self.workers: list[subprocess.Popen[bytes]] = []

    def add(self) -> None:
        """One more worker; it waits for the scheduler."""
        self.workers.append(
            started(
                "distributed.cli.dask_worker",
                *("--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny"),
                *("--local-directory", str(self.folder / f"worker{len(self.workers)}")),
                OMP_NUM_THREADS="1",
            )
        )

    def address(self) -> str:
        def known() -> str:
            with contextlib.suppress(OSError, ValueError):
                return str(json.loads(self.file.read_text())["address"])
            return ""

        assert patiently(lambda: bool(known()), 60)
        return known()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    found = Machines(tmp_path_factory.mktemp("cluster"))
    found.add()
    yield found
    found.close()


def test_a_cluster_gives_the_trials_of_one_process(alone: Study, machines: Machines, tmp_path: Path) -> None:
    """A worker comes later and learns the setup; the first one is killed with its jobs."""
    study = new_study(tmp_path / "people.study")
    pool = Cluster(SETUP, machines.address())
    machines.add()
    told: list[News] = []

    def watch(news: News) -> None:
        told.append(news)
        if len(told) == 10:
            assert patiently(lambda: pool.slots() == 4, 60), "two threads, two jobs each"
        if len(told) == 15:
            machines.workers[0].kill()

    try:
        assert explore(study, pool, watch).finished
        assert pool.slots() == 2
        assert not pool.stranded()
        machines.workers[1].kill()
        assert patiently(pool.stranded, 60)
        assert pool.slots() == 2, "jobs that wait make a cluster that grows on demand start workers"
        machines.add()
    finally:
        pool.close()
    assert timeless(study.trials()) == timeless(alone.trials())


def test_a_cluster_is_left_as_it_was(machines: Machines) -> None:
    """No setup stays in the memory of machines that others use too."""
    from distributed import Client

    connect: Any = Client
    with connect(machines.address(), set_as_default=False) as client:
        Cluster(SETUP, machines.address()).close()
        found = client.run_on_scheduler(lambda dask_scheduler: sorted(dask_scheduler.worker_plugins))
        assert not [name for name in found if "facsimile" in name]


def test_a_scheduler_that_dies_is_told_as_such(machines: Machines, tmp_path: Path) -> None:
    """What is finished is in the study; the same command goes on when there is a scheduler again."""
    study = new_study(tmp_path / "people.study")
    pool = Cluster(SETUP, machines.address())
    told: list[News] = []

    def watch(news: News) -> None:
        told.append(news)
        if len(told) == 5:
            machines.scheduler.kill()

    try:
        with pytest.raises(FacsimileError) as caught:
            explore(study, pool, watch)
        assert caught.value.code == "E413"
    finally:
        pool.close()
    assert len(study.trials()) >= 5
    with study.writing():
        pass


def impatient(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Clients that wait half a second; every one that is made."""
    import distributed

    made: list[Any] = []
    known: Any = distributed.Client

    class Impatient(known):  # type: ignore[misc]
        def __init__(self, address: str, **settings: Any) -> None:
            made.append(self)
            super().__init__(address, **(settings | {"timeout": "0.5s"}))

    monkeypatch.setattr(distributed, "Client", Impatient)
    return made


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense", "bogus://x:1", "tcp://x:y"]
)
def test_a_scheduler_that_cannot_be_reached_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no client is left that holds up the end of the program."""
    made = impatient(monkeypatch)
    with pytest.raises(FacsimileError) as caught:
        Cluster(SETUP, address)
    assert caught.value.code == "E413"
    left = [client for client in made if client.status != "closed"]
    for client in left:
        client.status = "closed"
    assert not left


def test_a_cluster_needs_the_package_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("distributed", "distributed.scheduler"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(FacsimileError) as caught:
        Cluster(SETUP, "tcp://127.0.0.1:1")
    assert caught.value.code == "E412"
