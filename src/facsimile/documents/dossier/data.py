"""The data: whom a record is about, what it holds, how an attack is modelled (ISO/IEC 27559, clause 7)."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.documents.dossier.statement import REPORT, Blank, Item, Listing, Papers, Section


def data(papers: Papers) -> list[Section]:
    """Unit, attributes and properties, neighbours."""
    return [
        Section("3.1", "Unit of privacy", "7.2.2", "unit of privacy", tuple(_unit(papers))),
        Section("3.2", "Attributes and properties", "7.2.3 to 7.2.5", "", tuple(_attributes(papers))),
        Section("3.3", "Neighbours and the privacy model", "7.3", "privacy guarantee", tuple(_model(papers))),
    ]


def _unit(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "One record is “{unit}”. There are {records} of them, and that number is public: {because}",
        "docs/guarantee.md F2",
        unit=papers.figure("/unit"),
        records=papers.figure("/records", how="a count"),
        because=papers.figure("/public_because"),
    )
    yield papers.say(
        "The guarantee is about one record. A person with two records has it at twice ε, that is at {twice}.",
        "docs/guarantee.md T6",
        twice=papers.figure("/epsilon", how="twice"),
    )
    yield Blank("how many records one person can have, and how that is known.", 1)


def _attributes(papers: Papers) -> Iterator[Item]:
    columns = (("name", "as it stands"), ("description", "as it stands"), ("labels", "how many"))
    heads = ("column", "what it is", "values")
    yield Listing("Columns of the release", heads, papers.rows("/columns", columns), "1fr, 2.2fr, auto")
    yield papers.say(
        "Every value that a column may take stands in the specification, and the program takes none from "
        "the data. "
        "That nobody looked at them when it was written is for the office to say.",
        "docs/guarantee.md H8",
        "docs/known-vulnerabilities.md V28",
    )
    if papers.has("/rules"):
        columns = (("never", "as it stands"), ("applies_to", "as it stands"), ("source", "as it stands"))
        heads = ("never", "in", "who says so")
        yield Listing("Rules", heads, papers.rows("/rules", columns), "1.2fr, auto, 1.4fr")
    if papers.at(REPORT, "/policy") == "declared":
        yield papers.say(
            "The policy is “{policy}”: raw records that break a rule were left out, and whether such a "
            "record exists "
            "is not protected.",
            "docs/known-vulnerabilities.md V23",
            policy=papers.figure("/policy"),
        )
    else:
        yield papers.say(
            "The policy is “{policy}”: every raw record was kept, and one that breaks a rule was changed "
            "to one that "
            "does not.",
            "docs/guarantee.md F1",
            policy=papers.figure("/policy"),
        )
    yield papers.say(
        "In the released table the rarest kind of row stands for {least} of the records, and {unique} "
        "rows occur "
        "once. These are figures of the synthetic table, and no part of the guarantee.",
        least=papers.figure("/faces/min_count", how="a count"),
        unique=papers.figure("/faces/unique_rows", how="a count"),
    )
    yield Blank("which columns are sensitive, and which could be known to others.", 2)


def _model(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "Two tables are neighbours if they have the same number of records and differ in one of them.",
        "docs/guarantee.md T1",
    )
    if papers.has("/delta"):
        yield papers.say(
            "The model is approximate differential privacy, with ε and δ = {delta}: the worst case over "
            "all records "
            "and all attackers, not an average.",
            "docs/guarantee.md T1",
            delta=papers.figure("/delta", how="small, rounded up"),
        )
    else:
        yield papers.say(
            "The model is pure differential privacy (no δ is declared): the worst case over all records "
            "and all "
            "attackers, not an average.",
            "docs/guarantee.md T1",
            f"{REPORT} /epsilon",
        )
    yield papers.say(
        "It bounds the risk whatever an attacker knows of all other records, so no share of the "
        "population and no "
        "sampling is assumed.",
        "docs/guarantee.md T1",
    )
