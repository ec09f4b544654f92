"""Figures: small charts as plain SVG, readable on a phone and in print.

They are written by hand: a bar is a rectangle, and a charting library would weigh a hundred megabytes.
Bars lie on their side, so that a label is never turned and 32 bins stay legible. No label is cut: where one is
too long to stand beside its bar, all stand above theirs, in as many lines as they need. The drawings hold no
script, no style sheet and no reference to anything outside.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Sequence
from html import escape
from math import ceil
from unicodedata import east_asian_width

from facsimile.documents.report import ColumnEntry, CriterionEntry

WIDTH = 360
ACCENT, PALE, GREY, INK, SOFT = "#0b5a7d", "#e4edf2", "#8b979e", "#1b262c", "#5a676e"
SIZE, STEP, LINE, BESIDE = 12, 19, 15, 165
LONGEST = 1.5
"""The chart of the criteria ends at one and a half thresholds."""
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def one_way(column: ColumnEntry) -> str:
    """The released counts of a column, one bar for each label, with count and share in figures."""
    total, most = sum(column.counts) or 1, max(column.counts, default=0) or 1
    counts = [f"{count:,}" for count in column.counts]
    widest = max(map(_width, column.meanings), default=0)
    beside = widest <= BESIDE
    left = 8 + widest if beside else 0
    room = WIDTH - left - 60 - max(map(_width, counts), default=0)
    drawn, top = [], 0
    for label, words, count, shown in zip(column.labels, column.meanings, column.counts, counts, strict=True):
        if beside:
            drawn.append(_text(left - 8, top + 13.5, words, anchor="end"))
        else:
            lines = _lines(words, WIDTH)
            drawn += [_text(0, top + 12 + LINE * place, line) for place, line in enumerate(lines)]
            top += LINE * len(lines)
        drawn += [
            _bar(left, top + 3, room, PALE),
            _bar(left, top + 3, room * count / most, GREY if label == column.missing else ACCENT),
            _text(WIDTH - 54, top + 13.5, shown, anchor="end"),
            _text(WIDTH, top + 13.5, _share(count / total), anchor="end", colour=SOFT),
        ]
        top += STEP
    return _drawing(top + 2, described(column), drawn)


def described(column: ColumnEntry) -> str:
    """The same chart in words: every value with its count."""
    pairs = ", ".join(
        f"{words}: {count:,}" for words, count in zip(column.meanings, column.counts, strict=True)
    )
    return f"Bar chart of the records by {column.name}. {pairs}."


def quality(criteria: Sequence[CriterionEntry]) -> str:
    """Every criterion on one scale, its threshold: a dot where it was measured, a line up to its bound.

    One without a number of its own has no dot: its line starts at 0.
    """
    room, top = WIDTH - 10, 0
    limit = 5 + room / LONGEST
    drawn = []
    for criterion in criteria:
        value = 0.0 if criterion.shared else criterion.value
        finite = value is not None
        lines = _lines(criterion.title, WIDTH - 10 if finite else WIDTH - 90)
        drawn += [_text(5, top + 13 + LINE * place, line) for place, line in enumerate(lines)]
        top += LINE * len(lines)
        axis = top + 10
        drawn.append(_line(5, axis, 5 + room, axis, PALE, 6))
        if value is None:
            drawn.append(_text(WIDTH - 5, axis - 12, "not finite", anchor="end", colour=SOFT))
        else:
            dot = 5 + room * _within(value / criterion.threshold) / LONGEST
            if criterion.bound is None:
                drawn.append(_line(dot, axis, 5 + room, axis, ACCENT, 2, dashed=True))
            else:
                end = 5 + room * _within(criterion.bound / criterion.threshold) / LONGEST
                drawn += [
                    _line(dot, axis, end, axis, ACCENT, 2),
                    _line(end, axis - 5, end, axis + 5, ACCENT, 2),
                ]
            if not criterion.shared:
                drawn.append(f'<circle cx="{dot:.1f}" cy="{axis}" r="4.5" fill="{ACCENT}"/>')
        drawn.append(_line(limit, axis - 7, limit, axis + 7, INK, 1.5))
        top += 24
    drawn += [
        _text(5, top + 14, "0", colour=SOFT),
        _text(limit, top + 14, "threshold", anchor="middle", colour=SOFT),
    ]
    return _drawing(top + 20, weighed(criteria), drawn)


def weighed(criteria: Sequence[CriterionEntry]) -> str:
    """The chart of the criteria in words."""
    return (
        f"Measured error of each condition as a share of its threshold. {', '.join(map(_weighed, criteria))}."
    )


def _weighed(c: CriterionEntry) -> str:
    if c.shared:
        most = "no bound" if c.bound is None else f"at most {ceil(100 * c.bound / c.threshold)} %"
        return f"{c.title}: {most}"
    return f"{c.title}: not finite" if c.value is None else f"{c.title}: {100 * c.value / c.threshold:.0f} %"


def framed(criteria: Sequence[CriterionEntry]) -> bool:
    """Whether all that is finite lies inside the chart of the criteria; what does not is drawn at its edge."""
    shares = [
        x / c.threshold
        for c in criteria
        if c.value is not None or c.shared
        for x in (c.value, c.bound)
        if x is not None
    ]
    return all(0 <= share <= LONGEST for share in shares)


def picture(data: str) -> str:
    """A PNG, given as a data URI, as a drawing: typst takes drawings as text."""
    width, height = struct.unpack(">II", b64decode(data.partition(",")[2])[16:24])
    size = f'width="{width}" height="{height}"'
    return f'<svg viewBox="0 0 {width} {height}" {size}><image {size} href="{escape(data)}"/></svg>'


def standalone(drawing: str) -> str:
    """A drawing as a file of its own; inside a page it needs no namespace."""
    return drawing.replace("<svg ", f"<svg {NAMESPACE} ", 1)


def _share(share: float) -> str:
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def _width(words: str) -> float:
    """At least the width of a text in the widest of the usual fonts."""
    return sum(12.5 if east_asian_width(c) in "WF" else 10.6 if c in "MWmw@%" else 7.7 for c in words)


def _within(share: float) -> float:
    return min(LONGEST, max(0.0, share))


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


def _lines(words: str, room: float) -> list[str]:
    """The text in lines that fit, broken at blanks, or inside a word that is too long by itself."""
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if _width(longer) <= room:
            lines[-1] = longer
            continue
        lines += [""] if lines[-1] else []
        for letter in word:
            if _width(lines[-1] + letter) > room:
                lines.append("")
            lines[-1] += letter
    return lines
