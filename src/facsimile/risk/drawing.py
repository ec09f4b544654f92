"""Drawings: one for each question, three tables with their intervals, as plain SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from facsimile.documents.figures import ACCENT, GREY, INK, PALE, SIZE, SOFT, WIDTH
from facsimile.risk.findings import Finding
from facsimile.risk.words import QUESTION_WORDS, TABLE_WORDS, between, percent

LEAST, MOST = -0.25, 1.0
ALARM = "#a3140f"
COLOURS = {"no-privacy": ALARM, "release": ACCENT, "independent": SOFT}
EDGE, ROW = 8, 44


def drawn(findings: Sequence[Finding], bound: float | None = None) -> str:
    """The risk of one question for each table: a dot at the estimate, a line for its interval.

    `bound`: the most that ε allows, as a mark.
    """
    parts, top = [], 0.0
    height = ROW * len(findings) + 4
    for found in findings:
        colour, y = COLOURS[found.table], top + 30
        said = f"{percent(found.risk)} ({between(found)})"
        parts += [
            _text(EDGE, top + 14, TABLE_WORDS[found.table], INK),
            _text(WIDTH - EDGE, top + 14, said, colour, "end"),
            _line(_x(LEAST), y, _x(MOST), y, PALE, 6),
            *(_line(_x(share), y - 8, _x(share), y + 8, GREY, 1.5) for share in (0.0, 0.5, 1.0)),
            *([] if bound is None else [_line(_x(bound), y - 11, _x(bound), y + 11, INK, 1.5, dashed=True)]),
            _line(_x(found.low), y, _x(found.high), y, colour, 3),
            *(_line(_x(end), y - 5, _x(end), y + 5, colour, 2) for end in (found.low, found.high)),
            f'<circle cx="{_x(found.risk):.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>',
        ]
        top += ROW
    parts += [
        _text(_x(share), height + 14, f"{100 * share:.0f} %", SOFT, "end" if share == 1 else "middle")
        for share in (0.0, 0.5, 1.0)
    ]
    if bound is not None:
        parts.append(_text(_x(bound), height + 30, f"most that ε allows: {percent(bound)}", INK, "middle"))
    whole = height + (36 if bound is not None else 20)
    return (
        f'<svg viewBox="0 0 {WIDTH} {whole:g}" width="{WIDTH}" height="{whole:g}" role="img" '
        f'aria-label="{escape(described(findings))}" font-size="{SIZE}">{"".join(parts)}</svg>'
    )


def described(findings: Sequence[Finding]) -> str:
    """The same in words."""
    each = (f"{TABLE_WORDS[f.table]} {percent(f.risk)}, interval {between(f)}" for f in findings)
    return f"Risk of {QUESTION_WORDS[findings[0].question]}: {'; '.join(each)}"


def _x(share: float) -> float:
    inside = min(MOST, max(LEAST, share))
    return EDGE + (WIDTH - 2 * EDGE) * (inside - LEAST) / (MOST - LEAST)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}" stroke-width="{width:g}"{dashes}/>'


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
