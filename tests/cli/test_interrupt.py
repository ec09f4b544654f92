"""Ctrl-C in a terminal: the whole group of processes gets it, and one calm line is left."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select

import pytest

from studies import write_files

PROGRAM = Path(sys.executable).with_name("facsimile")
LONG = ("--trials", "999", "--fresh", "2000", "--workers", "2")


class Terminal:
    """A command in a pseudo-terminal of its own, and everything it wrote."""

    def __init__(self, *arguments: str) -> None:
        self.said = ""
        self.pid, self._end = pty.fork()
        if not self.pid:
            os.execv(PROGRAM, [str(PROGRAM), *arguments])

    def read(self, seconds: float = 60.0, until: str | None = None) -> str:
        """Read until some text is there, or to the end."""
        end = time.monotonic() + seconds
        while (until is None or until not in self.said) and time.monotonic() < end:
            if select([self._end], [], [], 1.0)[0]:
                try:
                    self.said += os.read(self._end, 65536).decode(errors="replace")
                except OSError:
                    break
        return self.said

    def code(self) -> int:
        """How it ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    """A command that is gone in the end."""
    opened = Terminal(*arguments)
    try:
        yield opened
    finally:
        with suppress(ProcessLookupError):
            os.killpg(opened.pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
@pytest.mark.parametrize("moment", ["Starting the workers", " trials, "])
def test_ctrl_c_stops_an_exploration_without_a_traceback(tmp_path: Path, moment: str) -> None:
    """While its workers start, and in the middle of the race; the same command goes on."""
    spec, data = write_files(tmp_path)
    study = tmp_path / "people.study"
    command = ("explore", str(spec), "--data", str(data), "--public", "--out", str(study), *LONG)
    with terminal(*command) as shown:
        assert moment in shown.read(until=moment)
        os.killpg(shown.pid, signal.SIGINT)
        said = shown.read()
        code = shown.code()
    assert "Traceback" not in said and "KeyboardInterrupt" not in said, said
    lines = said.split("\r\n")
    assert [line for line in lines if line.strip()][-1] == "Stopped."
    assert "The study is whole: the same command goes on." in said
    assert code == 130
    if moment == " trials, ":
        with terminal(*command, "--time-limit", "0s", "--workers", "1") as again:
            assert "People" in again.read()
            assert again.code() == 0
