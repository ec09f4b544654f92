"""Where trials run: processes of this machine, or a Dask cluster, behind one interface.

A worker loads a study's setup once. A worker that is lost costs only the trials it was at: they are given out
again, and one that keeps losing its worker counts as a trial without a candidate.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from typing import Any, Protocol

from facsimile.errors import refusal
from facsimile.explore.setup import Setup
from facsimile.explore.trials import Job, Trial, run

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PATIENCE = "20s"
_setups: dict[str, Setup] = {}


class Pool(Protocol):
    """Gives jobs to workers. `lost`: what a job ends with when its worker was lost."""

    lost: tuple[type[BaseException], ...]

    def slots(self) -> int:
        """How many jobs are worth having on their way."""

    def submit(self, job: Job) -> Future[list[Trial]]:
        """Run a job on some worker; a lost worker is replaced by the time the next job comes."""

    def stranded(self) -> bool:
        """Whether no worker is there to end what is on its way."""

    def close(self) -> None:
        """Let every worker go, at once."""


def load(name: str, packed: bytes) -> None:
    """Make a study's setup known in this process."""
    _setups[name] = Setup.unpacked(packed)


def work(name: str, job: Job) -> list[Trial]:
    """Run a job on a setup that this process knows."""
    return run(_setups[name], job)


def _begin(name: str, packed: bytes) -> None:
    """Ctrl-C is answered by the process that writes; it lets the workers go. They leave when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    load(name, packed)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def name_of(packed: bytes) -> str:
    """A name for a setup."""
    return hashlib.sha256(packed).hexdigest()[:16]


class Local:
    """Processes of this machine, each an executor of its own, so that one that is lost takes one job with it.

    A process has one thread: numerical libraries with more would only compete for the cores.
    """

    def __init__(self, setup: Setup, workers: int | None = None) -> None:
        self.lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, MemoryError)
        self._packed = setup.packed()
        self._name = name_of(self._packed)
        self._pools: list[ProcessPoolExecutor] = []
        self._busy: dict[int, Future[list[Trial]]] = {}
        try:
            with _apart():
                self._pools += [self._started() for _ in range(workers or os.cpu_count() or 1)]
                begun = [pool.submit(os.getpid) for pool in self._pools]
            for ready in begun:
                ready.result()
        except BaseException:
            self.close()
            raise

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, _begin, (self._name, self._packed))

    def slots(self) -> int:
        """One job for each process."""
        return len(self._pools)

    def submit(self, job: Job) -> Future[list[Trial]]:
        """Run a job on a process that has none."""
        places = range(len(self._pools))
        place = next((p for p in places if p not in self._busy or self._busy[p].done()), 0)
        try:
            self._busy[place] = self._pools[place].submit(work, self._name, job)
        except BrokenExecutor:
            with _apart():
                self._pools[place] = self._started()
                self._busy[place] = self._pools[place].submit(work, self._name, job)
        return self._busy[place]

    def stranded(self) -> bool:
        """Never: a process that is lost gives back its job."""
        return False

    def close(self) -> None:
        """Stop all processes."""
        for pool in self._pools:
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """Processes that are started inside compute with one thread each, and never hear Ctrl-C: it reaches every
    process of a terminal, and they would each print a traceback, also while they still start."""
    before = {key: os.environ.get(key) for key in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        with _deaf():
            yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """SIGINT waits until the end, and for ever in processes that are started inside; Windows has no such mask.

    The tracker of resources is started first, since its start would end the wait.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Cluster:
    """A Dask cluster, found by its scheduler's address; workers that come later learn the setup too."""

    def __init__(self, setup: Setup, address: str) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise refusal("E412") from None
        self.lost: tuple[type[BaseException], ...] = (CancelledError, KilledWorker, MemoryError)
        packed = setup.packed()
        self._name = name_of(packed)
        connect: Any = Client
        read: Any = get_address_host_port
        try:
            read(address)
            self._client: Any = connect(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise refusal("E413") from None
        self._client.register_plugin(_plugin(self._name, packed), name=f"facsimile-{self._name}")
        self._executor = self._client.get_executor(pure=False, allow_other_workers=False)

    def slots(self) -> int:
        """Two jobs for each thread of the workers that are there: the scheduler is far away."""
        return 2 * max(1, self._threads())

    def stranded(self) -> bool:
        """All workers left; the scheduler keeps their jobs until others come."""
        return not self._threads()

    def _threads(self) -> int:
        try:
            threads: dict[str, int] = self._client.nthreads()
        except OSError:
            raise refusal("E413") from None
        return sum(threads.values())

    def submit(self, job: Job) -> Future[list[Trial]]:
        """Run a job on some worker; the scheduler gives it out again when one is lost."""
        future: Future[list[Trial]] = self._executor.submit(work, self._name, job)
        return future

    def close(self) -> None:
        """Leave the cluster as it was."""
        self._executor.shutdown(wait=False)
        with contextlib.suppress(OSError):
            if self._client.status == "running":
                self._client.unregister_worker_plugin(f"facsimile-{self._name}")
        with contextlib.suppress(OSError):
            self._client.close()


def _plugin(name: str, packed: bytes) -> Any:
    """What every present and future worker does first."""
    from distributed import WorkerPlugin

    class Loaded(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            load(name, packed)

    return Loaded()
