"""Facts: what every description of a release says in the same words. Each is a sentence, or a list of them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from facsimile.documents.metadata import DOI, REHEARSAL, description, plain
from facsimile.documents.numerals import above, holding, standing_in
from facsimile.documents.report import ColumnEntry, Report
from facsimile.spec.people import is_mail
from facsimile.spec.publisher import is_link

Sizes = Mapping[str, tuple[int, str]]
"""Files of a bundle: name, bytes and SHA-256."""
PROGRAM = "facsimile"
KEYWORDS = ("synthetic data", "differential privacy", "microdata")
_USES = {"counts": "counts and shares", "quantiles": "medians and other quantiles", "rows": "whole rows"}
NEIGHBOURS = "Two tables are neighbours if they have the same number of records and differ in one of them."
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """A text without the characters that XML and JSON readers forbid."""
    return _FORBIDDEN.sub("\ufffd", text)


def title(report: Report) -> str:
    """The title, marked where it is one of a rehearsal."""
    return f"REHEARSAL: {report.title}" if report.rehearsal else report.title


def warning(report: Report) -> str:
    """What nobody may overlook who opens a file of the release."""
    delta = "" if report.delta is None else f", delta {report.delta}"
    if report.rehearsal:
        return f"{REHEARSAL}. The plan has epsilon {report.epsilon}{delta}."
    private = f"differentially private (epsilon {report.epsilon}{delta}; one record: {report.unit})"
    return f"Synthetic data, {private}. No row is a person. Figures have errors: report.json bounds them."


def abstract(report: Report) -> str:
    """The release in a paragraph."""
    mark = f"{REHEARSAL}. " if report.rehearsal else ""
    return f"{mark}{description(report)} Figures of it have errors: report.json bounds them."


def bounds(report: Report) -> list[str]:
    """Each criterion with the bound of its error, and how sure the bounds are."""
    bounded = [c for c in report.criteria if c.bound is not None]
    if not bounded:
        return ["No error of this table has a bound."]
    indirect = [c.name for c in bounded if c.stands != "itself"]
    return [
        *(f"{c.name}: at most {above(c.bound)}. {c.words}" for c in bounded),
        holding(len(bounded), report.confidence.together, report.confidence.of_search),
        standing_in(indirect),
    ]


def unbounded(report: Report) -> list[str]:
    """The criteria whose error has no bound, in a sentence if there are any."""
    names = ", ".join(c.name for c in report.criteria if c.bound is None)
    return [f"Without a bound: {names}."] if names else []


def uses(report: Report) -> list[str]:
    """The kinds of statistics that a criterion of the release is about."""
    return list(dict.fromkeys(_USES.get(c.topic, c.topic) for c in report.criteria))


def removed(report: Report) -> list[str]:
    """What no record has, and how rare rows were treated."""
    told = [
        f"Never in {rule.applies_to}: {rule.never}. Source: {rule.source.rstrip('.')}." for rule in report.rules
    ]
    return told + [
        f"Rare rows: {', '.join(f'{name} {value}' for name, value in report.projection.items())}."
    ] * (bool(report.projection))


def treated(column: ColumnEntry) -> list[str]:
    """What happened to values of a column before it was protected."""
    told = [
        (column.coarse, "A label may hold several values."),
        (column.missing is not None, f"“{column.missing}” means that the value is missing."),
        (column.blanks is not None, f"Blanks were counted as “{column.blanks}”."),
        (column.others is not None, f"Unknown values were counted as “{column.others}”."),
        (column.clipped, "Numbers beyond the list went to its nearest end."),
        (column.left_out, "Records without a usable value were left out."),
    ]
    return [words for holds, words in told if holds]


def wording(label: str, meaning: str) -> str:
    """A label with its meaning, where it has one beyond itself.

    >>> wording("18-19", "18 to 19"), wording("<18", "17 or less")
    ('18-19', '<18 (17 or less)')
    """
    return label if plain(label, meaning) else f"{label} ({meaning})"


def identifier(report: Report) -> str:
    """An address that names this release: its DOI, or else one made from the hash of its table."""
    doi = None if report.publisher is None else report.publisher.doi
    if doi and not report.rehearsal:
        return f"{DOI}{doi}"
    return uuid.uuid5(uuid.NAMESPACE_OID, report.data_hash).urn


def landing(report: Report) -> str | None:
    """The page where people find the release: its DOI, or else the publisher's; none of a rehearsal."""
    publisher = report.publisher
    if publisher is None or report.rehearsal:
        return None
    return f"{DOI}{publisher.doi}" if publisher.doi else publisher.homepage


def contact(report: Report) -> tuple[str | None, str | None]:
    """Where questions go: a mail address and a link, where one is declared."""
    written = report.governance.contact if report.governance else None
    written = written or report.contact
    if written is None:
        return None, None
    return (written, None) if is_mail(written) else (None, written if is_link(written) else None)


def origin(report: Report) -> str | None:
    """The file that the release was made from, in the publisher's words; a rehearsal was made from another."""
    return None if report.rehearsal or report.publisher is None else report.publisher.provenance


def made(report: Report) -> str:
    """How the rows came about."""
    return (
        f"{report.records:,} rows were drawn from a model of the family {report.family}, fitted with noise, "
        f"and accepted by noisy tests of {len(report.criteria)} criteria (scheme {report.scheme}, selection "
        f"{report.selection}; configurations: {report.configurations:,}). Program: {PROGRAM} {report.version}."
    )


def mechanisms(report: Report) -> list[str]:
    """The mechanisms of the model and of the tests, each once."""
    law = "Gaussian noise" if report.fit is not None and report.fit.rho is not None else "exact integer noise"
    told = [f"model {report.family} ({law})", *(c.mechanism for c in report.criteria)]
    return list(dict.fromkeys(told))


def budget(report: Report) -> list[str]:
    """The parts of the budget, as the report adds them up."""
    return [f"{line.part}: epsilon {line.epsilon} ({line.note})." for line in report.budget]


@dataclass(frozen=True)
class FileKind:
    """What a file of a bundle is, for a machine and for people."""

    media: str
    words: str


ROWS = {
    "data.csv": FileKind("text/csv", "The table as comma-separated labels"),
    "data.parquet": FileKind("application/vnd.apache.parquet", "The table as labels, in Parquet"),
    "labelled/data.dta": FileKind("application/x-stata-dta", "The table for Stata, with value labels"),
    "labelled/data.sav": FileKind("application/x-spss-sav", "The table for SPSS, with value labels"),
}
"""The files that hold the records."""
_OTHERS = {
    ".csv": FileKind("text/csv", "Noisy measurements"),
    ".json": FileKind("application/json", "Noisy measurements"),
    ".parquet": FileKind("application/vnd.apache.parquet", "Noisy measurements"),
}


def described(sizes: Sizes) -> dict[str, FileKind]:
    """The files of data among those of a bundle: the records, then noisy measurements if it has them."""
    noisy = {
        name: _OTHERS[ending]
        for name in sorted(sizes)
        if name.startswith("tables/") and (ending := name[name.rfind(".") :]) in _OTHERS
    }
    return {name: kind for name, kind in ROWS.items() if name in sizes} | noisy
