"""Commands in children of one process that has everything imported: what each told, took and left.

    with Children() as children:
        children("verify", folder)                            a command line, as `facsimile` runs it
        children("release", …, die="decided")                 killed at a named or numbered step
        children("release", …, fault=("fsync", 7))            the seventh sync fails with EIO
        children("release", …, hold="decided")                stands still there; children.go_on() lets it end

A child does what the installed script does: it calls `facsimile.cli.main`. Its processor time and memory are
its own: what the imports cost was paid before.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SECONDS, MEGABYTES = 1.0, 200
"""What a hostile specification or bundle may take."""
LIMIT_SECONDS, LIMIT_BYTES = 20, 4 << 30
"""Where a child is stopped that takes far more."""
IMPORTED = (
    "ibis.backends.duckdb.converter",
    "ibis.backends.sqlite",
    "opendp.measurements",
    "pyreadstat",
    "typst",
)
OURS = ("explore.run", "explore.report", "release.replicates", "release.run", "release.verify", "api.answers")
GO_ON, HELD = "go on", "held"
FAULTS = {"write": errno.ENOSPC, "fsync": errno.EIO}


@dataclass(frozen=True)
class Ask:
    """A command line, where it runs, and what goes wrong meanwhile."""

    words: list[str]
    folder: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    die: str | None = None
    fault: tuple[str, int] | None = None
    largest_file: int | None = None
    clock: str | None = None
    hold: str | None = None
    hurried: bool = False
    """Waits for no lock."""


@dataclass(frozen=True)
class Told:
    """How a command ended, what it said, and what it took beyond its imports."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0
    steps: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def error(self) -> str | None:
        """The code of the first error."""
        found = re.search(r"^(E[0-9]{3}) ", self.err, re.MULTILINE)
        return found[1] if found else None


class Children:
    """A process that forks commands."""

    def __enter__(self) -> Children:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def __call__(self, *words: object, **how: Any) -> Told:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(Ask([str(word) for word in words], **how))) + "\n")
        self.process.stdin.flush()
        return Told(**json.loads(self.process.stdout.readline()))

    def go_on(self) -> Told:
        """Let the child that is held go on to its end."""
        return self(GO_ON)


def _status(name: str) -> float:
    """A figure of this process in megabytes."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _instrumented(ask: Ask) -> tuple[list[str], dict[str, int]]:
    """Steps are noted and may kill; writes and syncs are counted and may fail."""
    from facsimile import storage
    from facsimile.privacy import ledger
    from facsimile.release import bundle, run

    steps: list[str] = []
    counts = dict.fromkeys(FAULTS, 0)

    def reached(name: str) -> None:
        steps.append(name)
        if ask.die in (name, str(len(steps))):
            os.kill(os.getpid(), signal.SIGKILL)
        if ask.hold == name and steps.count(name) == 1:
            os.kill(os.getpid(), signal.SIGSTOP)

    def failing(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any) -> Any:
            counts[name] += 1
            if ask.fault is not None and ask.fault[0] == name and counts[name] == ask.fault[1]:
                raise OSError(FAULTS[name], "a fault")
            return real(*arguments)

        return call

    for module in (storage, ledger, bundle, run):
        vars(module)["reached"] = reached
    vars(storage)["os"] = SimpleNamespace(**{**vars(os), **{name: failing(name) for name in FAULTS}})
    return steps, counts


def _limited(ask: Ask) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))
    now = int(_status("VmSize")) << 20
    resource.setrlimit(resource.RLIMIT_AS, (now + LIMIT_BYTES, now + LIMIT_BYTES))
    if ask.largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ask.largest_file, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _on(day: str) -> None:
    """Another clock: the day that a run takes for today."""
    from datetime import date

    from facsimile.privacy import ledger
    from facsimile.release import run

    class Day(date):
        @classmethod
        def today(cls) -> Any:
            return date.fromisoformat(day)

    for module in (ledger, run):
        vars(module)["date"] = Day


def _hurried() -> None:
    from facsimile.privacy import dataset, ledger

    ledger.Ledger.__init__.__defaults__ = (0.0, None)
    vars(dataset)["PATIENCE_SECONDS"] = 0


def _child(ask: Ask, out: Path) -> dict[str, Any]:
    """The command itself."""
    from facsimile.cli import main

    os.environ.update(ask.environment)
    tempfile.tempdir = None
    os.chdir(ask.folder or out)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(out / name, os.O_WRONLY | os.O_CREAT, 0o600), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    steps, counts = _instrumented(ask)
    if ask.clock:
        _on(ask.clock)
    if ask.hurried:
        _hurried()
    Path("/proc/self/clear_refs").write_text("5")
    began, had = _processor(), _status("VmRSS")
    sys.argv = ["facsimile", *ask.words]
    _limited(ask)
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    took = {"seconds": _processor() - began, "megabytes": max(0.0, _status("VmHWM") - had)}
    return {"code": code, "steps": steps, "counts": counts, **took}


@dataclass(frozen=True)
class Begun:
    """A child that lives."""

    pid: int
    pipe: int
    kept: tempfile.TemporaryDirectory[str]

    @classmethod
    def of(cls, ask: Ask) -> Begun:
        kept = tempfile.TemporaryDirectory()
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(writing, json.dumps(_child(ask, Path(kept.name))).encode())
            finally:
                os._exit(0)
        os.close(writing)
        return cls(pid, reading, kept)

    def stands(self) -> bool:
        """Whether it stopped at a step; it is waited for."""
        found = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return found is not None and found.si_code == os.CLD_STOPPED

    def ended(self) -> dict[str, Any]:
        with os.fdopen(self.pipe, "rb") as pipe:
            said = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with self.kept as place:
            told = {name: _text(Path(place) / name) for name in ("out", "err")}
        return {"code": code if code else 1, **told, **(json.loads(said) if said else {})}


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def serve() -> None:
    """Import everything that a command needs, start no thread, and answer."""
    for name in (*IMPORTED, *(f"facsimile.{name}" for name in OURS)):
        import_module(name)
    held: list[Begun] = []
    for line in sys.stdin:
        ask = Ask(**json.loads(line))
        if ask.words == [GO_ON]:
            os.kill(held[0].pid, signal.SIGCONT)
            answer = held.pop().ended()
        else:
            begun = Begun.of(ask)
            if ask.hold is not None and begun.stands():
                held.append(begun)
                answer = {"code": 0, "out": HELD, "err": ""}
            else:
                answer = begun.ended()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
