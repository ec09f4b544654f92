"""Replay: a release made twice, on two tables that differ in one record, with the same noisy answers.

Theorem (mechanisms.search.Plan) says what a release may depend on: noisy answers, coins, public draws, and of
the candidates the accepted one alone. So with these frozen (tape.py), on a neighbouring table, everything that
comes out must be the same byte for byte, and every question too. It is tried with

    a neighbour         one record replaced; whatever differs knows more of the table than noisy answers
    one rejected more   the same accepted candidate after one more rejected; whatever differs counts candidates,
                        or keeps something from one to the next
    other rows first    the same table in another order
    fresh noise         nothing frozen: here the files must differ, or the comparison is blind

Compared to the byte: the bundle with its names, standard output, standard error, log lines, and how it ended.
Compared in size, for they name ledger and day: ledger, anchor, journal. They lie beside the data, are as
confidential and outside the guarantee. So is the transcript, which grows with every rejected candidate and with
the records that a mean draws: its size is compared where neither differs. Time is not compared.

The release is made by the steps of a real one, of a town that was made up, in a folder that is thrown away.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TextIO, cast

from facsimile.audit import town
from facsimile.audit.tape import Tape, TapedCurator, Tracks, longer
from facsimile.documents.evidence import Evidence
from facsimile.documents.report import LedgerPlace
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.ledger import Ledger
from facsimile.privacy.noise import Noise, SystemNoise
from facsimile.privacy.private import Private, Sealed
from facsimile.privacy.reader import read_public
from facsimile.privacy.transcript import Transcript
from facsimile.release import bundle
from facsimile.release.journal import Journal
from facsimile.release.plan import plan_of
from facsimile.release.reporting import Release, report
from facsimile.release.run import searched, words
from facsimile.spec.release import Specification
from facsimile.table.table import Table
from facsimile.testing.contract import Broken

DAY = date(2026, 1, 1)
PLACE = LedgerPlace("0" * 32, 1, "0" * 64, "1", "0")
"""A day and a place in a ledger: facts, which a replay gives again."""
FROZEN, LONGER = "a neighbour", "one rejected more"
SHUFFLED, FRESH = "other rows first", "fresh noise"


@dataclass(frozen=True)
class Trace:
    """Everything that came out of a run, by its name; and its tape."""

    outputs: Mapping[str, bytes]
    tape: Tape
    opened: int = 0
    """How often the table's box was opened."""


def differences(first: Trace, again: Trace, but: Callable[[str], bool] = lambda name: False) -> list[str]:
    """What a replay found: other questions, other outputs; `but` says which outputs may differ."""
    names = sorted({*first.outputs, *again.outputs})
    other = [name for name in names if not but(name) and first.outputs.get(name) != again.outputs.get(name)]
    return [*again.tape.findings, *again.tape.left(), *(f"another {name}" for name in other)]


class Glass:
    """A box around a table that was made up: it is opened like `Private`, and counts."""

    def __init__(self, table: Table, openings: list[int]) -> None:
        self._table, self._openings = table, openings

    def _open(self) -> Table:
        self._openings.append(1)
        return self._table

    def _recoded(self, change: Callable[[Table], Table]) -> Glass:
        return Glass(change(self._table), self._openings)


class Ear(io.StringIO):
    """Hears this thread and those that it starts; what others write, a sign of life, goes on to the screen."""

    def __init__(self, screen: TextIO) -> None:
        super().__init__()
        self._screen = screen
        self._others = {*threading.enumerate()} - {threading.current_thread()}

    @property
    def _other(self) -> bool:
        return threading.current_thread() in self._others

    def write(self, text: str) -> int:
        return self._screen.write(text) if self._other else super().write(text)

    def flush(self) -> None:
        self._screen.flush() if self._other else super().flush()

    def isatty(self) -> bool:
        return self._other and self._screen.isatty()


@contextlib.contextmanager
def listening(outputs: dict[str, bytes]) -> Iterator[None]:
    """Keep what is printed and logged."""
    out, err, log = Ear(sys.stdout), Ear(sys.stderr), io.StringIO()
    handler, root = logging.StreamHandler(log), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        heard = {"standard output": out, "standard error": err, "log": log}
        outputs.update({name: text.getvalue().encode() for name, text in heard.items()})


