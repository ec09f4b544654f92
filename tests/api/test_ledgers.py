"""Ledgers as people see them: pure ones as before δ was known, others with what is left of δ and ρ."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

import facsimile
from facsimile.privacy.budget import Cost
from facsimile.privacy.ledger import Ledger
from programs import Program
from releases import approximate, specification, write_data

KEY = "5a" * 32
IDENTIFIER = "0123456789abcdef" * 2
PURPOSE = f"release {'c' * 64} People"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path)
    for name, spec in (("pure", specification()), ("delta", approximate())):
        content = spec.model_dump(mode="json", exclude_none=True)
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def line(fields: dict[str, Any]) -> bytes:
    """A line of a ledger as it was written before there was a δ."""
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    return b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)


def old(home: Path) -> Path:
    """A ledger with one ended charge, its anchor and its key, none of which knows a δ."""
    tag = hmac.new(bytes.fromhex(KEY), (home / "people.csv").read_bytes(), "sha256").hexdigest()
    first = {"kind": "open", "cap": 30_000_000, "tag": tag, "format": 1}
    charge = {"kind": "charge", "micro": 9_369_649, "purpose": PURPOSE, "day": "2026-11-01", "nonce": "0f" * 8}
    entries = [
        {**first, "id": IDENTIFIER, "before": 0, "data": "people.csv"},
        charge,
        {"kind": "decided", "charge": 1},
        {"kind": "done", "charge": 1},
    ]
    lines, head = [], ""
    for sequence, entry in enumerate(entries):
        lines.append(line({"seq": sequence, "prev": head, **entry}))
        head = hashlib.sha256(lines[-1]).hexdigest()
    (home / "l").write_bytes(b"".join(lines))
    mark = {"ledger": IDENTIFIER, "sequence": 3, "head": head, "spent": 9_369_649, "before": 0}
    (home / "l.anchor").write_bytes(line(mark | {"key": ""}))
    (home / "people.csv.key").write_bytes(line(mark | {"key": KEY}))
    return home / "l"


def test_a_ledger_of_before_delta_is_shown_as_it_was(home: Path, run: Program) -> None:
    old(home)
    shown = run("ledger", "show", "l")
    assert shown.out == (
        f"Ledger {IDENTIFIER}\n"
        "Opened for people.csv.\n"
        "spent 9.369649 of 30, 20.630351 remain\n"
        "\n"
        "Charges\n"
        "entry  day          epsilon  outcome   release  plan\n"
        "    1  2026-11-01  9.369649  released  People   cccccccccccccccc\n"
    )
    assert run("ledger", "verify", "l").out.startswith("The ledger is whole: 4 entries, head ")
    said = json.loads(run("ledger", "show", "l", "--json").out)
    keys = ["id", "data", "sequence", "head", "cap", "spent", "before", "remaining", "charges", "entries"]
    assert list(said) == keys
    assert list(said["charges"][0]) == ["number", "day", "epsilon", "outcome", "title", "plan_hash"]


def test_a_ledger_of_before_delta_is_charged_and_has_no_delta_to_spend(home: Path, run: Program) -> None:
    before = old(home).read_bytes()
    given = ("--data", "people.csv", "--ledger", "l")
    refused = run("release", "delta.yaml", *given, "-o", "bundle")
    assert refused.code == 3 and refused.err.splitlines()[-1].startswith("E307 ")
    assert (home / "l").read_bytes() == before and not (home / "bundle").exists()
    assert run("release", "pure.yaml", *given, "-o", "bundle").code == 0
    assert (home / "l").read_bytes().startswith(before)
    found = facsimile.ledger("l")
    assert [charge["outcome"] for charge in found.charges()] == ["released", "released"]
    assert "delta" not in found.summary() and found.state.delta == 0
    again = run("ledger", "new", "m", "--data", "people.csv", "--cap", "20", "--delta", "0.000001", "--again")
    assert "Earlier ledgers of this data had spent 18.739298; every release" in again.out


def test_a_ledger_with_delta_shows_what_is_left_of_it(home: Path, run: Program) -> None:
    opened = run("ledger", "new", "l", "--data", "people.csv", "--cap", "40", "--delta", "0.000003")
    assert "40, with delta 0.000003, may be spent on people.csv. The cap never changes" in opened.out
    assert "delta: spent 0 of 0.000003, 0.000003 remain" in run("ledger", "show", "l").out
    made = run("release", "delta.yaml", "--data", "people.csv", "--ledger", "l", "-o", "bundle")
    assert "epsilon 8.926359, delta 0.000001, by" in made.out
    shown, said = run("ledger", "show", "l").out, json.loads(run("ledger", "show", "l", "--json").out)
    assert "delta: spent 0.000001 of 0.000003, 0.000002 remain" in shown and "rho" not in shown
    assert said["delta"] == {"cap": "0.000003", "spent": "0.000001", "remaining": "0.000002"}
    assert said["charges"][0]["delta"] == "0.000001" and "rho" not in said["charges"][0]
    assert facsimile.ledger("l").to_arrow().column_names[2:4] == ["epsilon", "delta"]
    assert "delta: spent 0.000001" in run("ledger", "verify", "l").out
    again = run("ledger", "new", "m", "--data", "people.csv", "--cap", "9", "--again")
    assert "had spent 8.926359 and delta 0.000001; every release will say so" in again.out
    assert json.loads(run("ledger", "verify", "m", "--json").out)["before_delta"] == "0.000001"


def test_a_release_says_with_which_delta_it_began_a_ledger(home: Path, run: Program) -> None:
    made = run("release", "delta.yaml", "--data", "people.csv", "--ledger", "l", "-o", "bundle")
    assert "A ledger was begun: l. 30, with delta 0.000001, may be spent on people.csv in all," in made.out


def test_rho_is_set_aside_at_once_and_shown(home: Path, run: Program) -> None:
    given = ("--data", "people.csv", "--cap", "2", "--delta", "0.00000001", "--rho", "0.01")
    opened = run("ledger", "new", "l", *given)
    assert "For a rho of 0.01, epsilon 0.770175 and delta 0.000000005 of that are set aside." in opened.out
    Ledger.at(home / "l", key=home / "people.csv.key").charge(Cost(rho=Fraction(1, 1000)), "a count")
    shown, said = run("ledger", "show", "l").out, json.loads(run("ledger", "show", "l", "--json").out)
    assert "spent 0.770175 of 2, 1.229825 remain" in shown
    assert "rho: spent 0.001 of 0.01, 0.009 remain" in shown
    assert said["rho"]["set_aside"] == {"epsilon": "0.770175", "delta": "0.000000005"}
    charge = said["charges"][0]
    assert (charge["epsilon"], charge["delta"], charge["rho"]) == ("0", "0", "0.001")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--delta", "0"), "E308"),
        (("--delta", "1"), "E308"),
        (("--delta", "-0.1"), "E308"),
        (("--delta", "little"), "E201"),
        (("--rho", "0.01"), "E308"),
        (("--delta", "0.000001", "--rho", "0"), "E308"),
        (("--delta", "0.000001", "--rho", "5"), "E308"),
        (("--delta", "0.000001", "--rho", "0.0000000000001"), "E308"),
    ],
)
def test_caps_that_no_ledger_has_are_refused_and_leave_nothing(
    home: Path, run: Program, options: tuple[str, ...], code: str
) -> None:
    before = sorted(path.name for path in home.rglob("*"))
    found = run("ledger", "new", "l", "--data", "people.csv", "--cap", "2", *options)
    assert found.code != 0 and found.err.splitlines()[-1].startswith(code)
    assert sorted(path.name for path in home.rglob("*")) == before
