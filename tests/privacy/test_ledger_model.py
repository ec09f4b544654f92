"""A state machine: a ledger that is charged, crashed, copied and restored, against a plain dictionary."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from facsimile import storage
from facsimile.errors import FacsimileError
from facsimile.privacy import ledger as ledger_module
from facsimile.privacy.budget import Cost
from facsimile.privacy.ledger import MICRO, Ledger, Receipt, verify

CAP = 40
ANCHOR_STEPS = 4  # append, written, synced, replaced
ENTRY_STEPS = 8  # append, written, synced, anchor, and the anchor's own
amounts = st.integers(1, 12)
Files = tuple[bytes, bytes]
Model = dict[str, Any]


class Crash(BaseException):
    """The process ends here."""


def cost(amount: int) -> Cost:
    return Cost(Fraction(amount, MICRO))


def moved(step: int, behind: bool) -> tuple[bool, bool]:
    """Whether a crash at a step of a charge leaves a new entry, and whether it leaves the anchor at the end."""
    step -= ANCHOR_STEPS if behind else 0
    if step < 1:
        return False, step == 0
    return step > 1, step == 1 or step >= ENTRY_STEPS


def verdict(ledger: Model, anchor: Model) -> str | None:
    """What a ledger of one moment deserves beside an anchor of another: it fits, or is one entry ahead."""
    place = len(anchor["heads"]) - 1 - anchor["behind"]
    ahead = len(ledger["heads"]) - 1 - place
    if ahead < 0:
        return "E312"
    return None if ahead <= 1 and ledger["heads"][place] == anchor["heads"][place] else "E311"


class LedgerMachine(RuleBasedStateMachine):
    """The model holds the amount of each entry (0 for an ending), the head after it, what was handed out, and
    whether the anchor is one entry behind.

    A failed write is a crash of the program here, so syncing is left out: it only costs time.
    """

    copies: Bundle[tuple[Files, Model]] = Bundle("copies")

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "fsync", lambda _: None)
        self.folder = Path(tempfile.mkdtemp())
        self.book = Ledger.at(self.folder / "ledger")
        self.model: Model = {"entries": [], "heads": [], "received": 0, "behind": False}
        self.published: set[str] = set()
        self.receipts: list[Receipt] = []

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.folder)

    def grown(self, amount: int) -> None:
        """Note a new entry: its head was never seen before, whatever was rolled back."""
        head = verify(self.book.path.read_bytes()).head
        assert head not in self.published
        self.published.add(head)
        self.model["entries"].append(amount)
        self.model["heads"].append(head)

    def files(self) -> Files:
        return self.book.path.read_bytes(), self.book.anchor.read_bytes()

    def put(self, files: Files) -> None:
        for path, content in zip((self.book.path, self.book.anchor), files, strict=True):
            path.unlink(missing_ok=True)
            path.write_bytes(content)

    def crashing(self, step: int, action: Callable[[], object]) -> bool:
        """Run an action that crashes at its n-th step; whether it did."""
        left = iter(range(step - 1, -1, -1))

        def reached(_: str) -> None:
            if next(left, 1) == 0:
                raise Crash

        with pytest.MonkeyPatch.context() as patch:
            for module in (storage, ledger_module):
                patch.setattr(module, "reached", reached)
            try:
                action()
            except Crash:
                return True
        return False

    @initialize()
    def create(self) -> None:
        self.book.create("tag", Fraction(CAP, MICRO))
        self.grown(0)

    @rule(amount=amounts)
    def charge(self, amount: int) -> None:
        fits = sum(self.model["entries"]) + amount <= CAP
        try:
            self.receipts.append(self.book.charge(cost(amount), "model"))
        except FacsimileError as error:
            assert error.code == "E301" and not fits
        else:
            assert fits
            self.grown(amount)
            self.model["received"] += amount
        self.model["behind"] = False

    @rule(amount=amounts, step=st.integers(1, ANCHOR_STEPS + ENTRY_STEPS + 1))
    def crash(self, amount: int, step: int) -> None:
        """No receipt comes out of a crash; at most one entry stays."""
        fits = sum(self.model["entries"]) + amount <= CAP
        behind = self.model["behind"]
        step = min(step, ENTRY_STEPS + 1 + (ANCHOR_STEPS if behind else 0))
        if not fits and step > (ANCHOR_STEPS if behind else 0):
            return self.charge(amount)
        assert self.crashing(step, lambda: self.book.charge(cost(amount), "model"))
        entry, anchored = moved(step, behind)
        if entry:
            self.grown(amount)
        self.model["behind"] = not anchored
        return None

    @precondition(lambda self: self.receipts)
    @rule()
    def end(self) -> None:
        self.book.close(self.receipts.pop(), "done")
        self.grown(0)
        self.model["behind"] = False

    @precondition(lambda self: self.receipts)
    @rule(step=st.integers(1, ENTRY_STEPS))
    def crash_while_ending(self, step: int) -> None:
        """The charge stays; the note on how it ended may be lost."""
        self.book.state()
        assert self.crashing(step, lambda: self.book.close(self.receipts.pop(), "stopped"))
        entry, anchored = moved(step, False)
        if entry:
            self.grown(0)
        self.model["behind"] = not anchored

    @rule()
    def reopen(self) -> None:
        self.book = Ledger.at(self.folder / "ledger")
        state = self.book.state()
        assert state.spent == sum(self.model["entries"]) and state.remaining == CAP - state.spent
        self.model["behind"] = False

    @rule(target=copies)
    def copy(self) -> tuple[Files, Model]:
        return self.files(), copy.deepcopy(self.model)

    @rule(kept=copies)
    def restore_the_ledger_alone(self, kept: tuple[Files, Model]) -> None:
        """Refused, or no receipt is forgotten: an entry the anchor never saw had handed out none."""
        now = self.files()
        self.put((kept[0][0], now[1]))
        if self.judged(verdict(kept[1], self.model)) is None:
            assert sum(kept[1]["entries"]) >= self.model["received"]
        self.put(now)

    @rule(kept=copies)
    def restore_the_anchor_alone(self, kept: tuple[Files, Model]) -> None:
        now = self.files()
        self.put((now[0], kept[0][1]))
        self.judged(verdict(self.model, kept[1]))
        self.put(now)

    def judged(self, expected: str | None) -> str | None:
        try:
            self.book.state()
        except FacsimileError as error:
            assert error.code == expected
        else:
            assert expected is None
        return expected

    @rule(kept=copies)
    def restore_both(self, kept: tuple[Files, Model]) -> None:
        """Undetectable on the machine, by design; heads that were published before show it."""
        self.put(kept[0])
        self.model = copy.deepcopy(kept[1])
        self.receipts.clear()

    @rule()
    def lose_the_anchor(self) -> None:
        now = self.files()
        self.book.anchor.unlink()
        self.judged("E318")
        self.put(now)

    @invariant()
    def the_file_says_what_the_model_says(self) -> None:
        if not self.model["entries"]:
            return
        state = verify(self.book.path.read_bytes())
        assert [entry.get("micro", 0) for entry in state.entries] == self.model["entries"]
        assert self.model["received"] <= state.spent <= CAP


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=80, stateful_step_count=40)
