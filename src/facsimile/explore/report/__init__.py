"""The report of a study: one page for stakeholders that needs nothing from outside.

The page holds its data as JSON and two short scripts that draw and sort it; a policy in its head lets nothing
else run and nothing be loaded. Texts of a specification are escaped in the page and data in the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from facsimile import __version__
from facsimile.acceptance.kind import kind_of
from facsimile.documents.inline import embedded, part, policy_hash
from facsimile.documents.numerals import count, small
from facsimile.explore.planner import BOUNDED
from facsimile.explore.report.beside import alike, beside, settings
from facsimile.explore.report.closeup import closeup, readings
from facsimile.explore.report.comparison import Comparison, Tell, compare
from facsimile.explore.report.contenders import TABLES
from facsimile.explore.report.exhibits import SHOWN, Exhibit, Exhibits, figure
from facsimile.explore.report.figures import regressed
from facsimile.explore.report.findings import Findings
from facsimile.explore.report.overview import overview
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, candidate_of
from facsimile.release.writing import refuse_taken, write_text
from facsimile.risk.findings import Risk
from facsimile.risk.page import words as risk_words
from facsimile.risk.words import percent
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.decimals import parse_decimal, show_decimal


@dataclass(frozen=True)
class Written:
    """What the report says first, for machines."""

    title: str
    file: str
    records: int
    configurations: int
    trials: int
    cpu_seconds: float
    epsilons: tuple[str, ...]
    wanted: float
    survivors: int
    best: str | None
    accepted: int
    tried: int
    low: float | None
    high: float | None
    fresh: bool
    audited: int
    wrongly_dropped: int
    candidate: tuple[str, str, int] | None
    bytes: int
    comparison: dict[str, Any]
    delta: str = "0"

    @classmethod
    def of(cls, findings: Findings, comparison: Comparison, size: int) -> Written:
        """What a page of so many bytes says."""
        study, best, trial = findings.study, findings.best, findings.chosen()
        return cls(
            study.setup.specification.title,
            study.data,
            study.setup.specification.n,
            len(findings.lines),
            len(findings.trials),
            findings.seconds,
            tuple(findings.levels),
            study.rule.wanted,
            len(findings.survivors),
            best.identifier if best else None,
            best.estimate.accepted if best else 0,
            best.estimate.trials if best else 0,
            best.estimate.low if best else None,
            best.estimate.high if best else None,
            best.estimate.fresh if best else False,
            len(findings.audited),
            len(findings.wrongly_dropped),
            trial.name if trial else None,
            size,
            comparison.as_json(),
            show_decimal(study.declared.budget.delta),
        )


def write_report(
    study: Study,
    out: Path,
    names: Sequence[str] = (),
    tables: int = TABLES,
    tell: Tell = lambda doing: None,
    risk: Risk | None = None,
) -> Written:
    """Write the page, whole or not at all; what cannot be written is refused before the work.

    `names` begin the identifiers of the configurations to lay side by side (default: the best finalists),
    `tables` is how many released tables of each are compared. `risk` adds what attacks found.
    """
    refuse_taken(out)
    findings = Findings(study)
    comparison = compare(findings, names, tables, tell)
    tell("Writing the report")
    text = _page(findings, comparison, risk)
    write_text(out, text)
    return Written.of(findings, comparison, len(text.encode()))


def page(study: Study, names: Sequence[str] = (), tables: int = TABLES, risk: Risk | None = None) -> str:
    """The page: the same study and the same wishes give the same text."""
    findings = Findings(study)
    return _page(findings, compare(findings, names, tables, lambda doing: None), risk)


def _page(findings: Findings, comparison: Comparison, risk: Risk | None) -> str:
    exhibits = Exhibits(_exhibits(findings, comparison))
    scripts = {name: part(__name__, f"{name}.js") for name in ("charts", "study")}
    return (
        _templates()
        .get_template("study.html")
        .render(
            _words(findings) | risk_words(risk),
            comparison=comparison,
            alike=alike(comparison),
            settings=settings(comparison),
            charts=exhibits.charts,
            sheets=exhibits.sheets,
            data=Markup(embedded(exhibits.as_json())),
            hashes=Markup(" ".join(map(policy_hash, scripts.values()))),
            scripts=[Markup(script) for script in scripts.values()],
        )
    )


def _exhibits(findings: Findings, comparison: Comparison) -> Iterator[Exhibit]:
    """Of all trials, of the contenders, and of one candidate: the very one of its trial."""
    yield from overview(findings)
    yield from beside(comparison)
    setup, trial = findings.study.setup, findings.chosen()
    if trial is not None:
        configuration = findings.configurations[trial.configuration]
        candidate = candidate_of(setup, configuration, parse_decimal(trial.generator), trial.number)
        yield readings(findings, trial)
        yield from closeup(setup.specification, setup.real(configuration), candidate)


def _words(findings: Findings) -> dict[str, Any]:
    """What the templates speak of, the exhibits aside."""
    study, specification = findings.study, findings.study.setup.specification
    return {
        "version": __version__,
        "specification": specification,
        "findings": findings,
        "delta": small(show_decimal(study.declared.budget.delta)) if study.declared.budget.delta else "",
        "study": study,
        "trial": findings.chosen(),
        "apart": abs(specification.n - study.declared.n) > study.declared.n / 10,
        "plans": [(wish, findings.curve.cheapest(wish, BOUNDED)) for wish in (0.5, 0.9)],
        "space": specification.drawable.size,
        "hours": _hours(findings.seconds),
        "wanted": f"{100 * study.rule.wanted:g}\u00a0%",
        "running": sum(line.standing.state == "running" for line in findings.lines),
        "paper": specification.scheme == "paper",
        "fresh_from": FRESH,
        "criteria": [(c.name, findings.titles[c.name], kind_of(c).told.words) for c in specification.criteria],
        "targets": list(regressed(specification)),
        "faithful": next(iter(specification.criteria_of(Faithfulness)), None),
        "shown": SHOWN,
    }


def _hours(seconds: float) -> str:
    """CPU time as people say it.

    >>> _hours(90), _hours(8000)
    ('1.5 minutes', '2.2 hours')
    """
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


@cache
def _templates() -> Environment:
    """The page's own templates, and the look of the released page."""
    own, documents = PackageLoader("facsimile.explore.report"), PackageLoader("facsimile.documents")
    attacks = PackageLoader("facsimile.risk")
    loader = ChoiceLoader([own, PrefixLoader({"documents": documents, "risk": attacks})])
    found = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"count": count, "epsilon": show_decimal, "figure": figure, "percent": percent}
    found.filters["share"] = lambda value: f"{100 * value:.1f}\u00a0%"
    return found
