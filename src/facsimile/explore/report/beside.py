"""Beside: the exhibits of a comparison: contenders side by side, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite
from statistics import median

from facsimile.explore.report.columns import heads
from facsimile.explore.report.comparison import Compared, Comparison
from facsimile.explore.report.exhibits import Chart, Exhibit, Row, Sheet, listed
from facsimile.explore.report.figures import Theme

WORDS: Mapping[Theme, str] = {
    "counts": "Largest error",
    "moved": "Records moved",
    "means": "Mean",
    "medians": "Median",
    "pearson": "Correlation",
    "spearman": "Rank correlation",
}
LONG = 20
"""A table with more lines than this can be filtered."""
OFF = {"title": "released less original", "line": [0, "the original"]}
SMALLEST = 0.005
"""A tile whose figure is smaller than this has none."""


def beside(found: Comparison) -> Iterator[Exhibit]:
    """Everything about the contenders but the summary, which is a table of its own."""
    if not found.lines:
        return
    over = [
        _range(score.words, letter, [value / (score.threshold or 1.0) for value in values if isfinite(value)])
        for score in found.judged
        for letter, values in score.values.items()
    ]
    about = {"title": "error ÷ threshold", "line": [1, "threshold"]}
    yield from _ranges("beside-criteria", over, about)
    about = OFF | {"title": "largest error, share of all records", "form": "share"}
    yield from _ranges("beside-counts", _differences(found.of("counts"), 1), about)
    lines = found.of("counts", "moved")
    yield _aligned(found, "beside-counts", lines, "Tables of|of; What|topic", "percent", errors=True)
    yield from _centres(found)
    if lines := found.of("pearson", "spearman"):
        yield from _tiles(found, "pearson")
        yield from _tiles(found, "spearman")
        yield _aligned(found, "beside-correlations", lines, "Column|of; with|among; Figure|topic", "fixed")
    for place, target in enumerate(dict.fromkeys(line.key[2] for line in found.of("coefficients"))):
        name, mine = f"beside-regression-{place}", [f for f in found.of("coefficients") if f.key[2] == target]
        for chart in _ranges(name, _differences(mine, 1), OFF):
            yield from (chart, _aligned(found, name, mine, "Feature|of", "number"))
    yield _aligned(found, "beside-rows", found.of("rows"), "What|of|prose", "number")
    yield _aligned(found, "beside-shares", found.of("rare", "strange"), "What|of|prose", "percent")


def _range(label: str, letter: str, values: Sequence[float]) -> Row:
    """The median of a contender's tables, the smallest and the largest; infinite where one is not defined."""
    low, middle, high = (min(values), median(values), max(values)) if values else (inf, inf, inf)
    return {"label": label, "contender": letter, "low": low, "middle": middle, "high": high}


def _differences(lines: Iterable[Compared], label: int) -> list[Row]:
    """The differences of some lines; `label` is the part of the key that names a line."""
    return [_range(line.key[label], k, shown.differences) for line in lines for k, shown in line.shown.items()]


def _ranges(name: str, rows: Iterable[Row], about: Row, picked: str = "") -> Iterator[Chart]:
    """A chart of the rows that are defined, if there are any."""
    known = [row for row in rows if isfinite(row["low"]) and isfinite(row["high"])]
    if known:
        yield Chart(name, "ranges", known, about=about, picked=picked, label=picked.capitalize())


def _aligned(
    found: Comparison, name: str, lines: Sequence[Compared], told: str, form: str, errors: bool = False
) -> Sheet:
    """A line for each figure, with the original and every contender beside it.

    Under each letter the median of its tables, and the difference of the one that is furthest off. `errors`:
    the original is 0 and left out.
    """
    if not errors and alike(found):
        told += f"; Original|original|{form}"
    for letter in (c.letter for c in found.contenders):
        own = "" if errors or alike(found) else f"; {letter}, original|{letter}_original|{form}"
        told += f"{own}; {letter}|{letter}|{form}; {letter}, worst|{letter}_worst|{form}"
    rows = [_row(line, [c.letter for c in found.contenders]) for line in lines]
    return Sheet(name, rows, filtered=len(rows) > LONG, columns=heads(told))


def _row(line: Compared, letters: Sequence[str]) -> Row:
    row: Row = {"topic": WORDS.get(line.key[0], ""), "of": line.key[1], "among": line.key[2], "original": None}
    for letter in letters:
        shown = line.shown.get(letter)
        figures = (None, None, None) if shown is None else (shown.original, shown.released, shown.worst)
        row[f"{letter}_original"], row[letter], row[f"{letter}_worst"] = figures
        row["original"] = figures[0] if row["original"] is None else row["original"]
    return row


