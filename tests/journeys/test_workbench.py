"""From a public file to a signed, rehearsed, verified release, with the installed program, by clicks alone."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from axe import violations
from browser import Browser, Chromium
from facsimile.documents.decisions import Decisions
from journeys import school
from journeys.terminal import Terminal
from workbench.desk import fill, ready, sent

LINK = re.compile(rb"http://127\.0\.0\.1:[0-9]+/enter\?token=[\w-]+")
PATIENCE = 240


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    with chromium.browser() as found:
        yield found


def link(screen: IO[bytes]) -> str:
    """The address that the program shows."""
    said, end = b"", time.monotonic() + 60
    while not LINK.search(said):
        assert time.monotonic() < end, said
        said += screen.read(1 << 12)
    found = LINK.search(said)
    assert found
    return found[0].decode()


def test_a_table_that_nobody_knew_is_drafted_tried_signed_and_rehearsed_by_clicks_alone(
    tmp_path: Path, browser: Browser
) -> None:
    school.write(tmp_path / "pupils.csv")
    terminal = Terminal(tmp_path, True)
    with terminal.started("facsimile workbench pupils.yaml --public pupils.csv") as (process, screen):
        address = link(screen)
        origin = address.partition("/enter")[0]
        browser.open(address)
        browser.until("document.querySelector('#who input') !== null")
        ready(browser)
        fill(browser, "#who [name=name]", "Ada Example")
        fill(browser, "#who [name=role]", "Statistician")
        sent(browser, "#who form button")

        fill(browser, "form[action='/do/draft'] [name=title]", "Pupils of one year")
        browser.click("form[action='/do/draft'] button")
        browser.until("document.querySelector('h1').textContent == 'Pupils of one year'", PATIENCE)
        assert (tmp_path / "pupils.yaml").is_file()
        assert browser.value("document.querySelectorAll('.todo .open').length") > 0
        assert violations(browser) == []

        browser.open(f"{origin}/columns")
        ready(browser)
        assert browser.value("document.querySelectorAll('.column').length") == 11, "all but the identifier"
        assert violations(browser) == []
        browser.open(f"{origin}/criteria")
        ready(browser, PATIENCE)
        assert violations(browser) == []

        browser.open(f"{origin}/explore")
        browser.click("form[action='/do/explore'] button")
        browser.until("document.querySelector('form[action=\"/do/stop\"]') !== null")
        browser.until("document.querySelector('form[action=\"/do/stop\"]') === null", PATIENCE)
        browser.until("document.querySelector('[name=point]') !== null", PATIENCE)
        points = browser.value("document.querySelectorAll('[name=point]').length")
        browser.do(f"document.querySelectorAll('[name=point]')[{points - 1}].scrollIntoView()")
        browser.click("label:last-of-type > [name=point]")
        fill(browser, "form[action='/do/plan'] [name=why]", "It comes out most often")
        assert sent(browser, "form[action='/do/plan'] .decide button").startswith("Done The plan")

        browser.open(f"{origin}/decisions")
        assert sent(browser, "form[action='/do/sign'] button").startswith("Done Signed")

        browser.open(f"{origin}/rehearse")
        for _ in range(5):
            browser.click("form[action='/do/rehearse'] button")
            browser.until("document.querySelector('form[action=\"/do/rehearse\"]') === null")
            browser.until("document.querySelector('form[action=\"/do/rehearse\"]') !== null", PATIENCE)
            if browser.value("document.querySelector('.bundle') !== null"):
                break
            seed = "document.querySelector('[name=seed]')"
            browser.do(f"{seed}.value = Number({seed}.value) + 1")
        assert sent(browser, "form[action='/do/verify'] button").startswith("Done pupils.rehearsal-1 holds")
        page = browser.value(
            "[...document.querySelectorAll('.files a')].find(a => a.innerText == 'README.html').href"
        )
        browser.open(page)
        assert "REHEARSAL" in browser.value("document.body.innerText")

        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) in (0, 130)
    log = Decisions.of((tmp_path / "pupils.decisions.jsonl").read_bytes())
    assert log.text == (tmp_path / "pupils.yaml").read_text(encoding="utf-8")
    signed = log.signatures[0]
    told = Terminal(tmp_path, False)("facsimile plan-hash pupils.yaml")
    assert (signed.role, signed.plan) == ("Statistician", told.screen.strip())
    assert terminal("facsimile verify pupils.rehearsal-1 --allow-rehearsal").code == 0
    command = "facsimile release pupils.yaml --data pupils.csv --rehearse --seed 1 -o with"
    carried = terminal(f"{command} --decisions pupils.decisions.jsonl")
    if carried.code == 0:
        assert "decisions" in terminal("facsimile verify with --allow-rehearsal").screen
        assert json.loads((tmp_path / "with" / "manifest.json").read_text())["sha256"]["decisions.jsonl"]
    else:
        assert carried.error == "E605"


@pytest.mark.parametrize("interactive", [True], ids=["terminal"])
def test_a_confidential_file_and_a_taken_port_are_refused(tmp_path: Path, interactive: bool) -> None:
    school.write(tmp_path / "pupils.csv")
    (tmp_path / "pupils.csv.key").touch()
    terminal = Terminal(tmp_path, interactive)
    assert terminal("facsimile workbench pupils.yaml --public pupils.csv").error == "E207"
    assert terminal("facsimile workbench pupils.yaml").error == "E212"
    assert not (tmp_path / "pupils.yaml").exists()
