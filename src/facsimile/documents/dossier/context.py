"""The context of a release: who could attack it, who is trusted, who was asked (ISO/IEC 27559, clause 6)."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.documents.dossier.statement import MANIFEST, PLAN, Blank, Item, Papers, Section, escaped


def overview(papers: Papers) -> Section:
    """What this is, who publishes it, and what was verified."""
    return Section("1", "Overview", "5", "", tuple(_overview(papers)))


def _overview(papers: Papers) -> Iterator[Item]:
    title, day = papers.figure("/title"), papers.figure("/day", how="a day")
    version = papers.figure("/version")
    if papers.at("report.json", "/rehearsal"):
        yield papers.say(
            "This is a rehearsal of “{title}”, made on {day} by facsimile {version} from public data "
            "with seeded "
            "noise. It protects nobody, and no dossier of it is one of a release.",
            title=title, day=day, version=version,
        )  # fmt: skip
    else:
        yield papers.say(
            "“{title}” was decided on {day} by facsimile {version}.", title=title, day=day, version=version
        )
    if papers.has("/description"):
        yield papers.say("What it is, in its own words: “{words}”", words=papers.figure("/description"))
    if papers.has("/publisher/name"):
        yield papers.say("Its publisher is {name}.", name=papers.figure("/publisher/name"))
    else:
        yield Blank("who publishes the release and answers for it.", 1)
    yield papers.say(
        "It holds {records} synthetic records over {columns} columns, drawn from a model of the family "
        "{family}.",
        records=papers.figure("/records", how="a count"),
        columns=papers.figure("/columns", how="how many"),
        family=papers.figure("/family"),
    )
    yield papers.say(
        "Before this dossier was made, the bundle was verified: its {files} listed files are those of "
        "the manifest, "
        "and every published figure follows from the specification, the released table and the noisy answers.",
        "docs/known-vulnerabilities.md V30",
        files=papers.figure("/sha256", how="how many", file=MANIFEST),
    )
    if papers.signer:
        yield papers.say(
            "One key signed the bundle. Whose key it is, the bundle cannot say: its fingerprint is to be held "
            "against one that is known from elsewhere.",
            "signature.dsse",
        )
    else:
        yield papers.say("The bundle is not signed.", MANIFEST)
    yield Blank(
        "the fingerprint of the publisher's key and where it was published, or why the bundle is unsigned.", 1
    )


def context(papers: Papers) -> list[Section]:
    """Threats, trust, stakeholders, and what the collection of the data itself exposes."""
    return [
        Section("2.1", "Threats", "6.2", "threat model", tuple(_threats(papers))),
        Section("2.2", "Trust", "6.2.2", "trust model; security and access", tuple(_trust(papers))),
        Section("2.3", "Transparency and stakeholders", "6.3", "", tuple(_stakeholders(papers))),
        Section("2.4", "Collection of the data", "6.2, 7.2", "exposure in data collection", _collection()),
    ]


def _threats(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "The attacker is anybody who sees the release. No limit is set on what else they know, nor on their "
        "computing power, but for this: they cannot break the system's generator or the hashes in the bundle.",
        "docs/guarantee.md T1",
        "docs/guarantee.md H9",
    )
    yield papers.say(
        "Not covered: who controls the machine, and malice inside the process.",
        "docs/known-vulnerabilities.md V6",
        "docs/known-vulnerabilities.md V7",
    )
    yield Blank("who could want to learn about a person in these data, and what they may already hold.", 3)


def _trust(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "The model of trust is central: a curator holds the records and is trusted with them. Nobody else is.",
        "docs/guarantee.md H1",
        "docs/guarantee.md H7",
    )
    if papers.has("/ledger"):
        yield papers.say(
            "The budget was charged to the ledger {id}, entry {sequence}. By then that ledger had spent "
            "ε = {spent} "
            "in all, this release included, and earlier ledgers of the same data ε = {before}.",
            "docs/guarantee.md T5",
            id=papers.figure("/ledger/id"),
            sequence=papers.figure("/ledger/sequence"),
            spent=papers.figure("/ledger/spent"),
            before=papers.figure("/ledger/before"),
        )
    else:
        yield papers.say(
            "There is no ledger: a rehearsal charges nothing.",
            "report.json /ledger",
            "docs/known-vulnerabilities.md V29",
        )
    yield Blank("the machine that the release ran on, who has access to it, and how access is logged.", 3)
    yield Blank(
        "where ledger, anchor, key and transcript are kept, who holds them, and how they are backed up.", 2
    )


def _stakeholders(papers: Papers) -> Iterator[Item]:
    if papers.has("/governance/requirements"):
        for name in papers.at("report.json", "/governance/requirements"):
            asked = papers.figure(f"/governance/requirements/{escaped(name)}")
            yield papers.say("Asked for by the partners: {words}", words=asked)
    else:
        yield Blank("who was consulted, and what they asked for.", 2)
    yield papers.say(
        "What is promised was fixed before a record was read: the plan has the hash {hash}.",
        f"{PLAN} /specification",
        "docs/guarantee.md H8",
        hash=papers.figure("/plan_hash"),
    )
    yield Blank("where and when that hash was registered before the run.", 1)
    yield Blank("which harm a disclosure could do to a person in these data, and to a group of them.", 3)


def _collection() -> tuple[Item, ...]:
    return (
        Blank("how the records were collected, on which legal ground, and who held copies on the way.", 3),
        Blank(
            "what else was published from the same records, in whichever way: it adds up with this release.", 3
        ),
    )
