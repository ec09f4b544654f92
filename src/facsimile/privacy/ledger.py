"""The budget ledger: one append-only file for each dataset.

A line is `LENGTH CRC {json}`: the length of the JSON and its CRC-32 in hex, then one entry. Entries are
numbered, and each holds the hash of the line before it. The anchor is a second small file, best kept in
another place, with the number and hash of the last entry: a ledger that was rolled back or replaced by a
copy no longer fits it. Amounts are whole micro-ε, rounded up.

    charge:  lock → verify chain and anchor → not (spent + x <= cap)? refuse → append → sync → anchor → receipt

Only then may a mechanism see the table. There are no refunds: whatever happens after the charge, it counts.
A hash chain shows accidents and careless copies; who controls the whole machine can still forge both files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol

from facsimile.errors import refusal
from facsimile.privacy.budget import Cost
from facsimile.storage import append, locked, reached, read, replace, suspect

MICRO = 10**6
PATIENCE_SECONDS = 30.0
KINDS = ("open", "charge", "done", "stopped", "incident")
End = Literal["done", "stopped", "incident"]


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


class Receipt:
    """Proof of a charge; it opens the table once."""

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        self._fresh = True

    def use(self) -> None:
        """Spend the receipt."""
        if not self._fresh:
            raise refusal("E302")
        self._fresh = False


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


class Charges(Protocol):
    """Where a curator charges: a ledger on disk, or one in memory for rehearsals."""

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        """Charge a cost or refuse."""

    def close(self, receipt: Receipt, kind: End) -> None:
        """Note how what was charged ended."""


class MemoryLedger:
    """For rehearsals: counts, refuses beyond its cap, writes nothing."""

    def __init__(self, cap: Fraction | None = None) -> None:
        self.cap, self.spent, self.sequence = cap, Fraction(0), 0

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        """See Charges."""
        amount = _amount(cost)
        if self.cap is not None and not (self.spent + cost.epsilon <= self.cap):
            raise refusal("E301", asked=_shown(amount), remaining=_shown(micro(self.cap - self.spent)))
        self.spent += cost.epsilon
        self.sequence += 1
        return Receipt(self.sequence)

    def close(self, receipt: Receipt, kind: End) -> None:
        """See Charges."""


@dataclass(frozen=True)
class Ledger:
    """A ledger on disk and its anchor."""

    path: Path
    anchor: Path
    patience: float = PATIENCE_SECONDS

    @classmethod
    def at(cls, path: Path, anchor: Path | None = None) -> Ledger:
        """The ledger of this file; its anchor lies beside it unless another place is named."""
        return cls(path, anchor or path.with_name(path.name + ".anchor"))

    def create(self, tag: str, cap: Fraction) -> State:
        """Begin a ledger for the dataset of this tag; its cap never changes."""
        with self._alone():
            if self.path.exists() or self.anchor.exists():
                raise refusal("E401")
            first = {"kind": "open", "cap": cap.numerator * MICRO // cap.denominator, "tag": tag, "format": 1}
            self._append(_entry(0, "", {**first, "id": secrets.token_hex(16)}), create=True)
            return self._verified()

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
            if not (state.spent + amount <= state.cap):
                raise refusal("E301", asked=_shown(amount), remaining=_shown(state.remaining))
            charge = {"kind": "charge", "micro": amount, "purpose": purpose, "day": date.today().isoformat()}
            charge["nonce"] = secrets.token_hex(8)  # charged again after a rollback, the head is another
            self._append(_entry(state.sequence + 1, state.head, charge))
            reached("charged")
            return Receipt(state.sequence + 1)

    def unfinished(self, purpose: str) -> Receipt | None:
        """The receipt of a charge of this purpose that a crash left without an end."""
        entries = self.state().entries
        ended = {entry.get("charge") for entry in entries if entry["kind"] not in ("open", "charge")}
        left = [e["seq"] for e in entries if e.get("purpose") == purpose and e["seq"] not in ended]
        return Receipt(left[-1]) if left else None

    def close(self, receipt: Receipt, kind: End) -> None:
        """Note how what was charged ended: done, stopped or incident."""
        with self._alone():
            state = self._verified()
            ended = {"kind": kind, "charge": receipt.sequence}
            self._append(_entry(state.sequence + 1, state.head, ended))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold ledger and anchor: two copies of a ledger may share an anchor."""
        with locked(self.path, self.patience), locked(self.anchor, self.patience):
            yield

    def _append(self, line: bytes, create: bool = False) -> None:
        append(self.path, line, create)
        reached("anchor")
        replace(self.anchor, _anchor_line(json.loads(line[18:])["seq"], _hash(line)))

    def _verified(self) -> State:
        if suspect(self.path).exists():
            raise refusal("E310")
        try:
            content = read(self.path)
        except OSError:
            raise refusal("E314") from None
        state = verify(content)
        self._check_anchor(state, content)
        return state

    def _check_anchor(self, state: State, content: bytes) -> None:
        """One behind: a crash fell between entry and anchor, so advance it. Ahead: the ledger went back."""
        try:
            sequence, head = _read_anchor(read(self.anchor))
        except FileNotFoundError:
            if state.sequence > 0:
                raise refusal("E312") from None
            sequence, head = -1, ""
        except OSError:
            raise refusal("E314") from None
        if sequence > state.sequence:
            raise refusal("E312")
        lines = content.splitlines(keepends=True)
        if sequence >= 0 and _hash(lines[sequence]) != head:
            raise refusal("E311")
        if sequence < state.sequence - 1:
            raise refusal("E311")
        if sequence == state.sequence - 1:
            replace(self.anchor, _anchor_line(state.sequence, state.head))


