"""Charges: a real ledger on this disk, asked by several processes at once, and a search that asks too much."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from facsimile.documents.evidence import Evidence
from facsimile.errors import FacsimileError
from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Allowance, Curator
from facsimile.privacy.ledger import MICRO, Ledger, MemoryLedger
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import Single
from facsimile.privacy.noise import SystemNoise
from facsimile.privacy.reader import rehearse
from facsimile.table.table import Table
from facsimile.testing import small_domain

RACERS, TRIES = 3, 6
EACH = Fraction(1, 10)
CAP = Fraction(1)
PURPOSE = "audit"


def race(path: Path) -> None:
    """One process: charge as often as it is allowed."""
    for _ in range(TRIES):
        with contextlib.suppress(FacsimileError):
            Ledger.at(path).charge(Cost(EACH), PURPOSE)


def hold(path: Path, taken: str) -> None:
    """One process: go on under a charge of this purpose, if nobody else does, and keep it for a while."""
    with contextlib.suppress(FacsimileError):
        receipt = Ledger.at(path).begin(Cost(EACH), PURPOSE)
        Path(f"{path}.{taken}").touch()
        receipt.let_go(ended=False)


def charges() -> Iterator[Evidence]:
    """The cap holds under a race; a living charge is not shared; a search answers no more than its plan."""
    with tempfile.TemporaryDirectory() as folder:
        yield _capped(Path(folder) / "capped")
        yield _alone(Path(folder) / "alone")
    yield _planned()


def _run(*calls: tuple[Any, ...]) -> None:
    """Each call in a process of its own, all at once."""
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    processes = [context.Process(target=call, args=arguments) for call, *arguments in calls]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _capped(path: Path) -> Evidence:
    book = Ledger.at(path)
    book.create("audit", CAP)
    _run(*((race, path) for _ in range(RACERS)))
    spent = book.state().spent / MICRO
    said = f"{RACERS} processes charge {float(EACH)} up to {RACERS * TRIES} times against a cap"
    return Evidence(
        "ledger.refuse_beyond", "charges", "a race", said, float(CAP), spent, spent == CAP, float(CAP)
    )


def _alone(path: Path) -> Evidence:
    book = Ledger.at(path)
    book.create("audit", CAP)
    receipt = book.begin(Cost(EACH), PURPOSE)
    _run((hold, path, "shared"))
    shared = Path(f"{path}.shared").exists()
    receipt.let_go(ended=False)
    _run((hold, path, "resumed"))
    resumed, charged = (
        Path(f"{path}.resumed").exists(),
        sum(e["kind"] == "charge" for e in book.state().entries),
    )
    said = "processes that work under one charge while it is held; it goes on when its holder is gone"
    fine = not shared and resumed and charged == 1
    return Evidence("ledger.begin", "charges", "one charge", said, 1.0, 1.0 + shared, fine, 1.0)


def _planned() -> Evidence:
    """What a search answers beyond its plan: a part twice, more than an allowance has, or after its end."""
    sealed = rehearse(Table.from_rows(small_domain(2), [[0], [1]]))
    asked, answered = NoisyMarginals(((("a",), EACH),)), list[int]()
    plan = Plan(EACH, EACH, EACH, Single(false_accept=EACH))
    kept: list[Allowance] = []

    def beyond(allowance: Allowance) -> None:
        with contextlib.suppress(FacsimileError):
            allowance.run(asked)
            answered.append(1)

    def index(allowance: Allowance, number: int) -> int:
        allowance.run(asked)
        beyond(allowance)
        beyond(kept[0])
        kept.append(allowance)
        return number

    with Curator(sealed, MemoryLedger(), SystemNoise()).search(plan, PURPOSE) as search:
        kept.append(search.once())
        kept[0].run(asked)
        search.find(index)
        kept.append(search.after())
        kept[-1].run(asked)
        for allowance in kept:
            beyond(allowance)
        for again in (search.once, search.after):
            with contextlib.suppress(FacsimileError):
                beyond(again())
    for allowance in kept:
        beyond(allowance)
    found = float(np.sum(answered))
    said = "answers to questions beyond the plan of a search"
    return Evidence("curator.Search", "charges", "too many questions", said, 0.0, found, found == 0)
