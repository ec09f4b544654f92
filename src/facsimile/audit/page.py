"""The page: an audit for people. It holds no script and asks for nothing from outside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from facsimile.documents.evidence import Audit, Evidence, Kind

TITLES: dict[Kind, tuple[str, str]] = {
    "sensitivity": (
        "One record with the noise off",
        "Over all pairs of tables of a tiny domain that differ in one record, the exact answer moves by at "
        "most the sensitivity that noise is drawn for, and on some pair by nearly as much. Figures are "
        "shares of it.",
    ),
    "hostile": (
        "Hostile questions",
        "Every number inside a question is exchanged for hostile ones: negative, zero, huge, the least integer "
        "of 64 bits. Each question is then refused before a table is looked at, or answered for all tables "
        "within its sensitivity. Figures are numbers of questions.",
    ),
    "law": (
        "The noise itself",
        "Noise drawn on this machine has the law that is charged for. The same draws reject a scale of 0.7 "
        "and of 1.3 times as much. Every number that comes out is one that the sampler drew; the exact "
        "value comes no more often than by chance; no draw repeats another. Figures are mean sizes of the "
        "noise; of a choice, the chance of the likeliest place.",
    ),
    "distinguished": (
        "Two neighbours told apart",
        "From many draws on two tables that differ in one record, a lower bound on the privacy loss ε (of a "
        "ρ: √(2ρ)): an event is chosen on one half of the draws, and counted on the other. It may not "
        "exceed the claim. On a pair that is known to be hard it reaches most of it, or the test would be "
        "blind. Modes and accounting are worked out exactly.",
    ),
    "canary": (
        "A strange record among equal ones",
        "Every generator is fitted where one record differs from all others. What each of its noisy answers "
        "tells about that record is computed exactly and held against the answer's own share of ε or ρ.",
    ),
    "charges": (
        "The ledger on this disk",
        "Real processes race for a cap and for one charge; a search asks for more than its plan.",
    ),
    "reader": (
        "An odd record among others",
        "Two tables that differ in one record are written as each kind of address, and read: the count tables "
        "differ by that record alone. An odd one is of another form or type; a source may be refused for it. "
        "What has no figure was not tried on this machine.",
    ),
    "replay": (
        "A release made twice",
        "A whole release is made on two tables that differ in one record, with the same noisy answers: "
        "whatever else comes out, files, words, sizes and order, is the same byte for byte. Figures are "
        "differences.",
    ),
    "opened": (
        "How often the table is opened",
        "The confidential table is opened once for each recorded answer, and never else.",
    ),
}


@dataclass(frozen=True)
class Section:
    """One kind of evidence."""

    anchor: str
    title: str
    words: str
    evidence: tuple[Evidence, ...]

    @property
    def failed(self) -> int:
        """How many tests found something."""
        return sum(not found.passed for found in self.evidence)

    @property
    def groups(self) -> list[tuple[str, list[Evidence]]]:
        """The same test of several claims, told once."""
        tests = dict.fromkeys(found.test for found in self.evidence)
        return [(test, [found for found in self.evidence if found.test == test]) for test in tests]


def sections(audit: Audit) -> list[Section]:
    """The kinds that were tried, in their order."""
    every = [(kind, tuple(e for e in audit.evidence if e.kind == kind)) for kind in TITLES]
    return [Section(kind, *TITLES[kind], evidence) for kind, evidence in every if evidence]


def page(audit: Audit) -> str:
    """The page: the same audit gives the same text."""
    theorems = len({found.theorem for found in audit.evidence})
    found = _templates().get_template("audit.html")
    return found.render(audit=audit, sections=sections(audit), theorems=theorems)


def figure(value: float | None) -> str:
    """A figure of the page.

    >>> figure(1.23456), figure(2.0), figure(None)
    ('1.235', '2', '–')
    """
    return "–" if value is None else f"{value:.4g}"


def broken(name: str) -> Markup:
    """A long name that may be broken after its dots."""
    return Markup(".<wbr/>").join(name.split("."))


@cache
def _templates() -> Environment:
    own, documents = PackageLoader("facsimile.audit"), PackageLoader("facsimile.documents")
    loader = ChoiceLoader([PrefixLoader({"documents": documents}), own])
    found = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"figure": figure, "broken": broken}
    return found
