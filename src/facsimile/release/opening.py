"""Opening: the ledger of a confidential source, made where the data has none, or another one on purpose.

What can be refused is refused by `Opening.of`, `ready` and `refuse_known`, which write nothing; `ledger` and
`anew` then write: the key, the claim of a source that is no file, the ledger. So a mistyped name leaves nothing
behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from facsimile.errors import LedgerRefused, refusal
from facsimile.privacy.anchor import NOTHING, Anchor
from facsimile.privacy.budget import Cost
from facsimile.privacy.dataset import dataset_key, dataset_tag, key_path
from facsimile.privacy.ledger import MICRO, PICO, Ledger, State, micro
from facsimile.privacy.renyi import epsilon_of
from facsimile.sources.address import Address
from facsimile.sources.claims import claim, refuse_other_key
from facsimile.spec.decimals import parse_decimal, parse_epsilon
from facsimile.storage import refuse_without_room

ROOM = 1 << 16


def cap_of(text: str) -> Fraction:
    """A cap as it is written on the command line."""
    try:
        return parse_epsilon(text)
    except ValueError:
        raise refusal("E201", problem="The cap is a decimal number above 0.") from None


def beside_of(delta: str | None, rho: str | None, cap: Fraction) -> tuple[Fraction, Fraction]:
    """The δ and ρ of a ledger as they are written on the command line; refused where no ledger has them."""
    try:
        most, bucket = (Fraction(0) if text is None else parse_decimal(text) for text in (delta, rho))
    except ValueError:
        raise refusal("E201", problem="Delta and rho are decimal numbers above 0.") from None
    given = (delta, rho) != (None, None)
    if given and (not 0 < most < 1 or bucket < 0 or (rho is not None and bucket * PICO < 1)):
        raise refusal("E308")
    bucket = Fraction(int(bucket * PICO), PICO)
    if bucket and micro(epsilon_of(bucket, most / 2)) > int(cap * MICRO):
        raise refusal("E308")
    return most, bucket


@dataclass(frozen=True)
class Opening:
    """A confidential source, where its key lies, and the ledger that counts for it or is to be."""

    data: Address
    key: Path
    book: Ledger

    @classmethod
    def of(cls, data: Address, path: Path | None, anchor: Path | None, named: Path | None) -> Opening:
        """Refuse places that cannot be, and a key that is not the one of the source."""
        key = key_path(data, named)
        book = Ledger.at(path or key.with_name("ledger"), anchor, key)
        places = [place.resolve() for place in (book.path, book.anchor, key)]
        if len({*places, data.place}) < 4:
            raise refusal("E314")
        refuse_other_key(data, dataset_key(key) if key.exists() else None)
        return cls(data, key, book)

    @property
    def known(self) -> bool:
        """Whether the data has a ledger, as its key says."""
        mark = Anchor(self.key).read()
        return mark is not None and mark.sequence > NOTHING

    def ready(self, cost: Cost, purpose: str) -> bool:
        """Refuse another ledger, or one without enough budget; whether a charge that a crash left goes on."""
        if not self.book.made():
            if self.known:
                raise refusal("E314" if Anchor(self.book.anchor).read() else "E316")
            self._refuse_places()
            return False
        if not self.key.exists():
            raise refusal("E315")
        if self.book.unfinished(purpose):
            return True
        self.book.state().refuse_beyond(cost)
        return False

    def ledger(self, cap: Fraction, delta: Fraction = Fraction(0)) -> Ledger:
        """The ledger that counts for the data, verified; made with these caps where the data has none."""
        secret = dataset_key(self.key)
        tag = dataset_tag(self.data, secret)
        if self.book.made() and self.book.state().tag != tag:
            raise refusal("E315")
        claim(self.data, secret)
        try:
            if not self.book.made():
                self.book.create(tag, cap, name=self.data.name, delta=delta)
        except LedgerRefused:
            if not self.book.made():  # otherwise another process was quicker, and its ledger is verified below
                raise
        if self.book.state().tag != tag:
            raise refusal("E315")
        return self.book

    def refuse_known(self, again: bool) -> None:
        """Refuse what must not be made anew: a ledger that is there, or another one that is not on purpose."""
        if self.book.made():
            raise refusal("E401")
        if self.known and not again:
            raise refusal("E316")
        self._refuse_places()

    def anew(
        self, cap: Fraction, again: bool, delta: Fraction = Fraction(0), rho: Fraction = Fraction(0)
    ) -> State:
        """A new ledger for the data, on purpose."""
        secret = dataset_key(self.key)
        claim(self.data, secret)
        return self.book.create(dataset_tag(self.data, secret), cap, again, self.data.name, delta, rho)

    def _refuse_places(self) -> None:
        """Key, ledger and anchor can be written, seen before the first of them is."""
        for folder in (place.absolute().parent for place in (self.key, self.book.path, self.book.anchor)):
            if not folder.is_dir():
                raise refusal("E314")
            refuse_without_room(folder, ROOM, "E330")
