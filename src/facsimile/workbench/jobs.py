"""Jobs: what takes its time is a command of the program, run beside the page; what it says is shown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_LINES = 200


@dataclass
class Job:
    """One command in the specification's folder, and what it said so far."""

    words: tuple[str, ...]
    folder: Path
    said: list[str] = field(default_factory=list)
    answer: str = ""
    process: subprocess.Popen[str] | None = None
    stopped: bool = False

    @property
    def typed(self) -> str:
        """The same command, as somebody would type it."""
        return subprocess.list2cmdline(("facsimile", *self.words))

    def start(self) -> None:
        """Begin."""
        self.process = subprocess.Popen(
            (sys.executable, "-m", "facsimile", *self.words),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        for reader in (self._answers, self._says):
            threading.Thread(target=reader, args=(self.process,), daemon=True).start()

    def _answers(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as told:
            self.answer = told.read()

    def _says(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        with process.stderr as said:
            for line in said:
                self.said = [*self.said[-MOST_LINES:], line.rstrip()]

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process is not None and self.process.poll() is None

    @property
    def done(self) -> bool:
        """Whether it ended well."""
        return self.process is not None and self.process.poll() == 0

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise, and not because somebody stopped it."""
        return self.process is not None and self.process.poll() not in (None, 0) and not self.stopped

    @property
    def last(self) -> str:
        """The last line it said."""
        return self.said[-1] if self.said else ""

    @property
    def failure(self) -> str:
        """Why it failed, where it was asked for JSON or said so."""
        found = told(self)
        error = found.get("error") if isinstance(found, dict) else None
        return f"{error['code']} {error['message']} {error['next']}" if error else self.last

    def stop(self) -> None:
        """End it and all that it started: what it wrote so far is whole, and the same command goes on."""
        if self.running and self.process is not None:
            self.stopped = True
            if sys.platform == "win32":
                self.process.terminate()
            else:
                os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


class Jobs:
    """The last job of each kind; one of a kind runs at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.latest, self.lock = folder, dict[str, Job](), threading.Lock()

    def start(self, kind: str, words: Sequence[str]) -> Job:
        """Begin a job, unless one of its kind runs."""
        with self.lock:
            job = self.latest.get(kind)
            if job is None or not job.running:
                job = self.latest[kind] = Job(tuple(words), self.folder)
                job.start()
            return job

    def __getitem__(self, kind: str) -> Job | None:
        return self.latest.get(kind)

    def states(self) -> dict[str, Any]:
        """Which run, and what each said last."""
        return {kind: [job.running, job.last] for kind, job in self.latest.items()}

    def stop(self) -> None:
        """End all."""
        for job in self.latest.values():
            job.stop()


def told(job: Job) -> Any:
    """What a job that was asked for JSON found; None where it found nothing."""
    try:
        return json.loads(job.answer)
    except ValueError:
        return None
