"""Charts and tables of a page: they draw their rows, and a page embeds them small and safely."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXAMPLES
from facsimile.explore.facts import load_facts
from facsimile.explore.report import charts, contrasts, panels
from facsimile.explore.report.closeup import closeup
from facsimile.explore.report.drawing import CONFIG, Rows, Spec
from facsimile.explore.report.exhibits import Room, columns, embedded
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.release.writing import save
from facsimile.spec.load import load
from facsimile.table.encoding import recode


@given(st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.none() | st.integers()}), max_size=20))
def test_columns_hold_the_rows(rows: list[dict[str, Any]]) -> None:
    found = json.loads(embedded(columns(rows)))
    if not rows:
        assert found == {}
        return
    texts = [found["a"]["texts"][at] for at in found["a"]["at"]]
    assert [{"a": a, "b": b} for a, b in zip(texts, found["b"], strict=True)] == rows


@given(st.text())
def test_no_text_ends_the_element_that_holds_the_data(text: str) -> None:
    found = embedded({"text": text})
    assert not set("<>&\u2028\u2029") & set(found) and json.loads(found) == {"text": text}


CURVE: Rows = [
    {"scheme": scheme, "total": total, "release": total / 10, "low": total / 12, "high": total / 9}
    for scheme in ("paper", "test-then-measure", "train-once")
    for total in (1.0, 2.0, 4.0)
]
FINALIST: Rows = [
    {"configuration": name, "epsilon": e, "at": e, "share": 0.5, "low": 0.2, "high": 0.8}
    | {"accepted": 5, "trials": 10, "counted": "fresh"}
    for name in ("mst 1", "mst 2")
    for e in (1.0, 1.4)
]
BOX: Rows = [
    {"criterion": c, "q05": 0.1, "q25": 0.2, "q50": 0.3, "q75": 0.9, "q95": 2.0, "trials": 9, "failed": 1}
    for c in ("mean-age", "faithfulness")
]
POINT: Rows = [{"criterion": "mean-age", "value": 0.4, "place": 0.5}]
LABELLED: Rows = [
    {"label": "age: <30", "real": 1.0, "synthetic": 2.0, "low": None, "high": None},
    {"label": "age: 29<", "real": 3.0, "synthetic": 2.5, "low": 2.0, "high": 4.0},
]
RANGED: Rows = [
    {
        "label": "Regression of height: its predictions",
        "contender": letter,
        "low": 0.2,
        "middle": 0.3,
        "high": 1.4,
    }
    for letter in "AB"
]
TILED: Rows = [
    {"one": "sex: M", "other": "age", "value": -0.25, "shown": "−.25", "words": "2 → 1"},
    {"one": "all records", "other": "sex", "value": None, "shown": "", "words": "– → –"},
]
SQUARE: Rows = [{"one": "age", "other": "sex", "real": None}, {"one": "sex", "other": "age", "real": 0.25}]


DRAWN: dict[str, tuple[Callable[[], Spec], list[str]]] = {
    "curve": (
        lambda: charts.epsilon_curve(CURVE, 3.0),
        ["declared total", "train-once", "total epsilon", "chance of a release"],
    ),
    "finalists": (lambda: charts.by_epsilon(FINALIST), ["mst 2", "1.4"]),
    "criteria": (lambda: charts.criteria(BOX, POINT, (0.01, 20)), ["faithfulness", "0.01", "20"]),
    "population": (
        lambda: charts.population([{"family": "aim", "band": "0", "configurations": 1234}], ["0"]),
        ["aim", "1,234"],
    ),
    "time": (lambda: charts.cpu_time([{"family": "aim", "part": "fit", "seconds": 2.0}]), ["aim", "fit"]),
    "dumbbells": (lambda: contrasts.dumbbells(LABELLED, "means", "mean"), ["age: &lt;30", "synthetic"]),
    "matrix": (lambda: contrasts.matrix(SQUARE, "m", "real", 1.0, ["age", "sex"]), ["0.25"]),
    "ranges": (
        lambda: panels.ranges(RANGED, "r", "error ÷ threshold", (1.0, "threshold")),
        ["Regression of height", "its predictions", "A", "B", "error ÷ threshold"],
    ),
    "tiles": (
        lambda: panels.tiles(TILED, "t", 1.0, ["age", "sex"], ["sex: M", "all records"]),
        ["−.25", "all records", "sex", "M"],
    ),
    "bars": (
        lambda: contrasts.bars([{"label": "g", "value": 0.2, "words": "w"}], "b", "share", (0.1, "t")),
        ["g", "share"],
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_charts_draw_their_rows(name: str) -> None:
    draw, words = DRAWN[name]
    drawn = vl_convert.vegalite_to_svg({**draw(), "width": 500, "config": CONFIG})
    assert all(word in drawn for word in words), re.findall(r"<text[^>]*>([^<]*)", drawn)
    assert "null" not in drawn and "NaN" not in drawn


def test_a_wide_table_keeps_the_page_small(tmp_path: Path) -> None:
    spec = load(EXAMPLES / "discharges" / "release.yaml")
    facts = load_facts(EXAMPLES / "discharges" / "facts.yaml")
    tables = []
    for seed in (1, 2):
        save(simulate(facts, 1200, seed), tmp_path / f"{seed}.parquet")
        table = read_public(str(tmp_path / f"{seed}.parquet"), spec)
        tables.append(recode(spec, table, spec.alternatives_named("fine")))
    real, synthetic = tables
    assert real.n == synthetic.n
    room = Room()
    room.add(closeup(spec, real, synthetic))
    assert len(room.sheets["pairs"].rows) == 14 * 13 / 2
    pairs = [option.datasets["cells"] for option in room.choices["cells"].options]
    cells = [len(pair) for pair in pairs]
    assert max(cells) <= 2_000 and sum(cells) <= 40_000 and len(cells) > 60
    assert {option.words for option in room.choices["means"].options} >= {"age", "cost_weight"}
    assert (
        len(embedded([columns(option.datasets["cells"]) for option in room.choices["cells"].options])) < 600_000
    )
    assert room.sheets["unmatched"].rows[0]["group"] == "all records"
