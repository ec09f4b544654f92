"""README: one document in two forms, a page for a browser and a PDF, and its first page as a PDF of its own.

How it is built stands once, in `templates/body.html`, and its words once in each language, in
`languages/`. The PDF is made from that very page: typst reads it as XML and sets it in type
(`templates/readme.typ`), so the two forms cannot say different things. Texts of the report are escaped when the
page is rendered, and typst sees them as data, never as markup.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

import typst
from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from facsimile.documents import figures
from facsimile.documents.facts import Sizes
from facsimile.documents.language import ENGLISH, Language, language, printable
from facsimile.documents.metadata import DOI, plain
from facsimile.documents.numerals import belief, chance, exact, one_in, percentage, rounded_up, small
from facsimile.documents.report import FREE, ONCE, ORIGINAL, CriterionEntry, Regression, Report
from facsimile.documents.schema_org import data_block, schema_org
from facsimile.documents.summary import Headline, guesses, headlines
from facsimile.privacy.modes import MODES
from facsimile.spec.decimals import parse_decimal, show_decimal

PAGE, PDF, SUMMARY = "README.html", "README.pdf", "SUMMARY.pdf"
_TOPICS = ("counts", "means", "quantiles", "correlations", "regression")
_LARGE = 3
RISKY = Fraction(1, 1000)
MOST = 60
"""Groups of a criterion that are shown; report.json has all of them."""
MORE = ("explorer", "tables", "labelled", "metadata", "replicates")
MOST_TITLE, MOST_LEAD, MOST_ABOUT = 160, 320, 80
"""Letters of a title and of other texts that fit on one page."""


def names(languages: Sequence[str] = (ENGLISH,), summary: bool = False) -> tuple[str, ...]:
    """The files of the documents, those of the first language first: it is the main one.

    >>> names(("en", "he"))
    ('README.html', 'README.pdf', 'README.he.html', 'README.he.pdf')
    """
    every = (PAGE, PDF, SUMMARY) if summary else (PAGE, PDF)
    return tuple(named(name, code, languages) for code in languages for name in every)


def named(name: str, code: str, languages: Sequence[str]) -> str:
    """A document's file in a language: the main one has no mark of it."""
    stem, dot, ending = name.partition(".")
    return name if code == languages[0] else f"{stem}.{code}{dot}{ending}"


def documents(
    report: Report, languages: Sequence[str] = (ENGLISH,), summary: bool = False, sizes: Sizes | None = None
) -> dict[str, bytes]:
    """The content of each of these files; with the `sizes` of others, pages tell search engines of them."""
    found = {}
    for code in languages:
        found[named(PAGE, code, languages)] = html(report, code, languages, sizes).encode()
        found[named(PDF, code, languages)] = pdf(report, code, languages)
        if summary:
            found[named(SUMMARY, code, languages)] = summary_pdf(report, code, languages)
    return found


def html(report: Report, code: str = ENGLISH, languages: Sequence[str] = (), sizes: Sizes | None = None) -> str:
    """The document as one page that asks for nothing from outside and needs no script.

    It leads to the same page in the other languages, if there are `languages`.
    """
    said = language(code)
    others = [
        (one, language(one).ways["name"], named(PAGE, one, languages)) for one in languages if one != code
    ]
    linked = None if sizes is None else data_block(schema_org(report, sizes))
    return _template(code, "page.html").render(_words(report, said), others=others, inline=True, linked=linked)


def pdf(report: Report, code: str = ENGLISH, languages: Sequence[str] = ()) -> bytes:
    """The document as an archival, accessible PDF (PDF/A-2a, PDF/UA-1): the same report gives the same bytes.

    The fonts are those inside typst: Latin, Greek, Cyrillic, Hebrew and Arabic letters. Where they lack a
    letter, the file is plain PDF and says on its first page that README.html shows it.
    """
    said = language(code)
    drawings = {column.name: figures.one_way(column, said) for column in report.columns}
    drawings[":criteria"] = figures.quality(report.criteria, said)
    return _typeset(report, said, "body.html", drawings, named(PAGE, code, languages or (code,)))


