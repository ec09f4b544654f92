"""The runner: heavy packages are imported once, and each mutant runs its tests in a fork of that process.

    import of NumPy, ibis, OpenDP, pytest …    2 s, once
    fork, import of facsimile, collection      well under a second, for each mutant

What counts. A kill is a failing test (pytest's exit code 1), named. Tests that cannot be collected, a wrong
node id or no test at all are errors of the list, not kills. A file that the tests did not import from the
scratch copy is an error too: such a mutant was never tried. Running too long is an outcome of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from mutants.scratch import Scratch

Verdict = Literal["killed", "survived", "too long", "stillborn", "error"]
HEAVY = (
    "numpy", "pandas", "pyarrow.parquet", "duckdb", "ibis.backends.duckdb", "ibis.backends.sqlite",
    "opendp.measurements", "scipy.stats", "scipy.optimize", "scipy.sparse.csgraph", "scipy.special", "pydantic",
    "cryptography.hazmat.primitives.asymmetric.ed25519", "cryptography.hazmat.primitives.ciphers",
    "hypothesis.strategies", "hypothesis.stateful", "typer", "yaml", "rich.console", "rich.table", "jinja2",
    "_pytest.doctest", "networkx", "pyreadstat", "unittest.mock", "concurrent.futures.thread",
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One run of some tests, perhaps with another text in one file. `cpu`: seconds that it may compute."""

    name: str
    tests: tuple[str, ...]
    path: str | None = None
    text: str | None = None
    cpu: int = 120
    read: bool = False
    options: tuple[str, ...] = ()
    plugins: tuple[object, ...] = ()
    """More plugins of pytest for this run."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, by which test, after how long."""

    job: Job
    verdict: Verdict
    by: str = ""
    seconds: float = 0.0
    said: str = ""


@dataclass(eq=False)
class Notes:
    """A plugin of pytest: the first failure, and why collection failed if it did."""

    failed: list[str] = field(default_factory=list)
    ran: int = 0
    uncollected: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that failed, in whichever part."""
        self.ran += report.when == "call"
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that could not be imported."""
        if report.failed:
            self.uncollected.append(report.nodeid)


def preload() -> None:
    """Import what takes long and is never mutated; nothing of facsimile."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "facsimile" not in sys.modules, "a mutant must be imported anew"


def run(jobs: Iterable[Job], scratches: list[Scratch], patience: float = 6.0) -> Iterator[Outcome]:
    """The outcomes, as they come; one job at a time in each scratch copy.

    A job may take `patience` times its CPU seconds by the clock: waiting for ever is noticed too.
    """
    waiting = iter(jobs)
    free, running = list(scratches), dict[int, _Running]()
    try:
        while True:
            while free:
                job = next(waiting, None)
                if job is None:
                    break
                started = _Running.begin(job, free.pop(), patience)
                running[started.child] = started
            if not running:
                return
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                for late in [one for one in running.values() if time.monotonic() > one.until]:
                    late.stop()
                time.sleep(0.01)
            elif child in running:
                ended = running.pop(child)
                free.append(ended.scratch)
                yield ended.outcome(status)
    finally:
        for one in running.values():
            one.stop()
            os.waitpid(one.child, 0)
            one.held.close()


@dataclass(frozen=True)
class _Running:
    job: Job
    scratch: Scratch
    child: int
    began: float
    until: float
    held: contextlib.ExitStack

    @classmethod
    def begin(cls, job: Job, scratch: Scratch, patience: float) -> _Running:
        held = contextlib.ExitStack()
        if job.path is not None:
            held.enter_context(scratch.holding(job.path, job.text))
        (scratch.root / "found.json").unlink(missing_ok=True)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _tested(job, scratch)
        began = time.monotonic()
        return cls(job, scratch, child, began, began + patience * job.cpu, held)

    def stop(self) -> None:
        """End it and every program that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)

    def outcome(self, status: int) -> Outcome:
        """What was found; what it left running is ended."""
        self.stop()
        self.held.close()
        seconds = time.monotonic() - self.began
        said = (self.scratch.root / "said.txt").read_text("utf-8", "replace")[-3000:]
        try:
            found = json.loads((self.scratch.root / "found.json").read_text("utf-8"))
        except (OSError, ValueError):
            ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            slow = ended in (signal.SIGXCPU, signal.SIGKILL)
            return Outcome(self.job, "too long" if slow else "error", "", seconds, said)
        return Outcome(self.job, *_judged(found), seconds, said)


def _judged(found: dict[str, Any]) -> tuple[Verdict, str]:
    """What an exit code of pytest means for a mutant."""
    code, failed = found["code"], found["failed"]
    if code == 1 and failed and not found["loaded"]:
        return "error", "the mutated file was not the one that was imported"
    if code == 1 and failed:
        return "killed", failed[0]
    if code in (1, 2, 4) and found["uncollected"]:
        return "stillborn", found["uncollected"][0]
    if code != 0 or not found["ran"]:
        return "error", f"exit code {code}, {found['ran']} tests"
    if not found["loaded"]:
        return "error", "the mutated file was not the one that was imported"
    return "survived", ""


def _tested(job: Job, scratch: Scratch) -> None:
    """In the child: run the tests of a job in its scratch copy, note what came out, and end."""
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (job.cpu, job.cpu + 5))
        os.chdir(scratch.root)
        said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.path[:] = [*scratch.path, *(p for p in sys.path if not p.endswith(("/tests", "/src")))]
        os.environ |= {"PYTHONPATH": os.pathsep.join(scratch.path), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        notes = Notes()
        for name in [name for name in sys.modules if name.partition(".")[0] == "mutants"]:
            del sys.modules[name]
        os.environ.pop("PYTEST_ADDOPTS", None)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", "temporary"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported already
        code = int(pytest.main([*options, *job.options, *job.tests], [notes, *job.plugins]))
        loaded = job.path is None or job.read or _imported(scratch.root / job.path)
        found = {"code": code, "failed": notes.failed, "ran": notes.ran, "uncollected": notes.uncollected}
        Path(scratch.root / "found.json").write_text(json.dumps(found | {"loaded": loaded}), "utf-8")
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _imported(path: Path) -> bool:
    """Whether this very file is a module of the process."""
    places = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return str(path) in places
