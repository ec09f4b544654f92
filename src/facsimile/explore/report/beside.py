"""Beside: the exhibits of a comparison: contenders side by side, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from statistics import median

from facsimile.explore.report import panels
from facsimile.explore.report.aligned import WORDS, aligned
from facsimile.explore.report.comparison import Comparison, Line, Shown
from facsimile.explore.report.exhibits import Chart, Choice, Exhibit, Head, Option, Row, rounded, significant
from facsimile.explore.report.figures import Topic
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
OFF = "released less original"
SMALLEST = 0.005
"""A tile whose figure is smaller than this has none."""


def beside(found: Comparison) -> Iterator[Exhibit]:
    """Everything about the contenders but the summary, which is a table of its own."""
    if not found.lines:
        return
    yield from _criteria(found.judged)
    yield from _counts(found)
    yield from _centres(found)
    yield from _correlations(found)
    yield from _coefficients(found)
    what = (Head("What", "of", "prose"),)
    yield aligned(found, "beside-rows", found.of("rows"), what, "number")
    yield aligned(found, "beside-shares", found.of("rare", "strange"), what, "percent")


def _criteria(scores: Sequence[Score]) -> Iterator[Exhibit]:
    """Each error over its threshold."""
    rows: list[Row] = []
    for score in scores:
        for letter, values in score.values.items():
            over = [value / (score.threshold or 1.0) for value in values if isfinite(value)]
            rows += [_range(score.words, letter, over)] if over else []
    if rows:
        line = (1.0, "threshold")
        yield Chart("beside-criteria", panels.ranges(rows, "beside-criteria", "error ÷ threshold", line))


def _range(label: str, letter: str, values: Sequence[float]) -> Row:
    low, middle, high = map(significant, (min(values), median(values), max(values)))
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
    title, lines = "largest error, share of all records", found.of("counts", "moved")
    rows = _ranges(found.of("counts"), 1)
    yield Chart("beside-counts", panels.ranges(rows, "beside-counts-drawn", title, ZERO, "~%"))
    heads = (Head("Tables of", "of"), Head("What", "topic"))
    yield aligned(found, "beside-counts", lines, heads, "percent", errors=True)


def _centres(found: Comparison) -> Iterator[Exhibit]:
    lines = found.of("means", "medians")
    if not lines:
        return
    yield from _tiles(found, "means", scaled=True)
    yield from _tiles(found, "medians", scaled=True)
    options = tuple(_options(lines))
    if options:
        first = options[0].datasets["beside-centres-drawn"]
        yield Choice("beside-centres", "Figure", options)
        yield Chart("beside-centres", panels.ranges(first, "beside-centres-drawn", OFF, ZERO))
    heads = (Head("Among", "among"), Head("Figure", "topic"), Head("Of", "of"))
    yield aligned(found, "beside-centres", lines, heads, "number")


def _options(lines: Sequence[Line]) -> Iterator[Option]:
    """Every mean and every median, those that a criterion asks for first, with the band that it allows."""
    asked = {line.key[1] for line in lines if line.figure.threshold is not None}
    for column in sorted(dict.fromkeys(line.key[1] for line in lines), key=lambda name: name not in asked):
        for topic in ("means", "medians"):
            mine = [line for line in lines if line.key[:2] == (topic, column)]
            bands = {line.key[2]: line.figure.threshold or 0.0 for line in mine}
            rows = [r | {"least": -bands[r["label"]], "most": bands[r["label"]]} for r in _ranges(mine, 2)]
            if rows:
                yield Option(f"{WORDS[mine[0].key[0]]} of {column}", {"beside-centres-drawn": rows})


def _correlations(found: Comparison) -> Iterator[Exhibit]:
    lines = found.of("pearson", "spearman")
    if lines:
        yield from _tiles(found, "pearson", scaled=False)
        yield from _tiles(found, "spearman", scaled=False)
        heads = (Head("Column", "of"), Head("with", "among"), Head("Figure", "topic"))
        yield aligned(found, "beside-correlations", lines, heads, "fixed")


def _tiles(found: Comparison, topic: Topic, scaled: bool) -> Iterator[Exhibit]:
    """A panel for each contender: the difference of the median table, all panels on one scale.

    `scaled`: in deviations of the column. Otherwise both sides are columns, and the original comes first. Where
    no table of any contender differs there is nothing to draw.
    """
    lines = found.of(topic)
    across, down = (list(dict.fromkeys(line.key[place] for line in lines)) for place in (1, 2))
    if not scaled:
        across = down = list(dict.fromkeys([*across, *down]))
        first = found.contenders[0].letter
        rows = [_tile(line, line.shown[first].original, "") for line in lines if first in line.shown]
        yield from _panel(topic, "original", _mirrored(rows), 1.0, across, down)
    elif not any(any(shown.differences) for line in lines for shown in line.shown.values()):
        return
    drawn = {c.letter: list(_differences(lines, c.letter, scaled)) for c in found.contenders}
    limit = max((abs(row["value"] or 0.0) for rows in drawn.values() for row in rows), default=0.0)
    for letter, rows in drawn.items():
        yield from _panel(topic, letter, rows if scaled else _mirrored(rows), limit or 1.0, across, down)


def _panel(
    topic: Topic, side: str, rows: Sequence[Row], limit: float, across: Sequence[str], down: Sequence[str]
) -> Iterator[Exhibit]:
    name = f"beside-{topic}-{side}"
    yield Chart(name, panels.tiles(rows, name, limit, across, down))


def _differences(lines: Sequence[Line], letter: str, scaled: bool) -> Iterator[Row]:
    for line in lines:
        shown = line.shown.get(letter)
        if shown is not None:
            value = median(shown.differences) / (shown.unit if scaled else 1.0)
            yield _tile(line, value if isfinite(value) else None, _said(shown))


def _said(shown: Shown) -> str:
    one, other = ("–" if v is None else f"{v:.4g}" for v in (shown.original, shown.released))
    return f"{one} → {other}"


def _tile(line: Line, value: float | None, words: str) -> Row:
    """`one` goes down the page, `other` across it."""
    figure = "" if value is None or abs(value) < SMALLEST else f"{value:.2f}".replace("0.", ".", 1)
    return {
        "one": line.key[2],
        "other": line.key[1],
        "value": rounded(value),
        "shown": figure.replace("-", "−"),
        "words": words,
    }


def _mirrored(rows: Sequence[Row]) -> list[Row]:
    """Both halves of a square."""
    return [*rows, *(row | {"one": row["other"], "other": row["one"]} for row in rows)]


def _coefficients(found: Comparison) -> Iterator[Exhibit]:
    lines = found.of("coefficients")
    for place, target in enumerate(dict.fromkeys(line.key[2] for line in lines)):
        mine, name = [line for line in lines if line.key[2] == target], f"beside-regression-{place}"
        drawn = _ranges(mine, 1)
        if drawn:
            yield Chart(name, panels.ranges(drawn, f"{name}-drawn", OFF, ZERO))
            yield aligned(found, name, mine, (Head("Feature", "of"),), "number")
