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
from dataclasses import dataclass
from html import escape
from math import ceil
from unicodedata import east_asian_width

from facsimile.documents.language import ENGLISH, Language, language
from facsimile.documents.report import ColumnEntry, CriterionEntry

WIDTH = 360
ACCENT, PALE, GREY, INK, SOFT = "#0b5a7d", "#e4edf2", "#8b979e", "#1b262c", "#5a676e"
GAIN, GAIN_INK = "#d9822b", "#9a4f06"
SIZE, STEP, LINE, BESIDE = 12, 19, 15, 165
LONGEST = 1.5
"""The chart of the criteria ends at one and a half thresholds."""
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def one_way(column: ColumnEntry, words: Language | None = None) -> str:
    """The released counts of a column, one bar for each label, with count and share in figures."""
    said = words or language(ENGLISH)
    pen, total, most = _Pen(said), sum(column.counts) or 1, max(column.counts, default=0) or 1
    counts = [said.count(count) for count in column.counts]
    meanings = _meanings(column, said)
    widest = max(map(_width, meanings), default=0)
    beside = widest <= BESIDE
    left = 8 + widest if beside else 0
    room = WIDTH - left - 60 - max(map(_width, counts), default=0)
    drawn, top = [], 0
    for label, meaning, count, shown in zip(column.labels, meanings, column.counts, counts, strict=True):
        if beside:
            drawn.append(pen.text(left - 8, top + 13.5, meaning, anchor="end"))
        else:
            lines = _lines(meaning, WIDTH)
            drawn += [pen.text(0, top + 12 + LINE * place, line) for place, line in enumerate(lines)]
            top += LINE * len(lines)
        drawn += [
            pen.bar(left, top + 3, room, PALE),
            pen.bar(left, top + 3, room * count / most, GREY if label == column.missing else ACCENT),
            pen.text(WIDTH - 54, top + 13.5, shown, anchor="end"),
            pen.text(WIDTH, top + 13.5, said.figure(_share(count / total)), anchor="end", colour=SOFT),
        ]
        top += STEP
    return pen.drawing(top + 2, described(column, said), drawn)


def described(column: ColumnEntry, words: Language | None = None) -> str:
    """The same chart in words: every value with its count."""
    said = words or language(ENGLISH)
    pairs = zip(_meanings(column, said), column.counts, strict=True)
    every = (said.plain("charts.pair", value=meaning, n=said.count(n)) for meaning, n in pairs)
    return said.plain("charts.described", name=column.name, pairs=said.ways["comma"].join(every))


def _meanings(column: ColumnEntry, said: Language) -> list[str]:
    return [said.meaning(*pair) for pair in zip(column.labels, column.meanings, strict=True)]


def quality(criteria: Sequence[CriterionEntry], words: Language | None = None) -> str:
    """Every criterion on one scale, its threshold: a dot where it was measured, a line up to its bound.

    One without a number of its own has no dot: its line starts at 0.
    """
    said = words or language(ENGLISH)
    pen, room, top = _Pen(said), WIDTH - 10, 0
    limit = 5 + room / LONGEST
    drawn = []
    for criterion in criteria:
        value = 0.0 if criterion.shared else criterion.value
        finite = value is not None
        lines = _lines(said.phrase("criterion", criterion.title), WIDTH - 10 if finite else WIDTH - 90)
        drawn += [pen.text(5, top + 13 + LINE * place, line) for place, line in enumerate(lines)]
        top += LINE * len(lines)
        axis = top + 10
        drawn.append(pen.line(5, axis, 5 + room, axis, PALE, 6))
        if value is None:
            infinite = said.plain("charts.infinite")
            drawn.append(pen.text(WIDTH - 5, axis - 12, infinite, anchor="end", colour=SOFT))
        else:
            dot = 5 + room * _within(value / criterion.threshold) / LONGEST
            if criterion.bound is None:
                drawn.append(pen.line(dot, axis, 5 + room, axis, ACCENT, 2, dashed=True))
            else:
                end = 5 + room * _within(criterion.bound / criterion.threshold) / LONGEST
                drawn += [
                    pen.line(dot, axis, end, axis, ACCENT, 2),
                    pen.line(end, axis - 5, end, axis + 5, ACCENT, 2),
                ]
            if not criterion.shared:
                drawn.append(pen.dot(dot, axis, 4.5, ACCENT))
        drawn.append(pen.line(limit, axis - 7, limit, axis + 7, INK, 1.5))
        top += 24
    drawn += [
        pen.text(5, top + 14, "0", colour=SOFT),
        pen.text(limit, top + 14, said.plain("charts.threshold"), anchor="middle", colour=SOFT),
    ]
    return pen.drawing(top + 20, weighed(criteria, said), drawn)


