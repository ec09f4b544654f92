"""The page in a real browser with no network: it looks the same, asks for nothing and fits a phone.

The browser is driven over a pair of pipes (its debugging protocol), so no driver has to be installed.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest

from axe import violations
from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents import readme
from facsimile.documents.language import language
from facsimile.documents.report import Report

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
]
# The protocol wants the pipes as files 3 and 4.
EXECUTE = """
import os, sys
asks, answers = (os.dup(int(number)) for number in sys.argv[1:3])
os.dup2(asks, 3)
os.dup2(answers, 4)
os.set_inheritable(3, True)
os.set_inheritable(4, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
pytestmark = pytest.mark.usefixtures("chromium")


class Browser:
    """A browser with one page; `events` holds what it reported since the last page was opened."""

    def __init__(self, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = [sys.executable, "-c", EXECUTE, str(theirs_in), str(theirs_out), str(CHROMIUM), *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.answers, self.asks = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb", buffering=0)
        self.buffer, self.count, self.session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{part}.enable")

    def message(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            piece = os.read(self.answers.fileno(), 1 << 20)
            assert piece, "the browser ended"
            self.buffer += piece
        first, _, self.buffer = self.buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        wanted: dict[str, Any] = {"id": self.count, "method": method, "params": parameters}
        self.asks.write(
            json.dumps(wanted | ({"sessionId": self.session} if self.session else {})).encode() + b"\0"
        )
        while (found := self.message()).get("id") != self.count:
            self.events.append(found)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result

    def open(self, page: Path, width: int) -> None:
        self.events.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=844,
            deviceScaleFactor=1,
            mobile=width < 700,
        )
        self.ask("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def value(self, expression: str) -> Any:
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"]["value"]

    def named(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] == method]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        self.answers.close()
        self.asks.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


def written(report: Report, folder: Path, code: str = "en") -> Path:
    page = folder / "README.html"
    page.write_text(readme.html(report, code), encoding="utf-8")
    return page


@pytest.mark.parametrize("report", [BIRTHS, ODD], ids=["births", "odd"])
@pytest.mark.parametrize("code", ["en", "he"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_fits_the_screen_and_asks_for_nothing(
    browser: Browser, tmp_path: Path, report: Report, code: str, width: int
) -> None:
    page = written(report, tmp_path, code)
    browser.open(page, width)
    assert browser.value("document.title").endswith(report.title)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("innerWidth") == width
    asked = [event["request"]["url"] for event in browser.named("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]
    assert not browser.named("Network.loadingFailed")
    assert not browser.named("Log.entryAdded")
    assert not browser.named("Runtime.consoleAPICalled")


def test_nothing_hides_behind_anything_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(BIRTHS, tmp_path), 390)
    beyond = (
        "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 391).length"
    )
    assert browser.value(beyond) == 0
    sizes = "[...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect().width / 360)"
    assert min(browser.value(sizes)) > 0.8


@pytest.mark.parametrize("code", ["en", "he"])
@pytest.mark.parametrize(("report", "width"), [(PUBLISHED, 1280), (ODD, 390)], ids=["published", "odd"])
def test_axe_finds_nothing_to_mend(
    browser: Browser, tmp_path: Path, report: Report, width: int, code: str
) -> None:
    browser.open(written(report, tmp_path, code), width)
    assert violations(browser) == []


def test_axe_finds_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<html><title>x</title><p style="color:#ccc">pale</p></html>', encoding="utf-8")
    browser.open(page, 390)
    assert {one.partition(":")[0] for one in violations(browser)} >= {"color-contrast", "html-has-lang"}


@pytest.mark.parametrize("code", ["en", "he"])
@pytest.mark.parametrize("report", [BIRTHS, PUBLISHED, ODD], ids=["births", "published", "odd"])
def test_the_first_page_prints_on_one_sheet(
    browser: Browser, tmp_path: Path, report: Report, code: str
) -> None:
    browser.open(written(report, tmp_path, code), 1280)
    made = b64decode(browser.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
    sheets = [" ".join(sheet.extract_text().split()) for sheet in pypdf.PdfReader(io.BytesIO(made)).pages[:2]]
    said = language(code).texts
    assert sheets[0].count(said["summary.day"]) == 2, "at the top and in the last line"
    assert said["contents.title"] not in sheets[0] and said["contents.title"] in sheets[1]


def test_the_mark_of_a_rehearsal_stays_in_sight(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(ODD, tmp_path), 390)
    browser.value("scrollTo(0, document.body.scrollHeight / 2)")
    place = browser.value("document.querySelector('.banner').getBoundingClientRect().top")
    assert place == 0
    assert browser.value("document.querySelector('.banner').innerText").startswith("REHEARSAL")


def test_text_of_a_report_makes_no_elements(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(ODD, tmp_path), 1280)
    assert browser.value("document.querySelectorAll('script, img, b').length") == 0
    assert browser.value("document.querySelectorAll('h1').length") == 1
