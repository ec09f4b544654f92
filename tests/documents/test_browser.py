"""The page in a real browser with no network: it looks the same, asks for nothing and fits a phone."""

from __future__ import annotations

import io
from base64 import b64decode
from pathlib import Path

import pypdf
import pytest

from axe import violations
from browser import Browser
from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents import readme
from facsimile.documents.language import language
from facsimile.documents.report import Report


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
    assert browser.asked() == [page.as_uri()] and browser.troubles() == []


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
    browser.do("scrollTo(0, document.body.scrollHeight / 2)")
    place = browser.value("document.querySelector('.banner').getBoundingClientRect().top")
    assert place == 0
    assert browser.value("document.querySelector('.banner').innerText").startswith("REHEARSAL")


def test_text_of_a_report_makes_no_elements(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(ODD, tmp_path), 1280)
    assert browser.value("document.querySelectorAll('script, img, b').length") == 0
    assert browser.value("document.querySelectorAll('h1').length") == 1
