"""Anchors: small files that say how far a ledger had come, so that one that went back is noticed.

Each ledger has one anchor beside it or, better, in another place. The dataset's key is a second one: it lies
beside the data, so a ledger belongs to its data, and a folder restored from a backup no longer fits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from facsimile.errors import LedgerRefused, refusal
from facsimile.line import parsed, written
from facsimile.spec.decimals import parse_exact
from facsimile.storage import read
from facsimile.storage import replace as put

NOTHING = -1


@contextlib.contextmanager
def nothing_charged() -> Iterator[None]:
    """What cannot be written while a key or a ledger is being made: there is no entry that counts."""
    try:
        yield
    except LedgerRefused as error:
        raise (refusal("E330") if error.code in ("E331", "E332") else error) from None


@dataclass(frozen=True)
class Mark:
    """A ledger, the number and hash of its last entry, and what it had spent, in micro-ε.

    A `sequence` of −1: it is being made, and nothing was ever charged to it. `before` is what earlier ledgers
    of the same data had spent in all; `delta` and `before_delta` are the same of δ, as exact texts. `key` is
    the dataset's secret, in the file beside the data only.
    """

    ledger: str
    sequence: int
    head: str
    spent: int
    before: int = 0
    delta: str = "0"
    before_delta: str = "0"
    key: str = ""


@dataclass(frozen=True)
class Anchor:
    """A file that holds a mark."""

    path: Path

    def read(self) -> Mark | None:
        """The mark; None where there is no file."""
        try:
            content = read(self.path)
        except FileNotFoundError:
            return None
        except OSError:
            raise refusal("E314") from None
        if not content.endswith(b"\n") or content.count(b"\n") != 1:
            raise refusal("E310")
        try:
            mark = Mark(**parsed(content))
            sound = parse_exact(mark.delta) >= 0 and parse_exact(mark.before_delta) >= 0
        except (TypeError, ValueError):
            raise refusal("E310") from None
        numbers, texts = (mark.sequence, mark.spent, mark.before), (mark.ledger, mark.head, mark.key)
        sound = sound and all(type(number) is int for number in numbers) and all(type(t) is str for t in texts)
        if not sound or mark.sequence < NOTHING or mark.spent < 0 or mark.before < 0:
            raise refusal("E310")
        return mark

    def write(self, mark: Mark) -> None:
        """Put the mark in place of the one before, in one step; a key that lies there stays."""
        known = self.read()
        put(self.path, written(asdict(replace(mark, key=known.key if known else mark.key))))
