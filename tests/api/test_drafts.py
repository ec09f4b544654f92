"""The call `facsimile.init`: a draft from a file, a frame or a description; never from a confidential file."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest

import facsimile
from drafts import stays, write
from facsimile.draft.description import Description
from facsimile.errors import FacsimileError
from facsimile.sources.address import Address
from programs import Program


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(stays(600), tmp_path / "stays.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_draft_is_accepted_by_check(home: Path) -> None:
    found = facsimile.init("stays.csv", "draft.yaml")
    assert (home / "draft.yaml").read_text(encoding="utf-8") == found.text
    checked = facsimile.check("draft.yaml", "stays.csv")
    assert checked.public is not None and checked.public.n == 600
    assert not checked.found.loud, "no noise hides an answer"
    assert found.checks == found.text.count("# check:") > 20
    assert "draft" in repr(found).lower() and "Left out" in found.page().html()


@pytest.mark.long
def test_a_draft_survives_a_study(home: Path) -> None:
    facsimile.init("stays.csv", "draft.yaml")
    short = {"trials": 3, "fresh": 2, "steps": 0, "workers": 1}
    found = facsimile.explore("draft.yaml", "stays.csv", "first.study", public=True, **short)  # type: ignore[arg-type]
    assert len(found.found.survivors) == 1


def test_files_and_frames_give_the_same_columns(home: Path) -> None:
    table = stays(600)
    pyarrow.parquet.write_table(table, home / "stays.parquet")
    forms = ("stays.csv", home / "stays.parquet", table, table.to_pandas())
    every = [facsimile.init(form).as_json() for form in forms]
    assert all(one["columns"] == every[0]["columns"] for one in every)
    assert all(one["criteria"] == every[0]["criteria"] for one in every)


def test_a_call_says_what_the_command_prints(home: Path, run: Program) -> None:
    found = facsimile.init("stays.csv", records=700, seed=3)
    typed = run("init", "--public", "stays.csv", "--records", 700, "--seed", 3, "--json")
    assert typed.json == found.as_json()
    assert typed.json["records"] == 700 and typed.json["public_records"] == 600
    assert typed.json["left_out"] == [{"source": "stay", "why": found.found.draft.left[0].why}]


def test_an_existing_file_is_never_touched(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "draft.yaml").write_text("mine")
    monkeypatch.setattr("facsimile.draft.whole.profiled", lambda data: pytest.fail("it was read first"))
    with pytest.raises(FacsimileError, match="E401"):
        facsimile.init("stays.csv", "draft.yaml")
    assert (home / "draft.yaml").read_text() == "mine"


@pytest.mark.parametrize("given", [{"records": 1}, {"records": "7"}, {"seed": -1}, {"seed": 1.5}])
def test_numbers_are_whole(given: dict[str, object], home: Path) -> None:
    with pytest.raises(FacsimileError, match="E003"):
        facsimile.init("stays.csv", **given)  # type: ignore[arg-type]


# --- confidential files


def confidential(home: Path) -> Path:
    """A file that a key lies beside, and a link to it."""
    (home / "stays.csv.key").write_text("a key")
    (home / "link.csv").symlink_to(home / "stays.csv")
    return home


@pytest.mark.parametrize("name", ["stays.csv", "link.csv"])
def test_a_confidential_file_is_refused_before_anything_looks_at_it(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confidential(home)
    monkeypatch.setattr(
        "facsimile.draft.description.described", lambda address: pytest.fail("a description was looked for")
    )
    with pytest.raises(FacsimileError, match="E207"):
        facsimile.init(name, "draft.yaml")
    assert not (home / "draft.yaml").exists()


def test_a_description_cannot_lead_to_a_confidential_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    confidential(home)
    (home / "described.json").write_text("{}")
    led = Description(Address.of("stays.csv"), origin="described.json")
    monkeypatch.setattr("facsimile.draft.description.described", lambda address: led)
    monkeypatch.setattr("facsimile.sources.textfile.scan", lambda *given: pytest.fail("it was opened"))
    with pytest.raises(FacsimileError, match="E207"):
        facsimile.init("described.json", "draft.yaml")
    assert not (home / "draft.yaml").exists()


def test_a_claimed_table_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facsimile.privacy.dataset.is_confidential", lambda address: True)
    with pytest.raises(FacsimileError, match="E207"):
        facsimile.init("postgres://me@host/registry#births")
