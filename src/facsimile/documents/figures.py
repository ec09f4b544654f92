"""Figures: small charts as plain SVG, readable on a phone and in print.

They are written by hand: a bar is a rectangle, and a charting library would weigh a hundred megabytes.
Bars lie on their side, so that a label is never turned or cut to a stub and 32 bins stay legible. The drawings
hold no script, no style sheet and no reference to anything outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from facsimile.documents.report import Column, Criterion

WIDTH = 360
ACCENT, PALE, GREY, INK, SOFT = "#0b5a7d", "#e4edf2", "#8b979e", "#1b262c", "#5a676e"
SIZE, STEP, MOST_LABEL = 12, 19, 18
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def one_way(column: Column) -> str:
    """The released counts of a column, one bar for each label, with count and share in figures."""
    total, most = sum(column.counts) or 1, max(column.counts, default=0) or 1
    counts = [f"{count:,}" for count in column.counts]
    left = 8 + max((_width(_shortened(label)) for label in column.labels), default=0)
    right = 60 + max(map(_width, counts), default=0)
    room = WIDTH - left - right
    drawn = []
    for place, (label, count) in enumerate(zip(column.labels, column.counts, strict=True)):
        top, base = place * STEP, place * STEP + 13.5
        colour = GREY if label == column.missing else ACCENT
        drawn += [
            _text(left - 8, base, _shortened(label), anchor="end"),
            _bar(left, top + 3, room, PALE),
            _bar(left, top + 3, room * count / most, colour),
            _text(WIDTH - 54, base, counts[place], anchor="end"),
            _text(WIDTH, base, _share(count / total), anchor="end", colour=SOFT),
        ]
    return _drawing(len(column.labels) * STEP + 2, described(column), drawn)


def described(column: Column) -> str:
    """The same chart in words: every label with its count."""
    pairs = ", ".join(f"{label}: {count:,}" for label, count in zip(column.labels, column.counts, strict=True))
    return f"Bar chart of the records by {column.name}. {pairs}."


def quality(criteria: Sequence[Criterion]) -> str:
    """Every criterion on one scale, its threshold: a dot where it was measured, a line up to the 95 % bound."""
    room, row = WIDTH - 10, 38
    limit = 5 + room / 1.5
    foot = len(criteria) * row
    drawn = []
    for place, criterion in enumerate(criteria):
        top = place * row
        axis = top + 25
        drawn += [
            _text(5, top + 13, _shortened(criterion.name, 44)),
            _line(5, axis, 5 + room, axis, PALE, 6),
        ]
        if criterion.value is None:
            drawn.append(_text(WIDTH - 5, top + 13, "not finite", anchor="end", colour=SOFT))
            continue
        share = criterion.value / criterion.threshold
        dot = 5 + room * _within(share) / 1.5
        if criterion.bound is None:
            drawn += [_line(dot, axis, 5 + room, axis, ACCENT, 2, dashed=True)]
        else:
            end = 5 + room * _within(criterion.bound / criterion.threshold) / 1.5
            drawn += [_line(dot, axis, end, axis, ACCENT, 2), _line(end, axis - 5, end, axis + 5, ACCENT, 2)]
        drawn.append(f'<circle cx="{dot:.1f}" cy="{axis}" r="4.5" fill="{ACCENT}"/>')
    drawn += [
        _line(limit, 17, limit, foot + 2, INK, 1, dashed=True),
        _text(5, foot + 16, "0", colour=SOFT),
        _text(limit, foot + 16, "threshold", anchor="middle", colour=SOFT),
    ]
    return _drawing(foot + 22, weighed(criteria), drawn)


def weighed(criteria: Sequence[Criterion]) -> str:
    """The chart of the criteria in words."""
    parts = [
        f"{c.name}: not finite" if c.value is None else f"{c.name}: {100 * c.value / c.threshold:.0f} %"
        for c in criteria
    ]
    return f"Measured error of each criterion as a share of its threshold. {', '.join(parts)}."


def standalone(drawing: str) -> str:
    """A drawing as a file of its own; inside a page it needs no namespace."""
    return drawing.replace("<svg ", f"<svg {NAMESPACE} ", 1)


def _share(share: float) -> str:
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def _width(words: str) -> float:
    """At least the width of a text in the widest of the usual fonts."""
    return sum(12.5 if east_asian_width(c) in "WF" else 10.6 if c in "MWmw@%" else 7.7 for c in words)


def _within(share: float) -> float:
    return min(1.5, max(0.0, share))


def _drawing(height: float, words: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img" '
        f'aria-label="{escape(words)}" font-size="{SIZE}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def _bar(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="13" fill="{colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}" stroke-width="{width:g}"{dashes}/>'


def _shortened(words: str, most: int = MOST_LABEL) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
