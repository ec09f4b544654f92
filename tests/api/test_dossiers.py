"""Dossiers from Python and from a terminal: verified first, papers held, nothing written over."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import facsimile
from facsimile.documents.evidence import Audit, Evidence
from facsimile.errors import FacsimileError
from facsimile.release.run import rehearsal
from programs import Program
from releases import request, write_data
from risk.samples import sample

EVIDENCE = Evidence("modes.Coin", "canary", "a coin", "one sentence", 1.5, 1.0, True)
AUDIT = Audit("0.1.0", "2026-02-01", {"numpy": "2"}, 1e-6, (EVIDENCE,)).as_json()
ATTACKS = sample().as_json()["attacks"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsed")
    write_data(folder)
    rehearsal(request(folder), 3)
    return folder / "bundle"


def risk(bundle: Path) -> dict[str, Any]:
    plan = json.loads((bundle / "report.json").read_bytes())["plan_hash"]
    return sample().as_json() | {"plan_hash": plan}


def written(path: Path, told: Any) -> Path:
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def refused(*args: Any, **given: Any) -> str:
    with pytest.raises(FacsimileError) as found:
        facsimile.dossier(*args, allow_rehearsal=True, **given)
    return found.value.code


def test_a_dossier_is_written_once_and_beside_the_bundle(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "dossier.pdf"
    audit, risks = written(tmp_path / "a.json", AUDIT), written(tmp_path / "r.json", risk(bundle))
    made = facsimile.dossier(bundle, out, audit=audit, risk=risks, allow_rehearsal=True)
    assert out.read_bytes() == made.dossier.pdf()
    assert made.as_json()["missing"] == [] and made.as_json()["rehearsal"] is True
    assert str(tmp_path) not in json.dumps(made.as_json())
    assert refused(bundle, out) == "E401"
    assert refused(bundle, bundle / "dossier.pdf") == "E402"
    (tmp_path / "link.pdf").symlink_to(tmp_path / "other.pdf")
    assert refused(bundle, tmp_path / "link.pdf") == "E402"
    assert refused(bundle, tmp_path / "none" / "dossier.pdf") == "E403"


def test_the_bundle_is_verified_first(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match="E504"):
        facsimile.dossier(bundle, tmp_path / "dossier.pdf")
    changed = tmp_path / "changed"
    shutil.copytree(bundle, changed)
    report = (changed / "report.json").read_text("utf-8").replace('"records": 400', '"records": 401')
    (changed / "report.json").write_text(report, "utf-8")
    assert refused(changed, tmp_path / "dossier.pdf") == "E502"
    assert not (tmp_path / "dossier.pdf").exists()


@pytest.mark.parametrize(
    "told",
    [[], {}, AUDIT | {"format": 2}, AUDIT | {"passed": False}, AUDIT | {"evidence": [{}]}, AUDIT | {"more": 1}],
)
def test_what_is_no_audit_is_refused(bundle: Path, tmp_path: Path, told: Any) -> None:
    assert refused(bundle, audit=written(tmp_path / "audit.json", told)) == "E440"


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"plan_hash": 3},
        {"day": "yesterday"},
        {"says": [1]},
        {"records": None},
        {"attacks": [{}]},
        {"attacks": ATTACKS[1:]},
        *(
            {"attacks": [ATTACKS[0] | change, *ATTACKS[1:]]}
            for change in ({"risk": "low"}, {"high": 2.0}, {"x": 1})
        ),
    ],
)
def test_what_is_no_report_of_risks_is_refused(bundle: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    assert refused(bundle, risk=written(tmp_path / "risk.json", risk(bundle) | change)) == "E440"


def test_risks_of_another_plan_and_files_that_are_none_are_refused(bundle: Path, tmp_path: Path) -> None:
    other = risk(bundle) | {"plan_hash": "0" * 64}
    assert refused(bundle, risk=written(tmp_path / "risk.json", other)) == "E510"
    assert refused(bundle, audit=tmp_path / "none.json") == "E212"
    (tmp_path / "broken.json").write_text("{")
    assert refused(bundle, audit=tmp_path / "broken.json") == "E440"


def test_the_command_prints_where_it_is_and_what_is_missing(bundle: Path, tmp_path: Path, run: Program) -> None:
    found = run("dossier", bundle, "-o", tmp_path / "d.pdf", "--allow-rehearsal")
    assert found.code == 0 and (tmp_path / "d.pdf").exists()
    assert "blanks are for the office" in found.out and "Missing, and said to be: risk.json" in found.out
    assert "A REHEARSAL" in found.out
    told = json.loads(run("dossier", bundle, "--allow-rehearsal", "--json").out)
    assert told["blanks"] > 10 and told["sections"][0]["items"][0]["sources"]
    assert run("dossier", bundle).code == 2