def trace(spec: Specification, rows: list[town.Row], tape: Tape) -> Trace:
    """A release of the town by the steps of release/run.py, and everything that it leaves behind."""
    outputs: dict[str, bytes] = {}
    openings: list[int] = []
    with tempfile.TemporaryDirectory() as place, listening(outputs):
        folder = Path(place)
        table = read_public(town.write(rows, folder), spec)
        sealed = Sealed(cast("Private[Table]", Glass(table, openings)), table.domain, table.n)
        try:
            _released(spec, sealed, tape, folder)
            outputs["end"] = b"released"
        except (FacsimileError, Broken) as error:
            outputs["end"] = str(error).encode()
        _collect(folder, outputs)
    return Trace(outputs, tape, len(openings))


def _released(spec: Specification, sealed: Sealed, tape: Tape, folder: Path) -> None:
    book = Ledger.at(folder / "ledger")
    book.create("0" * 64, spec.budget.total, delta=spec.budget.delta)
    with Transcript(folder / "transcript") as record:
        curator = TapedCurator(sealed, book, tape, record)
        with curator.search(plan_of(spec), "replay") as search:
            journal = Journal(spec, search.charge.place, record)
            accepted = searched(spec, search, lambda _: words(search), journal).accepted
            if accepted is not None:
                made = Release.of(accepted, spec, PLACE)
                bundle.write(bundle.files(made, report(made, DAY), None, folder), folder / "bundle")
            search.finished, search.halted = True, accepted is None
    if accepted is None:
        raise refusal("E601")


def _collect(folder: Path, outputs: dict[str, bytes]) -> None:
    """The bundle's bytes; of what lies beside the data, the sizes."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith("bundle/") and path.is_file():
            outputs[name] = path.read_bytes()
        elif path.is_file() and path.name != "people.csv":
            outputs[f"size of {name.split('.')[0]}{path.suffix}"] = str(path.stat().st_size).encode()


def _grows(name: str) -> bool:
    return name == "size of transcript"


def evidence(noise: Noise | None = None) -> tuple[Evidence, ...]:
    """Replays of a made-up town, in every scheme and selection mode; and how often its table was opened."""
    source = noise or SystemNoise()
    return tuple(found for case in town.CASES for found in _evidence(case, source))


def _evidence(case: str, noise: Noise) -> Iterator[Evidence]:
    spec = town.specification(case)
    first = trace(spec, town.people(), Tape(noise))

    def replayed(rows: list[town.Row], tracks: Tracks | None = None) -> Trace:
        return trace(spec, rows, first.tape.again(tracks))

    edges = list(town.neighbours())
    edge, rows = edges[list(town.CASES).index(case) % len(edges)]
    yield _same(case, f"{FROZEN} ({edge})", differences(first, replayed(rows)))
    more = longer(first.tape.tracks) if spec.selection.mode != "single" else None
    if more is not None:
        yield _same(case, LONGER, differences(first, replayed(rows, more), _grows))
    if spec.selection.mode == "paper":  # it ends in a release: two halts would be alike
        yield _same(case, SHUFFLED, differences(first, replayed(town.shuffled())))
        yield _seen(case, differences(first, trace(spec, town.people(), Tape(noise))))
    calls = first.tape.calls()
    yield Evidence(
        "curator.Search", "opened", case,
        "The table is opened once for each recorded call of a mechanism, and never else.",
        calls, first.opened, first.opened == calls > 0,
    )  # fmt: skip


def _seen(case: str, found: list[str]) -> Evidence:
    words = "With nothing frozen the comparison finds a difference: it is not blind."
    count, told = len(found), f"{case}: {FRESH}"
    return Evidence("mechanisms.search.Plan", "replay", told, words, None, count, count > 0, 1)


def _same(case: str, tried: str, found: list[str]) -> Evidence:
    words = "With frozen answers everything else that comes out is the same, byte for byte."
    return Evidence("mechanisms.search.Plan", "replay", f"{case}: {tried}", words, 0, len(found), not found)
