"""The command `facsimile init`."""

from __future__ import annotations

from pathlib import Path

import pytest

from drafts import stays, write
from facsimile.spec.load import loads
from programs import Program


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(stays(600), tmp_path / "stays.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_file_the_draft_itself_is_printed(home: Path, run: Program) -> None:
    ran = run("init", "--public", "stays.csv", "--title", "Stays of 2023")
    assert ran.code == 0
    assert loads(ran.out).title == "Stays of 2023"
    assert sorted(path.name for path in home.iterdir()) == ["stays.csv"]


def test_with_a_file_a_page_says_what_is_in_it_and_what_comes_next(home: Path, run: Program) -> None:
    ran = run("init", "--public", "stays.csv", "-o", "draft.yaml")
    assert ran.code == 0
    for words in ("Left out", "Criteria", "Total epsilon", "need a person", "Written: draft.yaml"):
        assert words in ran.out
    assert "facsimile check draft.yaml --public stays.csv" in ran.out
    assert run("check", "draft.yaml", "--public", "stays.csv").code == 0
    again = run("init", "--public", "stays.csv", "-o", "draft.yaml")
    assert again.code and "E401" in again.err


def test_a_confidential_file_is_refused(home: Path, run: Program) -> None:
    (home / "stays.csv.key").write_text("a key")
    ran = run("init", "--public", "stays.csv", "-o", "draft.yaml")
    assert ran.code and "E207" in ran.err and not (home / "draft.yaml").exists()


def test_a_file_without_a_usable_column_is_refused(home: Path, run: Program) -> None:
    (home / "same.csv").write_text("a,b\n" + "1,x\n" * 40)
    ran = run("init", "--public", "same.csv")
    assert ran.code and "E153" in ran.err and not ran.out


def test_semicolons_and_unicode_headers_are_read(home: Path, run: Program) -> None:
    rows = "\n".join(f"{place % 60};{'ja' if place % 3 else 'nein'};{place % 4}" for place in range(300))
    (home / "schule.csv").write_text(f"Größe (cm);Überfahrt;כיתה\n{rows}\n", encoding="utf-8")
    ran = run("init", "--public", "schule.csv")
    assert ran.code == 0 and loads(ran.out).names == ("grosse_cm", "uberfahrt", "column_3")
