"""The program, started many times: one process has everything imported and forks for each command.

    with Forked() as program:
        program(terminal, "facsimile release …")              a command line, as the terminal runs it
        program(terminal, "facsimile release …", full=3)      from its third durable write on the disk is full
        program(terminal, "facsimile release …", count=True)  tells how often it wrote durably as the exit code

A child has the folder, the variables and the screen that the terminal gives its programs. It does what the
installed script does: it calls `facsimile.cli.main`.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace

from journeys.terminal import Terminal, Told, read_screen, screen_pair

LONGEST = 1 << 16
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Ask:
    """A command line, where and with which variables it runs, and the write from which on the disk is full."""

    line: str
    folder: str
    environment: dict[str, str]
    interactive: bool
    full: int | None
    count: bool


class Forked:
    """A process that forks commands."""

    def __enter__(self) -> Forked:
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "journeys.forking", str(theirs.fileno())],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        return self

    def __exit__(self, *_: object) -> None:
        self.ours.close()
        self.process.wait(60)

    def __call__(
        self,
        at: Terminal,
        line: str,
        variables: Mapping[str, str] = NOTHING,
        full: int | None = None,
        count: bool = False,
    ) -> Told:
        ask = Ask(line, str(at.folder), at.environment() | {**variables}, at.interactive, full, count)
        ours, theirs = screen_pair(at.interactive)
        socket.send_fds(self.ours, [json.dumps(asdict(ask)).encode()], [theirs])
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as screen:
            said = read_screen(screen)
        code = int(self.ours.recv(LONGEST))
        return Told(code if code >= 0 else 128 - code, said)


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


def child(ask: Ask, screen: int) -> int:
    """One command, on the screen of the test."""
    from facsimile.cli import main

    os.setsid()
    os.dup2(screen if ask.interactive else os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(screen, number)
    os.close(screen)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", buffering=1, encoding="utf-8") for n in (1, 2))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    os.environ.clear()
    os.environ.update(ask.environment)
    os.chdir(ask.folder)
    tempfile.tempdir = None
    written = disk(ask.full)
    sys.argv = shlex.split(ask.line)
    try:
        main()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        return written[0] if ask.count else int(ended.code or 0)
    return 1


def serve(asked: socket.socket) -> None:
    """Import everything that a command needs, start no thread, and answer."""
    import ibis.backends.duckdb.converter  # noqa: F401

    import facsimile

    for found in walk_packages(facsimile.__path__, "facsimile."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    while True:
        said, screens, _, _ = socket.recv_fds(asked, LONGEST, 1)
        if not said:
            return
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                asked.close()
                code = child(Ask(**json.loads(said)), screens[0])
            finally:
                os._exit(code)
        os.close(screens[0])
        asked.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
