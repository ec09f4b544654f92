"""The study: one SQLite file with a specification, a public table and every finished trial.

One process writes at a time; a trial is in the file whole or not at all, so after kill -9 the same command goes
on with what is missing. Anyone may read while it grows.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from facsimile.errors import FacsimileError, refusal
from facsimile.explore.race import RaceRule
from facsimile.explore.setup import Setup
from facsimile.explore.trials import Trial
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.load import loads
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.spec.text import LARGEST
from facsimile.storage import locked

FORMAT = "facsimile study 2"
SETUP = "ground"  # its name in files of this format
PATIENCE = 30.0
MOST_BYTES, MOST_TRIALS = 1 << 27, 10**9
"""Of one value: the setup, which holds the public table, is the largest; and of one configuration."""
TRIAL = TypeAdapter(Trial)
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE configurations (identifier TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
    configuration TEXT NOT NULL REFERENCES configurations, generator TEXT NOT NULL, number INTEGER NOT NULL,
    accepted INTEGER NOT NULL, fit_seconds REAL NOT NULL, seconds REAL NOT NULL, refused TEXT,
    readings TEXT NOT NULL, rooms TEXT NOT NULL,
    PRIMARY KEY (configuration, generator, number)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Study:
    """A study's file."""

    path: Path

    @classmethod
    def create(cls, path: Path, source: str, setup: Setup, rule: RaceRule, data: str) -> Study:
        """A new study: `source` is the specification's own text, `data` the public file's name."""
        if path.exists():
            raise refusal("E401")
        about = {
            "format": FORMAT,
            "source": source,
            SETUP: setup.packed(),
            "rule": json.dumps(asdict(rule)),
            "data": data,
        }
        fresh = path.with_name(path.name + ".new")
        try:
            fresh.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(fresh)) as file, file:
                file.executescript(_TABLES)
                file.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            os.link(fresh, path)  # unlike a rename it never replaces a study that appeared meanwhile
            fresh.unlink()
        except FileExistsError:
            fresh.unlink(missing_ok=True)
            raise refusal("E401") from None
        except (OSError, sqlite3.Error):
            raise refusal("E403") from None
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Study:
        """A study that exists."""
        study = cls(path)
        if not path.is_file() or not study._plain() or study._about("format") != FORMAT:
            raise refusal("E410")
        return study

    def _plain(self) -> bool:
        """Whether it holds nothing but tables and short texts: a view would run what somebody wrote into it."""
        with self._connected() as file:
            odd = file.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone()
            texts = "SELECT 1 FROM about WHERE key != ? AND (typeof(value) != 'text' OR length(value) > ?)"
            return not odd and not file.execute(texts, (SETUP, LARGEST)).fetchone()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(locked(self.path, 0.0))
            except FacsimileError as error:
                raise refusal("E411" if error.code == "E320" else "E403") from None
            yield

    @cached_property
    def setup(self) -> Setup:
        """The specification sized to the public table, the table at its finest refinement, and the seed."""
        with _intact():
            return Setup.unpacked(self._about(SETUP))

    @cached_property
    def declared(self) -> Specification:
        """The specification as it was given."""
        return loads(self.source)

    @property
    def source(self) -> str:
        """The specification's own text."""
        return str(self._about("source"))

    @property
    def data(self) -> str:
        """The name of the public file."""
        return str(self._about("data"))

    @cached_property
    def rule(self) -> RaceRule:
        """How the race is run."""
        with _intact():
            return RaceRule(**json.loads(self._about("rule")))

    def add(self, configurations: Iterable[Configuration], trials: Sequence[Trial]) -> None:
        """Trials that finished together, in one step; one that is there already stays."""
        with self._connected("E403") as file, file:
            file.executemany(
                "INSERT OR IGNORE INTO configurations VALUES (?, ?)",
                [(c.identifier, json.dumps(c.as_json(), ensure_ascii=False)) for c in configurations],
            )
            file.executemany(
                "INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, trials)
            )

    def trials(self) -> list[Trial]:
        """Every finished trial, by configuration, epsilon and number."""
        order = " ORDER BY configuration, generator, number"
        with self._connected() as file, _intact():
            return [_trial(row) for row in file.execute("SELECT * FROM trials" + order)]

    def configurations(self) -> dict[str, Configuration]:
        """Every configuration that was tried, by its identifier."""
        with self._connected() as file:
            rows = file.execute("SELECT identifier, body FROM configurations").fetchall()
        with _intact():
            return {identifier: Configuration(**json.loads(body)) for identifier, body in rows}

    def _about(self, key: str) -> Any:
        with self._connected() as file:
            row = file.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    @contextlib.contextmanager
    def _connected(self, otherwise: str = "E410") -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=PATIENCE)) as file:
                file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
                yield file
        except sqlite3.Error:
            raise refusal(otherwise) from None


@contextlib.contextmanager
def _intact() -> Iterator[None]:
    """Content that cannot be what was written is a study that cannot be read."""
    try:
        yield
    except (FacsimileError, sqlite3.Error):
        raise
    except Exception:  # archives, arrays and JSON each fail in ways of their own, too large ones among them
        raise refusal("E410") from None


def _row(trial: Trial) -> tuple[Any, ...]:
    readings, noiseless = ([asdict(part) for part in parts] for parts in (trial.readings, trial.noiseless))
    costs = (trial.fit_seconds, trial.seconds)
    return *trial.name, int(trial.accepted), *costs, trial.refused, json.dumps(readings), json.dumps(noiseless)


def _trial(row: tuple[Any, ...]) -> Trial:
    """The trial of a row; ValueError where a part of it is of another kind than what was written."""
    names = ("configuration", "generator", "number", "accepted", "fit_seconds", "seconds", "refused")
    parts = dict(zip(names, row, strict=False)) | {
        "readings": json.loads(row[7]),
        "noiseless": json.loads(row[8]),
    }
    found = TRIAL.validate_python(parts)
    if parse_decimal(found.generator) <= 0 or not 0 <= found.number <= MOST_TRIALS:
        raise ValueError("no trial")
    return found


def levels(trials: Iterable[Trial]) -> list[Fraction]:
    """The generator's epsilons that were tried, the largest first."""
    return sorted({parse_decimal(trial.generator) for trial in trials}, reverse=True)
