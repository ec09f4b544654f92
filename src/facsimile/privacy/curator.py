"""The curator: the only one who opens the confidential table, and only for a mechanism that was charged.

    curator.run(mechanism)                      charges the ledger, then samples
    with curator.search(plan, purpose) as s:    one charge for a whole release
        s.once()        what comes before the search: at most plan.once
        s.find(index)   the search: each index gets an allowance of plan.index, which ends with it
        s.after()       what follows a success: at most plan.after

A synthesizer holds a curator or an allowance, never a table. Whatever it does with the answers is
post-processing. What it asks is held against the public domain before anything is charged or opened, so that
no refusal depends on a record; and where a mechanism fails all the same, nothing more is answered to whoever
asked: an index has failures of its own, as it has noise of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import TypeVar

from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.budget import Cost
from facsimile.privacy.ledger import Charged, Ledger, MemoryLedger, Receipt
from facsimile.privacy.mechanisms import MECHANISMS, Mechanism
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.noise import Noise, RehearsalNoise, SystemNoise
from facsimile.privacy.private import Sealed
from facsimile.privacy.transcript import RecordedNoise, Transcript
from facsimile.table.domain import Domain

T = TypeVar("T")
NEIGHBOURS = "replace-one"
NOTHING = Cost()
NO_ROOM, FAILED = ("E330", "E333"), "E701"
Maps = Mapping[str, Sequence[int]]


class Curator:
    """Answers mechanisms on one confidential table, each charged before it sees a record (rule P3).

    `noise` touches records. `chance` draws what does not: coins of a search, configurations.
    """

    def __init__(
        self, sealed: Sealed, charges: Ledger | MemoryLedger, noise: Noise, chance: Noise | None = None
    ) -> None:
        self.domain, self.n = sealed.domain, sealed.n
        self._private, self._charges = sealed.private, charges
        self._noise, self._chance = noise, chance or noise
        self._failed: list[str] = []

    @classmethod
    def production(cls, sealed: Sealed, ledger: Ledger, transcript: Transcript) -> Curator:
        """A curator with exact noise, a ledger on disk and a sealed transcript; there is no seed."""
        return cls(sealed, ledger, RecordedNoise(SystemNoise(), transcript))

    @classmethod
    def rehearsal(cls, sealed: Sealed, seed: int, ledger: MemoryLedger | None = None) -> Curator:
        """A curator for public data: seeded noise, a ledger in memory, no transcript."""
        return cls(sealed, ledger or MemoryLedger(), RehearsalNoise(seed), RehearsalNoise(seed))

    def run(self, mechanism: Mechanism[T]) -> T:
        """Charge the mechanism's cost, then sample; a failure stays charged."""
        self._admit(mechanism, self._failed)
        receipt = self._charges.charge(mechanism.cost(), type(mechanism).__name__)
        with self._ending(receipt):
            receipt.use()
            return self._sample(mechanism, self._failed)

    def recoded(self, domain: Domain, maps: Maps) -> Curator:
        """The same curator for the same records under other axes: `maps` gives each old code its new one."""
        _check_maps(self.domain, domain, maps)
        private = self._private._recoded(lambda table: table.recode(domain, maps))  # opens into another box
        other = Curator(Sealed(private, domain, self.n), self._charges, self._noise, self._chance)
        other._failed = self._failed
        return other

    @contextlib.contextmanager
    def search(self, plan: Plan, purpose: str) -> Iterator[Search]:
        """One charge for everything that happens inside; allowances end with it.

        A charge of the same purpose that a crash left open goes on. Once the search is decided, only its end
        closes the charge: what interrupts the rest leaves it to the next run.
        """
        receipt = self._charges.begin(plan.total(), purpose)
        search = Search(self, plan, receipt)
        with self._ending(receipt, search):
            receipt.use()
            yield search

    @contextlib.contextmanager
    def _ending(self, receipt: Receipt, search: Search | None = None) -> Iterator[None]:
        """Note how it ended; the charge stays. A search that is forced to stop is an incident. One whose draws
        or decision found no room is left as a crash leaves it where its mode survives one: a decision has the
        same size whatever it is. A mechanism that failed is an outcome, before a decision and after it: it is
        not asked again."""
        try:
            yield
        except BaseException as error:
            forced = search is not None and isinstance(error, KeyboardInterrupt)
            code = error.code if isinstance(error, FacsimileError) else ""
            left = search is not None and (search.decided or (code in NO_ROOM and search.resumable))
            if left and code != FAILED:
                receipt.let_go(ended=False)
            else:
                self._charges.close(receipt, "incident" if forced else "stopped")
            raise
        finally:
            if search is not None:
                search.end()
        self._charges.close(receipt, "halted" if search is not None and search.halted else "done")

    def _admit(self, mechanism: Mechanism[T], failed: Sequence[str]) -> None:
        """Only listed mechanisms, proved for the neighbours of the specification (rules P2, P5), whose
        parameters fit the public form of the table, and none after one has failed for whoever asks."""
        _refuse_after(failed)
        if type(mechanism) not in MECHANISMS or mechanism.neighbours != NEIGHBOURS:
            raise refusal("E305")
        with contextlib.suppress(Exception):
            mechanism.check(self.domain, self.n)
            return
        raise refusal("E306", name=type(mechanism).__name__)

    def _sample(self, mechanism: Mechanism[T], failed: list[str]) -> T:
        """Open the box for one mechanism; nothing of a failure but the mechanism's name gets out."""
        try:
            return mechanism._sample(self._private._open(), self._noise)  # the one line that opens the table
        except Exception:
            failed.append(type(mechanism).__name__)
        raise refusal(FAILED, name=failed[0])


