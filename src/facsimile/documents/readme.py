"""README: one document in two forms, a page for a browser and a PDF.

The words stand once, in `templates/body.html`. The PDF is made from that very page: typst reads it as XML and
sets it in type (`templates/readme.typ`), so the two forms cannot say different things. Texts of the report are
escaped when the page is rendered, and typst sees them as data, never as markup.
"""

from __future__ import annotations

import json
import re
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

import typst
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from facsimile.documents import figures
from facsimile.documents.metadata import DOI, REHEARSAL, plain
from facsimile.documents.numerals import (
    above,
    belief,
    chance,
    count,
    decimal,
    exact,
    holding,
    number,
    one_in,
    percentage,
    rounded_up,
    small,
    spoken_day,
)
from facsimile.documents.report import FREE, ONCE, ORIGINAL, Regression, Report
from facsimile.privacy.modes import MODES
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.people import is_mail
from facsimile.spec.publisher import is_link

CONTACT = "the publisher of this file"
LACKING = "Some letters cannot be printed here and appear as boxes. README.html shows them."
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TOPICS = {
    "counts": "counts and shares, of one column or of several together",
    "means": "means of a column, overall or within groups",
    "quantiles": "medians and other quantiles",
    "correlations": "correlations",
    "regression": "regression",
}
_LARGE = 3
RISKY = Fraction(1, 1000)
MOST = 60
"""Groups of a criterion that are shown; report.json has all of them."""


def html(report: Report) -> str:
    """The document as one page that asks for nothing from outside and needs no script."""
    return _templates().get_template("page.html").render(_words(report), inline=True)


def pdf(report: Report) -> bytes:
    """The document as an archival, accessible PDF (PDF/A-2a, PDF/UA-1): the same report gives the same bytes.

    The fonts are those inside typst: Latin, Greek, Cyrillic, Hebrew and Arabic letters. Where they lack a
    letter, the file is plain PDF and says on its first page that README.html shows it.
    """
    body = _templates().get_template("body.html").render(_words(report), inline=False)
    drawings = {column.name: figures.one_way(column) for column in report.columns}
    drawings[":criteria"] = figures.quality(report.criteria)
    if report.publisher is not None and report.publisher.logo is not None:
        drawings[":logo"] = figures.picture(report.publisher.logo)
    inputs = {
        "body": body,
        "drawings": json.dumps({name: _printable(figures.standalone(svg)) for name, svg in drawings.items()}),
        "title": _printable(report.title),
        "day": report.day,
        "mark": REHEARSAL if report.rehearsal else "",
        "lacking": "",
    }
    source = (files("facsimile.documents") / "templates" / "readme.typ").read_bytes()
    try:
        return typst.compile(
            source, sys_inputs=inputs, ignore_system_fonts=True, pdf_standards=["a-2a", "ua-1"], format="pdf"
        )
    except typst.TypstError:
        plain = inputs | {"lacking": LACKING}
        return typst.compile(source, sys_inputs=plain, ignore_system_fonts=True, format="pdf")


@cache
def _templates() -> Environment:
    loader = PackageLoader("facsimile.documents")
    found = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    found.filters |= {"number": number, "above": above, "exact": exact, "count": count, "decimal": decimal}
    found.filters["day"] = spoken_day
    found.tests |= {"mail": is_mail, "link": is_link}
    return found


