"""The budget ledger: one append-only file for each dataset.

A line is `LENGTH CRC {json}`: the length of the JSON and its CRC-32 in hex, then one entry. Entries are
numbered, and each holds the hash of the line before it. Anchors (anchor.py) hold the number and hash of the
last entry in other places: a ledger that was rolled back, cut or replaced by a copy no longer fits them.
Amounts are whole micro-ε, rounded up.

    charge:  lock → verify chain and anchors → not (spent + x <= cap)? refuse → append → sync → anchors →
    receipt

Only then may a mechanism see the table. There are no refunds: whatever happens after the charge, it counts.
A hash chain shows accidents and careless copies; who controls the whole machine can still forge all files.

A charge that may go on after a crash (`begin`) is held by an operating-system lock from the charge to its end.
The lock ends with its process, so a charge without an end and without a lock is one that a crash left; a living
one is never shared.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from facsimile.errors import refusal
from facsimile.line import hashed, parsed, written
from facsimile.privacy.anchor import NOTHING, Anchor, Mark, nothing_charged
from facsimile.privacy.budget import Cost
from facsimile.spec.decimals import show_decimal
from facsimile.storage import Hold, append, locked, reached, read, suspect

MICRO = 10**6
PATIENCE_SECONDS = 30.0
KINDS = ("open", "charge", "decided", "done", "halted", "stopped", "incident")
End = Literal["done", "halted", "stopped", "incident"]


def micro(epsilon: Fraction) -> int:
    """Micro-ε, rounded up.

    >>> micro(Fraction(1, 3))
    333334
    """
    return -(-epsilon.numerator * MICRO // epsilon.denominator)


def _amount(cost: Cost) -> int:
    amount = micro(cost.epsilon)
    if cost.delta or amount < 1:
        raise refusal("E303")
    return amount


@dataclass(frozen=True)
class Charged:
    """A charge: its number, where files of its own lie, and whether its outcome was decided before.

    The place lies beside the data, named by ledger and number: it is the same wherever the ledger is moved to.
    """

    sequence: int
    place: Path
    decided: bool = False


class Receipt:
    """Proof of a charge; it opens the table once. `resumed`: of a charge that a crash left without an end."""

    def __init__(self, charge: Charged, hold: Hold | None = None, resumed: bool = False) -> None:
        self.charge, self.resumed = charge, resumed
        self._hold, self._fresh = hold, True

    def use(self) -> None:
        """Spend the receipt."""
        if not self._fresh:
            raise refusal("E302")
        self._fresh = False

    def let_go(self, ended: bool) -> None:
        """Give up the lock of the charge: at its end, or to leave it to the next run."""
        if self._hold is not None:
            self._hold.let_go(forget=ended)
            self._hold = None


@dataclass(frozen=True)
class State:
    """What a verified ledger says."""

    identifier: str
    tag: str
    cap: int
    spent: int
    sequence: int
    head: str
    entries: tuple[dict[str, Any], ...]

    @property
    def remaining(self) -> int:
        """What may still be charged, in micro-ε."""
        return self.cap - self.spent

    @property
    def before(self) -> int:
        """What earlier ledgers of the same data had spent, in micro-ε."""
        return int(self.entries[0].get("before", 0))

    @property
    def data(self) -> str:
        """What the data was called when the ledger was opened."""
        return str(self.entries[0].get("data", ""))

    @property
    def mark(self) -> Mark:
        """How far it has come."""
        return Mark(self.identifier, self.sequence, self.head, self.spent, self.before)

    def upto(self, sequence: int) -> tuple[str, int]:
        """The head after an entry, and what had been spent in all by then."""
        later = self.entries[sequence + 1 : sequence + 2]
        spent = sum(entry.get("micro", 0) for entry in self.entries[: sequence + 1])
        return (later[0]["prev"] if later else self.head), spent

    def left_open(self, purpose: str) -> int | None:
        """The number of the last charge of this purpose that has no end."""
        ended = set(self.ended())
        left = [e["seq"] for e in self.entries if e.get("purpose") == purpose and e["seq"] not in ended]
        return left[-1] if left else None

    def ended(self) -> list[int]:
        """The numbers of all charges that have an end."""
        return [entry["charge"] for entry in self.entries if "charge" in entry and entry["kind"] != "decided"]

    def decided(self, sequence: int) -> bool:
        """Whether the outcome of a charge was on disk once."""
        return any(entry["kind"] == "decided" and entry["charge"] == sequence for entry in self.entries)


class MemoryLedger:
    """For rehearsals: counts, refuses beyond its cap, writes nothing."""

    def __init__(self, cap: Fraction | None = None) -> None:
        self.cap, self.spent, self.sequence = cap, Fraction(0), 0

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        """Charge a cost or refuse."""
        amount = _amount(cost)
        if self.cap is not None and not (self.spent + cost.epsilon <= self.cap):
            raise refusal("E301", asked=shown(amount), remaining=shown(micro(self.cap - self.spent)))
        self.spent += cost.epsilon
        self.sequence += 1
        return Receipt(Charged(self.sequence, Path()))

    def begin(self, cost: Cost, purpose: str) -> Receipt:
        """The same: no crash leaves a charge open here."""
        return self.charge(cost, purpose)

    def close(self, receipt: Receipt, kind: End = "done") -> None:
        """How a charge ends is noted nowhere."""

    decided = close


@dataclass(frozen=True)
class Ledger:
    """A ledger on disk, its anchor, and the file of the dataset's key that knows it too."""

    path: Path
    anchor: Path
    patience: float = PATIENCE_SECONDS
    key: Path | None = None

    @classmethod
    def at(cls, path: Path, anchor: Path | None = None, key: Path | None = None) -> Ledger:
        """The ledger of this file; its anchor lies beside it unless another place is named."""
        return cls(path, anchor or path.with_name(path.name + ".anchor"), key=key)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """Where it is known how far the ledger has come."""
        return (Anchor(self.anchor), *(() if self.key is None else (Anchor(self.key),)))

    def create(self, tag: str, cap: Fraction, again: bool = False, name: str = "") -> State:
        """Begin a ledger for the dataset of this tag and, for people, this name; its cap never changes.

        Data that has a ledger gets another one only `again`, on purpose: what the earlier ones had spent
        stands in its first entry. Anchors say that it is being made before it is there, so that a crash is
        recognised.
        """
        with nothing_charged(), self._alone():
            marks = [anchor.read() for anchor in self.anchors]
            mine, data = marks[0], marks[1] if self.key is not None else None
            if data is not None and data.sequence > NOTHING and not again:
                raise refusal("E316")
            if mine is not None and mine.sequence > NOTHING:
                raise refusal("E401")
            if self.path.exists():
                if mine is None or read(self.path).count(b"\n") > 1:
                    raise refusal("E401")
                self.path.unlink()  # a crash fell into its creation: nothing was ever charged to it
            if mine is not None:
                suspect(self.path).unlink(missing_ok=True)
            before = 0 if data is None else data.before + data.spent
            identifier = secrets.token_hex(16)
            self._mark(Mark(identifier, NOTHING, "", 0, before))
            first = {"kind": "open", "cap": cap.numerator * MICRO // cap.denominator, "tag": tag, "format": 1}
            self._append({**first, "id": identifier, "before": before, "data": name})
            return self._verified()

    def made(self) -> bool:
        """Whether there is a ledger, and not only what a crash left of its creation."""
        mark = Anchor(self.anchor).read()
        return self.path.exists() and (mark is None or mark.sequence > NOTHING)

    def state(self) -> State:
        """Read and verify the ledger; an anchor that a crash left one entry behind is advanced."""
        if not self.path.exists():
            raise refusal("E314")
        with self._alone():
            return self._verified()

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        """Charge a cost, durably, or refuse; only the receipt opens the table."""
        amount = _amount(cost)
        with self._alone():
            state = self._verified()
            sequence = self._charged(state, amount, purpose)
            return Receipt(Charged(sequence, self.place(state, sequence)))

    def begin(self, cost: Cost, purpose: str) -> Receipt:
        """Go on under the charge of this purpose that a crash left open, or charge; for one process at a time.

        Theorem.  At no moment do two receipts of one charge exist in living processes.
        Proof.    A receipt is handed out with the charge's lock only [A], which the operating system gives to
          one holder and takes back when that process lets go or ends. Finding the charge, taking its lock and
          writing a new one happen while the ledger itself is locked [B], so nobody acts on an older state.  QED
        """
        amount = _amount(cost)
        with self._alone():  # [B]
            state = self._verified()
            left = state.left_open(purpose)
            sequence = state.sequence + 1 if left is None else left
            place = self.place(state, sequence)
            hold = Hold.of(_lock(place))  # [A]
            if hold is None:
                raise refusal("E320")
            try:
                if left is None:
                    self._charged(state, amount, purpose)
                elif state.entries[left]["micro"] != amount:
                    raise refusal("E304")
            except BaseException:
                hold.let_go(forget=left is None)
                raise
            charge = Charged(sequence, place, state.decided(sequence))
            return Receipt(charge, hold, resumed=left is not None)

    def unfinished(self, purpose: str) -> bool:
        """Whether a crash left a charge of this purpose open; refused while a living process has it."""
        with self._alone():
            state = self._verified()
            left = state.left_open(purpose)
            hold = None if left is None else Hold.of(_lock(self.place(state, left)))
            if hold is not None:
                hold.let_go()
        if left is not None and hold is None:
            raise refusal("E320")
        return left is not None

    def decided(self, receipt: Receipt) -> None:
        """Note that the outcome of a charge is on disk: nothing is searched again under it."""
        with self._alone():
            state = self._verified()
            if not state.decided(receipt.charge.sequence):
                self._append({"kind": "decided", "charge": receipt.charge.sequence}, state)

    def close(self, receipt: Receipt, kind: End) -> None:
        """Note how what was charged ended: done, halted (without a release), stopped or incident."""
        ended = False
        try:
            with self._alone():
                self._append({"kind": kind, "charge": receipt.charge.sequence}, self._verified())
            ended = True
        finally:
            receipt.let_go(ended)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold ledger and anchors: two copies of a ledger may share an anchor."""
        with contextlib.ExitStack() as stack:
            for path in (self.path, *(anchor.path for anchor in self.anchors)):
                stack.enter_context(locked(path, self.patience))
            yield

    def place(self, state: State, sequence: int) -> Path:
        """Where files of a charge lie: beside the data's key, or beside a ledger that knows none."""
        beside = self.key or self.path
        return beside.with_name(f"{beside.name}.{state.identifier}.{sequence}")

    def _charged(self, state: State, amount: int, purpose: str) -> int:
        """Append a charge and return its number."""
        if not (state.spent + amount <= state.cap):
            raise refusal("E301", asked=shown(amount), remaining=shown(state.remaining))
        charge = {"kind": "charge", "micro": amount, "purpose": purpose, "day": date.today().isoformat()}
        charge["nonce"] = secrets.token_hex(8)  # charged again after a rollback, the head is another
        self._append(charge, state)
        reached("charged")
        return state.sequence + 1

    def _append(self, fields: dict[str, Any], state: State | None = None) -> None:
        """An entry after the last one, or the first one of all; then the anchors."""
        last = Mark(fields["id"], NOTHING, "", 0, fields["before"]) if state is None else state.mark
        line = written({"seq": last.sequence + 1, "prev": last.head, **fields})
        append(self.path, line, create=state is None)
        reached("anchor")
        spent = last.spent + fields.get("micro", 0)
        self._mark(replace(last, sequence=last.sequence + 1, head=hashed(line), spent=spent))

    def _mark(self, mark: Mark) -> None:
        for anchor in self.anchors:
            anchor.write(mark)

    def _verified(self) -> State:
        if suspect(self.path).exists():
            raise refusal("E310")
        try:
            content = read(self.path)
        except OSError:
            raise refusal("E314") from None
        state = verify(content)
        for anchor in self.anchors:
            self._check(anchor, state, content.splitlines(keepends=True))
        return state

    def _check(self, anchor: Anchor, state: State, lines: list[bytes]) -> None:
        """One behind: a crash fell between entry and anchor, so advance it. Ahead: the ledger went back."""
        mark = anchor.read()
        if mark is None:
            raise refusal("E318")
        if anchor.path == self.key and mark.ledger != state.identifier:
            raise refusal("E316" if mark.ledger else "E315")
        if mark.ledger != state.identifier:
            raise refusal("E311")
        if mark.sequence > state.sequence:
            raise refusal("E312")
        changed = mark.sequence > NOTHING and hashed(lines[mark.sequence]) != mark.head
        if changed or mark.sequence < state.sequence - 1:
            raise refusal("E311")
        if mark.sequence == state.sequence - 1:
            anchor.write(state.mark)


def _lock(place: Path) -> Path:
    return place.with_name(place.name + ".lock")


def verify(content: bytes) -> State:
    """Check every line, number and hash of a ledger; refuse anything that does not fit."""
    if not content.endswith(b"\n"):
        raise refusal("E313")
    entries: list[dict[str, Any]] = []
    head = ""
    for sequence, line in enumerate(content.splitlines(keepends=True)):
        entry = parsed(line)
        if entry.get("seq") != sequence or entry.get("prev") != head or entry.get("kind") not in KINDS:
            raise refusal("E310")
        if (entry["kind"] == "open") is not (sequence == 0):
            raise refusal("E310")
        entries.append(entry)
        head = hashed(line)
    try:
        spent = sum(entry["micro"] for entry in entries if entry["kind"] == "charge")
        first = entries[0]
        return State(first["id"], first["tag"], first["cap"], spent, len(entries) - 1, head, tuple(entries))
    except KeyError:
        raise refusal("E310") from None


def shown(amount: int) -> str:
    """An amount of micro-ε for people.

    >>> shown(9_980_000)
    '9.98'
    """
    return show_decimal(Fraction(amount, MICRO))
