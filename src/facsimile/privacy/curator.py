"""The curator: the only one who opens the confidential table, and only for a mechanism that was charged.

    curator.run(mechanism)          charges the ledger, then samples
    with curator.search(cost) as s: one charge for a whole search
        s.allowance(cost).run(m)    free within the search, refused beyond its own cost

A synthesizer holds a curator and never a table. Whatever it does with the answers is post-processing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from facsimile.errors import refusal
from facsimile.privacy.budget import Cost
from facsimile.privacy.ledger import Charges, Ledger, MemoryLedger, Receipt
from facsimile.privacy.mechanisms import MECHANISMS, Mechanism
from facsimile.privacy.noise import Noise, RehearsalNoise, SystemNoise
from facsimile.privacy.private import Private
from facsimile.privacy.transcript import RecordedNoise, Transcript
from facsimile.table.domain import Domain
from facsimile.table.table import Table

T = TypeVar("T")
NEIGHBOURS = "replace-one"
NOTHING = Cost(Fraction(0))


class Curator:
    """Answers mechanisms on one confidential table, each charged before it sees a record (rule P3)."""

    def __init__(self, private: Private[Table], domain: Domain, charges: Charges, noise: Noise) -> None:
        self.domain = domain
        self._private, self._charges, self._noise = private, charges, noise

    @classmethod
    def production(
        cls, private: Private[Table], domain: Domain, ledger: Ledger, transcript: Transcript
    ) -> Curator:
        """A curator with exact noise, a ledger on disk and a sealed transcript; there is no seed."""
        return cls(private, domain, ledger, RecordedNoise(SystemNoise(), transcript))

    @classmethod
    def rehearsal(
        cls, private: Private[Table], domain: Domain, seed: int, ledger: MemoryLedger | None = None
    ) -> Curator:
        """A curator for public data: seeded noise, a ledger in memory, no transcript."""
        return cls(private, domain, ledger or MemoryLedger(), RehearsalNoise(seed))

    def run(self, mechanism: Mechanism[T]) -> T:
        """Charge the mechanism's cost, then sample; a failure stays charged."""
        _check(mechanism)
        receipt = self._charges.charge(mechanism.cost(), type(mechanism).__name__)
        with self._ending(receipt):
            receipt.use()
            return self._sample(mechanism)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Curator:
        """The same curator for the same records under other axes."""
        private = self._private._recoded(lambda table: table.recode(domain, maps))
        return Curator(private, domain, self._charges, self._noise)

    @contextlib.contextmanager
    def search(self, cost: Cost, purpose: str, unfinished: Receipt | None = None) -> Iterator[Search]:
        """One charge for everything that happens inside; allowances end with it.

        `unfinished` is the receipt of the same search before a crash: it goes on under its charge.
        """
        receipt = unfinished or self._charges.charge(cost, purpose)
        receipt.use()
        search = Search(self, cost, receipt.sequence)
        with self._ending(receipt, searching=True):
            try:
                yield search
            finally:
                search.ended = True

    @contextlib.contextmanager
    def _ending(self, receipt: Receipt, searching: bool = False) -> Iterator[None]:
        """Note how it ended; the charge stays. A search that is forced to stop is an incident."""
        try:
            yield
        except BaseException as error:
            forced = searching and isinstance(error, KeyboardInterrupt)
            self._charges.close(receipt, "incident" if forced else "stopped")
            raise
        self._charges.close(receipt, "done")

    def _sample(self, mechanism: Mechanism[T]) -> T:
        """Open the box for one mechanism; nothing of a failure but the mechanism's name gets out."""
        try:
            return mechanism._sample(self._private._open(), self._noise)  # the one line that opens the table
        except Exception:
            failed = type(mechanism).__name__
        raise refusal("E701", name=failed)


class Search:
    """A charged search: gives out allowances until it ends."""

    def __init__(self, curator: Curator, cost: Cost, sequence: int) -> None:
        self._curator, self._cost, self.sequence = curator, cost, sequence
        self.ended = False

    def allowance(self, cost: Cost) -> Allowance:
        """Leave to spend at most `cost` on one iteration; no selection costs less than one iteration does."""
        if cost.epsilon > self._cost.epsilon or cost.delta > self._cost.delta:
            raise refusal("E304")
        return Allowance(self, self._curator, Purse(cost))


class Purse:
    """What an iteration may spend and has spent."""

    def __init__(self, cost: Cost) -> None:
        self.cost, self.spent = cost, NOTHING

    def pay(self, cost: Cost) -> None:
        """Spend, or refuse."""
        after = self.spent + cost
        if not (after.epsilon <= self.cost.epsilon and after.delta <= self.cost.delta):
            raise refusal("E304")
        self.spent = after


class Allowance:
    """Answers mechanisms inside a charged search, up to its own cost; writes nothing to the ledger."""

    def __init__(self, search: Search, curator: Curator, purse: Purse) -> None:
        self.domain = curator.domain
        self._search, self._curator, self.purse = search, curator, purse

    def run(self, mechanism: Mechanism[T]) -> T:
        """Sample within the allowance, or refuse."""
        _check(mechanism)
        if self._search.ended:
            raise refusal("E304")
        self.purse.pay(mechanism.cost())
        return self._curator._sample(mechanism)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Allowance:
        """The same allowance for the same records under other axes."""
        return Allowance(self._search, self._curator.recoded(domain, maps), self.purse)


def _check(mechanism: Mechanism[T]) -> None:
    """Only listed mechanisms, proved for the neighbours of the specification (rules P2, P5)."""
    if type(mechanism) not in MECHANISMS or mechanism.neighbours != NEIGHBOURS:
        raise refusal("E305")
