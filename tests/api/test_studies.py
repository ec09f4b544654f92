"""Studies from Python: explored, planned and reported as the commands do."""

from __future__ import annotations

import json
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
import yaml

import facsimile
from facsimile.errors import FacsimileError
from facsimile.explore.study import Study
from facsimile.spec.load import loads
from programs import Program
from studies import Here, write_files

SHORT: dict[str, Any] = {"trials": 3, "fresh": 8, "steps": 1, "finalists": 2}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes."""
    monkeypatch.setattr("facsimile.explore.pool.Local", lambda setup, workers: Here(setup))


def test_a_frame_is_explored_as_its_file_is(tmp_path: Path, run: Program) -> None:
    spec, data = write_files(tmp_path)
    there = tmp_path / "typed.study"
    options = [word for name, value in SHORT.items() for word in (f"--{name}", value)]
    typed = run("explore", spec, "--data", data, "--public", "-o", there, *options, "--json").json
    found = facsimile.explore(
        facsimile.load(spec), pa_csv.read_csv(data).to_pandas(), tmp_path / "called", public=True, **SHORT
    )
    said = json.loads(json.dumps(found.as_json()))
    assert said | {"cpu_seconds": 0} == typed | {"cpu_seconds": 0}
    assert found.study.data == "a table in memory"
    trials = found.to_pandas()
    assert len(trials) == found.found.trials and set(trials["accepted"]) <= {True, False}
    assert Study.open(there).trials()[0].name == found.study.trials()[0].name
    plan = facsimile.plan(found, accept=0.1)
    assert isinstance(plan.as_json()["total"], str) and plan.to_arrow().num_rows == len(plan.as_json()["curve"])
    assert loads(plan.text) == plan.specification
    plan.save(tmp_path / "planned.yaml")
    assert (tmp_path / "planned.yaml").read_text() == plan.text
    assert "<table" in plan._repr_html_() and repr(plan).startswith("<PlannedRelease: People; Total epsilon ")
    assert any(f"Scheme {plan.as_json()['scheme']}, selection" in str(part) for part in plan.page().parts)
    again = facsimile.plan(tmp_path / "called", accept=0.1)
    assert again.as_json() == plan.as_json() == facsimile.plan(found.study, accept=0.1).as_json()
    kept = facsimile.plan(found, rule="paper", keep=0.5)
    assert kept.to_arrow()["identifier"].to_pylist() == [
        c["identifier"] for c in kept.as_json()["configurations"]
    ]
    assert yaml.safe_load(kept.text)["title"] == "People"
    with pytest.raises(FacsimileError, match=r"^E215 "):
        facsimile.plan(found, total=0.5)  # type: ignore[arg-type]
    with pytest.raises(FacsimileError, match=r"^E001 "):
        facsimile.plan(found, rule="paper", accept=0.3)
    with pytest.raises(FacsimileError, match=r"^E414 "):
        facsimile.explore(spec, data, found.study.path, public=True, seed=2, **SHORT)


def test_a_page_is_written_about_the_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[object] = []

    def write_report(*given: object) -> Any:
        asked.extend([*given[:4], given[5]])
        return make_dataclass("Said", ["title"])("People")

    monkeypatch.setattr("facsimile.explore.report.write_report", write_report)
    study = Study(tmp_path / "people.study")
    found = facsimile.report(study, tmp_path / "page.html", compare=["mst"], tables=2)
    assert asked == [study, tmp_path / "page.html", ["mst"], 2, None]
    assert found.as_json() == {"title": "People", "page": "page.html"}
