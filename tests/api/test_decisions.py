"""Decisions by commands: what the page does, a terminal does too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import facsimile
from facsimile.documents.decisions import Decisions
from facsimile.errors import FacsimileError
from facsimile.release.run import rehearsal, release
from facsimile.spec.load import dump, parse
from facsimile.spec.release import Specification
from programs import Program
from releases import request, write_data
from specs import small


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "release.yaml"
    path.write_text("# ours\n" + dump(small()), encoding="utf-8")
    return path


def test_an_item_is_set_commented_on_and_signed_in_plain_words(run: Program, spec: Path) -> None:
    who = ("--by", "Ada", "--role", "lawyer")
    found = run("spec", "set", spec, "budget.total", "6", *who, "--why", "The board")
    assert found.code == 0 and "total 5 → 6" in found.out and "Ada, lawyer" in found.out
    assert spec.read_text(encoding="utf-8").startswith("# ours\n")
    assert run("spec", "comment", spec, "budget", "Enough?", *who).code == 0
    assert run("spec", "sign", spec, *who).code == 0
    plan = run("plan-hash", spec).out.strip()
    log = run("spec", "log", spec).out
    assert "on budget: Enough?" in log and f"signed plan {plan[:16]}" in log
    spec.write_text(spec.read_text(encoding="utf-8").replace("Small", "Tiny"), encoding="utf-8")
    assert "changed since" in run("spec", "log", spec).out
    assert run("spec", "log", spec, "--by", "Bob", "--why", "A title").code == 0
    assert "changed since" not in run("spec", "log", spec).out


def test_an_item_is_taken_away_and_a_list_grows(run: Program, spec: Path) -> None:
    who = ("--by", "Ada", "--why", "x")
    rule = "{never: age > 110, source: biology}"
    assert run("spec", "set", spec, "constraints.raw.2", rule, *who).code == 0
    assert len(parse(spec.read_bytes())[0]["constraints"]["raw"]) == 2
    assert run("spec", "set", spec, "constraints.raw.2", "--remove", *who).code == 0
    assert len(parse(spec.read_bytes())[0]["constraints"]["raw"]) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("budget.total", "6"), "E443"),
        (("budget.total", "--by", "A", "--why", "x"), "E001"),
        (("budget.total", "6", "--remove", "--by", "A", "--why", "x"), "E001"),
        (("budget.totel", "6", "--by", "A", "--why", "x"), "E220"),
        (("budget.total", "much", "--by", "A", "--why", "x"), "E201"),
        (("budget.total", "[", "--by", "A", "--why", "x"), "E210"),
    ],
)
def test_what_is_refused_writes_nothing(run: Program, spec: Path, words: tuple[str, ...], code: str) -> None:
    before = spec.read_bytes()
    found = run("spec", "set", spec, *words)
    assert (found.code, found.err.split()[0]) == (2, code)
    assert spec.read_bytes() == before and list(spec.parent.glob("*.jsonl")) == []


def test_a_log_is_a_table_and_json(run: Program, spec: Path) -> None:
    facsimile.set_item(spec, "title", "Another", by="Ada", why="x")
    facsimile.note(spec, by="Ada", why="x")
    facsimile.comment(spec, "title", "Good", by="Ada")
    found = facsimile.sign(spec, by="Ada", role="lawyer")
    assert found.to_arrow().column("deed").to_pylist() == ["begun", "change", "comment", "signature"]
    assert (
        facsimile.decisions(spec).as_json()["decisions"] == run("spec", "log", spec, "--json").json["decisions"]
    )
    assert not facsimile.decisions(spec).outside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Confidential data for a small release."""
    write_data(tmp_path)
    (tmp_path / "budget").mkdir(exist_ok=True)
    return tmp_path


def log_of(specification: Specification, *texts: str) -> Decisions:
    when = "2026-03-04T05:06:07Z"
    found = Decisions().begun(dump(specification), when=when)
    for text in texts:
        found = found.changed(text, by="Ada", why="x", when=when, words=["y"])
    return found.signed("p", by="Ada", role="lawyer", when=when)


def test_a_bundle_carries_the_log_that_led_to_its_specification_and_verify_holds_it(folder: Path) -> None:
    log = log_of(request(folder).specification)
    release(request(folder, decisions=log))
    held = facsimile.verify(folder / "bundle")
    assert held.found.decisions == 2 and "log of 2 decisions" in str(held.page().parts)
    assert (folder / "bundle" / "decisions.jsonl").read_bytes() == log.content


def test_a_log_of_another_specification_is_not_carried_and_does_not_verify(folder: Path) -> None:
    spec = request(folder).specification
    other = log_of(spec, dump(spec).replace("title: Small", "title: Other"))
    assert other.text != dump(spec)
    place = folder / "release.decisions.jsonl"
    for content, code in ((other.content, "E447"), (other.content[:-2], "E441"), (b"{}\n", "E441")):
        place.write_bytes(content)
        asked: Any = {"ledger": folder / "budget" / "l", "decisions": place}
        with pytest.raises(FacsimileError, match=code):
            facsimile.release(spec, folder / "people.csv", folder / "out", **asked)
    with pytest.raises(FacsimileError, match="E212"):
        facsimile.release(
            spec, folder / "people.csv", folder / "out", ledger=folder / "l", decisions=folder / "no"
        )
    assert not (folder / "budget" / "l").exists() and not (folder / "people.csv.key").exists(), (
        "nothing is charged"
    )
    rehearsal(request(folder, decisions=other), 3)
    with pytest.raises(FacsimileError, match=r"E503.*decisions\.jsonl"):
        facsimile.verify(folder / "bundle", allow_rehearsal=True)


def test_a_rehearsal_on_fewer_records_carries_it_too(folder: Path) -> None:
    spec = request(folder).specification
    rehearsal(request(folder, specification=spec.sized(999), decisions=log_of(spec.sized(999))), 3)
    assert facsimile.verify(folder / "bundle", allow_rehearsal=True).found.decisions == 2
