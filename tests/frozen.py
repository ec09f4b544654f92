"""Whole releases by the command, their answers recorded or frozen: nothing of the kind exists in the program.

A run has a folder of its own with the same relative names, so that everything it says and writes can be
compared byte for byte. Frozen beside the tape are facts, which no record makes: the day, the identifier and
nonces of the ledger, the suffix of the transcript; and the dataset's tag. The tag is an HMAC of the file under
a key that lies beside it: to who does not have the key it is a random number, and it reaches a bundle only
through the head of the ledger. It is the one thing that may differ with a record, or with the order of rows.

    FROZEN=FOLDER facsimile release …      with `customize(folder)` on the path: the installed command itself
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

from facsimile import cli
from facsimile.audit.replay import Trace, listening
from facsimile.audit.tape import Tape, TapedCurator
from facsimile.privacy import ledger
from facsimile.privacy.curator import Curator
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.private import Private, Sealed
from facsimile.privacy.transcript import Transcript
from facsimile.release import bundle, opening, run
from facsimile.release.scheme import Scheme
from facsimile.spec.release import Specification

Rows = Sequence[Sequence[str]]
COMMAND = "release release.yaml --data people.csv --ledger people.ledger -o bundle"
FOREVER = contextlib.ExitStack()
TRANSCRIPT = "size of people.csv.transcript-"


class Today(date):
    """A day that does not end while a test runs."""

    @classmethod
    def today(cls) -> Today:
        return cls(2026, 11, 17)


def laid_out(folder: Path, spec: Specification, rows: Rows, header: Sequence[str]) -> Path:
    """A folder with a specification and a confidential file."""
    folder.mkdir()
    said = spec.model_dump(mode="json", exclude_none=True)
    (folder / "release.yaml").write_text(json.dumps(said, ensure_ascii=False), "utf-8")
    (folder / "people.csv").write_text("\n".join(",".join(row) for row in (header, *rows)) + "\n")
    return folder


@contextlib.contextmanager
def installed(tape: Tape, steps: list[str], opened: list[int]) -> Iterator[None]:
    """Every release of this process hears the tape; steps tell the sizes of all files, and configurations."""

    def production(sealed: Sealed, book: ledger.Ledger, record: Transcript) -> Curator:
        return TapedCurator(sealed, book, tape, record)

    def reached(step: str) -> None:
        here = sorted(path for path in Path().rglob("*") if path.is_file())
        sizes = [f"{p.as_posix()} {p.stat().st_size}" for p in here if not hidden(p.name)]
        steps.append(f"{step}: {', '.join(sizes)}")

    def counted(box: Private[Any], really: Callable[[Private[Any]], Any] = Private._open) -> Any:
        opened.append(1)
        return really(box)

    def drawn(scheme: Scheme, really: Callable[[Scheme], Any] = Scheme.drawn) -> Any:
        recipe = really(scheme)
        steps.append(f"configuration {recipe.configuration.as_json()}")
        return recipe

    with contextlib.ExitStack() as stack:
        for owner, name, value in (
            (Curator, "production", production), (Private, "_open", counted), (Scheme, "drawn", drawn),
            (run, "reached", reached), (bundle, "reached", reached),
            (run, "date", Today), (ledger, "date", Today),
            (secrets, "token_hex", lambda size: "5a" * size),
            (opening, "dataset_tag", lambda data, key: "0" * 64),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(owner, name, value))
        yield


def released(folder: Path, tape: Tape, workers: int = 1) -> Trace:
    """The command, run in this process in a folder that was laid out; and everything that came out of it."""
    outputs: dict[str, bytes] = {}
    steps: list[str] = []
    opened: list[int] = []
    typed = ["facsimile", *COMMAND.split(), "--workers", str(workers)]
    with (
        contextlib.chdir(folder),
        installed(tape, steps, opened),
        listening(outputs),
        mock.patch.object(sys, "argv", typed),
    ):
        try:
            cli.main()
        except SystemExit as stopped:
            outputs["exit code"] = str(stopped.code).encode()
    configurations = [step for step in steps if step.startswith("configuration")]
    if workers > 1:
        configurations.sort()  # indices run side by side
    outputs["configurations"] = "\n".join(configurations).encode()
    outputs["steps"] = "\n".join(step for step in steps if not step.startswith("configuration")).encode()
    return Trace(outputs | left(folder), tape, len(opened))


def hidden(name: str) -> bool:
    """The data themselves; and the transcript, which grows with every rejected candidate."""
    return name == "people.csv" or ".transcript-" in name


def left(folder: Path) -> dict[str, bytes]:
    """Every file that a run left, to the byte; of the transcript, which holds noise, the size."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if "transcript" in name:
            found[TRANSCRIPT] = str(path.stat().st_size).encode()
        elif name != "people.csv":
            found[name] = path.read_bytes()
    return found


def customize(folder: Path) -> Path:
    """A folder for PYTHONPATH in which every Python first does what `from_environment` does."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import frozen\n\nfrozen.from_environment()\n")
    return folder


def from_environment() -> None:
    """In a program that a test started with FROZEN: answer from FROZEN/tape, or else record to it."""
    if "FROZEN" not in os.environ:
        return
    import atexit

    place = Path(os.environ["FROZEN"])
    held = pickle.loads((place / "tape").read_bytes()) if (place / "tape").exists() else None
    tape, steps, opened = Tape(RehearsalNoise(int(os.environ["FROZEN_SEED"])), held), list[str](), list[int]()
    FOREVER.enter_context(installed(tape, steps, opened))

    def kept() -> None:
        told: dict[str, Any] = {
            "steps": steps,
            "findings": [*tape.findings, *tape.left()],
            "opened": len(opened),
            "calls": tape.calls(),
        }
        (place / ("replayed" if held else "recorded")).write_text(json.dumps(told))
        if held is None:
            (place / "tape").write_bytes(pickle.dumps(tape.tracks))

    atexit.register(kept)
