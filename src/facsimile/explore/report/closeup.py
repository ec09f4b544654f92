"""Closeup: the exhibits of one candidate beside the public table: from single columns to subgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf

import numpy as np

from facsimile.explore.report.columns import SHEETS, heads
from facsimile.explore.report.exhibits import Chart, Exhibit, Row, Sheet
from facsimile.explore.report.figures import Figure, coefficients, correlations, regressed
from facsimile.explore.report.findings import Findings
from facsimile.explore.report.subgroups import centres, unmatched, worst
from facsimile.explore.trials import Trial
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.release import Specification
from facsimile.table.table import Table

MOST_CELLS = 5_000_000
"""A pair of columns with more cells than this is not counted."""
PAIR_CELLS, ALL_CELLS = 2_000, 40_000
"""Cells of a pair that a page holds, and of all pairs together."""


def closeup(specification: Specification, real: Table, synthetic: Table) -> Iterator[Exhibit]:
    """Everything that can be compared; what the columns do not allow is left out."""
    for place, name in enumerate(real.domain.names):
        yield Chart(f"column-{place}", "values", sheet="columns", about={"column": name, "form": "share"})
    yield Sheet("columns", list(_values(real, synthetic)), filtered=True)
    yield from _pairs(real, synthetic)
    yield from _means(list(centres(specification, real, synthetic)))
    yield from _correlations(list(correlations(real, synthetic)))
    for place, name in enumerate(regressed(specification)):
        found = list(coefficients(specification, name, real, synthetic))
        yield from _regression(f"regression-{place}", found)
    yield from _groups(specification, real, synthetic)


def readings(findings: Findings, trial: Trial) -> Sheet:
    """The criteria of one trial; with what was tested where noise was added."""
    rows = [{"title": findings.titles[r.criterion], "reading": r} for r in trial.readings]
    noisy = any(reading.tested_at is not None for reading in trial.readings)
    every = heads(SHEETS["readings"])
    return Sheet("readings", rows, columns=every if noisy else (*every[:3], every[5]))


def _values(real: Table, synthetic: Table) -> Iterator[Row]:
    """The counts of every value of every column."""
    for axis in real.domain.axes:
        before, after = (table.marginal((axis.name,)).tolist() for table in (real, synthetic))
        for label, one, other in zip(axis.labels, before, after, strict=True):
            row = {"column": axis.name, "label": label, "real": one, "synthetic": other}
            shares = {"real_share": one / real.n, "synthetic_share": other / real.n}
            off = {"points": 100 * (other - one) / real.n, "ratio": (other + 1) / (one + 1)}
            yield row | shares | off


def two_way(real: Table, synthetic: Table) -> list[Row]:
    """Every pair of columns that is not too large, the one with the largest difference first.

    `largest` is the largest |synthetic − real|/n of a cell, in points. `moved` is the total variation distance
    ½ Σ |synthetic − real|/n: the share of records that stand in another cell.
    """
    found = []
    for names in combinations(real.domain.names, 2):
        if real.domain.size(names) <= MOST_CELLS:
            gaps = np.abs(synthetic.marginal(names) - real.marginal(names))
            sizes = {"largest": 100 * int(gaps.max()) / real.n, "moved": int(gaps.sum()) / 2 / real.n}
            found.append({"of": names[0], "among": names[1], "cells": gaps.size, **sizes})
    return sorted(found, key=lambda row: -row["largest"])


def small(pairs: Sequence[Row], most: int = PAIR_CELLS, together: int = ALL_CELLS) -> list[Row]:
    """The first pairs whose cells are few enough, each and together."""
    chosen, cells = [], 0
    for pair in pairs:
        if pair["cells"] <= most and cells + pair["cells"] <= together:
            chosen.append(pair)
            cells += pair["cells"]
    return chosen


def _pairs(real: Table, synthetic: Table) -> Iterator[Exhibit]:
    every = two_way(real, synthetic)
    if every:
        about = {"field": "largest", "limit": every[0]["largest"] or 1.0, **_square(real.domain.names)}
        yield Chart("pairs", "matrix", sheet="pairs", about=about)
        yield Sheet("pairs", every, filtered=True)
    cells = [row for pair in small(every) for row in _cells(pair, real, synthetic)]
    if cells:
        yield Chart("cells", "cells", sheet="cells", picked="pair", label="Pair of columns")
        yield Sheet("cells", cells, filtered=True, picked="pair")


def _square(names: Sequence[str]) -> dict[str, list[str]]:
    return {"across": list(names), "down": list(names)}


def _cells(pair: Row, real: Table, synthetic: Table) -> Iterator[Row]:
    """The cells of a pair; the column with more values goes down the page."""
    names = sorted((pair["of"], pair["among"]), key=lambda name: -real.domain.axis(name).size)
    words = f"{names[0]} × {names[1]} (up to {pair['largest']:.2f} points)"
    before, after = (table.marginal(tuple(names)) for table in (real, synthetic))
    for i, one in enumerate(real.domain.axis(names[0]).labels):
        for j, other in enumerate(real.domain.axis(names[1]).labels):
            counts = {"real": int(before[i, j]), "synthetic": int(after[i, j])}
            points = 100 * (counts["synthetic"] - counts["real"]) / real.n
            yield {"pair": words, "one": one, "other": other, **counts, "points": points}


def _means(rows: Sequence[Row]) -> Iterator[Exhibit]:
    asked = {row["of"] for row in rows if row["threshold"] is not None}
    columns = sorted(dict.fromkeys(row["of"] for row in rows), key=lambda name: name not in asked)
    if rows:
        about = {"title": "mean"}
        yield Chart("means", "dumbbells", (), "means", about, picked="of", label="Mean of", options=columns)
        yield Sheet("means", rows, filtered=True)


def _correlations(found: Sequence[Figure]) -> Iterator[Exhibit]:
    names = _square(list(dict.fromkeys(name for figure in found for name in (figure.of, figure.among))))
    widest = max((abs(f.difference or 0.0) for f in found if f.difference != inf), default=0.0)
    if found:
        for field, limit in (("original", 1.0), ("released", 1.0), ("difference", widest or 1.0)):
            about = {"field": field, "limit": limit, **names}
            yield Chart(f"correlation-{field}", "matrix", sheet="correlations", about=about)
        yield Sheet("correlations", found)


def _regression(name: str, found: Sequence[Figure]) -> Iterator[Exhibit]:
    if all(figure.original is not None and figure.released is not None for figure in found):
        about = {"title": "coefficient", "named": "of", "from": 1}
        yield Chart(name, "dumbbells", sheet=name, about=about)
        yield Sheet(name, found)


def _groups(specification: Specification, real: Table, synthetic: Table) -> Iterator[Exhibit]:
    """Counts and partners within the groups of columns that declare some."""
    about = {"title": "share of records", "form": "share"}
    errors = list(worst(specification, real, synthetic))
    if errors:
        yield Chart("worst", "bars", sheet="worst", about=about | {"field": "absolute", "words": "at"})
        yield Sheet("worst", errors)
    for criterion in specification.criteria_of(Faithfulness)[:1]:
        line = [float(criterion.threshold), "threshold"]
        yield Chart("unmatched", "bars", sheet="unmatched", about=about | {"field": "share", "line": line})
        yield Sheet("unmatched", list(unmatched(specification, criterion, real, synthetic)))
