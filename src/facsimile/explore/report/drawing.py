"""Drawing: what all charts share, as Vega-Lite: a look, a size, and data that is known by its name.

altair takes half a second to import, so it is imported when the first chart is drawn and not before. A page
gets Vega, to which Vega-Lite compiles: it opens faster then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from facsimile.documents.figures import INK, SOFT

Rows = Sequence[Mapping[str, Any]]
Spec = dict[str, Any]

CONFIG: Spec = {
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "labelFontSize": 12,
        "titleColor": SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#e6ecef",
        "domainColor": "#b9c5cb",
        "tickColor": "#b9c5cb",
    },
    "axisQuantitative": {"tickCount": 6},
    "legend": {
        "labelColor": INK,
        "labelFontSize": 12,
        "titleColor": SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "top",
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    },
    "title": {"color": INK, "fontSize": 13, "anchor": "start", "fontWeight": 600},
    "text": {"color": INK},
}


def altair() -> Any:
    """The module."""
    import altair as found

    return found


def of(name: str) -> Any:
    """A chart of a dataset that is known by its name."""
    alt = altair()
    return alt.Chart(alt.NamedData(name=name))


def hints(*told: str) -> list[Any]:
    """What is told about a mark: `field`, `field|title` or, for a number, `field|title|format`."""
    alt = altair()
    found = []
    for text in told:
        field, title, form = (*text.split("|"), "", "")[:3]
        kind = (
            {"field": field, "type": "quantitative", "format": form}
            if form
            else {"field": field, "type": "nominal"}
        )
        found.append(alt.Tooltip(**kind, title=title or field))
    return found


def line_at(value: float, words: str) -> Any:
    """A broken line across the chart."""
    alt = altair()
    base = alt.Chart(alt.InlineData(values=[{"at": value, "words": words}]))
    return base.mark_rule(strokeDash=[5, 4], color=INK).encode(
        x=alt.X("at:Q"), tooltip=hints("words|line", "at|at|.3~g")
    )


def in_lines(size: int) -> dict[str, Any]:
    """Labels of so many pixels, in two lines where a colon or a comma cuts them in two.

    Such a one is moved up by half a line, to the middle of its row.
    """
    pieces, height = "split(replace(datum.label, ', ', ': '), ': ')", size + 1
    twofold = f"length({pieces}) == 2"
    return {
        "labelExpr": f"{twofold} ? {pieces} : datum.label",
        "labelFontSize": size,
        "labelLineHeight": height,
        "labelOffset": {"condition": {"test": twofold, "value": -height / 2}, "value": 0},
    }


def finished(drawn: Any, datasets: Mapping[str, Rows], width: Any = "container", **height: int) -> Spec:
    """As wide as the page allows unless told; `height` pixels high, or `step` pixels for each row."""
    tall = height.get("height") or {"step": height["step"], "for": "position"}
    found: Spec = drawn.properties(width=width, height=tall).to_dict(validate=False)
    found.setdefault("datasets", {}).update({name: list(map(dict, rows)) for name, rows in datasets.items()})
    found.pop("config", None)
    return found


def compiled(spec: Spec) -> Spec:
    """The drawing in Vega, without its data."""
    import vl_convert

    bare = {name: value for name, value in spec.items() if name != "datasets"}
    found: Spec = vl_convert.vegalite_to_vega({**bare, "config": CONFIG})
    return found
