"""Overview: the exhibits of a study's trials: acceptance, criteria, epsilons and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean, median

import numpy as np

from facsimile.explore.report.exhibits import Chart, Exhibit, Row, Sheet
from facsimile.explore.report.findings import Findings, Tried
from facsimile.explore.trials import FRESH, Trial

DRAWN_ALL, DRAWN_BEST, FINALISTS, POINTS = 60, 40, 8, 80
SMALLEST, LARGEST = 0.01, 100.0
"""The scale of the criteria: all choices of trials have the same."""
BANDS = tuple(str(10 * tenth) for tenth in range(11))
"""Shares of accepted trials: none, above none up to 10 %, and so on."""
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def overview(findings: Findings) -> Iterator[Exhibit]:
    """The exhibits of everything but the closer look at one candidate."""
    if findings.trials:
        yield from _acceptance(findings)
        yield from _criteria(findings)
        yield from _epsilons(findings)
        yield Chart("time", "time", sheet="time", about={"title": "mean CPU seconds per trial"})
        families = sorted({findings.family(trial) for trial in findings.trials})
        yield Sheet("time", [_time(findings, family) for family in families])


def _acceptance(findings: Findings) -> Iterator[Exhibit]:
    several = {c.name for c in findings.study.setup.specification.columns if len(c.used) > 1}
    short = labels([line.identifier for line in findings.lines])
    rows = [
        {name: getattr(line, name) for name in ("identifier", "configuration", "estimate", "seconds")}
        | {"label": short[line.identifier], "state": _state(findings, line)}
        | {"alternatives": {k: v for k, v in line.configuration.alternatives.items() if k in several}}
        for line in findings.lines
    ]
    drawn = len(rows) if len(rows) <= DRAWN_ALL else DRAWN_BEST
    line = [findings.study.rule.wanted, "wanted"]
    about = {"title": "accepted trials", "form": "share", "line": line, "first": drawn}
    yield Chart("acceptance", "acceptance", sheet="configurations", about=about)
    yield Sheet("configurations", rows, filtered=True)
    if drawn < len(rows):
        every = findings.lines
        counts = Counter((t.configuration.family, BANDS[-int(-10 * t.estimate.share // 1)]) for t in every)
        cells = [(family, band) for family in sorted({family for family, _ in counts}) for band in BANDS]
        bands = [{"one": one, "other": band, "configurations": counts[one, band]} for one, band in cells]
        yield Chart("population", "population", bands)


def _state(findings: Findings, line: Tried) -> str:
    """Where it stands; the reason is a criterion, or the code of an error."""
    found, by = line.standing.state, line.standing.by or "too few accepted"
    return f"dropped: {findings.titles.get(by, by)}" if found == "dropped" else found


def _criteria(findings: Findings) -> Iterator[Exhibit]:
    """The values of every criterion, for a choice of trials."""
    rows = [
        {"choice": words, **row}
        for words, trials in _selections(findings)
        for row in _spreads(findings, trials)
    ]
    if rows:
        values = [value for row in rows for value in row["values"] if value < np.inf] or [1.0]
        domain = [min(0.5, max(SMALLEST, min(values))), max(2.0, min(LARGEST, max(values)))]
        about = {"title": "value ÷ limit", "line": [1, "threshold"], "domain": domain}
        yield Chart("criteria", "criteria", sheet="criteria", about=about, picked="choice", label="Trials")
        yield Sheet("criteria", rows, picked="choice")


def _selections(findings: Findings) -> Iterator[tuple[str, list[Trial]]]:
    """For each epsilon the trials that computed every criterion: the fresh ones and the first of each
    configuration, of all families and of each. A trial of the race that ended with its first failure would say
    too little about the criteria after it."""
    families = findings.families if len(findings.families) > 1 else ()
    for level in findings.levels:
        mine = [t for t in findings.trials if t.generator == level and t.readings]
        for words, trials in (
            ("fresh trials", [t for t in mine if t.number >= FRESH]),
            ("first trials", [t for t in mine if t.number == 0]),
        ):
            for family in (None, *families):
                found = [t for t in trials if family in (None, findings.family(t))]
                if found:
                    yield f"ε = {level}, {words}, {family or 'all families'} ({len(found):,})", found


def _spreads(findings: Findings, trials: Sequence[Trial]) -> Iterator[Row]:
    values: dict[str, list[float | None]] = {}
    for trial in trials:
        for reading in trial.readings:
            values.setdefault(reading.criterion, []).append(reading.deciding)
    for criterion in findings.study.setup.specification.criteria:
        if criterion.name in values:
            about = {"label": findings.titles[criterion.name], "threshold": float(criterion.threshold)}
            yield about | spread(values[criterion.name], POINTS)


def spread(values: Sequence[float | None], points: int) -> Row:
    """How values of a criterion over its limit lie: below 1 is met.

    A trial without a value failed, and counts as infinite. `overshoot` is the median of those that failed,
    `values` are at most so many order statistics, evenly spaced: they keep the shape of the distribution and
    its ends.

    >>> spread([0.5, 3.0, None, 1.5], 3)["values"]
    [0.5, 3.0, inf]
    """
    ordered = sorted(np.inf if value is None else value for value in values)
    failed = [value for value in ordered if value >= 1]
    places = np.unique(np.linspace(0, len(ordered) - 1, min(points, len(ordered))).round().astype(int))
    quantiles = np.quantile(ordered, list(QUANTILES.values()), method="inverted_cdf").tolist()
    return {
        **dict(zip(QUANTILES, quantiles, strict=True)),
        "trials": len(ordered),
        "failed": len(failed),
        "missed": len(failed) / len(ordered),
        "overshoot": median(failed) if failed else None,
        "undefined": sum(value is None for value in values),
        "values": [float(ordered[place]) for place in places],
    }


def _epsilons(findings: Findings) -> Iterator[Exhibit]:
    """The planner's curve, and the finalists at each epsilon of the generator; what there is of it."""
    points = findings.curve.points
    if points:
        declared = [float(findings.study.declared.budget.total), "declared total"]
        yield Chart("curve", "curve", sheet="curve", about={"title": "total epsilon", "line": declared})
        yield Sheet("curve", points)
    tried = list(findings.by_level().items())[:FINALISTS]
    short = labels([name for name, _ in tried])
    finalists = [
        {"configuration": short[name], "epsilon": float(level), "estimate": estimate}
        for name, estimates in tried
        for level, estimate in estimates
    ]
    if finalists:
        yield Chart("finalists", "finalists", sheet="finalists", about={"title": "epsilon of the generator"})
        yield Sheet("finalists", finalists)


def _time(findings: Findings, family: str) -> Row:
    """CPU seconds of one family's trials."""
    trials = [trial for trial in findings.trials if findings.family(trial) == family]
    fit, judge = mean(t.fit_seconds for t in trials), mean(t.seconds for t in trials)
    both = [trial.fit_seconds + trial.seconds for trial in trials]
    return {
        "label": family,
        "trials": len(trials),
        "fit": fit,
        "judge": judge,
        "median": median(both),
        "late": float(np.quantile(both, 0.95)),
        "hour": round(3600 / (fit + judge)) if fit + judge else 0,
    }


def labels(identifiers: Sequence[str]) -> dict[str, str]:
    """Short names that stay apart: the family and the first digits.

    >>> labels(["mst-0123456789ab", "mst-0123999999ff"])
    {'mst-0123456789ab': 'mst 01234', 'mst-0123999999ff': 'mst 01239'}
    """
    found: dict[str, str] = {}
    for digits in range(4, 13):
        found = {name: f"{name.rpartition('-')[0]} {name.rpartition('-')[2][:digits]}" for name in identifiers}
        if len(set(found.values())) == len(found):
            break
    return found