def verify(content: bytes) -> State:
    """Check every line, number and hash of a ledger; refuse anything that does not fit."""
    if not content.endswith(b"\n"):
        raise refusal("E313")
    entries: list[dict[str, Any]] = []
    head = ""
    for sequence, line in enumerate(content.splitlines(keepends=True)):
        entry = _parsed(line)
        if entry.get("seq") != sequence or entry.get("prev") != head or entry.get("kind") not in KINDS:
            raise refusal("E310")
        if (entry["kind"] == "open") is not (sequence == 0):
            raise refusal("E310")
        entries.append(entry)
        head = _hash(line)
    try:
        spent = sum(entry["micro"] for entry in entries if entry["kind"] == "charge")
        first = entries[0]
        return State(first["id"], first["tag"], first["cap"], spent, len(entries) - 1, head, tuple(entries))
    except KeyError:
        raise refusal("E310") from None


def _entry(sequence: int, previous: str, fields: dict[str, Any]) -> bytes:
    body = json.dumps(
        {"seq": sequence, "prev": previous, **fields}, separators=(",", ":"), sort_keys=True
    ).encode()
    return b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)


def _parsed(line: bytes) -> dict[str, Any]:
    body = line[18:-1]
    if line != b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body):
        raise refusal("E310")
    try:
        entry = json.loads(body)
    except ValueError:
        raise refusal("E310") from None
    amount = entry.get("micro", 1) if isinstance(entry, dict) else None
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
        raise refusal("E310")
    return dict(entry)


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _anchor_line(sequence: int, head: str) -> bytes:
    return _entry(sequence, head, {"kind": "anchor"})


def _read_anchor(content: bytes) -> tuple[int, str]:
    if not content.endswith(b"\n") or content.count(b"\n") != 1:
        raise refusal("E310")
    entry = _parsed(content)
    if entry.get("kind") != "anchor":
        raise refusal("E310")
    return int(entry["seq"]), str(entry["prev"])


def _shown(amount: int) -> str:
    return f"{Fraction(amount, MICRO).__float__():g}"
