"""Audits from Python and from a terminal, and in a bundle."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import facsimile
from facsimile.api.audits import Audited
from facsimile.audit import run as auditing
from facsimile.documents.evidence import KINDS, Audit, Evidence
from facsimile.errors import FacsimileError
from facsimile.release.run import rehearsal, release
from programs import Program
from releases import request, write_data

EVERY = tuple(Evidence.bounded("modes.Coin", kind, "a coin", "one sentence", 1.5, 1.2, 0.6) for kind in KINDS)
WHOLE = Audit(facsimile.__version__, "2026-02-01", {"numpy": "2"}, 1e-6, EVERY)
WRONG = replace(WHOLE, evidence=(*EVERY, replace(EVERY[0], passed=False)))


def written(folder: Path, audit: Audit) -> Path:
    (folder / "audit.json").unlink(missing_ok=True)
    Audited(audit).save(folder / "audit.json")
    return folder / "audit.json"


def test_an_audit_is_saved_as_a_page_or_as_data_and_read_again(tmp_path: Path) -> None:
    assert Audited.load(written(tmp_path, WHOLE)).found == WHOLE
    Audited(WHOLE).save(tmp_path / "audit.html")
    assert "Nothing was found" in (tmp_path / "audit.html").read_text("utf-8")
    assert len(Audited(WHOLE).to_pandas()) == len(EVERY)
    for content in ("{", "[]", json.dumps(WHOLE.as_json() | {"more": 1}), "[" * 10**5):
        (tmp_path / "other.json").write_text(content)
        with pytest.raises(FacsimileError, match="E425"):
            Audited.load(tmp_path / "other.json")


def test_other_kinds_are_refused() -> None:
    for only in ([], ["luck"]):
        with pytest.raises(FacsimileError, match="E003"):
            facsimile.audit(only)  # type: ignore[arg-type]


def test_the_command_in_plain_words(run: Program, tmp_path: Path) -> None:
    found = run("audit", "--only", "charges", "-o", tmp_path / "a.html")
    assert found.code == 0 and "nothing was found against any claim" in found.out
    assert "ledger.begin" in found.out and (tmp_path / "a.html").exists()
    assert run("audit", "--only", "charges", "-o", tmp_path / "a.html").code == 2
    assert run("audit", "--only", "luck").code == 2
    assert json.loads(run("audit", "--only", "charges", "--json").out)["passed"] is True


def test_the_command_fails_loudly_after_it_wrote_what_it_found(
    run: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "SECTIONS", (("Trying", "law", lambda: iter(WRONG.evidence)),))
    found = run("audit", "-o", tmp_path / "a.html")
    assert found.code == 5 and "E520" in found.err and "1 FAILED" in found.out
    assert "do not release" in (tmp_path / "a.html").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    return tmp_path


def test_a_bundle_carries_an_audit_and_verify_holds_it(folder: Path) -> None:
    release(request(folder, audit=WHOLE))
    held = facsimile.verify(folder / "bundle")
    assert held.found.audited == "2026-02-01" and "carries an audit of 2026-02-01" in str(held.page().parts)
    hashes = json.loads((folder / "bundle" / "manifest.json").read_bytes())["sha256"]
    assert "audit.json" in hashes
    told = facsimile.dossier(folder / "bundle").as_json()
    assert told["missing"] == ["risk.json"]


@pytest.mark.parametrize(
    "audit",
    [WRONG, replace(WHOLE, version="0"), replace(WHOLE, evidence=EVERY[:2])],
    ids=["wrong", "old", "part"],
)
def test_one_that_says_less_is_not_carried_and_does_not_verify(folder: Path, audit: Audit) -> None:
    asked: Any = {"ledger": folder / "budget" / "l", "audit": written(folder, audit)}
    with pytest.raises(FacsimileError, match="E425"):
        facsimile.release(request(folder).specification, folder / "people.csv", folder / "out", **asked)
    assert not (folder / "budget" / "l").exists() and not (folder / "people.csv.key").exists()
    rehearsal(request(folder, audit=audit), 3)
    with pytest.raises(FacsimileError, match=r"E503.*audit\.json"):
        facsimile.verify(folder / "bundle", allow_rehearsal=True)


def test_what_is_no_audit_in_a_bundle_is_refused(folder: Path) -> None:
    from facsimile.release import bundle

    rehearsal(request(folder, audit=WHOLE), 3)
    place = folder / "bundle"
    for content in (b"[]", b"{" * 10**5, json.dumps(WHOLE.as_json() | {"alpha": 1e999}).encode()):
        (place / "audit.json").write_bytes(content)
        files = {name: (place / name).read_bytes() for name in bundle.listed(place)}
        (place / "manifest.json").write_bytes(bundle.manifest(files, rehearsal=True))
        with pytest.raises(FacsimileError, match="E503"):
            facsimile.verify(place, allow_rehearsal=True)