def _centres(found: Comparison) -> Iterator[Exhibit]:
    """Every mean and every median, those that a criterion asks for first, with the band that it allows."""
    lines = found.of("means", "medians")
    if not lines:
        return
    yield from _tiles(found, "means")
    yield from _tiles(found, "medians")
    asked = {line.key[1] for line in lines if line.figure.threshold is not None}
    columns = sorted(dict.fromkeys(line.key[1] for line in lines), key=lambda name: name not in asked)
    rows = [
        row | {"figure": f"{WORDS[line.key[0]]} of {line.key[1]}", "allowed": line.figure.threshold}
        for line in sorted(lines, key=lambda line: (columns.index(line.key[1]), line.key[0]))
        for row in _differences([line], 2)
    ]
    yield from _ranges("beside-centres", rows, OFF, picked="figure")
    yield _aligned(found, "beside-centres", lines, "Among|among; Figure|topic; Of|of", "number")


def _tiles(found: Comparison, topic: Theme) -> Iterator[Exhibit]:
    """A panel for each contender: the difference of the median table, all panels on one scale.

    Means and medians in deviations of the column; where no table of any contender differs there is nothing to
    draw. Both sides of correlations are columns, and the original comes first.
    """
    lines, centred = found.of(topic), topic in ("means", "medians")
    across, down = (list(dict.fromkeys(line.key[place] for line in lines)) for place in (1, 2))
    if centred and not any(any(shown.differences) for line in lines for shown in line.shown.values()):
        return
    drawn = {c.letter: _differing(lines, c.letter, centred) for c in found.contenders}
    limit = max((abs(row["value"] or 0.0) for rows in drawn.values() for row in rows), default=0.0) or 1.0
    if not centred:
        across = down = list(dict.fromkeys([*across, *down]))
        first = found.contenders[0].letter
        original = [_tile(line, line.shown[first].original, "") for line in lines if first in line.shown]
        drawn = {"original": original} | drawn
    for side, rows in drawn.items():
        about = {"limit": 1.0 if side == "original" else limit, "across": across, "down": down}
        turned = [] if centred else [row | {"one": row["other"], "other": row["one"]} for row in rows]
        yield Chart(f"beside-{topic}-{side}", "tiles", [*rows, *turned], about=about)


def _differing(lines: Sequence[Compared], letter: str, centred: bool) -> list[Row]:
    rows = []
    for line, shown in ((line, line.shown[letter]) for line in lines if letter in line.shown):
        value = median(shown.differences) / (shown.unit if centred else 1.0)
        one, other = ("–" if v is None else f"{v:.4g}" for v in (shown.original, shown.released))
        rows.append(_tile(line, value if isfinite(value) else None, f"{one} → {other}"))
    return rows


def _tile(line: Compared, value: float | None, words: str) -> Row:
    """`one` goes down the page, `other` across it."""
    figure = "" if value is None or abs(value) < SMALLEST else f"{value:.2f}".replace("0.", ".", 1)
    shown = figure.replace("-", "−")
    return {"one": line.key[2], "other": line.key[1], "value": value, "shown": shown, "words": words}


def alike(found: Comparison) -> bool:
    """Whether all contenders group values in the same way."""
    return len({tuple(sorted(c.tried.configuration.alternatives.items())) for c in found.contenders}) < 2


def settings(found: Comparison) -> dict[str, tuple[str, str]]:
    """What tells a contender from the others, first its settings, then its groups of values.

    All of its settings where it is alone.
    """
    chosen = {c.letter: c.tried.configuration for c in found.contenders}
    rare = {k: {f"projection {name}": value for name, value in c.projection.items()} for k, c in chosen.items()}
    own = _apart({k: {"family": c.family, **c.hyperparameters, **rare[k]} for k, c in chosen.items()})
    bins = _apart({k: c.alternatives for k, c in chosen.items()}) if len(chosen) > 1 else {}
    return {k: (listed(own[k]), listed(bins.get(k, {}))) for k in chosen}


def _apart(every: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Of each its entries that not all others have."""
    names = dict.fromkeys(name for own in every.values() for name in own)
    told = [n for n in names if len(every) == 1 or len({own.get(n) for own in every.values()}) > 1]
    return {letter: {n: own[n] for n in told if n in own} for letter, own in every.items()}