def summary_pdf(report: Report, code: str = ENGLISH, languages: Sequence[str] = ()) -> bytes:
    """The first page of the document as a PDF of one page, as archival and accessible as the whole."""
    return _typeset(report, language(code), "summary.html", {}, named(PAGE, code, languages or (code,)))


def _typeset(report: Report, said: Language, template: str, drawings: dict[str, str], page: str) -> bytes:
    words = _words(report, said)
    body = _template(said.code, template).render(words, others=[], inline=False)
    drawings[":guesses"] = str(words["guessing"])
    if report.publisher is not None and report.publisher.logo is not None:
        drawings[":logo"] = figures.picture(report.publisher.logo)
    inputs = {
        "body": body,
        "drawings": json.dumps({name: printable(figures.standalone(svg)) for name, svg in drawings.items()}),
        "title": printable(report.title),
        "day": report.day,
        "mark": words["mark"] if report.rehearsal else "",
        "prefix": said.plain("head.rehearsal") if report.rehearsal else "",
        "lang": said.code,
        "region": said.ways["region"],
        "direction": said.ways["direction"],
        "lacking": "",
    }
    source = (files("facsimile.documents") / "templates" / "readme.typ").read_bytes()
    try:
        return typst.compile(
            source, sys_inputs=inputs, ignore_system_fonts=True, pdf_standards=["a-2a", "ua-1"], format="pdf"
        )
    except typst.TypstError:
        lacking = inputs | {"lacking": said.plain("head.lacking", page=page)}
        return typst.compile(source, sys_inputs=lacking, ignore_system_fonts=True, format="pdf")


@cache
def _templates(code: str) -> Environment:
    loader = PackageLoader("facsimile.documents")
    return language(code).environment(loader=loader, autoescape=True, finalize=_shown)


def _template(code: str, name: str) -> Template:
    return _templates(code).get_template(name)