def weighed(criteria: Sequence[CriterionEntry], words: Language | None = None) -> str:
    """The chart of the criteria in words."""
    said = words or language(ENGLISH)
    return said.plain(
        "charts.weighed", parts=said.ways["comma"].join(_weighed(criterion, said) for criterion in criteria)
    )


def _weighed(c: CriterionEntry, said: Language) -> str:
    title = said.phrase("criterion", c.title)
    if c.shared:
        if c.bound is None:
            return said.plain("charts.weighed_unbounded", title=title)
        share = said.figure(f"{ceil(100 * c.bound / c.threshold)}\u00a0%")
        return said.plain("charts.weighed_most", title=title, share=share)
    if c.value is None:
        return said.plain("charts.weighed_infinite", title=title)
    share = said.figure(f"{100 * c.value / c.threshold:.0f}\u00a0%")
    return said.plain("charts.weighed_value", title=title, share=share)


def guessing(right: int, words: Language | None = None) -> str:
    """Of 100 guesses about one person, those that are right: 50 without a release, and so many with it.

    Two squares of 100 dots, filled row by row. Dots that only the release can make right have a colour of their
    own; where nearly all are right, the words say so.
    """
    said = words or language(ENGLISH)
    pen, side, wide = _Pen(said), 14, 200
    nearly = right >= 100
    shown = said.plain("summary.nearly") if nearly else said.plain("summary.of_hundred", n=said.count(right))
    drawn = []
    for start, title, filled, figure in (
        (0, said.plain("summary.without"), 50, said.plain("summary.of_hundred", n=said.count(50))),
        (wide, said.plain("summary.with"), right, shown),
    ):
        drawn.append(pen.text(start, 14, title, colour=INK))
        for place in range(100):
            colour = PALE if place >= filled else ACCENT if place < 50 else GAIN
            x, y = start + side * (place % 10) + 6, 30 + side * (place // 10)
            drawn.append(pen.dot(x, y, 5, colour))
        drawn.append(pen.text(start, 184, figure, size=20, colour=ACCENT if filled == 50 else GAIN_INK))
        drawn.append(pen.text(start, 203, said.plain("summary.right"), colour=SOFT))
    return pen.drawing(210, said.plain("summary.picture", guesses=right, nearly=nearly), drawn)


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
    return "<0.1\u00a0%" if 0 < share < 0.0005 else f"{100 * share:.1f}\u00a0%"


def _width(words: str) -> float:
    """At least the width of a text in the widest of the usual fonts."""
    return sum(12.5 if east_asian_width(c) in "WF" else 10.6 if c in "MWmw@%" else 7.7 for c in words)


def _within(share: float) -> float:
    return min(LONGEST, max(0.0, share))


@dataclass(frozen=True)
class _Pen:
    """Draws parts of a drawing from left to right, or in a mirror where people read from right to left."""

    said: Language

    def drawing(self, height: float, words: str, parts: Sequence[str]) -> str:
        direction = ' direction="ltr"' if self.said.backwards else ""
        return (
            f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img" '
            f'aria-label="{escape(words)}" font-size="{SIZE}"{direction}>{"".join(parts)}</svg>'
        )

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, size: int = SIZE
    ) -> str:
        if self.said.backwards:
            anchor = {"start": "end", "end": "start"}.get(anchor, anchor)
        place = f'x="{self._x(x):.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
        large = "" if size == SIZE else f' font-size="{size}" font-weight="bold"'
        return f"<text {place}{large}>{escape(self.said.apart(words))}</text>"

    def bar(self, x: float, y: float, width: float, colour: str) -> str:
        left = WIDTH - x - width if self.said.backwards else x
        return f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.2f}" height="13" fill="{colour}"/>'

    def dot(self, x: float, y: float, radius: float, colour: str) -> str:
        return f'<circle cx="{self._x(x):.1f}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>'

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float, dashed: bool = False
    ) -> str:
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        place = f'x1="{self._x(x1):.1f}" y1="{y1:.1f}" x2="{self._x(x2):.1f}" y2="{y2:.1f}"'
        return f'<line {place} stroke="{colour}" stroke-width="{width:g}"{dashes}/>'

    def _x(self, x: float) -> float:
        return WIDTH - x if self.said.backwards else x


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
