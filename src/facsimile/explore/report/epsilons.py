"""Epsilons: what a smaller budget does to the acceptance of finalists and to the chance of a release."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.explore.curve import Curve
from facsimile.explore.report import charts
from facsimile.explore.report.exhibits import (
    Chart,
    Exhibit,
    Head,
    Row,
    Sheet,
    estimated,
    labels,
)
from facsimile.explore.report.findings import Findings
from facsimile.spec.decimals import show_decimal

FINALISTS = 8
ASIDE = 1.015
"""Marks of several configurations stand this factor apart, so that they do not cover each other."""


def epsilons(findings: Findings) -> Iterator[Exhibit]:
    """The planner's curve, and the finalists at each epsilon of the generator; what there is of it."""
    points = _curve(findings.curve)
    if points:
        yield Chart("curve", charts.epsilon_curve(points, float(findings.study.declared.budget.total)))
        yield Sheet("curve", _CURVE, "curve", points)
    finalists = _finalists(findings)
    if finalists:
        yield Chart("finalists", charts.by_epsilon(finalists))
        yield Sheet("finalists", _FINALIST, "finalists", finalists)


def _finalists(findings: Findings) -> list[Row]:
    tried = list(findings.by_level().items())[:FINALISTS]
    short = labels([name for name, _ in tried])
    middle = (len(tried) - 1) / 2
    return [
        {
            "configuration": short[name],
            "epsilon": float(level),
            "at": round(float(level) * ASIDE ** (place - middle), 4),
            **estimated(estimate),
        }
        for place, (name, estimates) in enumerate(tried)
        for level, estimate in estimates
    ]


def _curve(curve: Curve) -> list[Row]:
    return [
        {
            "scheme": point.scheme,
            "total": float(point.total),
            "release": point.release,
            "low": point.low,
            "high": point.high,
            "generator": show_decimal(point.option.generator),
            "mode": point.option.mode.name,
        }
        for point in curve.points
    ]


_CURVE = (
    Head("Scheme", "scheme"),
    Head("Total ε", "total", "exact"),
    Head("Chance of a release", "release", "share"),
    Head("Range", "low", "interval", "high"),
    Head("Generator's ε", "generator"),
    Head("Selection", "mode"),
)
_FINALIST = (
    Head("Configuration", "configuration"),
    Head("Generator's ε", "epsilon", "number"),
    Head("Trials", "trials", "count"),
    Head("Accepted", "accepted", "count"),
    Head("Share", "share", "share"),
    Head("95 % interval", "low", "interval", "high"),
    Head("Counted in", "counted"),
)
