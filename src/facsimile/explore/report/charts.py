"""Charts of a study: acceptance, criteria, epsilons and time, each from plain rows.

Colours are safe for the colour-blind (Okabe and Ito), and a colour never speaks alone: families differ in shape
too, schemes in their dashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from facsimile.documents.figures import ACCENT, GREY, INK, PALE
from facsimile.explore.report.drawing import Rows, Spec, altair, finished, hints, in_lines, line_at, of

FAMILIES = {
    "privbayes": ("#0072b2", "circle"),
    "mwem": ("#e69f00", "square"),
    "pep": ("#cc79a7", "diamond"),
    "mwem-tables": ("#a87400", "square"),
    "pep-tables": ("#8f4a73", "diamond"),
    "mst": ("#009e73", "triangle-up"),
    "aim": ("#d55e00", "cross"),
    "workload": ("#56b4e9", "triangle-down"),
}
OTHER_FAMILY = (GREY, "circle")
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1b262c", "#8b979e")
DASHES = ([1, 0], [6, 3], [2, 2])
MARKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
PARTS = {"fit": ACCENT, "judge": "#e69f00"}
INTERVAL = ("share|accepted|.1%", "low|95 % interval from|.1%", "high|to|.1%")


def acceptance(rows: Rows, wanted: float) -> Spec:
    """The acceptance of configurations: a dot with its 95 % interval, and a line at what is wanted.

    Rows: label, configuration, family, settings, state, share, low, high, accepted, trials, counted.
    """
    alt = altair()
    families = sorted({str(row["family"]) for row in rows})
    colours, shapes = zip(*(FAMILIES.get(family, OTHER_FAMILY) for family in families), strict=True)
    said = (
        "configuration",
        "settings",
        "state",
        "accepted|accepted trials|,",
        "trials|of|,",
        "counted|counted in",
    )
    base = of("acceptance").encode(
        y=alt.Y("label:N", sort=None, title=None),
        color=alt.Color("family:N", title=None, scale=_scale(families, colours)),
        tooltip=hints(*said, *INTERVAL),
    )
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format=".0%", title="accepted trials", orient="top")
    drawn = alt.layer(
        line_at(wanted, "wanted"),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(
            alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q")
        ),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x=alt.X("share:Q", scale=scale, axis=axis),
            shape=alt.Shape("family:N", title=None, scale=_scale(families, shapes)),
        ),
    )
    return finished(drawn, {"acceptance": rows}, step=17)


def population(rows: Rows, bands: Sequence[str]) -> Spec:
    """How many configurations of each family lie in each band of acceptance: the number in each square.

    Rows: family, band, configurations.
    """
    alt = altair()
    most = max(row["configurations"] for row in rows)
    base = of("population").encode(
        x=alt.X(
            "band:N",
            sort=list(bands),
            axis=alt.Axis(title="accepted trials, up to %", labelAngle=0, orient="top"),
        ),
        y=alt.Y("family:N", title=None),
        tooltip=hints("family", "band|accepted trials, up to %", "configurations|configurations|,"),
    )
    scale = alt.Scale(type="symlog", domain=[0, most], range=[PALE, ACCENT], interpolate="rgb")
    dark = f"datum.configurations > {most**0.5:.3f}"
    drawn = alt.layer(
        base.mark_rect(stroke="#fff").encode(color=alt.Color("configurations:Q", legend=None, scale=scale)),
        base.mark_text(fontSize=12).encode(
            text=alt.Text("configurations:Q", format=","),
            color=alt.condition(dark, alt.value("#fff"), alt.value(INK)),
        ),
    )
    return finished(drawn, {"population": rows}, step=30)


def criteria(boxes: Rows, points: Rows, domain: tuple[float, float]) -> Spec:
    """Each criterion over trials on a logarithmic scale of its threshold: quantiles, and single trials.

    Boxes: criterion, q05, q25, q50, q75, q95, trials, failed. Points: criterion, value, place (−1 to 1).
    """
    alt = altair()
    marked = [mark for mark in MARKS if domain[0] <= mark <= domain[1]]
    scale = alt.Scale(type="log", domain=list(domain), nice=False, clamp=True)
    axis = alt.Axis(title="value ÷ limit", orient="top", values=marked, tickCount=len(marked), format="~g")
    y = alt.Y(
        "criterion:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelLimit=190, **in_lines(12)),
        scale=alt.Scale(paddingInner=0.2),
    )
    box = of("boxes").encode(
        y=y, tooltip=hints("criterion", "trials|trials|,", "failed|not met in|,", "q50|median|.3~g")
    )
    place = alt.YOffset("place:Q", scale=alt.Scale(domain=[-1, 1]))
    dots = of("points").mark_circle(size=9, color=ACCENT, opacity=0.45)
    drawn = alt.layer(
        dots.encode(x=alt.X("value:Q", scale=scale, axis=axis), y=y, yOffset=place),
        box.mark_rule(color=INK, strokeWidth=1).encode(x=alt.X("q05:Q", scale=scale), x2="q95:Q"),
        box.mark_bar(color=GREY, opacity=0.45, size=14).encode(x=alt.X("q25:Q", scale=scale), x2="q75:Q"),
        box.mark_tick(color=INK, thickness=3, size=18).encode(x=alt.X("q50:Q", scale=scale)),
        line_at(1, "threshold"),
    )
    return finished(drawn, {"boxes": boxes, "points": points}, step=38)


def epsilon_curve(rows: Rows, declared: float) -> Spec:
    """The chance that a whole release succeeds against its total epsilon: a line with a band for each scheme.

    In steps: between two totals that were tried one buys what the smaller does. Rows: scheme, total, release,
    low, high.
    """
    alt = altair()
    schemes = list(dict.fromkeys(str(row["scheme"]) for row in rows))
    legend = alt.Legend(symbolType="stroke", symbolSize=400, columns=2)
    colour = alt.Color("scheme:N", title=None, scale=_scale(schemes, LINES), legend=legend)
    dash = alt.StrokeDash("scheme:N", title=None, scale=_scale(schemes, DASHES), legend=legend)
    x = alt.X("total:Q", title="total epsilon", scale=alt.Scale(zero=False, nice=False, padding=12))
    base = of("curve").encode(x=x, color=colour)
    y = alt.Y("release:Q", scale=alt.Scale(domain=[0, 1]), axis=_shares("chance of a release"))
    told = hints(
        "scheme", "total|total epsilon|.4~f", "release|chance of a release|.1%", "low|from|.1%", "high|to|.1%"
    )
    drawn = alt.layer(
        line_at(declared, "declared total"),
        base.mark_area(opacity=0.12, interpolate="step-after").encode(
            y=alt.Y("low:Q", axis=_shares("chance of a release")), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2, interpolate="step-after").encode(y=y, strokeDash=dash),
        base.mark_point(filled=True, size=35, opacity=1).encode(y=y, tooltip=told),
    )
    return finished(drawn, {"curve": rows}, height=320)


def by_epsilon(rows: Rows) -> Spec:
    """The acceptance of finalists against the generator's epsilon, with 95 % intervals.

    Rows: configuration, epsilon, at (the same, a little aside), share, low, high, accepted, trials, counted.
    """
    alt = altair()
    names = list(dict.fromkeys(str(row["configuration"]) for row in rows))
    legend = alt.Legend(columns=2, labelLimit=260)
    colour = alt.Color("configuration:N", title=None, scale=_scale(names, LINES), legend=legend)
    base = of("finalists").encode(x=_epsilon(rows), color=colour)
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=_shares("accepted trials"))
    said = (
        "configuration",
        "epsilon|epsilon|.3~g",
        "accepted|accepted trials|,",
        "trials|of|,",
        "counted|counted in",
    )
    drawn = alt.layer(
        base.mark_rule(strokeWidth=2, opacity=0.4).encode(
            y=alt.Y("low:Q", axis=_shares("accepted trials")), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=50, opacity=1).encode(y=y, tooltip=hints(*said, *INTERVAL)),
    )
    return finished(drawn, {"finalists": rows}, height=300)


def cpu_time(rows: Rows) -> Spec:
    """CPU seconds per trial of each family: the fit, and projecting and judging.

    Rows: family, part (fit or judge), seconds.
    """
    alt = altair()
    drawn = (
        of("time")
        .mark_bar(height=16)
        .encode(
            y=alt.Y("family:N", title=None),
            x=alt.X("seconds:Q", title="mean CPU seconds per trial"),
            color=alt.Color("part:N", title=None, scale=_scale(list(PARTS), list(PARTS.values()))),
            tooltip=hints("family", "part", "seconds|CPU seconds|.3~g"),
        )
    )
    return finished(drawn, {"time": rows}, step=26)


def _scale(domain: Sequence[str], values: Sequence[Any]) -> Any:
    """A value for each name, over again where there are more names."""
    return altair().Scale(domain=list(domain), range=[values[i % len(values)] for i in range(len(domain))])


def _shares(title: str) -> Any:
    return altair().Axis(format=".0%", title=title, tickCount=5)


def _epsilon(rows: Rows) -> Any:
    """A logarithmic axis of the generator's epsilons, marked where there are some."""
    alt = altair()
    marked = sorted({float(row["epsilon"]) for row in rows})
    scale = alt.Scale(type="log", nice=False, padding=12)
    return alt.X(
        "at:Q",
        scale=scale,
        axis=alt.Axis(title="epsilon of the generator", values=marked, tickCount=len(marked), format=".3~g"),
    )
