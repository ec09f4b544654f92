"""Closeup: the exhibits of one candidate beside the public table: from single columns to subgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from facsimile.explore.report import contrasts
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
from facsimile.explore.report.granular import (
    Coefficients,
    Correlated,
    OneWay,
    Pair,
    correlations,
    one_way,
    regressions,
    small,
    two_way,
)
from facsimile.explore.report.partners import partners
from facsimile.explore.report.subgroups import Centre, centres
from facsimile.spec.release import Specification
from facsimile.table.table import Table

DRAWN_VALUES = 60
PAIR_CELLS, ALL_CELLS = 2_000, 40_000


def closeup(specification: Specification, real: Table, synthetic: Table) -> Iterator[Exhibit]:
    """Everything that can be compared; what the columns do not allow is left out."""
    yield from _one_way(one_way(real, synthetic), real.n)
    yield from _two_way(real, synthetic)
    yield from _means(centres(specification, real, synthetic))
    yield from _correlations(correlations(real, synthetic))
    for place, found in enumerate(regressions(specification, real, synthetic)):
        yield from _regression(place, found)
    yield from partners(specification, real, synthetic)


def _one_way(found: Sequence[OneWay], n: int) -> Iterator[Exhibit]:
    rows: list[Row] = []
    for place, column in enumerate(found):
        counts = list(zip(column.labels, column.real, column.synthetic, strict=True))
        rows += [
            {
                "column": column.column,
                "label": label,
                "real": real,
                "synthetic": synthetic,
                "real_share": rounded(real / n),
                "synthetic_share": rounded(synthetic / n),
                "points": rounded(100 * (synthetic - real) / n),
                "ratio": rounded((synthetic + 1) / (real + 1)),
            }
            for label, real, synthetic in counts
        ]
        farthest = sorted(counts, key=lambda count: -abs(count[2] - count[1]))[:DRAWN_VALUES]
        drawn = [count for count in counts if len(counts) <= DRAWN_VALUES or count in farthest]
        bars = [
            {"label": label, "table": table, "share": rounded(records / n, 5), "records": records}
            for label, *both in drawn
            for table, records in zip(contrasts.TABLES, both, strict=True)
        ]
        yield Chart(f"column-{place}", contrasts.one_way(bars, f"column-{place}"))
    yield Sheet("columns", _COLUMN, "columns", rows, filtered=True)


_COLUMN = (
    Head("Column", "column"),
    Head("Value", "label"),
    Head("Real", "real", "count"),
    Head("Synthetic", "synthetic", "count"),
    Head("Real, share", "real_share", "share"),
    Head("Synthetic, share", "synthetic_share", "share"),
    Head("Difference, points", "points", "points"),
    Head("Ratio", "ratio", "fixed"),
)


def _two_way(real: Table, synthetic: Table) -> Iterator[Exhibit]:
    every = two_way(real, synthetic)
    if not every:
        return
    rows = [
        {
            "one": pair.one,
            "other": pair.other,
            "cells": pair.cells,
            "largest": rounded(100 * pair.largest),
            "moved": rounded(pair.moved),
        }
        for pair in every
    ]
    squares: list[Row] = [{name: row[name] for name in ("one", "other", "largest")} for row in rows]
    most = 100 * every[0].largest or 1.0
    yield Chart("pairs", contrasts.matrix(squares, "pairs", "largest", most, real.domain.names, signed=False))
    yield Sheet("pairs", _PAIR, "pair-table", rows, filtered=True)
    options = tuple(_option(pair, real, synthetic) for pair in small(every, PAIR_CELLS, ALL_CELLS))
    if options:
        first = options[0]
        yield Choice("cells", "Pair of columns", options)
        yield Chart("cells", contrasts.two_way(first.datasets["cells"], first.signals["limit"]))
        yield Sheet("cells", _CELL, "cells", first.datasets["cells"], filtered=True)


_PAIR = (
    Head("Column", "one"),
    Head("with", "other"),
    Head("Combinations", "cells", "count"),
    Head("Largest difference, points", "largest", "fixed"),
    Head("Records moved", "moved", "share"),
)
_CELL = (
    Head("Value of the first", "one"),
    Head("Value of the second", "other"),
    Head("Real", "real", "count"),
    Head("Synthetic", "synthetic", "count"),
    Head("Difference, points", "points", "points"),
)


def _option(pair: Pair, real: Table, synthetic: Table) -> Option:
    """The cells of a pair; the column with more values goes down the page."""
    names = sorted((pair.one, pair.other), key=lambda name: -real.domain.axis(name).size)
    one, other = (real.domain.axis(name).labels for name in names)
    before, after = (table.marginal(tuple(names)) for table in (real, synthetic))
    rows = [
        {
            "one": first,
            "other": second,
            "real": int(before[i, j]),
            "synthetic": int(after[i, j]),
            "points": rounded(100 * int(after[i, j] - before[i, j]) / real.n),
        }
        for i, first in enumerate(one)
        for j, second in enumerate(other)
    ]
    words = f"{names[0]} × {names[1]} (up to {100 * pair.largest:.2f} points)"
    return Option(words, {"cells": rows}, {"limit": significant(100 * pair.largest) or 1.0})


def _means(found: Sequence[Centre]) -> Iterator[Exhibit]:
    if not found:
        return
    rows = [_mean(centre) for centre in found]
    asked = {centre.of for centre in found if centre.threshold is not None}
    columns = sorted(dict.fromkeys(centre.of for centre in found), key=lambda name: name not in asked)
    options = tuple(Option(name, {"means": [_drawn(c) for c in found if c.of == name]}) for name in columns)
    yield Choice("means", "Mean of", options)
    yield Chart("means", contrasts.dumbbells(options[0].datasets["means"], "means", "mean"))
    yield Sheet("means", _MEAN, "mean-table", rows, filtered=True)


_MEAN = (
    Head("Of", "of"),
    Head("Among", "group"),
    Head("Real records", "real_records", "count"),
    Head("Synthetic records", "synthetic_records", "count"),
    Head("Real mean", "real_mean", "number"),
    Head("Synthetic mean", "synthetic_mean", "number"),
    Head("Difference", "difference", "number"),
    Head("Threshold", "threshold", "number"),
    Head("Real median", "real_median", "number"),
    Head("Synthetic median", "synthetic_median", "number"),
)


def _mean(centre: Centre) -> Row:
    one, other = centre.means
    return {
        "of": centre.of,
        "group": centre.words,
        "real_records": centre.records[0],
        "synthetic_records": centre.records[1],
        "real_mean": significant(one),
        "synthetic_mean": significant(other),
        "difference": None if one is None or other is None else significant(other - one, 3),
        "threshold": significant(centre.threshold),
        "real_median": significant(centre.medians[0]),
        "synthetic_median": significant(centre.medians[1]),
    }


def _drawn(centre: Centre) -> Row:
    """Where no criterion speaks of the mean, the band is as narrow as the mean itself."""
    one, band = centre.means[0], centre.threshold or 0.0
    return {
        "label": centre.words,
        "real": significant(one, 6),
        "synthetic": significant(centre.means[1], 6),
        "low": None if one is None else significant(one - band, 6),
        "high": None if one is None else significant(one + band, 6),
    }


def _correlations(found: Sequence[Correlated]) -> Iterator[Exhibit]:
    if not found:
        return
    rows: list[Row] = [
        {
            "one": pair.one,
            "other": pair.other,
            "real": rounded(pair.real),
            "synthetic": rounded(pair.synthetic),
            "difference": rounded(pair.difference),
        }
        for pair in found
    ]
    mirrored = [row | {"one": row["other"], "other": row["one"]} for row in rows]
    names = list(dict.fromkeys(name for pair in found for name in (pair.one, pair.other)))
    square = sorted([*rows, *mirrored], key=lambda row: (names.index(row["one"]), names.index(row["other"])))
    widest = max((abs(row["difference"]) for row in rows if row["difference"] is not None), default=0.0)
    for field, limit in (("real", 1.0), ("synthetic", 1.0), ("difference", widest or 1.0)):
        name = f"correlation-{field}"
        kept = [{"one": row["one"], "other": row["other"], field: row[field]} for row in square]
        yield Chart(name, contrasts.matrix(kept, name, field, limit, names))
    yield Sheet("correlations", _CORRELATION, "correlations", rows)


_CORRELATION = (
    Head("Column", "one"),
    Head("with", "other"),
    Head("Real", "real", "fixed"),
    Head("Synthetic", "synthetic", "fixed"),
    Head("Difference", "difference", "fixed"),
)


def _regression(place: int, found: Coefficients) -> Iterator[Exhibit]:
    if found.real is None or found.synthetic is None:
        return
    rows = [
        {
            "label": name,
            "real": significant(one),
            "synthetic": significant(other),
            "difference": significant(other - one, 3),
        }
        for name, one, other in zip(found.names, found.real, found.synthetic, strict=True)
    ]
    name = f"regression-{place}"
    yield Chart(name, contrasts.dumbbells(rows[1:], f"{name}-features", "coefficient"))
    yield Sheet(name, _COEFFICIENT, name, rows)


_COEFFICIENT = (
    Head("Feature", "label"),
    Head("Real", "real", "number"),
    Head("Synthetic", "synthetic", "number"),
    Head("Difference", "difference", "number"),
)