def _shown(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _words(report: Report, said: Language) -> dict[str, Any]:
    """What the texts speak of. Every claim of them hangs on one of these, or on the report itself."""
    epsilon = rounded_up(report.epsilon)
    bounded = [c for c in report.criteria if c.bound is not None]
    ruled = any(rule.applies_to == ORIGINAL for rule in report.rules)
    dropping = any(column.left_out for column in report.columns)
    nobody = said.plain("feedback.nobody")
    contact = (report.governance.contact if report.governance else None) or report.contact or nobody
    mode = MODES[report.mode]
    told = {
        "report": report,
        "language": said,
        "mark": said.plain("head.mark"),
        "contact": contact,
        "feedback": (report.governance.feedback if report.governance else None) or contact,
        "people": _peopled(report),
        "more": _more(report),
        "chosen": _chosen(report, said),
        "day": said.day(report.day),
        "doi": DOI,
        "plain": plain,
        "coarse": any(column.coarse for column in report.columns),
        "same": same,
        "numbered": any(
            not same(label, number)
            for column in report.columns
            for label, number in zip(column.labels, column.numbers or (), strict=column.numbers is not None)
        ),
        "ruled": ruled,
        "dropping": dropping,
        "left_out": report.policy == "declared" and (ruled or dropping),
        "rare": rarest if (rarest := int(report.projection.get("min_count", 1))) > 1 else None,
        "several": mode.repeats,
        "halting": mode.halting,
        "ending": said.phrase("ending", mode.ending),
        "by_any": any(rule.bins == "any" for rule in report.rules),
        "fitted_before": any(line.part == ONCE for line in report.budget) and bool(_regressions(report)),
        "shared": any(line.note == FREE for line in report.budget),
        "refitted": [c for c in report.criteria if c.spread is not None],
        "lucky": [
            (c, said.figure(chance(c.luck, ROUND_CEILING))) for c in report.criteria if c.luck is not None
        ],
        "regressions": _regressions(report),
        "bounded": bounded,
        "alone": [c for c in report.criteria if not c.shared],
        "unbounded": [c for c in report.criteria if c.bound is None],
        "dashed": any(c.bound is None and c.value is not None for c in report.criteria),
        "framed": figures.framed(report.criteria),
        "beyond": _titles(
            [c for c in report.criteria if not c.shared and (c.value is None or c.value >= c.threshold)], said
        ),
        "means": any(c.topic == "means" for c in report.criteria),
        "indirect": _titles([c for c in bounded if c.stands != "itself"], said),
        "standing": {c.stands for c in bounded},
        "confidence": said.figure(percentage(report.confidence.together)),
        "each": said.figure(chance(float(report.confidence.each), ROUND_FLOOR)),
        "failing": said.figure(percentage(show_decimal(1 - parse_decimal(report.confidence.together)))),
        "uncovered": uncovered(report, said.code),
        "false_accept": said.figure(percentage(report.false_accept)),
        "epsilon": said.figure(epsilon),
        "rounded": epsilon != report.epsilon,
        "double": said.figure(show_decimal(2 * parse_decimal(epsilon))),
        "factor": said.number(exp(float(epsilon)), ROUND_CEILING, 3),
        "large": parse_decimal(report.epsilon) >= _LARGE,
        **_approximate(report, said, float(epsilon)),
        "beliefs": [tuple(map(said.figure, belief(prior, float(epsilon)))) for prior in (0.01, 0.1, 0.5)],
        "drawn": {c.name: Markup(figures.one_way(c, said)) for c in report.columns},
        "described": {c.name: figures.described(c, said) for c in report.columns},
        "grouped": [(c, c.subgroups[:MOST], len(c.subgroups[MOST:])) for c in report.criteria if c.subgroups],
        "near": any(c.subgroups and c.subgroups[0].within is not None for c in report.criteria),
        "far": any(c.subgroups and c.subgroups[0].within is None for c in report.criteria),
        "quality": Markup(figures.quality(report.criteria, said)),
        "weighed": figures.weighed(report.criteria, said),
        **_summary(report, said, bounded),
    }
    return told | {"holding": said.say("quality.holding", **told), "again": said.say("made.again", **told)}


def _summary(report: Report, said: Language, bounded: Sequence[CriterionEntry]) -> dict[str, Any]:
    """What the first page speaks of."""
    delta = float(report.delta or 0)
    right = guesses(float(rounded_up(report.epsilon)), delta)
    topics = dict.fromkeys(c.topic for c in bounded if c.topic != "rows")
    shown = headlines(report)
    publisher = report.publisher
    return {
        "title": shortened(report.title, MOST_TITLE),
        "lead": shortened(report.description or "", MOST_LEAD),
        "provenance": shortened((publisher.provenance if publisher else None) or "", MOST_TITLE).rstrip("."),
        "guesses": right,
        "nearly": right >= 100,
        "guessing": Markup(figures.guessing(right, said)),
        "picture": said.plain("summary.picture", guesses=right, nearly=right >= 100),
        "topics": said.listed(
            map(said.plain, (f"questions.short_{topic}" for topic in topics)), "and_word"
        ).capitalize(),
        "headlines": [(_figure(one, said), _about(one, said), _between(one, said)) for one in shown],
        "guaranteed": any(one.between for one in shown),
    }


def _figure(one: Headline, said: Language) -> str:
    return said.figure(f"{100 * one.value:.1f}\u00a0%") if one.of == "share" else _number(one.value, one, said)


def _number(value: float, one: Headline, said: Language, rounding: str | None = None) -> str:
    if one.of == "count":
        return said.count(int(value))
    if one.of == "share":
        return said.figure(chance(value, rounding or ROUND_FLOOR)) if 0 < value < 1 else f"{100 * value:g}"
    return said.number(value, rounding) if rounding else said.number(value)


def _about(one: Headline, said: Language) -> Markup:
    column = one.column
    if column is None:
        return said.say("summary.share", where=shortened(one.where, MOST_ABOUT))
    name = shortened(column.description, MOST_ABOUT).rstrip(".")
    if one.of == "count":
        value = shortened(said.meaning(column.labels[one.label], column.meanings[one.label]), MOST_ABOUT)
        return said.say("summary.count", column=name, value=value)
    return said.say("summary.mean_coarse" if column.coarse else "summary.mean", column=name)


def _between(one: Headline, said: Language) -> Markup:
    if one.between is None:
        return said.say("summary.unknown")
    low, high = one.between
    ends = {
        "low": _number(low, one, said, ROUND_FLOOR),
        "high": _number(high, one, said, ROUND_CEILING),
    }
    return said.say("summary.between", **ends)


def shortened(text: str, most: int) -> str:
    """A text of at most so many letters, cut between words where it is longer.

    >>> shortened("one two three", 9)
    'one two…'
    """
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _approximate(report: Report, said: Language, epsilon: float) -> dict[str, Any]:
    """What is said of δ: the chance of a failure for one record, for any of them, and for a person with two.

    (ε, δ) for one record is (2ε, (1 + e^ε)δ) for two.
    """
    told: dict[str, Any] = {"delta": "", "noted": lambda note: said.phrase("note", note)}
    if report.delta is None:
        return told
    delta = parse_decimal(report.delta)
    of_any = min(Fraction(1), report.records * delta)

    def noted(note: str) -> str:
        signed = note.replace(f"delta {report.delta}", f"δ = {small(delta)}").replace("rho ", "ρ = ")
        return said.phrase("note", signed)

    return told | {
        "delta": said.figure(small(report.delta)),
        "noted": noted,
        "one_in": said.figure(one_in(delta)),
        "any_chance": said.figure(small(of_any)),
        "any_in": said.figure(one_in(of_any)),
        "risky": of_any > RISKY,
        "double_delta": said.figure(small(delta * (1 + Fraction(exp(epsilon))))),
    }


def _titles(criteria: Sequence[CriterionEntry], said: Language) -> list[str]:
    return [said.phrase("criterion", c.title) for c in criteria]


def _more(report: Report) -> list[str]:
    """What the folder holds beside the documents of every release, and how to ask it."""
    if report.publish is None:
        return []
    there = [part for part in MORE if part in report.publish and (part != "tables" or report.tables)]
    return [*there, "answer"]


def _peopled(report: Report) -> bool:
    """Whether the release names people, what they asked for, what they approved or what binds them."""
    g = report.governance
    return g is not None and any((g.partners, g.requirements, g.approvals, g.legal_basis, g.ethics_review))


def _chosen(report: Report, said: Language) -> str:
    """What the sources of a release speak of, in the order of its table."""
    parts = [part for part in ("budget", "selection", "projection") if part in report.sources]
    return said.listed((said.plain(f"made.chosen_{part}") for part in parts), "and_word")


def same(label: str, number: float) -> bool:
    """Whether a label is its own number, so that the number need not be shown."""
    return exact(number).replace(",", "") == label.replace("-", "−", 1)


def _regressions(report: Report) -> list[tuple[str, Regression]]:
    """Each published regression once, with what was compared with it."""
    if report.regression == report.refit:
        return [] if report.refit is None else [("both", report.refit)]
    pairs = [("coefficients", report.refit), ("predictions", report.regression)]
    return [(use, found) for use, found in pairs if found is not None]


def uncovered(report: Report, code: str = ENGLISH) -> list[str]:
    """The common topics that no criterion of the release speaks of, and columns without a mean.

    A query and a proportion answer one question each and cover no topic.
    """
    said = language(code)
    whole = [criterion for criterion in report.criteria if criterion.kind not in ("query", "proportion")]
    spoken = {c.topic for c in whole}
    found = [said.plain(f"questions.topic_{topic}") for topic in _TOPICS if topic not in spoken]
    measured = {name for c in whole if c.topic == "means" for name in c.columns}
    rest = [c.name for c in report.columns if c.numbers is not None and c.name not in measured]
    if measured and rest:
        found.append(said.plain("questions.topic_mean_of", names=said.ways["or"].join(map(said.apart, rest))))
    return found
