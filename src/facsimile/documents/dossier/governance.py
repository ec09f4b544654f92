"""Governance: who decided, who approved, what happens afterwards, and who signs (ISO/IEC 27559, clause 9)."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.documents.dossier.statement import Blank, Item, Listing, Papers, Section

SIGNERS = ("the curator who ran the release", "the data protection officer", "the head of the office")


def governance(papers: Papers) -> list[Section]:
    """Before, after, incidents, signatures."""
    return [
        Section("5.1", "Before the data are available", "9.2", "", tuple(_before(papers))),
        Section("5.2", "After the data are available", "9.3", "", tuple(_after(papers))),
        Section("5.3", "Incidents", "9.4", "", tuple(_incidents(papers))),
        Section("5.4", "Sign-offs", "9.2.2", "", tuple(_signed())),
    ]


def _before(papers: Papers) -> Iterator[Item]:
    if papers.has("/governance/partners"):
        rows = tuple(
            tuple(
                papers.figure(f"/governance/partners/{i}/{name}", how="as it stands")
                for name in ("name", "role", "organisation")
                if papers.has(f"/governance/partners/{i}/{name}")
            )
            for i in range(len(papers.at("report.json", "/governance/partners")))
        )
        for row in rows:
            figures = {f"part{i}": figure for i, figure in enumerate(row)}
            yield papers.say("A partner: " + ", ".join(f"{{{name}}}" for name in figures) + ".", **figures)
    else:
        yield Blank("who has which role in the release.", 2)
    for place, words, blank in (
        ("legal_basis", "Legal basis: {words}", "the law that the release rests on."),
        (
            "ethics_review",
            "Review of ethics: {words}",
            "which review of ethics it passed, or why none was needed.",
        ),
    ):
        if papers.has(f"/governance/{place}"):
            yield papers.say(words, words=papers.figure(f"/governance/{place}"))
        else:
            yield Blank(blank, 2)
    if papers.has("/governance/approvals"):
        columns = (("by", "as it stands"), ("of", "as it stands"))
        rows = papers.rows("/governance/approvals", columns)
        yield Listing("Approvals that the specification names", ("by", "of"), rows, "1fr, 2fr")
    else:
        yield Blank("who approved the specification and its budget, and on which day.", 2)
    for part in ("budget", "selection", "projection"):
        if papers.has(f"/sources/{part}"):
            yield papers.say("Who set the " + part + ": {words}", words=papers.figure(f"/sources/{part}"))
    if not papers.has("/sources/budget"):
        yield Blank("who chose ε, for which reason, and which values were considered.", 2)


def _after(papers: Papers) -> Iterator[Item]:
    contact = next((p for p in ("/governance/contact", "/contact") if papers.has(p)), None)
    if contact is not None:
        yield papers.say("Questions go to {contact}.", contact=papers.figure(contact))
    else:
        yield Blank("where questions and findings of users go.", 1)
    yield papers.say(
        "The guarantee does not wear off: no later knowledge and no later computation weakens it. "
        "Further releases "
        "from the same records add to it, and the ledger counts them.",
        "docs/guarantee.md T5",
        "docs/known-vulnerabilities.md V16",
    )
    yield Blank(
        "who watches what becomes known about the population, and when this dossier is looked at again.", 2
    )
    yield Blank("how long records, transcript and ledger are kept, and how they are destroyed.", 2)


def _incidents(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "A search that was stopped by force is an incident in the ledger; no end of a charge gives "
        "budget back.",
        "docs/known-vulnerabilities.md V17",
    )
    yield Blank("every incident and every restart of this release, with its reason, or that there was none.", 2)
    yield Blank("whom to call if the data, the transcript or a key is lost, and what is done then.", 2)


def _signed() -> Iterator[Item]:
    for who in SIGNERS:
        yield Blank(f"{who}: name, day and signature.", 2)
