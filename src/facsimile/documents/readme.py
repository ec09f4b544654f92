"""README: one document in two forms, a page for a browser and a PDF.

The words stand once, in `templates/body.html`. The PDF is made from that very page: typst reads it as XML and
sets it in type (`templates/readme.typ`), so the two forms cannot say different things. Texts of the report are
escaped when the page is rendered, and typst sees them as data, never as markup.
"""

from __future__ import annotations

import json
import re
from decimal import ROUND_CEILING
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

import typst
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from facsimile.documents import figures
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.numerals import above, belief, count, decimal, exact, number, percentage, spoken_day
from facsimile.documents.report import Report
from facsimile.spec.decimals import parse_decimal, show_decimal

CONTACT = "the publisher of this file"
LACKING = "Some letters cannot be printed here and appear as boxes. README.html shows them."
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_KINDS = {
    "marginals": "counts and shares, of one column or of several together",
    "mean": "means of a column, overall or within groups",
    "quantile": "medians and other quantiles",
    "correlation": "correlations",
    "regression": "regression",
}


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
    return found


def _printable(value: Any) -> Any:
    """Text without the characters that XML forbids."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNPRINTABLE.sub("\ufffd", value)
    return value


def _words(report: Report) -> dict[str, Any]:
    """What the template speaks of."""
    epsilon = parse_decimal(report.epsilon)
    bounded = [c for c in report.criteria if c.bound is not None]
    return {
        "report": report,
        "mark": REHEARSAL,
        "contact": report.contact or CONTACT,
        "day": spoken_day(report.day),
        "bounded": bounded,
        "unbounded": [c for c in report.criteria if c.bound is None],
        "beyond": [c for c in report.criteria if c.value is None or c.value >= c.threshold],
        "together": max(0, 100 - 5 * len(bounded)),
        "uncovered": uncovered(report),
        "false_accept": percentage(report.false_accept),
        "double": show_decimal(2 * epsilon),
        "factor": number(exp(float(epsilon)), ROUND_CEILING, 3),
        "large": epsilon >= 3,
        "indirect": any(c.name.startswith(("mean-", "regression-")) for c in bounded),
        "beliefs": [belief(prior, float(epsilon)) for prior in (0.01, 0.1, 0.5)],
        "drawn": {c.name: Markup(figures.one_way(c)) for c in report.columns},
        "described": {c.name: figures.described(c) for c in report.columns},
        "quality": Markup(figures.quality(report.criteria)),
        "weighed": figures.weighed(report.criteria),
    }


def uncovered(report: Report) -> list[str]:
    """The common kinds of question that no criterion of the release speaks of, and columns without a mean."""
    names = [criterion.name for criterion in report.criteria]
    found = [words for kind, words in _KINDS.items() if not any(name.startswith(kind) for name in names)]
    numeric = [c.name for c in report.columns if c.numbers is not None]
    measured = {name.removeprefix("mean-") for name in names if name.startswith("mean-")}
    rest = [name for name in numeric if name not in measured]
    if measured and rest:
        found.append(f"the mean of {' or '.join(rest)}")
    return found
