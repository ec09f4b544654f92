"""Words: what a risk report says first, and what it cannot show."""

from __future__ import annotations

from collections.abc import Sequence

from facsimile.risk.findings import QUESTIONS, Finding, Published, Question
from facsimile.risk.membership import FALSE_ALARMS, Membership

QUESTION_WORDS: dict[Question, str] = {
    "singling-out": "singling out",
    "linkability": "linking",
    "inference": "inferring a secret",
    "membership": "telling who was in the table",
}
TABLE_WORDS: dict[Published, str] = {
    "no-privacy": "the table itself",
    "release": "the release",
    "independent": "an independent sample",
}
DETAILS: dict[Question, str] = {
    "singling-out": "Descriptions by {worst} that fit none of the known people",
    "linkability": "Two parties that know {worst}",
    "inference": "Secret column {worst}",
    "membership": "Coins of {worst}",
}
CANNOT = (
    "An attack that fails proves nothing: another attack may succeed. What holds against every attack, also "
    "against those that nobody has thought of yet, is the epsilon of the release, and its proof.",
    "Shadow runs have little power: from the outside, a fault in a mechanism is seldom seen. `facsimile audit` "
    "looks for faults from the inside.",
    "The figures are about a public file of the same form. The confidential file was not touched; it may hold "
    "rarer people than the public one, and the public file's own people are not protected by anything here.",
    "Learning something about people in general is not a risk that is measured here: the controls were not in "
    "the table, and what is learned about them as well is no harm that being in it does.",
)


def percent(share: float) -> str:
    r"""A share for people.

    >>> percent(0.1234), percent(-0.00001), percent(-0.05)
    ('12.3\xa0%', '0.0\xa0%', '−5.0\xa0%')
    """
    shown = f"{abs(100 * share):.1f}\u00a0%"
    return f"−{shown}" if round(100 * share, 1) < 0 else shown


def between(found: Finding) -> str:
    """The interval of a finding."""
    return f"{percent(found.low)} to {percent(found.high)}"


def says(findings: Sequence[Finding], bound: float, epsilon: str) -> tuple[str, ...]:
    """The verdict: first of the release, then of what it stands beside."""
    of = {(f.question, f.table): f for f in findings}
    return (
        *_release([of[q, "release"] for q in QUESTIONS], [of[q, "independent"] for q in QUESTIONS]),
        _itself([of[q, "no-privacy"] for q in QUESTIONS]),
        _bounded(of["membership", "release"], bound, epsilon),
    )


def _release(release: Sequence[Finding], independent: Sequence[Finding]) -> Sequence[str]:
    clear = [f for f in release if f.clear]
    largest = max(release, key=lambda f: f.high)
    if not clear:
        yes = (
            "In the release no attack told people who were in the table from people who were not, beyond what "
            f"chance explains. The excess is at most {percent(largest.high)} "
            f"({QUESTION_WORDS[largest.question]})."
        )
        alike = all(not f.clear for f in independent)
        beside = "The same holds for" if alike else "It does not hold for"
        return yes, f"{beside} a table that knows none of the attacked people: an independent sample."
    names = "; ".join(f"{QUESTION_WORDS[f.question]}, {percent(f.risk)} ({between(f)})" for f in clear)
    over = [f for f, g in zip(release, independent, strict=True) if f.low > g.high]
    apart = (
        "More than in an independent sample." if over else "Its interval still meets an independent sample's."
    )
    return f"In the release people who were in the table are at more risk than others: {names}.", apart


def _itself(findings: Sequence[Finding]) -> str:
    clear = [f for f in findings if f.clear]
    if not clear:
        return "Even the table itself gives these attacks nothing: they are too weak to judge by."
    names = "; ".join(f"{QUESTION_WORDS[f.question]} {percent(f.risk)}" for f in clear)
    rest = [QUESTION_WORDS[f.question] for f in findings if not f.clear]
    dull = (
        f" Where even that shows nothing ({', '.join(rest)}), the attack is too weak to judge by."
        if rest
        else ""
    )
    return f"The table itself, published as it is, would put its people at risk: {names}.{dull}"


def _bounded(found: Finding, bound: float, epsilon: str) -> str:
    return (
        f"Epsilon {epsilon} allows any attack on membership an advantage of {percent(bound)} at most; "
        f"this one reached {percent(found.risk)} ({between(found)})."
    )


def few_alarms(found: Membership, alpha: float) -> str:
    """How many of the rarest people inside are found at few false alarms."""
    low, high = map(percent, found.found.bounds(alpha))
    alarms = f"{percent(FALSE_ALARMS)} false alarms ({percent(found.alarms.share)} seen)"
    share = f"{percent(found.found.share)} of the cases ({low} to {high})"
    return f"; at about {alarms} the rarest are found in {share}, by {found.statistic}"