def _printable(value: Any) -> Any:
    """Text without the characters that XML forbids."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNPRINTABLE.sub("\ufffd", value)
    return value


def _words(report: Report) -> dict[str, Any]:
    """What the template speaks of. Every claim of it hangs on one of these, or on the report itself."""
    epsilon = rounded_up(report.epsilon)
    bounded = [c for c in report.criteria if c.bound is not None]
    ruled = any(rule.applies_to == ORIGINAL for rule in report.rules)
    dropping = any(column.left_out for column in report.columns)
    together = percentage(report.confidence.together)
    contact = (report.governance.contact if report.governance else None) or report.contact or CONTACT
    return {
        "report": report,
        "mark": REHEARSAL,
        "contact": contact,
        "feedback": (report.governance.feedback if report.governance else None) or contact,
        "people": _peopled(report),
        "chosen": _chosen(report),
        "day": spoken_day(report.day),
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
        "several": MODES[report.mode].repeats,
        "mode": MODES[report.mode],
        "again": _again(report),
        "fitted_before": any(line.part == ONCE for line in report.budget) and bool(_regressions(report)),
        "shared": any(line.note == FREE for line in report.budget),
        "refitted": [c for c in report.criteria if c.spread is not None],
        "lucky": [(c, chance(c.luck, ROUND_CEILING)) for c in report.criteria if c.luck is not None],
        "regressions": _regressions(report),
        "bounded": bounded,
        "alone": [c for c in report.criteria if not c.shared],
        "unbounded": [c for c in report.criteria if c.bound is None],
        "dashed": any(c.bound is None and c.value is not None for c in report.criteria),
        "framed": figures.framed(report.criteria),
        "beyond": [c for c in report.criteria if not c.shared and (c.value is None or c.value >= c.threshold)],
        "means": any(c.topic == "means" for c in report.criteria),
        "indirect": [c.title for c in bounded if c.stands != "itself"],
        "standing": {c.stands for c in bounded},
        "confidence": together,
        "each": chance(float(report.confidence.each), ROUND_FLOOR),
        "failing": percentage(show_decimal(1 - parse_decimal(report.confidence.together))),
        "holding": _held(report, len(bounded)),
        "uncovered": uncovered(report),
        "false_accept": percentage(report.false_accept),
        "epsilon": epsilon,
        "double": show_decimal(2 * parse_decimal(epsilon)),
        "factor": number(exp(float(epsilon)), ROUND_CEILING, 3),
        "large": parse_decimal(report.epsilon) >= _LARGE,
        **_approximate(report, float(epsilon)),
        "beliefs": [belief(prior, float(epsilon)) for prior in (0.01, 0.1, 0.5)],
        "drawn": {c.name: Markup(figures.one_way(c)) for c in report.columns},
        "described": {c.name: figures.described(c) for c in report.columns},
        "grouped": [(c, c.subgroups[:MOST], len(c.subgroups[MOST:])) for c in report.criteria if c.subgroups],
        "near": any(c.subgroups and c.subgroups[0].within is not None for c in report.criteria),
        "far": any(c.subgroups and c.subgroups[0].within is None for c in report.criteria),
        "quality": Markup(figures.quality(report.criteria)),
        "weighed": figures.weighed(report.criteria),
    }


def _approximate(report: Report, epsilon: float) -> dict[str, Any]:
    """What is said of δ: the chance of a failure for one record, for any of them, and for a person with two.

    (ε, δ) for one record is (2ε, (1 + e^ε)δ) for two.
    """
    told: dict[str, Any] = {"delta": "", "small": small, "with_delta": _with_delta, "in_signs": str}
    if report.delta is None:
        return told
    delta = parse_decimal(report.delta)
    of_any = min(Fraction(1), report.records * delta)
    return told | {
        "delta": small(report.delta),
        "in_signs": lambda note: note.replace(f"delta {report.delta}", f"δ = {small(delta)}").replace(
            "rho ", "ρ = "
        ),
        "one_in": one_in(delta),
        "any_chance": small(of_any),
        "any_in": one_in(of_any),
        "risky": of_any > RISKY,
        "double_delta": small(delta * (1 + Fraction(exp(epsilon)))),
    }


def _with_delta(delta: str) -> str:
    return "" if delta == "0" else f" and δ {small(delta)}"


def _peopled(report: Report) -> bool:
    """Whether the release names people, what they asked for, what they approved or what binds them."""
    g = report.governance
    return g is not None and any((g.partners, g.requirements, g.approvals, g.legal_basis, g.ethics_review))


def _chosen(report: Report) -> str:
    """What the sources of a release speak of, in the order of its table."""
    words = {"budget": "the budget", "selection": "the way to search", "projection": "how to treat rare rows"}
    found = [said for part, said in words.items() if part in report.sources]
    return " and ".join([", ".join(found[:-1]), found[-1]] if found[1:] else found)


def same(label: str, number: float) -> bool:
    """Whether a label is its own number, so that the number need not be shown."""
    return exact(number).replace(",", "") == label.replace("-", "−", 1)


def _held(report: Report, bounds: int) -> str:
    """How sure the bounds are."""
    return holding(bounds, report.confidence.together, report.confidence.of_search).replace(" %", "\u00a0%")


def _again(report: Report) -> str:
    """What a search does after a table that failed."""
    if report.scheme == "train-once":
        return "another table was drawn from the same model"
    lot = report.configurations > 1
    return f"everything was done again from the {'lot' if lot else 'fit of the model'} on"


def _regressions(report: Report) -> list[tuple[str, Regression]]:
    """Each published regression once, with what was compared with it."""
    if report.regression == report.refit:
        return [] if report.refit is None else [("coefficients and predictions", report.refit)]
    pairs = [("coefficients", report.refit), ("predictions", report.regression)]
    return [(use, found) for use, found in pairs if found is not None]


def uncovered(report: Report) -> list[str]:
    """The common topics that no criterion of the release speaks of, and columns without a mean.

    A query and a proportion answer one question each and cover no topic.
    """
    whole = [criterion for criterion in report.criteria if criterion.kind not in ("query", "proportion")]
    found = [words for topic, words in _TOPICS.items() if topic not in {c.topic for c in whole}]
    measured = {name for c in whole if c.topic == "means" for name in c.columns}
    rest = [c.name for c in report.columns if c.numbers is not None and c.name not in measured]
    if measured and rest:
        found.append(f"the mean of {' or '.join(rest)}")
    return found
