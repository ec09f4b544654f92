"""Beside: the exhibits of a comparison: contenders side by side, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

from facsimile.explore.report import panels
from facsimile.explore.report.comparison import Comparison, Line, Shown
from facsimile.explore.report.exhibits import (
    Chart,
    Choice,
    Exhibit,
    Head,
    Kind,
    Option,
    Row,
    Sheet,
    rounded,
    significant,
)
from facsimile.explore.report.figures import Topic
from facsimile.explore.report.overview import listed
from facsimile.explore.report.score import Score

BESIDE = (
    ("beside-summary", "Who is better at what", "beside-counts"),
    ("beside-criteria", "The criteria", "beside-criteria"),
    ("beside-counts", "Counts", "beside-counts"),
    ("beside-centres", "Means and medians", "beside-centres"),
    ("beside-correlations", "Correlations", "beside-correlations"),
    ("beside-regression", "Regression", "beside-regression-0"),
    ("beside-rows", "Whole rows", "beside-rows"),
)
"""The parts of the section: anchor, words, and an exhibit without which a part is left out."""
ZERO = (0.0, "the original")
CENTRES: tuple[tuple[Topic, str], ...] = (("means", "Mean"), ("medians", "Median"))
CORRELATIONS: tuple[tuple[Topic, str], ...] = (("pearson", "Correlation"), ("spearman", "Rank correlation"))


def beside(found: Comparison) -> Iterator[Exhibit]:
    """Everything about the contenders but the summary, which is a table of its own."""
    if not found.lines:
        return
    yield from _criteria(found.judged)
    yield from _counts(found)
    for topic, _ in CENTRES:
        yield from _tiles(found, topic, scaled=True)
    yield from _centres(found)
    for topic, _ in CORRELATIONS:
        yield from _tiles(found, topic, scaled=False)
    yield from _correlations(found)
    yield from _coefficients(found)
    heads = (Head("What", "what", "prose"), *_heads(found, "number"))
    rows = [{"what": line.key[1], **_values(found, line)} for line in found.of("rows", "strange")]
    yield Sheet("beside-rows", heads, "beside-rows", rows)


def _criteria(scores: Sequence[Score]) -> Iterator[Exhibit]:
    """Each error over its threshold."""
    rows: list[Row] = []
    for score in scores:
        for letter, values in score.values.items():
            over = [value / (score.threshold or 1.0) for value in values if isfinite(value)]
            if over:
                rows.append(_range(score.words, letter, over))
    if rows:
        yield Chart(
            "beside-criteria", panels.ranges(rows, "beside-criteria", "error ÷ threshold", (1.0, "threshold"))
        )


def _range(label: str, letter: str, values: Sequence[float]) -> Row:
    ordered = sorted(values)
    middle = ordered[(len(ordered) - 1) // 2]
    low, middle, high = (significant(value) for value in (ordered[0], middle, ordered[-1]))  # type: ignore[assignment]
    return {"label": label, "contender": letter, "low": low, "middle": middle, "high": high}


def _ranges(lines: Iterable[Line], label: int) -> list[Row]:
    """The differences of some lines; `label` is the part of the key that names a line."""
    return [
        _range(line.key[label], letter, shown.differences)
        for line in lines
        for letter, shown in line.shown.items()
        if all(map(isfinite, shown.differences))
    ]


def _counts(found: Comparison) -> Iterator[Exhibit]:
    rows = _ranges(found.of("counts"), 1)
    title = "largest error, share of all records"
    yield Chart("beside-counts", panels.ranges(rows, "beside-counts-drawn", title, ZERO, "~%"))
    table = []
    for topic, said in (
        ("counts", "Largest error of a count"),
        ("moved", "Records in another cell, on average"),
    ):
        for line in found.lines:
            if line.key[0] == topic:
                errors = {c.letter: line.shown[c.letter] for c in found.contenders if c.letter in line.shown}
                own = {k: significant(s.typical) for k, s in errors.items()}
                worst = {f"{k}_off": significant(abs(s.worst)) for k, s in errors.items()}
                table.append({"what": said, "of": line.key[1], **own, **worst})
    heads = [Head("What", "what"), Head("Tables of", "of")]
    for c in found.contenders:
        heads += [
            Head(f"{c.letter}, median", c.letter, "percent"),
            Head(f"{c.letter}, worst", f"{c.letter}_off", "percent"),
        ]
    yield Sheet("beside-counts", tuple(heads), "beside-counts", table)


def _tiles(found: Comparison, topic: Topic, scaled: bool) -> Iterator[Exhibit]:
    """A panel for each contender: the difference of the median table, all panels on one scale."""
    lines = found.of(topic)
    if not lines:
        return
    across = list(dict.fromkeys(line.key[1] for line in lines))
    down = list(dict.fromkeys(line.key[2] for line in lines))
    if not scaled:
        across = down = list(dict.fromkeys([*across, *down]))
        first = [
            (line, line.shown[found.contenders[0].letter].original)
            for line in lines
            if found.contenders[0].letter in line.shown
        ]
        squares = [_tile(line, value, "") for line, value in first]
        name = f"beside-{topic}-original"
        yield Chart(name, panels.tiles([*squares, *map(_mirrored, squares)], name, 1.0, across, down))
    drawn = {
        c.letter: [_difference(line, line.shown[c.letter], scaled) for line in lines if c.letter in line.shown]
        for c in found.contenders
    }
    limit = max(
        (abs(row["value"]) for rows in drawn.values() for row in rows if row["value"] is not None), default=0.0
    )
    for letter, rows in drawn.items():
        name = f"beside-{topic}-{letter}"
        both = rows if scaled else [*rows, *map(_mirrored, rows)]
        yield Chart(name, panels.tiles(both, name, limit or 1.0, across, down))


def _difference(line: Line, shown: Shown, scaled: bool) -> Row:
    """The median table's difference, in deviations of the column where columns are compared."""
    ordered = sorted(shown.differences)
    middle = ordered[(len(ordered) - 1) // 2]
    value = middle / shown.unit if scaled else middle
    words = f"{significant(shown.original)} → {significant(shown.released)}"
    return _tile(line, value if isfinite(value) else None, words)


def _tile(line: Line, value: float | None, words: str) -> Row:
    """One goes down the page, other across it."""
    return {"one": line.key[2], "other": line.key[1], "value": rounded(value), "words": words}


def _mirrored(row: Row) -> Row:
    return row | {"one": row["other"], "other": row["one"]}


def _centres(found: Comparison) -> Iterator[Exhibit]:
    lines = found.of("means", "medians")
    if not lines:
        return
    asked = {line.key[1] for line in lines if line.figure.threshold is not None}
    columns = sorted(dict.fromkeys(line.key[1] for line in lines), key=lambda name: name not in asked)
    options = []
    for column in columns:
        for topic, said in CENTRES:
            mine = [line for line in lines if line.key[:2] == (topic, column)]
            banded = {line.key[2]: line.figure.threshold or 0.0 for line in mine}
            rows = [
                row | {"least": -banded[row["label"]], "most": banded[row["label"]]} for row in _ranges(mine, 2)
            ]
            if rows:
                options.append(Option(f"{said} of {column}", {"beside-centres-drawn": rows}))
    if options:
        first = options[0].datasets["beside-centres-drawn"]
        yield Choice("beside-centres", "Figure", tuple(options))
        yield Chart(
            "beside-centres", panels.ranges(first, "beside-centres-drawn", "released less original", ZERO)
        )
    named = dict(CENTRES)
    rows = [
        {"figure": named[line.key[0]], "of": line.key[1], "among": line.key[2], **_values(found, line)}
        for line in lines
    ]
    heads = (Head("Figure", "figure"), Head("Of", "of"), Head("Among", "among"), *_heads(found, "number"))
    yield Sheet("beside-centres", heads, "beside-centres", rows, filtered=True)


def _correlations(found: Comparison) -> Iterator[Exhibit]:
    named = dict(CORRELATIONS)
    rows = [
        {"figure": named[line.key[0]], "one": line.key[1], "other": line.key[2], **_values(found, line)}
        for line in found.of("pearson", "spearman")
    ]
    if rows:
        heads = (
            Head("Figure", "figure"),
            Head("Column", "one"),
            Head("with", "other"),
            *_heads(found, "fixed"),
        )
        yield Sheet("beside-correlations", heads, "beside-correlations", rows, filtered=True)


def _coefficients(found: Comparison) -> Iterator[Exhibit]:
    lines = found.of("coefficients")
    for place, target in enumerate(dict.fromkeys(line.key[2] for line in lines)):
        mine, name = [line for line in lines if line.key[2] == target], f"beside-regression-{place}"
        drawn = _ranges(mine, 1)
        if drawn:
            yield Chart(name, panels.ranges(drawn, f"{name}-drawn", "released less original", ZERO))
            heads = (Head("Feature", "feature"), *_heads(found, "number"))
            yield Sheet(name, heads, name, [{"feature": line.key[1], **_values(found, line)} for line in mine])


def _heads(found: Comparison, kind: Kind) -> list[Head]:
    """The original once where all contenders group values alike, else each contender's own."""
    heads = [] if not alike(found) else [Head("Original", "original", kind)]
    for c in found.contenders:
        if not alike(found):
            heads.append(Head(f"{c.letter}, original", f"{c.letter}_original", kind))
        heads += [
            Head(f"{c.letter}, median", c.letter, kind),
            Head(f"{c.letter}, worst difference", f"{c.letter}_off", kind),
        ]
    return heads


def alike(found: Comparison) -> bool:
    """Whether all contenders group values in the same way."""
    return len({tuple(sorted(c.line.configuration.alternatives.items())) for c in found.contenders}) < 2


def settings(found: Comparison) -> dict[str, str]:
    """What tells a contender from the others; all of its settings where it is alone."""
    every: dict[str, dict[str, str]] = {}
    for c in found.contenders:
        chosen = c.line.configuration
        bins = {f"bins of {name}": value for name, value in chosen.alternatives.items()}
        rare = {f"projection {name}": value for name, value in chosen.projection.items()}
        every[c.letter] = {"family": chosen.family, **chosen.hyperparameters, **rare, **bins}
    names = dict.fromkeys(name for own in every.values() for name in own)
    told = [n for n in names if len(every) == 1 or len({own.get(n) for own in every.values()}) > 1]
    return {letter: listed({n: own[n] for n in told if n in own}) for letter, own in every.items()}


def _values(found: Comparison, line: Line) -> dict[str, Any]:
    """The fields of one line."""
    every: dict[str, Any] = {}
    for c in found.contenders:
        shown = line.shown.get(c.letter)
        original, released, off = (
            (None, None, None) if shown is None else (shown.original, shown.released, shown.worst)
        )
        every |= {
            "original": every.get("original") or significant(original),
            f"{c.letter}_original": significant(original),
            c.letter: significant(released),
            f"{c.letter}_off": significant(off, 3),
        }
    return every
