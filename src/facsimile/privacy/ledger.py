"""The budget ledger: one append-only file for each dataset.

A line is `LENGTH CRC {json}`: the length of the JSON and its CRC-32 in hex, then one entry. Entries are
numbered, and each holds the hash of the line before it. Anchors (anchor.py) hold the number and hash of the
last entry in other places: a ledger that was rolled back, cut or replaced by a copy no longer fits them.
Amounts are whole micro-ε and pico-ρ, rounded up; δ is exact.

    charge:  lock → verify chain and anchors → not (spent + x <= cap)? refuse → append → sync → anchors →
    receipt

Only then may a mechanism see the table. There are no refunds: whatever happens after the charge, it counts.

A ledger has three caps, fixed when it is opened: ε, δ (0 unless it is given) and ρ (0 unless it is given). What
the ρ may cost in all is set aside at once: with half of the δ, ε(ρ, δ/2); the rest is for the other charges.

A hash chain shows accidents and careless copies; who controls the whole machine can still forge all files.

A charge that may go on after a crash (`begin`) is held by an operating-system lock from the charge to its end.
The lock ends with its process, so a charge without an end and without a lock is one that a crash left; a living
one is never shared.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from facsimile.errors import refusal
from facsimile.line import hashed, parsed, written
from facsimile.privacy.anchor import NOTHING, Anchor, Mark, nothing_charged
from facsimile.privacy.budget import Cost
from facsimile.privacy.renyi import epsilon_of
from facsimile.spec.decimals import parse_exact, show_decimal
from facsimile.storage import Hold, append, locked, reached, read, suspect

MICRO = 10**6
PICO = 10**12
PATIENCE_SECONDS = 30.0
KINDS = ("open", "charge", "decided", "done", "halted", "stopped", "incident")
NEEDED = {"open": {"id", "tag", "cap"}, "charge": {"purpose", "day"}}
COUNTS = {"seq": 0, "micro": 1, "rho": 1, "cap": 0, "before": 0, "most_rho": 1, "charge": 0}
TEXTS, DELTAS = ("id", "tag", "data", "purpose", "day"), ("delta", "most_delta", "before_delta")
MOST = 10**30
End = Literal["done", "halted", "stopped", "incident"]


def micro(epsilon: Fraction) -> int:
    """Micro-ε, rounded up.

    >>> micro(Fraction(1, 3))
    333334
    """
    return -(-epsilon.numerator * MICRO // epsilon.denominator)


def _amount(cost: Cost) -> dict[str, Any]:
    """A charge as it is written down; a pure one has no δ and no ρ."""
    amount = {"micro": micro(cost.epsilon), "rho": -(-cost.rho.numerator * PICO // cost.rho.denominator)}
    if not any(amount.values()):
        raise refusal("E303")
    told = {name: value for name, value in amount.items() if value}
    return told | ({"delta": str(cost.delta)} if cost.delta else {})


def _spent(entries: Iterable[dict[str, Any]]) -> Cost:
    """What entries add up to: micro-ε, δ and pico-ρ."""
    every = [Cost(*map(Fraction, (e.get("micro", 0), e.get("delta", 0), e.get("rho", 0)))) for e in entries]
    return sum(every, Cost())


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
    def delta(self) -> Fraction:
        """The δ that was declared when it was opened."""
        return Fraction(self.entries[0].get("most_delta", 0))

    @property
    def rho(self) -> Fraction:
        """The ρ that was declared when it was opened."""
        return Fraction(self.entries[0].get("most_rho", 0), PICO)

    def refuse_beyond(self, cost: Cost) -> None:
        """Refuse what exceeds a cap.

        Theorem.  All that is ever charged to a ledger is together (cap, δ)-DP, however each charge was chosen
          after the answers to the earlier ones.
        Proof.    Charges are pure ε, (ε, δᵢ), or ρ. An (ε, δᵢ) is a pure ε but for an event of probability δᵢ,
          and these add up to what is left of the δ [A]. Off them, the loss is at most the sum of the ε [B] plus
          G, that of the ρ charges. E[e^((λ−1)(G − λΣρ))] ≤ 1 along any adaptive choice (a supermartingale), so
          with Σρ ≤ the cap [C] G has the divergence of one charge of that size, which is (ε(ρ, δ/2), δ/2)-DP:
          both were set aside when the ledger was opened [D].  QED
        """
        more, before = _spent([_amount(cost)]), _spent(self.entries)
        delta, rho = before.delta + more.delta, before.rho + more.rho
        if not (delta <= self.delta and rho <= self.rho * PICO):  # [A] [C]
            raise refusal("E307")
        if not (int(before.epsilon + more.epsilon) <= self.cap):  # [B]
            raise refusal("E301", asked=shown(int(more.epsilon)), remaining=shown(self.remaining))

    @property
    def before_delta(self) -> Fraction:
        """The δ that earlier ledgers of the same data had spent."""
        return Fraction(self.entries[0].get("before_delta", 0))

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
        delta, before = str(_spent(self.entries).delta), str(self.before_delta)
        return Mark(self.identifier, self.sequence, self.head, self.spent, self.before, delta, before)

    def upto(self, sequence: int) -> tuple[str, int, Fraction]:
        """The head after an entry, and the micro-ε and δ that had been spent in all by then."""
        later = self.entries[sequence + 1 :]
        spent = _spent(self.entries[: sequence + 1])
        return (later[0]["prev"] if later else self.head), int(spent.epsilon), spent.delta

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

    def __init__(self, cap: Fraction | None = None, delta: Fraction = Fraction(0)) -> None:
        self.cap = None if cap is None else Cost.of(cap, delta)
        self.spent, self.sequence = Cost(), 0

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        """Charge a cost or refuse."""
        _amount(cost)
        if self.cap is not None and not self.cap.covers(self.spent + cost):
            left = micro(self.cap.epsilon - self.spent.epsilon)
            raise refusal("E301", asked=shown(micro(cost.epsilon)), remaining=shown(left))
        self.spent += cost
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

    def create(
        self,
        tag: str,
        cap: Fraction,
        again: bool = False,
        name: str = "",
        delta: Fraction = Fraction(0),
        rho: Fraction = Fraction(0),
    ) -> State:
        """Begin a ledger for the dataset of this tag and, for people, this name; its caps never change.

        Data that has a ledger gets another one only `again`, on purpose: what the earlier ones had spent
        stands in its first entry. Anchors say that it is being made before it is there, so that a crash is
        recognised.
        """
        caps = _caps(cap, delta, rho)
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
            lost = Fraction(0) if data is None else Fraction(data.before_delta) + Fraction(data.delta)
            caps |= {"before_delta": str(lost)} if lost else {}
            identifier = secrets.token_hex(16)
            self._mark(Mark(identifier, NOTHING, "", 0, before, before_delta=str(lost)))
            first = {"kind": "open", "tag": tag, "format": 1}
            self._append({**first, **caps, "id": identifier, "before": before, "data": name})
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
        with self._alone():
            state = self._verified()
            sequence = self._charged(state, cost, purpose)
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
                    self._charged(state, cost, purpose)
                elif _spent([state.entries[left]]) != _spent([amount]):
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

    def _charged(self, state: State, cost: Cost, purpose: str) -> int:
        """Append a charge and return its number."""
        state.refuse_beyond(cost)
        charge = {"kind": "charge", **_amount(cost), "purpose": purpose, "day": date.today().isoformat()}
        charge["nonce"] = secrets.token_hex(32)  # charged again, the head is another; it hides the tag too
        self._append(charge, state)
        reached("charged")
        return state.sequence + 1

    def _append(self, fields: dict[str, Any], state: State | None = None) -> None:
        """An entry after the last one, or the first one of all; then the anchors."""
        last = state.mark if state else _unmade(fields)
        line = written({"seq": last.sequence + 1, "prev": last.head, **fields})
        append(self.path, line, create=state is None)
        reached("anchor")
        spent = last.spent + fields.get("micro", 0)
        delta = Fraction(last.delta) + Fraction(fields.get("delta", 0))
        now = {"sequence": last.sequence + 1, "head": hashed(line), "spent": spent, "delta": str(delta)}
        self._mark(replace(last, **now))

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


def _caps(cap: Fraction, delta: Fraction, rho: Fraction) -> dict[str, Any]:
    """The caps of a ledger as its first entry holds them, with what its ρ may cost set aside."""
    caps: dict[str, Any] = {"cap": cap.numerator * MICRO // cap.denominator}
    if not delta and not rho:
        return caps
    if not (0 < delta < 1 and rho >= 0):
        raise refusal("E308")
    caps |= {"most_delta": str(delta)}
    if rho:
        most = rho.numerator * PICO // rho.denominator
        aside = micro(epsilon_of(Fraction(most, PICO), delta / 2)) if most else 0
        if not 0 < aside <= caps["cap"]:
            raise refusal("E308")
        caps |= {"most_rho": most, "micro": aside, "delta": str(delta / 2)}  # [D]
    return caps


def _unmade(fields: dict[str, Any]) -> Mark:
    """A ledger before its first entry."""
    lost = str(fields.get("before_delta", 0))
    return Mark(fields["id"], NOTHING, "", 0, fields["before"], before_delta=lost)


def _lock(place: Path) -> Path:
    return place.with_name(place.name + ".lock")


def _sound(entry: dict[str, Any]) -> bool:
    """Whether an entry holds what its kind needs, each field as we write it; ValueError where a δ is none."""
    counts = {name: entry[name] for name in COUNTS if name in entry}
    small = all(type(n) is int and COUNTS[name] <= n <= MOST for name, n in counts.items())
    texts = all(type(entry[name]) is str for name in TEXTS if name in entry)
    deltas = all(parse_exact(entry[name]) >= 0 for name in DELTAS if name in entry)
    paid = entry["kind"] != "charge" or {"micro", "rho"} & entry.keys()
    return small and texts and deltas and bool(paid) and NEEDED.get(entry["kind"], {"charge"}) <= entry.keys()


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
        for entry in entries:
            if not _sound(entry):
                raise refusal("E310")
        first, amount = entries[0], int(_spent(entries).epsilon)
        state = State(first["id"], first["tag"], first["cap"], amount, len(entries) - 1, head, tuple(entries))
        parse_exact(state.mark.delta)  # a sum that no anchor could hold is none of ours
        return state
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise refusal("E310") from None


def shown(amount: int) -> str:
    """An amount of micro-ε for people.

    >>> shown(9_980_000)
    '9.98'
    """
    return show_decimal(Fraction(amount, MICRO))
