"""Opening: the ledger of a confidential file, made where the data has none, or another one on purpose."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from facsimile.errors import refusal
from facsimile.privacy.dataset import dataset_key, dataset_tag, key_path
from facsimile.privacy.ledger import Ledger, State
from facsimile.spec.decimals import parse_epsilon


def cap_of(text: str) -> Fraction:
    """A cap as it is written on the command line."""
    try:
        return parse_epsilon(text)
    except ValueError:
        raise refusal("E201", problem="The cap is a decimal number above 0.") from None


def ledger_of(data: Path, path: Path, anchor: Path | None, cap: Fraction) -> Ledger:
    """The ledger that counts for the data, verified; made with this cap where the data has none."""
    book, tag = _book(data, path, anchor)
    if not book.made():
        book.create(tag, cap)
    if book.state().tag != tag:
        raise refusal("E315")
    return book


def open_ledger(data: Path, path: Path, anchor: Path | None, cap: Fraction, again: bool) -> State:
    """A new ledger for the data, on purpose."""
    book, tag = _book(data, path, anchor)
    return book.create(tag, cap, again)


def _book(data: Path, path: Path, anchor: Path | None) -> tuple[Ledger, str]:
    key = key_path(data)
    given = Ledger.at(path, anchor, key)
    if len({place.resolve() for place in (given.path, given.anchor, key, data)}) < 4:
        raise refusal("E314")
    return Ledger.at(path, anchor, key), dataset_tag(data, dataset_key(key))
