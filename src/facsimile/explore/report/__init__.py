"""The report of a study: one page for stakeholders that needs nothing from outside.

The page holds its data as JSON, the library that draws it, and a short script; a policy in its head lets
nothing else run and nothing be loaded. Texts of a specification are escaped in the page and data in the JSON.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from facsimile import __version__
from facsimile.acceptance.kind import kind_of
from facsimile.documents.numerals import count
from facsimile.errors import refusal
from facsimile.explore.planner import BOUNDED
from facsimile.explore.report.aligned import alike, settings
from facsimile.explore.report.beside import BESIDE, beside
from facsimile.explore.report.closeup import DRAWN_VALUES, closeup
from facsimile.explore.report.comparison import Comparison, Tell, compare
from facsimile.explore.report.contenders import TABLES
from facsimile.explore.report.exhibits import SHOWN, Room, embedded, figure
from facsimile.explore.report.findings import Findings
from facsimile.explore.report.granular import regressed
from facsimile.explore.report.hurdles import readings
from facsimile.explore.report.overview import overview
from facsimile.explore.report.written import Written
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial, candidate_of
from facsimile.release.writing import write_text
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.table.table import Table

SECTIONS = (
    ("columns", "Single columns", "columns"),
    ("pairs", "Pairs of columns", "pairs"),
    ("means", "Means and medians", "means"),
    ("correlations", "Correlations", "correlations"),
    ("regression", "Regression", "regression-0"),
    ("groups", "Errors within groups", "worst"),
    ("partners", "Records without a partner", "unmatched"),
)


def write_report(
    study: Study, out: Path, names: Sequence[str] = (), tables: int = TABLES, tell: Tell = lambda doing: None
) -> Written:
    """Write the page, whole or not at all; what cannot be written is refused before the work.

    `names` begin the identifiers of the configurations to lay side by side (default: the best finalists),
    `tables` is how many released tables of each are compared.
    """
    if out.is_symlink() or out.exists():
        raise refusal("E402" if out.is_symlink() else "E401")
    if not out.parent.is_dir():
        raise refusal("E403")
    findings = Findings(study)
    comparison = compare(findings, names, tables, tell)
    tell("Writing the report")
    text = _page(findings, comparison)
    write_text(out, text)
    return Written.of(findings, comparison, len(text.encode()))


def page(study: Study, names: Sequence[str] = (), tables: int = TABLES) -> str:
    """The page: the same study and the same wishes give the same text."""
    findings = Findings(study)
    return _page(findings, compare(findings, names, tables, lambda doing: None))


def _page(findings: Findings, comparison: Comparison) -> str:
    room, trial = Room(), findings.chosen()
    room.add(overview(findings))
    room.add(beside(comparison))
    if trial is not None:
        room.add(readings(findings, trial))
        room.add(closeup(findings.study.setup.specification, *_tables(findings, trial)))
    scripts = {"library": _library(), "script": _script()}
    return (
        _templates()
        .get_template("study.html")
        .render(
            _words(findings, room),
            trial=trial,
            comparison=comparison,
            alike=alike(comparison),
            settings=settings(comparison),
            charts=room.charts,
            sheets=room.sheets,
            choices=room.choices,
            data=Markup(embedded(room.as_json())),
            hashes=Markup(" ".join(map(_hash, scripts.values()))),
            **{name: Markup(text) for name, text in scripts.items()},
        )
    )


def _tables(findings: Findings, trial: Trial) -> tuple[Table, Table]:
    """The public table under the configuration's alternatives, and the very candidate of the trial."""
    setup, configuration = findings.study.setup, findings.configurations[trial.configuration]
    candidate = candidate_of(setup, configuration, parse_decimal(trial.generator), trial.number)
    return setup.real(configuration), candidate


def _words(findings: Findings, room: Room) -> dict[str, Any]:
    """What the templates speak of, the exhibits aside."""
    study, specification = findings.study, findings.study.setup.specification
    faithful = next(iter(specification.criteria_of(Faithfulness)), None)
    targets = regressed(specification)
    pairs, cells = room.sheets.get("pairs"), room.choices.get("cells")
    drawn = room.charts.get("acceptance")
    return {
        "version": __version__,
        "title": specification.title,
        "description": specification.description,
        "findings": findings,
        "best": findings.best,
        "rule": study.rule,
        "file": study.data,
        "seed": study.setup.seed,
        "records": specification.n,
        "declared": study.declared.n,
        "apart": abs(specification.n - study.declared.n) > study.declared.n / 10,
        "plans": [(wish, findings.curve.cheapest(wish, BOUNDED)) for wish in (0.5, 0.9)],
        "total": study.declared.budget.total,
        "space": specification.space.pure().size,
        "hours": _hours(findings.seconds),
        "wanted": f"{100 * study.rule.wanted:g}\u00a0%",
        "running": sum(line.standing.state == "running" for line in findings.lines),
        "paper": specification.scheme == "paper",
        "fresh_from": FRESH,
        "drawn": len(drawn.spec["datasets"]["acceptance"]) if drawn else 0,
        "criteria": [(c.name, findings.titles[c.name], kind_of(c).told.words) for c in specification.criteria],
        "columns": specification.columns,
        "most_values": DRAWN_VALUES,
        "left_out": len(pairs.rows) - len(cells.options) if pairs and cells else 0,
        "fitted": [(target, f"beside-regression-{place}") for place, target in enumerate(targets)],
        "regressions": [(target, f"regression-{place}") for place, target in enumerate(targets)],
        "match": faithful.match if faithful else (),
        "within": faithful.within if faithful else 0,
        "closer": [(anchor, said) for anchor, said, sheet in SECTIONS if sheet in room.sheets],
        "besides": [
            (anchor, said) for anchor, said, name in BESIDE if name in room.sheets or name in room.charts
        ],
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
    found = Environment(
        loader=ChoiceLoader([own, PrefixLoader({"documents": documents})]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "count": count,
        "epsilon": show_decimal,
        "figure": figure,
        "share": lambda value: f"{100 * value:.1f}\u00a0%",
    }
    return found


@cache
def _library() -> str:
    """Vega and what embeds it, as one script."""
    import vl_convert

    return _inside(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


@cache
def _script() -> str:
    return _inside((files("facsimile.explore.report") / "templates" / "study.js").read_text(encoding="utf-8"))


def _inside(script: str) -> str:
    """A script that a page can hold: nothing in it ends the element early."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script would end before its end")
    return script


def _hash(script: str) -> str:
    """What the page's policy calls the script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
