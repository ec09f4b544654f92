"""Identifiability and what was done about it: ε, mechanisms, tests, side channels (ISO/IEC 27559, clause 8)."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.documents.dossier.statement import (
    AUDIT,
    PRIORS,
    REPORT,
    RISK,
    Blank,
    Item,
    Listing,
    Papers,
    Section,
)

Columns = tuple[tuple[str, str], ...]
MOST = 40
"""Rows of an audit that are printed; what did not pass comes first."""
CHANNELS = (
    (
        "V1",
        "How long a run takes depends on the records; it is published nowhere.",
        "who could see how long it took.",
    ),
    ("V4", "Memory may be written to swap or by hibernation.", "swap and hibernation of the machine."),
    (
        "V10",
        "Noise is as good as the system's generator; a cloned machine may repeat it.",
        "snapshots of the machine.",
    ),
    ("V12", "Locks of network disks may fail.", "the disk on which ledger and data lie."),
    ("V14", "A copy of the data elsewhere counts as other data.", "the copies of the data that exist."),
    ("V19", "Who holds the transcript can take the noise away.", "who has access to the transcript."),
    ("V22", "Database servers keep logs and temporary files.", "logs and temporary files of the engine."),
)


def identifiability(papers: Papers) -> list[Section]:
    """From the privacy parameter down to side channels and what is left."""
    return [
        Section(
            "4.1", "Privacy parameter and its meaning", "8.2.2", "privacy parameter", tuple(_meaning(papers))
        ),
        Section("4.2", "Mechanisms", "8.3.3", "algorithms and correctness", tuple(_mechanisms(papers))),
        Section("4.3", "Utility and bias", "8.3.3", "utility and bias", tuple(_utility(papers))),
        Section("4.4", "Tests of the program", "8.2.3", "algorithms and correctness", tuple(_audit(papers))),
        Section("4.5", "Attacks on public data", "8.2.3", "privacy guarantee", tuple(_risk(papers))),
        Section("4.6", "Side channels", "8.3.2", "implementation and side channels", tuple(_channels(papers))),
        Section("4.7", "Residual risks", "8.3.4", "", tuple(_left(papers))),
    ]


def _meaning(papers: Papers) -> Iterator[Item]:
    kind = "Had it been a release, w" if papers.at(REPORT, "/rehearsal") else "W"
    but = ", but for δ," if papers.has("/delta") else ""
    yield papers.say(
        f"ε = {{epsilon}}. {kind}hatever is seen of it is{but} at most {{factor}} times likelier, or less "
        f"likely, "
        "with a person's record than with any other in its place. So the odds of any guess about that "
        "person move "
        "by at most that factor.",
        "docs/guarantee.md T1",
        epsilon=papers.figure("/epsilon"),
        factor=papers.figure("/epsilon", how="e to this power, rounded up"),
    )
    rows = tuple(
        (
            papers.figure("/epsilon", how=f"{prior} becomes at least"),
            papers.figure("/epsilon", how=f"{prior} becomes at most"),
        )
        for prior in PRIORS
    )
    for prior, (least, most) in zip(PRIORS, rows, strict=True):
        yield papers.say(
            f"A guess about a person that had {_words(prior)} before has{but} between {{least}} and "
            f"{{most}} after "
            "the release has been seen.",
            least=least,
            most=most,
        )
    places = ("/epsilon", "/delta") if papers.has("/delta") else ("/epsilon",)
    yield papers.say(
        "Of a hundred guesses of a fair yes or no in one record, at most {guesses} can be right, fifty "
        "by luck alone.",
        guesses=papers.figure(*places, how="right guesses of a hundred"),
    )
    if papers.has("/delta"):
        yield papers.say(
            "δ = {delta}: with that probability the bound above may fail for a record; for some record "
            "out of all "
            "with {any} at most.",
            "docs/known-vulnerabilities.md V26",
            delta=papers.figure("/delta", how="small, rounded up"),
            any=papers.figure("/records", "/delta", how="the product, rounded up"),
        )
    yield Blank("why this ε is acceptable for these data, and who judged it so.", 3)


def _words(prior: str) -> str:
    return {"1 %": "one chance in a hundred", "10 %": "one chance in ten", "50 %": "an even chance"}[prior]


def _mechanisms(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "The scheme is {scheme}, the selection {selection}. One configuration out of {configurations} "
        "was drawn, and a "
        "model of the family {family} fitted with noise.",
        "docs/guarantee.md T1",
        "docs/guarantee.md T2",
        scheme=papers.figure("/scheme"),
        selection=papers.figure("/selection"),
        configurations=papers.figure("/configurations", how="a count"),
        family=papers.figure("/family"),
    )
    columns: Columns = (("part", "as it stands"), ("epsilon", "as it stands"), ("note", "as it stands"))
    heads: tuple[str, ...] = ("part", "ε", "how it counts")
    yield Listing("The budget, part by part", heads, papers.rows("/budget", columns), "2fr, auto, 1.4fr")
    columns = (
        ("name", "as it stands"),
        ("mechanism", "as it stands"),
        ("epsilon", "a number"),
        ("sensitivity", "a number or none"),
        ("sigma", "a number or none"),
    )
    heads = ("criterion", "mechanism", "ε", "sensitivity", "σ of the noise")
    yield Listing(
        "What was measured, and with which noise",
        heads,
        papers.rows("/criteria", columns),
        "1.5fr, 1.3fr, auto, auto, auto",
    )
    if papers.has("/tables"):
        yield papers.say(
            "{tables} noisy tables of the model are published with the law of their noise, at no further cost.",
            "docs/guarantee.md T4",
            tables=papers.figure("/tables", how="how many"),
        )
    yield papers.say(
        "Each mechanism has its theorem and proof beside its code, for these neighbours; noise is drawn "
        "as integers "
        "from the system's generator, and costs are exact fractions.",
        "docs/guarantee.md H2",
        "docs/guarantee.md H6",
    )


def _utility(papers: Papers) -> Iterator[Item]:
    columns: Columns = (
        ("name", "as it stands"),
        ("threshold", "a number"),
        ("value", "a number or none"),
        ("bound", "a bound, rounded up"),
    )
    heads = ("criterion", "threshold", "measured, with noise", "bound on the error")
    yield Listing(
        "Quality, as it was measured", heads, papers.rows("/criteria", columns), "2fr, auto, auto, auto"
    )
    promise = (
        "of the search before it began" if papers.at(REPORT, "/confidence/of_search") else "given the release"
    )
    yield papers.say(
        f"{{bounded}} of {{criteria}} criteria have a bound. The bounds hold together with {{together}}, "
        f"{promise}.",
        f"{REPORT} /confidence/of_search",
        bounded=papers.figure("/criteria", how="how many have a bound"),
        criteria=papers.figure("/criteria", how="how many"),
        together=papers.figure("/confidence/together", how="a percentage"),
    )
    yield papers.say(
        "Noise, coarse values and rules make rare groups less accurate than common ones; no bound speaks "
        "of what "
        "was not measured.",
        "docs/known-vulnerabilities.md V25",
    )
    yield Blank("for which uses the release is fit, and for which groups it is not.", 2)


def _audit(papers: Papers) -> Iterator[Item]:
    if AUDIT not in papers.files:
        yield papers.say(
            "MISSING: no audit of the program on the curator's machine was given (facsimile dossier "
            "--audit). What is "
            "said here about mechanisms rests on proofs and on the project's own tests alone.",
            "docs/guarantee.md H2",
        )
        yield Blank("the audit, or why there is none.", 1)
        return
    failed = [i for i, one in enumerate(papers.at(AUDIT, "/evidence")) if not one["passed"]]
    yield papers.say(
        "The audit of facsimile {version} on {day} tried {theorems} theorems by {tests} tests, which "
        "honest code fails "
        "with a probability of at most {alpha} each: {failed} did not pass.",
        version=papers.figure("/version", file=AUDIT),
        day=papers.figure("/day", how="a day", file=AUDIT),
        theorems=papers.figure("/evidence", how="how many theorems", file=AUDIT),
        tests=papers.figure("/evidence", how="how many", file=AUDIT),
        alpha=papers.figure("/alpha", how="a number", file=AUDIT),
        failed=papers.figure("/evidence", how="how many did not pass", file=AUDIT),
    )
    if failed:
        yield papers.say(
            "WARNING: an audit that does not pass is no evidence for the release.", f"{AUDIT} /passed"
        )
    if papers.at(AUDIT, "/version") != papers.at(REPORT, "/version"):
        yield papers.say(
            "The audit is of version {audited}, the release of {made}.",
            audited=papers.figure("/version", file=AUDIT),
            made=papers.figure("/version"),
        )
    columns: Columns = (
        ("theorem", "as it stands"),
        ("kind", "as it stands"),
        ("case", "as it stands"),
        ("declared", "a number or none"),
        ("found", "a number or none"),
        ("passed", "passed or not"),
    )
    rows = papers.rows("/evidence", columns, AUDIT)
    order = [*failed, *(i for i in range(len(rows)) if i not in failed)]
    heads = ("theorem", "test", "case", "declared", "found", "")
    shown = tuple(rows[i] for i in order[:MOST])
    caption = (
        "Evidence"
        if len(rows) <= MOST
        else "Evidence: the first rows, what did not pass before all; audit.json has the rest"
    )
    yield Listing(caption, heads, shown, "2fr, auto, 1.4fr, auto, auto, auto")


def _risk(papers: Papers) -> Iterator[Item]:
    if RISK not in papers.files:
        yield papers.say(
            "MISSING: no report of attacks on public data was given (facsimile dossier --risk). The "
            "guarantee does not "
            "rest on one.",
            "docs/guarantee.md T1",
        )
        yield Blank("the report, or why there is none.", 1)
        return
    yield papers.say(
        "Attacks were tried on {day} on public data, {records} records, under this very plan at ε = "
        "{epsilon}. Each "
        "is held against people who were not in the table; intervals have a confidence of {confidence}.",
        day=papers.figure("/day", how="a day", file=RISK),
        records=papers.figure("/records", how="a count", file=RISK),
        epsilon=papers.figure("/epsilon", file=RISK),
        confidence=papers.figure("/confidence", file=RISK),
    )
    columns: Columns = (
        ("question", "as it stands"),
        ("table", "as it stands"),
        *((name, "a rate") for name in ("success", "control", "risk")),
        ("low", "a rate, rounded down"),
        ("high", "a rate, rounded up"),
        ("attacks", "a count"),
    )
    heads = ("question", "table", "success", "control", "risk", "low", "high", "tries")
    yield Listing(
        "Attacks",
        heads,
        papers.rows("/attacks", columns, RISK),
        "1.3fr, 1.2fr, auto, auto, auto, auto, auto, auto",
    )
    for part, words in (("says", "It shows: {words}"), ("cannot", "It cannot show: {words}")):
        for i in range(len(papers.at(RISK, f"/{part}"))):
            yield papers.say(words, words=papers.figure(f"/{part}/{i}", file=RISK))


def _channels(papers: Papers) -> Iterator[Item]:
    for number, words, blank in CHANNELS:
        yield papers.say(words, f"docs/known-vulnerabilities.md {number}")
        yield Blank(blank, 1)


def _left(papers: Papers) -> Iterator[Item]:
    yield papers.say(
        "What is true of a group is true of its members, whether or not they are in the data; the "
        "guarantee does not "
        "speak of it.",
        "docs/known-vulnerabilities.md V25",
    )
    yield papers.say(
        "That noise was drawn, that the ledger is the only one and that nobody looked at the records in "
        "another way, no "
        "file can prove: for these the publisher is trusted.",
        "docs/known-vulnerabilities.md V30",
    )
    yield papers.say(
        "A specification that was written with the records in view is an answer without noise.",
        "docs/known-vulnerabilities.md V27",
    )
    yield Blank("that nobody who wrote the specification had looked at the records for it, and who says so.", 2)
    yield Blank("which of these risks were accepted, by whom, and until when.", 3)
