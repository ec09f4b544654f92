"""Calls for public data: frames and files give the same, and the same as the commands."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow.csv as pa_csv
import pytest
import yaml

import facsimile
from facsimile.errors import FacsimileError
from programs import Program
from releases import N, specification, write_data
from specs import changed


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path)
    content = specification().model_dump(mode="json", exclude_none=True)
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_frames_and_files_are_fitted_checked_and_measured_alike(home: Path) -> None:
    table, spec = pa_csv.read_csv("people.csv"), facsimile.load("people.yaml")
    forms = ("people.csv", home / "people.csv", table, table.to_pandas(), pl.from_arrow(table))
    samples = [facsimile.fit(spec, given, public=True, family="mst", epsilon=2).sample() for given in forms]
    assert all(sample == samples[0] for sample in samples)
    checks = [facsimile.check(spec, given).as_json() for given in forms]
    assert all(found == checks[0] for found in checks) and checks[0]["public"]["n"] == N
    made = samples[0]
    pairs = [*((given, made) for given in forms), (table, made.to_pandas()), (table, made.to_polars())]
    errors = [facsimile.evaluate(spec, *pair, public=True).to_arrow() for pair in pairs]
    assert all(found == errors[0] for found in errors)


def test_calls_say_what_the_commands_print(home: Path, run: Program, births: Path) -> None:
    fitted = facsimile.fit("people.yaml", "people.csv", public=True, epsilon="2.5", seed=4)
    options = ("--public", "-o", "s.csv", "--epsilon", "2.5", "--seed", 4, "--json")
    made = run("synthesize", "people.yaml", "--data", "people.csv", *options)
    assert fitted.as_json() | {"file": "s.csv"} == made.json
    fitted.sample().save("t.csv")
    assert (home / "t.csv").read_bytes() == (home / "s.csv").read_bytes()
    found = facsimile.evaluate("people.yaml", "people.csv", "s.csv", public=True)
    shown = run("evaluate", "people.yaml", "--real", "people.csv", "--synthetic", "s.csv", "--public", "--json")
    assert found.as_json() == shown.json and found.accepted == shown.json["accepted"]
    checked = facsimile.check("people.yaml")
    assert checked.as_json() == run("check", "people.yaml", "--json").json
    assert checked.to_pandas()["name"].tolist() == [c.name for c in checked.found.specification.criteria]
    records = facsimile.simulate(births / "facts.yaml", 200, seed=5)
    typed = run("simulate", births / "facts.yaml", "-n", 200, "--seed", 5, "-o", "b.parquet", "--json").json
    assert records.as_json() | {"file": "b.parquet"} == typed
    assert records.to_polars().equals(pl.read_parquet("b.parquet"))


def test_a_workload_is_designed_from_a_frame(home: Path) -> None:
    told: list[str] = []
    found = facsimile.design(
        "people.yaml", pl.read_csv("people.csv"), public=True, epsilon="1", trials=4, tell=told.append
    )
    (family,) = yaml.safe_load(found.text())["families"]
    assert family["grid"] == {name: [text] for name, text in found.as_json()["own"].items()}
    assert json.dumps(found.as_json()) and repr(found).startswith("<DesignedWorkload: ")
    assert "making candidates: auto" in told
    found.save("designed.yaml")
    assert facsimile.check("designed.yaml").found.specification == facsimile.load("designed.yaml")


def test_a_design_with_delta_says_which_law_is_cheaper(home: Path) -> None:
    text = Path("people.yaml").read_text()
    budget = yaml.safe_load(text)["budget"] | {"delta": "0.000001"}
    declared = yaml.safe_load(text) | {"budget": budget}
    Path("delta.yaml").write_text(yaml.safe_dump(declared))
    found = facsimile.design("delta.yaml", pl.read_csv("people.csv"), public=True, epsilon="1", trials=2)
    laws = found.as_json()["laws"]
    assert laws["by"] in ("chance", "distance", "candidates") and laws["cheaper"] in ("Gaussian", "Laplace")
    assert "Gaussian noise at delta 0.000001: " in str(found.page()) or "delta 0.000001" in found._repr_html_()
    assert ", delta 0.000001." in found.text()


def test_words_of_a_specification_are_text_in_a_notebook(tmp_path: Path) -> None:
    data = changed("title", "<script>alert(1)</script> & [bold]")
    data["columns"][0]["description"] = "<b>Age</b>"
    spec = tmp_path / "spec.yaml"
    spec.write_text(yaml.safe_dump(data))
    shown = facsimile.check(spec)._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; [bold]" in shown


def test_something_that_is_no_table_is_refused(home: Path) -> None:
    for wrong in (None, 7, [1, 2], {"age": [1]}):
        with pytest.raises(FacsimileError, match=r"^E003 "):
            facsimile.fit("people.yaml", wrong, public=True)
