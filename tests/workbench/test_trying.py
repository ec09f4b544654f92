"""Exploring, planning and rehearsing on the pages, in a real browser; and which files are ever shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axe import violations
from browser import Browser
from facsimile.errors import FacsimileError
from facsimile.workbench.bench import Bench
from facsimile.workbench.trying import artefact
from workbench.desk import Desk, fill, ready, sent, written

STUDY = "document.querySelector('#main').innerText"


def started(desk: Desk, person: Browser, **given: str) -> None:
    desk.open(person, "explore")
    for name, value in given.items():
        fill(person, f"form[action='/do/explore'] [name={name}]", value)
    person.click("form[action='/do/explore'] button")
    person.until("document.querySelector('form[action=\"/do/stop\"]') !== null")


def test_a_study_is_watched_stopped_and_resumed(desk: Desk, person: Browser) -> None:
    started(desk, person, trials="40", fresh="900")
    person.until("/trials\\s+[1-9]/.test(document.querySelector('#main').innerText)", 90)
    assert sent(person, "form[action='/do/stop'] button").startswith("Done Stopped")
    kept = int(person.value("document.querySelector('dl.facts dd').textContent").replace(",", ""))
    assert kept > 0
    assert violations(person) == []
    person.click("form[action='/do/explore'] button")
    person.until("document.querySelector('form[action=\"/do/stop\"]') !== null")
    assert "Exploring" in person.value(STUDY)
    sent(person, "form[action='/do/stop'] button")


def test_a_plan_is_clicked_on_the_curve_and_becomes_the_specification(desk: Desk, person: Browser) -> None:
    desk.path.write_text(desk.text + "# another study\n", encoding="utf-8")
    started(desk, person, trials="3", fresh="6")
    person.until("document.querySelector('form[action=\"/do/stop\"]') === null", 120)
    person.until("document.querySelector('circle[data-point]') !== null", 60)
    assert violations(person) == []
    person.click("circle[data-point]:last-of-type")
    assert person.value("document.querySelector('[name=point]:checked') !== null")
    fill(person, "form[action='/do/plan'] [name=why]", "The cheapest")
    before = desk.text
    assert sent(person, "form[action='/do/plan'] .decide button").startswith("Done The plan")
    assert desk.text != before and desk.log[-1]["why"] == "The cheapest"


def test_a_report_stands_inside_the_page(desk: Desk, person: Browser) -> None:
    desk.path.write_text(desk.text, encoding="utf-8")
    study = sorted(desk.folder.glob("wards.*.study"))
    assert study
    started(desk, person, trials="3", fresh="2")
    person.until("document.querySelector('form[action=\"/do/stop\"]') === null", 120)
    person.click("form[action='/do/report'] button")
    person.until("document.querySelector('iframe') !== null", 120)
    frame = person.value("document.querySelector('iframe').src")
    assert person.value("document.querySelector('iframe').sandbox.value") == "allow-scripts"
    person.open(frame)
    assert person.value("document.querySelectorAll('h1').length") == 1
    assert person.value("window.origin") == "null", "a page of its own origin, without our cookie"
    assert person.value("fetch('/ask/news').then(() => 'answered', () => 'refused')") == "refused"


def test_a_release_is_rehearsed_verified_and_its_pages_open(desk: Desk, person: Browser) -> None:
    written(desk.folder)
    desk.open(person, "rehearse")
    person.click("form[action='/do/rehearse'] button")
    person.until("document.querySelector('.bundle') !== null", 120)
    ready(person)
    assert violations(person) == []
    assert sent(person, "form[action='/do/verify'] button").startswith("Done wards.rehearsal-1 holds")
    page = person.value(
        "[...document.querySelectorAll('.files a')].find(a => a.innerText == 'README.html').href"
    )
    person.open(page)
    assert "REHEARSAL" in person.value("document.body.innerText")
    assert person.value("window.origin") == "null"


def test_an_explore_that_is_refused_says_why(desk: Desk, person: Browser) -> None:
    desk.open(person, "explore")
    fill(person, "form[action='/do/explore'] [name=trials]", "one")
    assert "E001" in sent(person, "form[action='/do/explore'] button")


@pytest.mark.parametrize(
    "name",
    [
        "wards.csv",
        "wards.yaml",
        "wards.decisions.jsonl",
        "../secret.txt",
        "wards.rehearsal-1/../wards.csv",
        "wards.rehearsal-1/../../secret.txt",
        "wards.rehearsal-1/secret.html",
        "wards.rehearsal-1/link.html",
        "wards.rehearsal-2/README.html",
        "wards.rehearsal-3/README.html",
        "wards.00000000-1-1-1.report.html",
        "/etc/passwd",
        "",
        "wards.rehearsal-1",
        "wards.rehearsal-1/",
        "wards.rehearsal-1\\..\\wards.csv",
        "wards.rehearsal-1/\0",
    ],
)
def test_no_other_file_is_ever_shown(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    for place, marked in (("wards.rehearsal-1", True), ("wards.rehearsal-2", False)):
        (folder / place).mkdir()
        (folder / place / "manifest.json").write_text(json.dumps({"rehearsal": marked}), encoding="utf-8")
        said = json.dumps({"title": "t", "epsilon": "1", "criteria": []})
        (folder / place / "report.json").write_text(said, encoding="utf-8")
        (folder / place / "README.html").write_text("page", encoding="utf-8")
    (folder / "wards.rehearsal-1" / "secret.html").write_text("secret", encoding="utf-8")
    (folder / "wards.rehearsal-1" / "explore.html").symlink_to(tmp_path / "secret.txt")
    (folder / "wards.rehearsal-3").symlink_to(folder / "wards.rehearsal-1")
    (folder / "wards.00000000-1-1-1.report.html").symlink_to(tmp_path / "secret.txt")
    (folder / "wards.csv").write_text("secret", encoding="utf-8")
    bench = Bench(folder / "wards.yaml")
    assert artefact(bench, "wards.rehearsal-1/README.html").read_text(encoding="utf-8") == "page"
    for one in (name, "wards.rehearsal-1/explore.html"):
        with pytest.raises((FacsimileError, ValueError)):
            artefact(bench, one)
