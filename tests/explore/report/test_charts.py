"""charts.js in a real browser: every kind of chart draws its rows, and numbers are those of the tables."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from browser import Browser
from facsimile.documents.inline import part
from facsimile.explore.report.exhibits import FORMATS

ESTIMATED = {"share": 0.5, "low": 0.2, "high": 0.8, "accepted": 5, "trials": 10, "counted": "fresh"}
LINE = {"line": [1.0, "threshold"]}
BOX = {"q05": 0.01, "q25": 0.2, "q50": 0.3, "q75": 0.9, "q95": None, "values": [0.01, 19.0, None]}
VALUE = {"real": 3, "synthetic": 4, "real_share": 0.3, "synthetic_share": 0.4, "points": 1.0}
RANGE = {
    "label": "Regression of height: its predictions",
    "low": 0.2,
    "middle": 0.3,
    "high": 1.4,
    "allowed": 2.0,
}
SIDES = {"across": ["age", "sex"], "down": ["age", "sex"]}
DRAWN: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[str]]] = {
    "acceptance": (
        {"title": "accepted trials", "form": "share", "line": [0.3, "wanted"]},
        [{"label": f"{family} 1", "family": family} | ESTIMATED for family in ("mst", "unheard of")],
        ["mst 1", "unheard of", "accepted trials", "100&nbsp;%"],
    ),
    "curve": (
        {"title": "total epsilon", "line": [3.0, "declared total"]},
        [
            {"variant": scheme, "total": total, "release": total / 10, "low": total / 12, "high": total / 9}
            for scheme in ("paper", "test-then-measure", "train-once")
            for total in (1.0, 2.0, 4.0)
        ],
        ["train-once", "total epsilon", "chance of a release", "100&nbsp;%"],
    ),
    "finalists": (
        {"title": "epsilon of the generator"},
        [{"configuration": name, "epsilon": e} | ESTIMATED for name in ("mst 1", "mst 2") for e in (1.0, 1.4)],
        ["mst 2", "1.4", "accepted trials"],
    ),
    "criteria": (
        {"title": "value ÷ limit", "domain": [0.01, 19.0]} | LINE,
        [{"label": name} | BOX for name in ("mean-age", "faithfulness")],
        ["faithfulness", "0.01", "10", "value ÷ limit"],
    ),
    "population": ({}, [{"one": "aim", "other": "0", "configurations": 1234}], ["aim", "1,234"]),
    "time": ({"title": "seconds"}, [{"label": "aim", "fit": 2.0, "judge": 1.0}], ["aim", "fit", "judge", "3"]),
    "values": (
        {"column": "age", "form": "share"},
        [{"column": name, "label": f"{name} <30"} | VALUE for name in ("age", "sex")],
        ["age &lt;30", "real", "synthetic", "40&nbsp;%"],
    ),
    "dumbbells": (
        {"title": "mean"},
        [
            {"label": "age: <30", "original": 1.0, "released": 2.0, "threshold": None},
            {"label": "age: 29<", "original": 3.0, "released": None, "threshold": 1.0},
        ],
        ["age: &lt;30", "synthetic", "mean", "4"],
    ),
    "matrix": (
        {"field": "original", "limit": 1.0} | SIDES,
        [{"of": "age", "among": "sex", "original": 0.25}, {"of": "sex", "among": "age", "original": None}],
        ["0.25"],
    ),
    "cells": (
        {},
        [{"one": "M", "other": "0-9", "real": 1, "synthetic": 2, "points": 0.5}],
        ["M", "0-9", "−0.5", "points"],
    ),
    "ranges": (
        {"title": "error ÷ threshold"} | LINE,
        [RANGE | {"contender": letter} for letter in "AB"],
        ["Regression of height", "its predictions", "A", "B", "error ÷ threshold"],
    ),
    "tiles": (
        {"limit": 1.0, "across": ["age", "sex"], "down": ["sex: M", "all records"]},
        [
            {"one": "sex: M", "other": "age", "value": -0.25, "shown": "−.25", "words": "2 → 1"},
            {"one": "all records", "other": "sex", "value": None, "shown": "", "words": "– → –"},
        ],
        ["−.25", "all records", "sex: M"],
    ),
    "bars": (
        {"title": "share", "field": "share", "form": "share", "line": [0.1, "threshold"]},
        [{"label": "g", "share": 0.2}, {"label": "none", "share": None}],
        ["g", "none", "share", "20&nbsp;%"],
    ),
}


@pytest.fixture(scope="module")
def charts(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A page that has nothing but the script."""
    empty = tmp_path_factory.mktemp("page") / "empty.html"
    empty.write_text("<!DOCTYPE html><title>charts</title>")
    browser.open(empty, 800)
    browser.do(part("facsimile.explore.report", "charts.js"))
    return browser


@pytest.mark.parametrize("kind", DRAWN)
def test_charts_draw_their_rows(charts: Browser, kind: str) -> None:
    about, rows, words = DRAWN[kind]
    for width in (280, 700):
        given = f"{json.dumps(about | {'kind': kind})}, {json.dumps(rows)}, {width}"
        drawn = charts.value(f"charts.draw({given}).outerHTML")
        texts = re.findall(r"<(?:text|title)[^>]*>([^<]*)", drawn)
        assert all(any(word in text for text in texts) for word in words), texts
        assert not re.search("null|NaN|undefined|Infinity", drawn) and 'class="mark"' in drawn


def test_every_kind_of_chart_is_drawn_here(charts: Browser) -> None:
    assert set(charts.value("charts.kinds")) == set(DRAWN)


@pytest.mark.parametrize("value", [0, 0.5, -0.25, 0.123455, 99995, 1234567.0, 1e-7, -2.5e-9, 1e14, 0.00012345])
def test_a_number_is_written_as_the_page_writes_it(charts: Browser, value: float) -> None:
    written = charts.value(f"charts.cell({{ a: {value!r} }}, {{ field: 'a', format: 'number' }})")
    assert written == FORMATS["number"][1](value)
