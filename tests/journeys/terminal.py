"""A terminal: the installed program, started as a person or a script starts it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from journeys.forking import Forked

PIECES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\r\n]|[^\x1b\r\n]+")
UP, ERASE = "\x1b[1A", "\x1b[2K"
PATIENCE = 400
ROWS, COLUMNS = 40, 100
KEPT = ("LANG", "TZ", "JAVA_HOME", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Told:
    """How a command ended and what stands on the screen."""

    code: int
    screen: str

    @property
    def last(self) -> str:
        """The last line."""
        lines = self.screen.strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def error(self) -> str | None:
        """The code of the first error on the screen."""
        found = re.search(r"^(E[0-9]{3}) ", self.screen, re.MULTILINE)
        return found[1] if found else None


@dataclass(frozen=True)
class Terminal:
    """Types commands in a folder: in a pseudo-terminal, or with pipes as a script has them.

    The installed program is started for each; or, which is quicker, a process that has it imported forks.
    """

    folder: Path
    interactive: bool
    variables: dict[str, str] = field(default_factory=dict)
    forked: Forked | None = None

    def environment(self) -> dict[str, str]:
        """What a curator has, and nothing of the test's but how many threads it may take."""
        home = self.folder / ".home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin"))
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {"PATH": path, "HOME": str(home), "TERM": "xterm", **kept, **self.variables}

    def __call__(self, line: str, **variables: str) -> Told:
        """Type a line and wait for its end."""
        if self.forked is not None:
            return self.forked(self, line, variables)
        with self.started(line, **variables) as (process, screen):
            said = read_screen(screen)
            code = process.wait(PATIENCE)
        return Told(code if code >= 0 else 128 - code, said)

    def killed(self, line: str, after: float) -> bool:
        """Type a line and kill the program after some seconds; whether it was still running."""
        with self.started(line) as (process, screen):
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            running = process.wait(PATIENCE) == -signal.SIGKILL
            read_screen(screen)
        return running

    @contextlib.contextmanager
    def started(self, line: str, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        """A running command and what it writes."""
        ours, theirs = screen_pair(self.interactive)
        process = subprocess.Popen(
            shlex.split(line),
            cwd=self.folder,
            env=self.environment() | variables,
            stdin=theirs if self.interactive else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            with os.fdopen(ours, "rb", buffering=0) as screen:
                yield process, screen
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(PATIENCE)


def screen_pair(interactive: bool) -> tuple[int, int]:
    """Our end and the program's end of a terminal, or of a pipe."""
    ours, theirs = pty.openpty() if interactive else os.pipe()
    if interactive:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return ours, theirs


def read_screen(screen: IO[bytes]) -> str:
    """What stands on the screen when the last program that holds the other end is gone."""
    pieces = []
    with contextlib.suppress(OSError):  # a pseudo-terminal ends in an error
        while piece := screen.read(1 << 16):
            pieces.append(piece)
    return _shown(b"".join(pieces))


def _shown(said: bytes) -> str:
    """What is left on the screen: colours gone, and lines that were erased or written over."""
    lines, row, start = [""], 0, True
    for piece in PIECES.findall(said.decode()):
        if piece == "\n":
            row, start = row + 1, True
            lines += [""] * (row == len(lines))
        elif piece == "\r":
            start = True
        elif piece == UP:
            row = max(0, row - 1)
        elif piece == ERASE:
            lines[row] = ""
        elif not piece.startswith("\x1b"):
            lines[row], start = piece if start else lines[row] + piece, False
    return "\n".join(lines)
