"""Overview: the exhibits of a study's trials, from the acceptance of configurations to the time they took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from facsimile.explore.report import charts
from facsimile.explore.report.epsilons import epsilons
from facsimile.explore.report.exhibits import Chart, Exhibit, Head, Row, Sheet, estimated, labels, significant
from facsimile.explore.report.findings import Findings, Line
from facsimile.explore.report.hurdles import hurdles

DRAWN_ALL, DRAWN_BEST = 60, 40
BANDS = tuple(str(10 * tenth) for tenth in range(11))
"""Shares of accepted trials: none, above none up to 10 %, and so on."""


def overview(findings: Findings) -> Iterator[Exhibit]:
    """The exhibits of everything but the closer look at one candidate."""
    if findings.trials:
        yield from _acceptance(findings)
        yield from hurdles(findings)
        yield from epsilons(findings)
        yield from _time(findings)


def _acceptance(findings: Findings) -> Iterator[Exhibit]:
    rows = [_configuration(findings, line) for line in findings.lines]
    drawn = rows if len(rows) <= DRAWN_ALL else rows[:DRAWN_BEST]
    short = labels([line.identifier for line in findings.lines])
    labelled = [{"label": short[row["configuration"]], **row} for row in drawn]
    yield Chart("acceptance", charts.acceptance(labelled, findings.study.rule.wanted))
    yield Sheet("configurations", _CONFIGURATION, "configurations", rows, filtered=True)
    if len(drawn) < len(rows):
        yield Chart("population", charts.population(list(_bands(rows)), BANDS))


_CONFIGURATION = (
    Head("Configuration", "configuration"),
    Head("Family", "family"),
    Head("State", "state"),
    Head("Trials", "trials", "count"),
    Head("Accepted", "accepted", "count"),
    Head("Share", "share", "share"),
    Head("95 % interval", "low", "interval", "high"),
    Head("Counted in", "counted"),
    Head("CPU s", "seconds", "number"),
    Head("Settings", "settings", "prose"),
    Head("Alternatives", "alternatives", "prose"),
    Head("Projection", "projection", "prose"),
)


def _configuration(findings: Findings, line: Line) -> Row:
    chosen, specification = line.configuration, findings.study.setup.specification
    several = {c.name for c in specification.columns if len(c.used) > 1}
    return {
        "configuration": line.identifier,
        "family": chosen.family,
        "settings": listed(chosen.hyperparameters),
        "alternatives": listed({name: a for name, a in chosen.alternatives.items() if name in several}),
        "projection": listed(chosen.projection),
        "state": _state(findings, line),
        **estimated(line.estimate),
        "seconds": significant(line.seconds, 3),
    }


def _state(findings: Findings, line: Line) -> str:
    """Where it stands; the reason is a criterion, or the code of an error."""
    found, by = line.standing, line.standing.by or "too few accepted"
    return f"dropped: {findings.titles.get(by, by)}" if found.state == "dropped" else found.state


def listed(settings: Mapping[str, str]) -> str:
    """Settings with their values, in a row."""
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "–"


def _bands(rows: list[Row]) -> Iterator[Row]:
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row["family"], BANDS[-int(-10 * row["share"] // 1)]
        counts[key] = counts.get(key, 0) + 1
    for family in sorted({row["family"] for row in rows}):
        for band in BANDS:
            yield {"family": family, "band": band, "configurations": counts.get((family, band), 0)}


def _time(findings: Findings) -> Iterator[Exhibit]:
    costs = findings.costs()
    bars = [
        {"family": cost.family, "part": part, "seconds": significant(seconds)}
        for cost in costs
        for part, seconds in (("fit", cost.fit), ("judge", cost.judge))
    ]
    rows = [
        {
            "family": cost.family,
            "trials": cost.trials,
            "fit": significant(cost.fit, 3),
            "judge": significant(cost.judge, 3),
            "median": significant(cost.median, 3),
            "late": significant(cost.late, 3),
            "hour": round(cost.per_hour),
        }
        for cost in costs
    ]
    yield Chart("time", charts.cpu_time(bars))
    yield Sheet("time", _TIME, "costs", rows)


_TIME = (
    Head("Family", "family"),
    Head("Trials", "trials", "count"),
    Head("Fit, mean", "fit", "number"),
    Head("Judge, mean", "judge", "number"),
    Head("Both, median", "median", "number"),
    Head("Both, 95 % below", "late", "number"),
    Head("Trials per hour and core", "hour", "count"),
)
