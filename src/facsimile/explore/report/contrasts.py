"""Contrasts: charts of a synthetic table beside the real one, each from plain rows.

Real and synthetic differ in lightness, so that they stay apart in print. A difference is blue where the
synthetic table has less, orange where it has more, white at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from facsimile.documents.figures import ACCENT, GREY, INK, PALE
from facsimile.explore.report.drawing import Rows, Spec, altair, finished, hints, line_at, of

TABLES = ("real", "synthetic")
COLOURS = ("#98a4ab", ACCENT)
LESS, EQUAL, MORE = "#0b5a7d", "#ffffff", "#c1520c"
MOST_FIGURES = 6
SHAPES = ("circle", "diamond")
CELL = 26


def one_way(rows: Rows, name: str) -> Spec:
    """The shares of a column's values in both tables, as two bars each.

    Rows: label, table (real or synthetic), share, records.
    """
    alt = altair()
    drawn = (
        of(name)
        .mark_bar()
        .encode(
            y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=130, labelOverlap=False)),
            yOffset=alt.YOffset("table:N", sort=list(TABLES)),
            x=alt.X("share:Q", axis=alt.Axis(format="~%", title=None, tickCount=4)),
            color=_colour(),
            tooltip=hints("label|value", "table", "records|records|,", "share|share|.2%"),
        )
    )
    return finished(drawn, {name: rows}, step=17)


def two_way(rows: Rows, limit: float) -> Spec:
    """The differences of two columns together, in percentage points of all records.

    Rows: one, other, real, synthetic, points. The parameter `limit` is where the colours end.
    """
    alt = altair()
    limited = alt.param(name="limit", value=limit)
    ends = {"domainMin": alt.expr("-limit"), "domainMid": 0, "domainMax": alt.expr("limit")}
    drawn = (
        of("cells")
        .mark_rect(stroke="#eef2f4", strokeWidth=0.5)
        .encode(
            x=alt.X("other:N", sort=None, title=None, axis=alt.Axis(labelAngle=-60, labelOverlap="parity")),
            y=alt.Y("one:N", sort=None, title=None, axis=alt.Axis(labelOverlap=False)),
            color=alt.Color(
                "points:Q",
                title="points",
                scale=alt.Scale(range=[LESS, EQUAL, MORE], interpolate="rgb", **ends),
            ),
            tooltip=hints(
                "one|row", "other|column", "real|real|,", "synthetic|synthetic|,", "points|points|+.3~f"
            ),
        )
        .add_params(limited)
    )
    return finished(drawn, {"cells": rows}, width={"step": CELL}, step=18)


def matrix(rows: Rows, name: str, field: str, limit: float, names: Sequence[str], signed: bool = True) -> Spec:
    """A figure for each pair of columns, in a square whose colour is full at the limit.

    Rows: one, other and the field.
    """
    alt = altair()
    small = len(names) > MOST_FIGURES
    axis = alt.Axis(labelAngle=-60, labelOverlap=False)
    base = of(name).encode(
        x=alt.X("other:N", sort=list(names), title=None, axis=axis),
        y=alt.Y("one:N", sort=list(names), title=None, axis=alt.Axis(labelOverlap=False)),
        tooltip=hints("one|column", "other|with", f"{field}|{field}|.3~f"),
    )
    colours = {"domain": [-limit, 0, limit], "range": [LESS, EQUAL, MORE]}
    scale = alt.Scale(
        **(colours if signed else {"domain": [0, limit], "range": [PALE, MORE]}), interpolate="rgb"
    )
    squares = base.mark_rect(stroke="#eef2f4", strokeWidth=0.5).encode(
        color=alt.Color(f"{field}:Q", legend=None, scale=scale)
    )
    light = alt.condition(f"abs(datum.{field}) > {0.6 * limit}", alt.value("#fff"), alt.value(INK))
    known = base.transform_filter(f"isValid(datum.{field})")
    figures = known.mark_text(fontSize=10).encode(text=alt.Text(f"{field}:Q", format=".2f"), color=light)
    return finished(squares if small else alt.layer(squares, figures), {name: rows}, step=22 if small else 34)


def dumbbells(rows: Rows, name: str, title: str) -> Spec:
    """A pair of figures on each line, real and synthetic, over a band that a criterion allows.

    Rows: label, real, synthetic; with a band also low and high, None where there is none.
    """
    alt = altair()
    zero, axis = alt.Scale(zero=False, nice=True), alt.Axis(title=title, orient="top")
    shape = alt.Shape("table:N", title=None, scale=alt.Scale(domain=list(TABLES), range=list(SHAPES)))
    base = of(name).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=170)),
        tooltip=hints("label|of", "real|real|.4~g", "synthetic|synthetic|.4~g"),
    )
    band = base.mark_bar(color=PALE, height=16).encode(x=alt.X("low:Q", scale=zero, axis=axis), x2="high:Q")
    joined = base.mark_rule(color=GREY, strokeWidth=2).encode(
        x=alt.X("real:Q", scale=zero, axis=axis), x2="synthetic:Q"
    )
    marks = (
        base.transform_fold(list(TABLES), as_=["table", "value"])
        .mark_point(filled=True, opacity=1, size=90)
        .encode(x=alt.X("value:Q", scale=zero, axis=axis), color=_colour(), shape=shape)
    )
    banded = [band] if any("low" in row for row in rows) else []
    return finished(alt.layer(*banded, joined, marks), {name: rows}, step=22)


def bars(rows: Rows, name: str, title: str, line: tuple[float, str] | None = None) -> Spec:
    """One bar for each group, with a broken line if there is something to compare with.

    Rows: label, value, words.
    """
    alt = altair()
    drawn = (
        of(name)
        .mark_bar(color=ACCENT, height=13)
        .encode(
            y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=170)),
            x=alt.X("value:Q", axis=alt.Axis(format="~%", title=title, orient="top")),
            tooltip=hints("label|group", f"value|{title}|.1%", "words|where"),
        )
    )
    return finished(drawn if line is None else alt.layer(drawn, line_at(*line)), {name: rows}, step=19)


def _colour() -> Any:
    """The colour of the table that a row names."""
    alt = altair()
    return alt.Color("table:N", title=None, scale=alt.Scale(domain=list(TABLES), range=list(COLOURS)))
