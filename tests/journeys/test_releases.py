"""Stories of releases: the first, the second, and what goes wrong around them on a sound machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from facsimile import __version__
from facsimile.documents.evidence import KINDS, Audit, Evidence
from facsimile.privacy.ledger import Ledger, State
from journeys import wards
from journeys.terminal import Terminal, Told

RELEASE = "facsimile release wards.yaml --data wards.csv --ledger wards.ledger -o bundle"
MICRO = 10**6


def ledger(desk: Terminal, name: str = "wards.ledger") -> State:
    return Ledger.at(desk.folder / name).state()


def charges(desk: Terminal, name: str = "wards.ledger") -> int:
    return sum(entry["kind"] == "charge" for entry in ledger(desk, name).entries)


def untold(desk: Terminal, told: Told) -> None:
    """Nothing of the data on the screen, in the ledger or in a bundle; no traceback."""
    assert "Traceback" not in told.screen
    assert wards.echoed(told.screen) == []
    for path in desk.folder.rglob("*"):
        if path.is_file() and ("bundle" in str(path) or "ledger" in path.name):
            assert wards.echoed(path.read_bytes().decode("utf-8", "replace")) == []


def succeeded(desk: Terminal, line: str, last: str) -> Told:
    told = desk(line)
    assert (told.code, told.error) == (0, None), told.screen
    assert re.search(last, told.last), told.screen
    untold(desk, told)
    return told


def refused(desk: Terminal, line: str, code: str, exit_code: int) -> Told:
    """Refused in one line: a code, a sentence, a next step."""
    told = desk(line)
    assert (told.code, told.error) == (exit_code, code), told.screen
    assert told.last.startswith(f"{code} ") or not told.last.startswith("E"), told.screen
    untold(desk, told)
    return told


def test_an_audit_goes_with_a_release_and_into_the_dossier(desk: Terminal) -> None:
    """The audit that is carried is made here: a whole one takes minutes."""
    told = succeeded(desk, "facsimile audit --only charges --only opened", r"not looked for")
    assert "ledger.begin" in told.screen and "nothing was found against any claim" in told.screen
    evidence = tuple(Evidence.bounded("modes.Coin", kind, "a coin", "a test", 1.5, 1.2) for kind in KINDS)
    audit = Audit(__version__, "2026-02-01", {"numpy": "2"}, 1e-6, evidence)
    (desk.folder / "part.json").write_text(json.dumps(replace(audit, evidence=evidence[:1]).as_json()))
    refused(desk, f"{RELEASE} --audit part.json", "E425", 2)
    assert not (desk.folder / "wards.ledger").exists() and not (desk.folder / "wards.csv.key").exists()
    (desk.folder / "audit.json").write_text(json.dumps(audit.as_json()))
    succeeded(desk, f"{RELEASE} --audit audit.json", r"bundle/README\.html|ledger")
    assert "carries an audit of 2026-02-01" in succeeded(desk, "facsimile verify bundle", r".").screen
    told = succeeded(desk, "facsimile dossier bundle -o dossier.pdf", r"dossier\.pdf")
    assert "blanks are for the office" in told.screen and "audit.json" not in told.screen
    refused(desk, "facsimile risk wards.yaml --public wards.csv -o risk.html", "E207", 2)


def test_a_first_release_and_a_second_until_the_budget_is_gone(desk: Terminal) -> None:
    succeeded(desk, "facsimile check wards.yaml", r"Sizes come from")
    succeeded(desk, "facsimile ledger new wards.ledger --data wards.csv --cap 12", r"anchor")
    told = succeeded(desk, RELEASE, r"bundle/README\.html")
    assert "4,000 synthetic records released, epsilon 5.9" in told.screen
    assert ledger(desk).spent == 59 * MICRO // 10
    succeeded(desk, "facsimile verify bundle", r"who made it was not checked")
    refused(desk, RELEASE, "E401", 2)
    succeeded(desk, RELEASE.replace("-o bundle", "-o bundle2"), r"bundle2/README\.html")
    assert ledger(desk).spent == 118 * MICRO // 10
    shown = succeeded(desk, "facsimile ledger show wards.ledger", r".")
    assert "spent 11.8 of 12, 0.2 remain" in shown.screen
    before = (desk.folder / "wards.ledger").read_bytes()
    refused(desk, RELEASE.replace("-o bundle", "-o bundle3"), "E301", 3)
    assert (desk.folder / "wards.ledger").read_bytes() == before
    assert not (desk.folder / "bundle3").exists()
    refused(desk, "facsimile check wards.yaml --public wards.csv", "E207", 2)


def test_a_release_with_delta_and_one_until_success_that_is_refused(desk: Terminal) -> None:
    """δ is opened once and spent once; a search until success is refused before anything is read or written."""
    written = desk.folder / "wards.yaml"
    paper = written.read_text(encoding="utf-8").replace("budget:\n", "budget:\n  delta: 0.000001\n")
    written.write_text(paper, encoding="utf-8")
    refused(desk, RELEASE, "E204", 2)
    assert not (desk.folder / "wards.csv.key").exists() and not (desk.folder / "wards.ledger").exists()
    coin = "mode: coin, gamma: 0.001"
    written.write_text(paper.replace("mode: paper", coin).replace("total: 6", "total: 8"), encoding="utf-8")
    told = succeeded(desk, "facsimile check wards.yaml", r"Sizes come from")
    assert "declared 8, delta 0.000001" in told.screen
    opened = "facsimile ledger new wards.ledger --data wards.csv --cap 20 --delta 0.0000015"
    succeeded(desk, opened, r"anchor")
    told = succeeded(desk, RELEASE, r"bundle/README\.html")
    assert "delta 0.000001" in told.screen
    assert (charges(desk), ledger(desk).entries[1]["delta"]) == (1, "1/1000000")
    told = succeeded(desk, "facsimile verify bundle", r"who made it was not checked")
    assert "delta 0.000001" in told.screen
    told = succeeded(desk, "facsimile ledger show wards.ledger", r".")
    assert "delta: spent 0.000001 of 0.0000015, 0.0000005 remain" in told.screen
    refused(desk, RELEASE.replace("-o bundle", "-o bundle2"), "E307", 3)
    assert charges(desk) == 1 and not (desk.folder / "bundle2").exists()


def test_a_mistyped_ledger_and_a_moved_file(desk: Terminal) -> None:
    succeeded(desk, RELEASE, r"bundle/README\.html")
    assert charges(desk) == 1
    refused(desk, RELEASE.replace("wards.ledger", "ward.ledger"), "E316", 4)
    assert not (desk.folder / "ward.ledger").exists()
    succeeded(desk, "facsimile ledger new wards2.ledger --data wards.csv --cap 12 --again", r"anchor")
    refused(desk, RELEASE.replace("-o bundle", "-o b2"), "E316", 4)
    moved = desk.folder / "moved"
    moved.mkdir()
    for name in ("wards.csv", "wards.csv.key"):
        (desk.folder / name).rename(moved / name)
    again = "facsimile release wards.yaml --data moved/wards.csv --ledger wards2.ledger -o bundle2"
    succeeded(desk, again, r"bundle2/README\.html")
    assert charges(desk, "wards2.ledger") == 1
    (moved / "wards.csv").rename(desk.folder / "alone.csv")
    lost = "facsimile release wards.yaml --data alone.csv --ledger wards2.ledger -o bundle3"
    refused(desk, lost, "E315", 4)
    assert charges(desk, "wards2.ledger") == 1
    refused(desk, again.replace("bundle2", "bundle4"), "E101", 2)


def test_bad_files_cost_nothing_and_freeze_nothing(desk: Terminal) -> None:
    """A typo or a bad export leaves no key, no ledger and no charge behind."""
    header, *lines = (desk.folder / "wards.csv").read_text().splitlines()
    spoilt = {
        "short.csv": ("E104", [header, *lines[1:]]),
        "text.csv": ("E140", [header, lines[0].replace("+", "hx-99999", 1), *lines[1:]]),
        "ragged.csv": ("E130", [header, lines[0] + ",more", *lines[1:]]),
    }
    for name, (code, content) in spoilt.items():
        (desk.folder / name).write_text("\n".join(content) + "\n")
        refused(desk, RELEASE.replace("wards.csv", name), code, 2)
    refused(desk, RELEASE.replace("wards.csv", "wadrs.csv"), "E101", 2)
    left = {path.name for path in desk.folder.iterdir() if path.is_file()}
    assert left == {"wards.csv", "wards.yaml", *spoilt}
    succeeded(desk, RELEASE, r"bundle/README\.html")


@pytest.fixture
def locked(desk: Terminal) -> Path:
    """A folder that nobody can write, root neither: a read-only mount, or its permissions."""
    folder = desk.folder / "locked"
    folder.mkdir()
    return folder


def _read_only(folder: Path, on: bool) -> None:
    if os.geteuid() != 0:
        folder.chmod(0o555 if on else 0o755)
        return
    there = str(folder)
    steps = (["mount", "--bind", there, there], ["mount", "-o", "remount,ro,bind", there])
    for step in steps if on else (["umount", there],):
        if subprocess.run(step, check=False, capture_output=True).returncode:
            pytest.skip("root cannot make a folder read-only here")


def test_folders_that_cannot_be_written(desk: Terminal, locked: Path) -> None:
    shutil.copy(desk.folder / "wards.csv", locked / "wards.csv")
    _read_only(locked, True)
    try:
        refused(desk, RELEASE.replace("-o bundle", "-o locked/bundle"), "E403", 2)
        told = refused(desk, RELEASE.replace("wards.csv", "locked/wards.csv"), "E330", 4)
        assert "nothing was charged" in told.screen
        told = refused(desk, RELEASE.replace("wards.ledger", "locked/wards.ledger"), "E330", 4)
        assert "nothing was charged" in told.screen
        simulate = "facsimile simulate wards.yaml -n 10 -o locked/x.csv"
        assert desk(simulate).code == 2
    finally:
        _read_only(locked, False)
    assert not (desk.folder / "wards.ledger").exists() or charges(desk) == 0
    succeeded(desk, RELEASE, r"bundle/README\.html")


def test_lines_end_as_on_windows(desk: Terminal) -> None:
    """CRLF in data and specification, a byte-order mark, and a name with blanks and a number sign."""
    wards.write(desk.folder, "stays of 2023 #1.csv", newline="\r\n")
    text = (desk.folder / "wards.yaml").read_text(encoding="utf-8")
    (desk.folder / "wards.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    line = RELEASE.replace("wards.csv", "'stays of 2023 #1.csv'")
    succeeded(desk, line, r"bundle/README\.html")
    refused(desk, RELEASE.replace("wards.csv", r"'C:\data\wards.csv'"), "E101", 2)
    refused(desk, RELEASE.replace("wards.csv", r"'C:\data\wards.sqlite#stays'"), "E101", 2)
