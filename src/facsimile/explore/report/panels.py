"""Panels: charts of several contenders side by side, each from plain rows.

A contender has a colour and a shape of its own, so that they stay apart in print. A difference is blue where
the released table has less, orange where it has more, white at zero, on one scale for all contenders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from facsimile.documents.figures import INK, PALE
from facsimile.explore.report.charts import LINES
from facsimile.explore.report.contenders import LETTERS
from facsimile.explore.report.contrasts import EQUAL, LESS, MORE
from facsimile.explore.report.drawing import Rows, Spec, altair, finished, hints, in_lines, line_at, of

SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
MOST_TILES = 7
"""A panel with more columns than this has no figures in its tiles."""
UNKNOWN = "#e9edef"


def ranges(rows: Rows, name: str, title: str, line: tuple[float, str], form: str = "~g") -> Spec:
    """For each label and contender the median of its tables (mark) and all of them (line).

    Rows: label, contender, low, middle, high; with a band that is allowed also least and most.
    """
    alt = altair()
    letters = sorted({str(row["contender"]) for row in rows})
    x = {"scale": alt.Scale(zero=False, nice=True), "axis": alt.Axis(title=title, orient="top", format=form)}
    said = ("label|of", "contender", f"middle|median|{_hint(form)}", f"low|from|{_hint(form)}")
    base = of(name).encode(
        y=alt.Y(
            "label:N",
            sort=None,
            title=None,
            axis=alt.Axis(labelLimit=190, **in_lines(12)),
            scale=alt.Scale(paddingInner=0.3),
        ),
        tooltip=hints(*said, f"high|to|{_hint(form)}"),
    )
    own = base.encode(yOffset=alt.YOffset("contender:N", sort=letters), color=_coloured(letters))
    shape = alt.Shape("contender:N", title=None, scale=_scale(letters, SHAPES))
    banded = (
        [base.mark_bar(color=PALE).encode(x=alt.X("least:Q", **x), x2="most:Q")] if "least" in rows[0] else []
    )
    drawn = alt.layer(
        *banded,
        line_at(*line),
        own.mark_rule(strokeWidth=2, opacity=0.55).encode(x=alt.X("low:Q", **x), x2="high:Q"),
        own.mark_point(filled=True, opacity=1, size=60).encode(x=alt.X("middle:Q", **x), shape=shape),
    )
    return finished(drawn, {name: rows}, step=12 * len(letters) + 8)


def tiles(rows: Rows, name: str, limit: float, across: Sequence[str], down: Sequence[str]) -> Spec:
    """A figure in each tile, its colour full at the limit.

    Rows: one (down), other (across), value, shown (the value as it is written in the tile), and words that say
    more. Where there is no value the setup is grey.
    """
    alt = altair()
    base = of(name).encode(
        x=alt.X("other:N", sort=list(across), title=None, axis=alt.Axis(labelAngle=-50, labelOverlap=False)),
        y=alt.Y(
            "one:N",
            sort=list(down),
            title=None,
            axis=alt.Axis(labelOverlap=False, labelLimit=150, **in_lines(10)),
        ),
        tooltip=hints("one|of", "other|with", "value|value|.3~f", "words|in figures"),
    )
    scale = alt.Scale(domain=[-limit, 0, limit], range=[LESS, EQUAL, MORE], interpolate="rgb", clamp=True)
    squares = base.mark_rect(stroke="#e2e9ed", strokeWidth=0.5).encode(
        color=alt.Color("value:Q", legend=None, scale=scale)
    )
    light = alt.condition(f"abs(datum.value) > {0.6 * limit}", alt.value("#fff"), alt.value(INK))
    known = base.transform_filter("isValid(datum.value)")
    figures = known.mark_text(fontSize=10).encode(text="shown:N", color=light)
    drawn = alt.layer(squares) if len(across) > MOST_TILES else alt.layer(squares, figures)
    return finished(drawn.properties(view=alt.ViewBackground(fill=UNKNOWN)), {name: rows}, step=25)


def _hint(form: str) -> str:
    return ".2%" if "%" in form else ".4~g"


def _coloured(letters: Sequence[str]) -> Any:
    alt = altair()
    return alt.Color("contender:N", title=None, scale=_scale(letters, LINES))


def _scale(letters: Sequence[str], values: Sequence[Any]) -> Any:
    """A contender keeps its own value, whoever else is drawn."""
    return altair().Scale(domain=list(letters), range=[values[LETTERS.index(letter)] for letter in letters])