class Search:
    """A charged release: hands out each part of its plan once, and one allowance to each index of the search.

    Theorem.  What is asked through it is what mechanisms.search.Plan is proved for.
    Needs.    The index keeps nothing from one call to the next but what `once` gave it (release/scheme.py).
    Proof.    `once`, `find` and `after` are given once each, and none after a part that failed [A]; within
      `find` every index has an allowance of its own of plan.index [B], which ends with the index [C], and what
      `once` left has ended [F]; coins come from the curator's own noise [D]. A failure belongs to the
      allowance that it happened in, so no index learns of another's; it is the index's outcome, whatever was
      made of it [G]. Nothing is answered after the end [E], nor after an index that ended the search [H].  QED
    """

    def __init__(self, curator: Curator, plan: Plan, receipt: Receipt) -> None:
        self._curator, self._plan = curator, plan
        self._receipt, self.resumed, self.resumable = receipt, receipt.resumed, plan.mode.resumable
        self.decided = self.finished = self.halted = False
        self._given: dict[str, Spending] = {}
        self._ended = False

    def once(self) -> Allowance:
        """What may be asked before the search."""
        return self._part("once", *self._plan.spendable(self._plan.once, first=True))

    def find(self, index: Callable[[Allowance, int], T | None], workers: int = 1) -> T | None:
        """The search: what the deciding index found, or None.

        After a crash only modes that survive one go on; the others end without a release.
        """
        for spending in self._given.values():
            spending.close()  # [F]
        self._part("find", NOTHING)
        if self.resumed and not self.resumable:
            return None

        def one(number: int) -> T | None:
            spending = Spending(*self._plan.spendable(self._plan.index, first=False))  # [B]
            try:
                found = index(Allowance(self._curator, spending), number)
            finally:
                spending.close()  # [C]
            _refuse_after(spending.failed)  # [G]
            return found

        try:
            return self._plan.search(one, self._curator._chance, workers)  # [D]
        except BaseException:
            self.end()  # [H]
            raise

    @property
    def charge(self) -> Charged:
        """Which charge it runs under, and where its files lie."""
        return self._receipt.charge

    def decide(self) -> None:
        """Note that a decision, release or halt, is on disk: from now on only its own end closes the charge."""
        self.decided = True
        self._curator._charges.decided(self._receipt)

    def after(self) -> Allowance:
        """What may be asked about the one accepted candidate."""
        return self._part("after", Cost(self._plan.after))

    def draw(self, n: int) -> int:
        """A uniform integer below n, for what touches no record."""
        return self._curator._chance.below(n)

    def end(self) -> None:
        """Nothing more is answered."""
        self._ended = True
        for spending in self._given.values():
            spending.close()  # [E]

    def _part(self, name: str, *options: Cost) -> Allowance:
        if self._ended or name in self._given:
            raise refusal("E304")
        for before in self._given.values():
            _refuse_after(before.failed)
        self._given[name] = Spending(*options)  # [A]
        return Allowance(self._curator, self._given[name])


class Spending:
    """What a part of a search may spend, one of some costs, what it has spent, and which mechanisms failed."""

    def __init__(self, *options: Cost) -> None:
        self.options, self.spent = options, NOTHING
        self.failed: list[str] = []
        self._open, self._alone = True, Lock()

    def pay(self, cost: Cost) -> None:
        """Spend, or refuse; threads of one index share it."""
        with self._alone:
            after = self.spent + cost
            if not (self._open and any(option.covers(after) for option in self.options)):
                raise refusal("E304")
            self.spent = after

    def close(self) -> None:
        """Nothing is paid any more."""
        self._open = False


class Allowance:
    """Answers mechanisms inside a charged search, up to its own cost; writes nothing to the ledger."""

    def __init__(self, curator: Curator, spending: Spending) -> None:
        self.domain = curator.domain
        self._curator, self.spending = curator, spending

    def run(self, mechanism: Mechanism[T]) -> T:
        """Sample within the allowance, or refuse."""
        self._curator._admit(mechanism, self.spending.failed)
        self.spending.pay(mechanism.cost())
        return self._curator._sample(mechanism, self.spending.failed)

    def recoded(self, domain: Domain, maps: Maps) -> Allowance:
        """The same allowance for the same records under other axes."""
        return Allowance(self._curator.recoded(domain, maps), self.spending)


def _refuse_after(failed: Sequence[str]) -> None:
    """Nothing after a failure: that it failed is an answer."""
    if failed:
        raise refusal(FAILED, name=failed[0])


def _check_maps(old: Domain, new: Domain, maps: Maps) -> None:
    """Every old code has a new one inside the new domain, whatever the table holds."""
    fits = old.names == new.names and set(maps) <= set(old.names)
    for before, after in zip(old.axes, new.axes, strict=False):
        codes = [code for code in maps.get(before.name, range(before.size)) if code in range(after.size)]
        fits = fits and len(codes) == before.size == len(maps.get(before.name, codes))
    if not fits:
        raise refusal("E306", name="recoding")
