"""The lists that the mutants answer, item by item: README.md is written from here, and a test holds it to that.

An item names its mutants by how their names begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mutants.harness import HARNESS
from mutants.listed import LISTED
from mutants.mutant import Mutant

PAGE = Path(__file__).with_name("README.md")
Items = dict[str, tuple[str, ...]]
SEEDED: Items = {
    "half sensitivity": ("half sensitivity",),
    "half noise": ("half noise",),
    "add/remove Δ under replace-one": ("add/remove", "a proof for other neighbours"),
    "noise reused": ("noise reused",),
    "seeded or forked RNG": ("seeded noise: coins", "forked noise"),
    "float noise": ("float noise",),
    "domain from data": ("domain from data",),
    "bounds from data": ("bounds from data",),
    "empty cells skipped": ("empty cells skipped",),
    "normalising by a true total": ("normalising by a true total",),
    "true table mixed in as “public”": ("true table mixed in",),
    "no clip": ("no clip",),
    "clip after sum": ("clip after sum",),
    "NaN passes the clip": ("NaN passes the clip",),
    "group size from R": ("group size from R",),
    "ledger under-count": ("ledger under-count",),
    "extra statistic in the bundle": ("extra statistic",),
    "iteration count in the bundle": ("iteration count",),
    "true value in a log": ("true value in a log",),
    "row-order dependence": ("row-order dependence",),
    "data-dependent error text": ("data-dependent error text",),
    "2 % path that returns the truth": ("2 % path",),
    "selection without the factor 2": ("selection without the factor 2",),
    "seeded resize": ("seeded resize",),
    "cap with γ = 0": ("cap with", "cap that is too small"),
    "forgotten factor of the search": ("forgotten factor",),
    "s_min from R": ("s_min",),
    "retry without a charge": ("retry without a charge", "the table is opened before the charge"),
    "standardising by R": ("standardising by R",),
    "configurations dropped after failure": ("configurations dropped",),
    "dropped-row count leaked": ("dropped-row count",),
    "a broken harness": tuple(mutant.name for mutant in HARNESS),
}
"""Mistakes that the project began with."""
REVIEWED: Items = {
    "constraints judged before clipping": ("constraints judged",),
    "Δ over fewer cells than the reader can fill": ("sensitivity over fewer cells",),
    "an unlocked charge resumed by a second process": ("an unlocked charge",),
    "journal removed before the charge is closed": ("journal removed",),
    "a halt redrawn after a crash": ("a halt redrawn", "a lost decision"),
    "any open charge resumed": ("any open charge",),
    "seeded noise in production (curator, coins, configurations)": ("seeded noise in production",),
    "int64 wrap in a sum": ("int64 wrap",),
    "a query's parameters not checked against the domain": ("parameters not checked",),
    "nested unlisted queries": ("nested unlisted", "an unlisted mechanism"),
    "allowances that outlive their search": ("allowances that outlive",),
    "a recoded curator with a ledger of its own": ("a recoded curator",),
    "floor for ceil in the grid lemma": ("floor for ceil",),
    "threshold above the clip": ("threshold above",),
    "margin dropped": ("margin dropped",),
    "α not shared": ("alpha not shared",),
    "core dumps on": ("core dumps on",),
    "constant nonce": ("constant nonce",),
    "transcript without coins": ("transcript with",),
    "a record that decides how others are read": (
        "a column's type chosen",
        "a time taken",
        "objects of two types",
        "the names of folders",
        "a kind of file",
        "a contract of addresses",
        "an audit whose odd",
    ),
}
"""Mistakes that reviews found."""
BUILT: Items = {
    "a replay that compares too little": ("replay: ",),
    "openings of the table that nobody counts": ("openings: ",),
    "a tape that hears anything": ("tape: ",),
    "an audit that passes anyway": ("audit: ",),
    "an audit in a bundle that nobody checks": ("audit in a bundle",),
    "attacks on a confidential file": ("risk guard removed", "a public reader takes"),
    "attacks without a control group": ("risk control group", "risk: "),
    "a figure of a dossier that is another one": ("dossier: ",),
}
"""Mistakes of what shows the evidence."""
LISTS = {
    "Mistakes that the project began with": SEEDED,
    "Mistakes that reviews found": REVIEWED,
    "Mistakes of the evidence itself": BUILT,
}


def answered(item: tuple[str, ...]) -> list[Mutant]:
    """The mutants of an item."""
    return [mutant for mutant in LISTED if mutant.name.startswith(item)]


def page() -> str:
    """The page: a line for each mutant, under its item, with the tests that notice it."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Mutants, item by item"
    yield ""
    yield "Written by `python -m mutants --table`; a test holds it to the list. Each mutant is killed by a test"
    yield "beside it (`make mutants` prints which). Why each matters stands with it, in this folder."
    named: set[str] = set()
    for title, items in LISTS.items():
        yield from ("", f"## {title}", "", "| item | mutant | killed by |", "|---|---|---|")
        for item, begins in items.items():
            for mutant in answered(begins):
                named.add(mutant.name)
                yield _line(item, mutant)
    yield from ("", "## Others", "", "| file | mutant | killed by |", "|---|---|---|")
    yield from (_line(f"`{mutant.path}`", mutant) for mutant in LISTED if mutant.name not in named)


def _line(item: str, mutant: Mutant) -> str:
    tests = ", ".join(f"`{test.removeprefix('tests/')}`" for test in mutant.tests)
    return f"| {item} | {mutant.name} | {tests} |"
