"""The audit: all evidence, one section after the other, on the machine and the versions that it runs on."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from importlib.metadata import version

from facsimile import __version__
from facsimile.audit.accounting import accounting
from facsimile.audit.charges import charges
from facsimile.audit.families import canaries
from facsimile.audit.questions import distinguished, hostile, laws, sensitivities
from facsimile.audit.readers import readers
from facsimile.audit.replay import evidence as replays
from facsimile.audit.searches import costs, searches
from facsimile.documents.evidence import KINDS, Audit, Evidence, Kind
from facsimile.testing.laws import ALPHA

PACKAGES = ("opendp", "numpy", "scipy", "pyarrow", "cryptography")
SECTIONS: tuple[tuple[str, Kind, Callable[[], Iterable[Evidence]]], ...] = (
    ("Moving one record with the noise off", "sensitivity", sensitivities),
    ("Asking hostile questions", "hostile", hostile),
    ("Drawing noise", "law", laws),
    ("Telling neighbours apart", "distinguished", distinguished),
    ("Searching", "distinguished", costs),
    ("Searching with real coins", "distinguished", searches),
    ("Accounting", "distinguished", accounting),
    ("Charging a ledger", "charges", charges),
    ("Reading an odd record", "reader", readers),
    ("Hiding a strange record", "canary", canaries),
    ("Making a release twice", "replay", replays),
)


def audit(tell: Callable[[str], None] = lambda doing: None, only: Collection[Kind] = KINDS) -> Audit:
    """Try every theorem on this machine, or those of some kinds. What fails is said, and the rest is tried all
    the same."""
    found: list[Evidence] = []
    for title, kind, section in SECTIONS:
        if {kind, "opened" if kind == "replay" else kind} & {*only}:
            tell(title)
            found += (one for one in _tried(title, kind, section) if one.kind in only)
    return Audit(__version__, date.today().isoformat(), machine(), ALPHA, tuple(found))


def _tried(title: str, kind: Kind, section: Callable[[], Iterable[Evidence]]) -> Iterator[Evidence]:
    """A section's evidence; one that cannot be tried to its end is evidence against."""
    try:
        yield from section()
    except Exception as error:
        words = f"this section did not come to its end: {type(error).__name__}"
        yield Evidence(title, kind, "unfinished", words, None, None, False)


def machine() -> dict[str, str]:
    """What it ran on: versions and kinds, no name of a host, a user or a place."""
    found = {"system": platform.system(), "processor": platform.machine(), "python": platform.python_version()}
    return found | {name: version(name) for name in PACKAGES}
