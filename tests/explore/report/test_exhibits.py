"""Exhibits of a page: it embeds them small and safely, and its tables read the figures that they name."""

from __future__ import annotations

import json
from collections import Counter
from math import inf, isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXAMPLES
from facsimile.documents.inline import embedded
from facsimile.explore.facts import load_facts
from facsimile.explore.report import _templates
from facsimile.explore.report.closeup import closeup
from facsimile.explore.report.columns import SHEETS, heads
from facsimile.explore.report.exhibits import FORMATS, SHOWN, Exhibits, Sheet, columns, significant
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


@given(st.lists(st.none() | st.floats() | st.text(), max_size=5))
def test_what_a_page_keeps_is_json(values: list[Any]) -> None:
    kept = significant(values)
    assert json.loads(embedded(kept)) == kept
    for value, found in zip(values, kept, strict=True):
        if isinstance(value, float) and isfinite(value):
            assert found == pytest.approx(value, rel=1e-5, abs=1e-320)
        else:
            assert found == (None if isinstance(value, float) else value)


def test_every_column_has_a_known_format_and_a_field_of_its_own() -> None:
    for told in SHEETS.values():
        found = heads(told)
        fields = [h.field for h in found] + [h.ends for h in found if h.end]
        assert len(set(fields)) == len(fields) and all(h.format in FORMATS and h.path for h in found)
        assert all((h.format == "interval") == bool(h.end) for h in found)


def test_a_table_reads_keys_and_attributes_and_keeps_the_digits_of_its_formats() -> None:
    told = heads("One|a.real|number; Two|b.c|share; Three|low|interval|b.high; |hidden|fixed")
    row = {"a": 1.23456789, "b": {"c": 0.12345, "high": 0.5}, "low": 0.1, "hidden": inf}
    found = Sheet("x", [row], columns=told)
    assert found.rows == [{"real": 1.23457, "c": 0.123, "low": 0.1, "hidden": None, "high": 0.5}]
    assert found.shown() == [["1.235", "12.3\u00a0%", "10.0–50.0\u00a0%"]]
    assert [head["field"] for head in found.as_json()["heads"]] == ["real", "c", "low"]


def test_a_new_sheet_of_the_page_touches_its_columns_its_rows_and_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The guide of docs/design.md, followed: an entry of SHEETS, a Sheet of rows, a section that shows it."""
    monkeypatch.setitem(SHEETS, "letters", "Letter|letter; Share|share|share")
    found = Exhibits([Sheet("letters", [{"letter": "<a>", "share": 0.25}])])
    text = "{% from 'parts.html' import sheet with context %}{% call sheet(sheets.letters) %}Words{% endcall %}"
    page = _templates().from_string(text).render(sheets=found.sheets, shown=SHOWN)
    assert "&lt;a&gt;" in page and "25.0\u00a0%" in page and 'data-sheet="letters"' in page
    assert found.as_json()["datasets"]["letters"] == {"letter": {"texts": ["<a>"], "at": [0]}, "share": [0.25]}


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
    found = Exhibits(closeup(spec, real, synthetic))
    assert len(found.sheets["pairs"].rows) == 14 * 13 / 2
    cells = Counter(row["pair"] for row in found.sheets["cells"].rows)
    assert max(cells.values()) <= 2_000 and cells.total() <= 40_000 and len(cells) > 60
    assert set(found.charts["means"].options) >= {"age", "cost_weight"}
    assert len(embedded(columns(found.sheets["cells"].rows))) < 700_000
    assert found.sheets["unmatched"].rows[0]["label"] == "all records"
