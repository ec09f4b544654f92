"""Risk reports: the call, the command, the files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
import yaml

import facsimile
from facsimile.api.risks import Risks
from facsimile.errors import FacsimileError
from programs import Program
from releases import specification, write_data

FEW: dict[str, Any] = {"attacks": 30, "releases": 1, "shadows": 2, "watched": 4}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path)
    content = specification().model_dump(mode="json", exclude_none=True)
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options() -> list[object]:
    return [word for name, number in FEW.items() for word in (f"--{name}", number)]


def test_the_call_says_what_the_command_prints_and_frames_are_as_good_as_files(
    home: Path, run: Program
) -> None:
    found = facsimile.risk("people.yaml", "people.csv", public=True, **FEW)
    typed = run("risk", "people.yaml", "--public", "people.csv", "-o", "risk.html", "--json", *options())
    assert typed.code == 0 and typed.json == found.as_json()
    frame = facsimile.risk("people.yaml", pa_csv.read_csv("people.csv"), public=True, **FEW)
    assert frame.as_json() == found.as_json()
    found.save("again.html")
    assert (home / "again.html").read_text("utf-8") == (home / "risk.html").read_text("utf-8")
    assert found.to_arrow().num_rows == 12 and "parts" not in found.to_arrow().column_names
    assert "no attack" in repr(found) or "at more risk" in repr(found)


def test_the_command_prints_a_table_and_names_the_page(home: Path, run: Program) -> None:
    shown = run("risk", "people.yaml", "--public", "people.csv", "-o", "risk.html", *options())
    assert shown.code == 0 and "The page to read: risk.html" in shown.out
    assert "an independent sample" in shown.out and "what holds against every attack is epsilon" in shown.out
    again = run("risk", "people.yaml", "--public", "people.csv", "-o", "risk.html", *options())
    assert again.code == 2 and again.complaints.startswith("E401 ")
    nowhere = run("risk", "people.yaml", "--public", "people.csv", "-o", "no/risk.html", *options())
    assert nowhere.code == 2 and nowhere.complaints.startswith("E403 ")


def test_a_report_as_data_comes_back_and_other_files_are_refused(home: Path) -> None:
    found = facsimile.risk("people.yaml", "people.csv", public=True, **FEW)
    found.save("risk.json")
    assert Risks.load("risk.json") == found
    for text in ("", "{", "[]", json.dumps(found.as_json() | {"format": 2}), "[" * 100_000):
        (home / "other.json").write_text(text)
        with pytest.raises(FacsimileError, match=r"^E424 "):
            Risks.load("other.json")


def test_no_confidential_file_is_attacked(home: Path, run: Program) -> None:
    """The key that a ledger leaves beside the data is enough; nothing is read, charged or written."""
    assert run("ledger", "new", "people.ledger", "--data", "people.csv", "--cap", "3").code == 0
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    for attempt in ("people.csv", home / "people.csv"):
        with pytest.raises(FacsimileError, match=r"^E207 people.csv has a dataset key"):
            facsimile.risk("people.yaml", attempt, public=True, **FEW)
    typed = run("risk", "people.yaml", "--public", "people.csv", "-o", "risk.html", *options())
    assert typed.code == 2 and typed.complaints.startswith("E207 ") and typed.out == ""
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()} == before


def test_the_caller_says_that_the_data_are_public_and_how_much_is_tried(home: Path) -> None:
    with pytest.raises(FacsimileError, match=r"^E209 "):
        facsimile.risk("people.yaml", "people.csv")
    for name in FEW:
        with pytest.raises(FacsimileError, match=r"^E003 "):
            facsimile.risk("people.yaml", "people.csv", public=True, **FEW | {name: 0})


def test_the_folder_and_the_command_share_a_name() -> None:
    from facsimile.risk.findings import Risk

    folder: Any = facsimile.risk
    assert callable(folder) and folder.findings.Risk is Risk
