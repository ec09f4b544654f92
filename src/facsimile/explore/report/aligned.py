"""Aligned: tables of a comparison: a line for each figure, with the original and every contender beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from facsimile.explore.report.comparison import Comparison, Line
from facsimile.explore.report.exhibits import Head, Kind, Row, Sheet, rounded, significant
from facsimile.explore.report.figures import Topic
from facsimile.explore.report.overview import listed

WORDS: Mapping[Topic, str] = {
    "counts": "Largest error",
    "moved": "Records moved",
    "means": "Mean",
    "medians": "Median",
    "pearson": "Correlation",
    "spearman": "Rank correlation",
}
LONG = 20
"""A table with more lines than this can be filtered."""
DIGITS: Mapping[Kind, int] = {"fixed": 3, "percent": 4}


def aligned(
    found: Comparison, name: str, lines: Sequence[Line], heads: Sequence[Head], kind: Kind, errors: bool = False
) -> Sheet:
    """Under each letter the median of its tables, and the difference of the one that is furthest off.

    Heads name what a line is about by its topic, of and among. `errors`: the original is 0 and left out.
    """
    shown = list(heads)
    if not errors and alike(found):
        shown.append(Head("Original", "original", kind))
    for c in found.contenders:
        if not errors and not alike(found):
            shown.append(Head(f"{c.letter}, original", f"{c.letter}_original", kind))
        shown += [Head(c.letter, c.letter, kind), Head(f"{c.letter}, worst", f"{c.letter}_worst", kind)]
    rows = [_row(found, line, kind) for line in lines]
    return Sheet(name, tuple(shown), name, rows, filtered=len(rows) > LONG)


def _row(found: Comparison, line: Line, kind: Kind) -> Row:
    topic, of, among = line.key
    row: Row = {"topic": WORDS.get(topic, ""), "of": of, "among": among, "original": None}
    for c in found.contenders:
        shown = line.shown.get(c.letter)
        original = None if shown is None else _written(shown.original, kind)
        if row["original"] is None:
            row["original"] = original
        row[f"{c.letter}_original"] = original
        row[c.letter] = None if shown is None else _written(shown.released, kind)
        row[f"{c.letter}_worst"] = None if shown is None else _written(shown.worst, kind)
    return row


def _written(value: float | None, kind: Kind) -> float | None:
    """With the digits that are shown."""
    found = significant(value, 12)
    return rounded(found, DIGITS[kind]) if kind in DIGITS else significant(found)


def alike(found: Comparison) -> bool:
    """Whether all contenders group values in the same way."""
    return len({tuple(sorted(c.line.configuration.alternatives.items())) for c in found.contenders}) < 2


def settings(found: Comparison) -> dict[str, tuple[str, str]]:
    """What tells a contender from the others, first its settings, then its groups of values.

    All of its settings where it is alone.
    """
    chosen = {c.letter: c.line.configuration for c in found.contenders}
    rare = {k: {f"projection {name}": value for name, value in c.projection.items()} for k, c in chosen.items()}
    own = _apart({k: {"family": c.family, **c.hyperparameters, **rare[k]} for k, c in chosen.items()})
    bins = _apart({k: c.alternatives for k, c in chosen.items()}) if len(chosen) > 1 else {}
    return {k: (listed(own[k]), listed(bins.get(k, {}))) for k in chosen}


def _apart(every: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Of each its entries that not all others have."""
    names = dict.fromkeys(name for own in every.values() for name in own)
    told = [n for n in names if len(every) == 1 or len({own.get(n) for own in every.values()}) > 1]
    return {letter: {n: own[n] for n in told if n in own} for letter, own in every.items()}
