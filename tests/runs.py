"""Releases in processes of their own, many of them: one process has everything imported and forks for each run.

    with Runs() as runs:
        runs.run(folder)                       a release; what it ended in
        runs.run(folder, die="decided")        killed at a named or numbered step, or "decided+2"
        runs.run(folder, after=0.2)            killed after some seconds
        runs.race([Ask(...), Ask(...)])        several at once

A run ends in its error code, None for a release, or "killed". Its PDF is not typeset, which takes half of its
time: what a crash leaves behind does not depend on its letters. tests/hostile and the journeys typeset theirs.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Ask:
    """One run: where, which output, when it dies, whether all halt, whether δ is declared, from which write on
    the disk is full, whether noisy tables are published."""

    folder: str
    out: str = "bundle"
    die: str | None = None
    after: float | None = None
    halts: bool = False
    ledger: str = "budget/people.ledger"
    wait: float = 0.0
    delta: bool = False
    full: int | None = None
    tables: bool = False


@dataclass(frozen=True)
class Ended:
    """What a run ended in, how many steps it passed, and what it said."""

    code: str | None
    steps: int = 0
    data_hash: str | None = None
    core: int | None = None
    dumpable: int | None = None


class Runs:
    """A process that forks runs."""

    def __enter__(self) -> Runs:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def run(self, folder: Path, **how: Any) -> Ended:
        return self.race([Ask(str(folder), **how)])[0]

    def race(self, asks: list[Ask]) -> list[Ended]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([asdict(ask) for ask in asks]) + "\n")
        self.process.stdin.flush()
        return [Ended(**found) for found in json.loads(self.process.stdout.readline())]


def released(ask: Ask) -> Ended:
    """The run itself, in a child."""
    import resource

    from facsimile import storage
    from facsimile.errors import FacsimileError
    from facsimile.privacy import ledger
    from facsimile.release import bundle, run
    from releases import approximate, request, specification

    passed: list[str] = []

    named, _, later = (ask.die or "").partition("+")

    def reached(name: str) -> None:
        passed.append(name)
        place = len(passed) - 1 - int(later or 0)
        if named == str(len(passed)) or (place >= 0 and passed[place] == named):
            os.kill(os.getpid(), signal.SIGKILL)

    for module in (storage, ledger, bundle, run):
        module.reached = reached  # type: ignore[attr-defined]
    real, left = os.write, iter(range((ask.full or 0) - 1, -1, -1))

    def write(descriptor: int, content: bytes) -> int:
        if ask.full is not None and next(left, 0) == 0:
            raise OSError(errno.ENOSPC, "no space")
        return real(descriptor, content)

    vars(storage)["os"] = SimpleNamespace(**{**vars(os), "write": write})
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    if sys.platform == "linux":
        assert ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0 and dumpable() == 1
    folder = Path(ask.folder)
    never: dict[str, Any] = {"selection": {"mode": "single"}, "criteria": [IMPOSSIBLE]} if ask.halts else {}
    never |= {"publish": ["tables"]} if ask.tables else {}
    spec = approximate(**never) if ask.delta else specification(**never)
    asked = request(folder, specification=spec, out=folder / ask.out, ledger=folder / ask.ledger)
    time.sleep(ask.wait)
    code, data_hash = None, None
    try:
        data_hash = run.release(asked).data_hash
    except FacsimileError as error:
        code = error.code
    core = resource.getrlimit(resource.RLIMIT_CORE)[0]
    return Ended(code, len(passed), data_hash, core, dumpable())


def dumpable() -> int:
    """Whether Linux would write an image of this process, or hand one to a program (PR_GET_DUMPABLE)."""
    return int(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)) if sys.platform == "linux" else 0


IMPOSSIBLE = {"criterion": "marginals-absolute", "threshold": "0.0001", "epsilon": "0.5"}


def forked(ask: Ask) -> tuple[int, int, float | None]:
    """A child that runs, the pipe it answers through, and when it is to be killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        found: dict[str, Any] = {"code": "crashed"}
        try:
            os.close(reading)
            found = asdict(released(ask))
        finally:
            os.write(writing, json.dumps(found).encode())
            os._exit(0)
    os.close(writing)
    return child, reading, None if ask.after is None else time.monotonic() + ask.after


def raced(asks: list[Ask]) -> list[dict[str, Any]]:
    children = [forked(ask) for ask in asks]
    for child, _, end in children:
        if end is not None:
            time.sleep(max(0.0, end - time.monotonic()))
            os.kill(child, signal.SIGKILL)
    found = []
    for child, reading, _ in children:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        found.append(json.loads(said) if said else {"code": "killed"})
    return found


def serve() -> None:
    """Import everything once, what a release imports late included, and start no thread; then answer."""
    import ibis.backends.duckdb.converter  # noqa: F401
    import opendp.measurements  # noqa: F401

    import releases  # noqa: F401
    from facsimile.documents import readme
    from typesetting import NEVER

    vars(readme)["typst"] = NEVER
    pages = readme._templates("en")
    for name in pages.list_templates(["html"]):
        if not name.startswith("explorer"):  # it has an environment of its own
            pages.get_template(name)

    for line in sys.stdin:
        print(json.dumps(raced([Ask(**ask) for ask in json.loads(line)])), flush=True)


if __name__ == "__main__":
    serve()
