"""Hurdles: which criteria trials fail, and by how much.

Only trials that computed every criterion count; a trial of the race that ended with the first failure would say
too little about the criteria after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from facsimile.explore.report import charts
from facsimile.explore.report.exhibits import (
    Chart,
    Choice,
    Exhibit,
    Head,
    Option,
    Row,
    Sheet,
    rounded,
    significant,
)
from facsimile.explore.report.findings import Findings
from facsimile.explore.report.spread import Spread
from facsimile.explore.trials import FRESH, Trial

POINTS = 80
SMALLEST, LARGEST = 0.01, 100.0


def hurdles(findings: Findings) -> Iterator[Exhibit]:
    """The values of every criterion, for a choice of trials."""
    found = list(_selections(findings))
    if not found:
        return
    values = [value for _, spreads in found for s in spreads for value in s.values if isfinite(value)]
    low = min(0.5, max(SMALLEST, min(values, default=1.0)))
    high = max(2.0, min(LARGEST, max(values, default=1.0)))
    options = tuple(
        Option(words, {"boxes": _boxes(spreads, low, high), "points": _points(spreads, low, high)})
        for words, spreads in found
    )
    first = options[0].datasets
    yield Choice("criteria", "Trials", options)
    yield Chart("criteria", charts.criteria(first["boxes"], first["points"], (low / 1.1, high * 1.1)))
    yield Sheet("criteria", _CRITERION, "boxes", first["boxes"])


_CRITERION = (
    Head("Criterion", "criterion"),
    Head("Threshold", "threshold", "number"),
    Head("Trials", "trials", "count"),
    Head("Not met", "missed", "share"),
    Head("Median ÷ limit", "middle", "number"),
    Head("Median of those not met ÷ limit", "overshoot", "number"),
    Head("Without a value", "undefined", "count"),
)


def _selections(findings: Findings) -> Iterator[tuple[str, tuple[Spread, ...]]]:
    """For each epsilon, the fresh trials and the first ones, of all families and of each."""
    families = findings.families if len(findings.families) > 1 else ()
    for level in findings.levels:
        for fresh in (True, False):
            kind = "fresh trials" if fresh else "first trials"
            trials = [t for t in findings.trials if t.generator == level and _whole(t, fresh)]
            for family in (None, *families):
                found = findings.spreads([t for t in trials if family in (None, findings.family(t))], POINTS)
                if found:
                    n = max(spread.trials for spread in found)
                    yield f"ε = {level}, {kind}, {family or 'all families'} ({n:,})", found


def _whole(trial: Trial, fresh: bool) -> bool:
    """Whether it computed every criterion, as a fresh trial or as a configuration's first."""
    return trial.number >= FRESH if fresh else trial.number == 0


def _boxes(spreads: tuple[Spread, ...], low: float, high: float) -> list[Row]:
    names = ("q05", "q25", "q50", "q75", "q95")
    return [
        {
            "criterion": s.criterion,
            **{name: _within(q, low, high) for name, q in zip(names, s.quantiles, strict=True)},
            "threshold": significant(s.threshold),
            "trials": s.trials,
            "failed": s.failed,
            "missed": rounded(s.failed / s.trials),
            "middle": significant(s.quantiles[2], 3),
            "overshoot": None if s.overshoot is None else significant(s.overshoot, 3),
            "undefined": s.undefined,
        }
        for s in spreads
    ]


def _points(spreads: tuple[Spread, ...], low: float, high: float) -> list[Row]:
    """Dots laid out evenly across their row, by the golden ratio."""
    return [
        {
            "criterion": s.criterion,
            "value": _within(value, low, high),
            "place": round(2 * (order * 0.618034 % 1) - 1, 2),
        }
        for s in spreads
        for order, value in enumerate(s.values)
    ]


def _within(value: float, low: float, high: float) -> float:
    return float(f"{min(high, max(low, value)):.3g}")


def readings(findings: Findings, trial: Trial) -> Iterator[Exhibit]:
    """The criteria of one trial."""
    rows = [
        {
            "criterion": findings.titles[reading.criterion],
            "error": significant(reading.error),
            "threshold": significant(reading.threshold),
            "noisy": significant(reading.noisy),
            "limit": significant(reading.tested_at),
            "met": "met" if reading.met else "not met",
        }
        for reading in trial.readings
    ]
    noisy = any(reading.tested_at is not None for reading in trial.readings)
    if rows:
        yield Sheet(
            "readings", (*_READING[:3], *(_READING[3:5] if noisy else ()), _READING[5]), "readings", rows
        )


_READING = (
    Head("Criterion", "criterion"),
    Head("Error", "error", "number"),
    Head("Threshold", "threshold", "number"),
    Head("Tested", "noisy", "number"),
    Head("Limit", "limit", "number"),
    Head("Verdict", "met"),
)
