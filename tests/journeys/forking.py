"""The program, started many times: one process has everything imported and forks for each command.

    with Forked(folder, interactive) as program:
        program("release …")                   a command line, as Terminal runs it
        program("release …", full=3)           from its third durable write on the disk is full
        program("release …", count=True)       tells the number of its durable writes as the exit code

A child does what the installed script does: it calls `facsimile.cli.main`.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from journeys.terminal import Terminal, Told, read_screen, screen_pair


class Forked:
    """A process that forks commands."""

    def __init__(self, folder: Path, interactive: bool) -> None:
        self.folder, self.interactive = folder, interactive

    def __enter__(self) -> Forked:
        environment = Terminal(self.folder, self.interactive).environment()
        command = [sys.executable, "-m", "journeys.forking"]
        tests = str(Path(__file__).resolve().parent.parent)
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=environment | {"PYTHONPATH": tests}, **pipes
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def __call__(self, line: str, full: int | None = None, count: bool = False) -> Told:
        assert self.process.stdin is not None and self.process.stdout is not None
        ours, theirs = screen_pair(self.interactive)
        place = f"/proc/{os.getpid()}/fd/{theirs}"
        self.process.stdin.write(
            json.dumps({"line": line, "place": place, "full": full, "count": count}) + "\n"
        )
        self.process.stdin.flush()
        code = json.loads(self.process.stdout.readline())
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as screen:
            return Told(code, read_screen(screen))


def disk(full: int | None) -> list[int]:
    """Durable writes from now on are counted, and fail from the given one on."""
    from facsimile import storage

    written, write = [0], os.write

    def counted(descriptor: int, content: bytes) -> int:
        written[0] += 1
        if full is not None and written[0] >= full:
            raise OSError(errno.ENOSPC, "no space")
        return write(descriptor, content)

    vars(storage)["os"] = SimpleNamespace(**{**vars(os), "write": counted})
    return written


def child(line: str, place: str, full: int | None, count: bool) -> int:
    """One command, with the screen of the test."""
    from facsimile.cli import main

    screen = os.open(place, os.O_WRONLY)
    sys.stdout, sys.stderr = (open(os.dup(screen), "w", buffering=1) for _ in range(2))  # noqa: PTH123, SIM115
    written = disk(full)
    sys.argv = shlex.split(line)
    try:
        main()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        return written[0] if count else int(ended.code or 0)
    return 1


def serve() -> None:
    """Import everything that a release needs, start no thread, and answer."""
    import ibis.backends.duckdb.converter  # noqa: F401
    import typst  # noqa: F401

    import facsimile.release.run
    import facsimile.release.verify  # noqa: F401

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(child(**json.loads(line)))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps(code), flush=True)


if __name__ == "__main__":
    serve()
