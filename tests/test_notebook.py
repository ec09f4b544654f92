"""The notebook runs, cell by cell in a fresh folder, and every result shows itself."""

from __future__ import annotations

import ast
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import facsimile
from conftest import EXAMPLES, ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def cells(kind: str) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in every if cell["cell_type"] == kind]


def sources() -> list[str]:
    return ["".join(cell["source"]) for cell in cells("code")]


def shown(value: object) -> str:
    """What Jupyter shows of a value: its HTML, or its text."""
    html = getattr(value, "_repr_html_", None)
    if html is None:
        return repr(value)
    HTMLParser().feed(html())
    return str(html())


def test_every_cell_runs_and_shows_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    names: dict[str, Any] = {"__name__": "__main__"}
    told = []
    for source in sources():
        *before, last = ast.parse(source).body
        if not isinstance(last, ast.Expr):
            exec(compile(source, "notebook", "exec"), names)
            continue
        exec(compile(ast.Module(before, []), "notebook", "exec"), names)
        told.append(shown(eval(compile(ast.Expression(last.value), "notebook", "eval"), names)))
        assert told[-1].strip() and " object at 0x" not in told[-1], source
    assert len(told) >= 10
    assert any("E209 " in text for text in told) and any("E124 " in text for text in told)
    assert not (tmp_path / "births.ledger").exists() and not (tmp_path / "state").exists()


def test_it_tours_every_step_and_stores_no_output() -> None:
    text = "\n".join(sources())
    for name in ("load", "simulate", "check", "fit", "evaluate", "explore", "plan", "release", "verify"):
        assert f"facsimile.{name}(" in text and hasattr(facsimile, name)
    for form in ("to_pandas", "to_polars"):
        assert form in text
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells("code"))


def test_it_is_a_notebook() -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
