"""The page: a risk report for people. It holds no script and asks for nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from facsimile.documents.numerals import count
from facsimile.risk.drawing import drawn
from facsimile.risk.findings import QUESTIONS, TABLES, Finding, Part, Question, Risk
from facsimile.risk.words import TABLE_WORDS, percent

TITLES: dict[Question, str] = {
    "singling-out": "Can a person be singled out?",
    "linkability": "Can records of a person be linked?",
    "inference": "Can something secret be inferred?",
    "membership": "Can it be told who was in the table?",
}
WAYS: dict[Question, str] = {
    "singling-out": "Descriptions are taken from the published table, each as short as it can be and still fit "
    "no more records than the rarest row. The attacker knows everyone in the table but the attacked, and drops "
    "descriptions that fit one of the known. An attack succeeds if a description fits exactly one person.",
    "linkability": "Two parties know different columns of the same people. An attack succeeds if one published "
    "row is among the nearest to a person's one half and among the nearest to the other.",
    "inference": "The attacker knows all columns of a person but one, and guesses it as the nearest published "
    "records have it most often. Each column is the secret once; the figure is the column that does worst.",
    "membership": "In each shadow run a coin decides for every watched person whether the table holds it or a "
    "stranger in its place, and the whole scheme runs. From half of the runs the attack learns what gives a "
    "person away; it guesses the coins of the other half. The rarest people are watched apart, since an "
    "average hides them.",
}


@dataclass(frozen=True)
class Section:
    """One question on the page."""

    anchor: str
    title: str
    way: str
    figure: Markup
    findings: tuple[Finding, ...]

    @property
    def shared(self) -> str:
        """What was tried, where it is the same for every table."""
        told = {found.detail for found in self.findings}
        return told.pop() if len(told) == 1 else ""

    @property
    def parts(self) -> list[tuple[str, list[Part | None]]]:
        """Where an attack has several forms: each with its figures for every table."""
        named = [{part.name: part for part in found.parts} for found in self.findings]
        names = list(dict.fromkeys(name for found in named for name in found))
        return [(name, [found.get(name) for found in named]) for name in names] if len(names) > 1 else []


def sections(risk: Risk) -> Iterator[Section]:
    """The four questions, in their order."""
    for question in QUESTIONS:
        findings = tuple(risk.finding(question, table) for table in TABLES)
        most = float(risk.parameters["bound"]) if question == "membership" else None
        yield Section(
            f"risk-{question}", TITLES[question], WAYS[question], Markup(drawn(findings, most)), findings
        )


def page(risk: Risk) -> str:
    """The page: the same report gives the same text."""
    return _templates().get_template("risk.html").render(words(risk))


def words(risk: Risk | None) -> dict[str, Any]:
    """What templates speak of; the page of a study has this as a part of its own, where there is a report."""
    return {"risk": risk, "risk_sections": list(sections(risk)) if risk else [], "risk_tables": TABLE_WORDS}


@cache
def _templates() -> Environment:
    own, documents = PackageLoader("facsimile.risk"), PackageLoader("facsimile.documents")
    loader = ChoiceLoader([PrefixLoader({"documents": documents, "risk": own}), own])
    found = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"count": count, "percent": percent}
    return found
