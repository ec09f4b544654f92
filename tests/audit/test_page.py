from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axe import violations
from browser import Browser
from facsimile.audit.page import TITLES, page, sections
from facsimile.documents.evidence import KINDS, Audit, Evidence

EVERY = tuple(
    Evidence.bounded("mechanisms.a.Bee <b>", kind, f"case {i}", "one & a test", 1.5, 1.1 + i / 100, 0.6)
    for kind in KINDS
    for i in range(3)
)
AUDIT = Audit("0.1.0", "2026-11-17", {"python": "3.11", "opendp": "0.16"}, 1e-6, EVERY)
FAILED = replace(AUDIT, evidence=(*EVERY[:-1], Evidence("x.Y", "law", "c", "t", None, None, False)))


def test_every_kind_has_a_title_and_a_place_on_the_page() -> None:
    assert set(TITLES) == set(KINDS)
    assert [section.anchor for section in sections(AUDIT)] == list(TITLES)
    text = page(AUDIT)
    assert text == page(AUDIT)
    for section in sections(AUDIT):
        assert f'id="{section.anchor}"' in text and section.title in text
    assert "Bee &lt;b&gt;" in text and "<b>" not in text and "mechanisms.<wbr/>a" in text
    assert text.count("One &amp; a test") == len(KINDS)
    assert "<script" not in text and "http://" not in text and "https://" not in text


def test_the_page_says_first_whether_something_was_found() -> None:
    assert "Nothing was found against any claim" in page(AUDIT)
    assert "FAILED" not in page(AUDIT)
    assert "do not release with this installation" in page(FAILED)
    assert page(FAILED).count("FAILED") == 2 and "1 failed" in page(FAILED)
    partial = replace(AUDIT, evidence=EVERY[:3])
    assert "were not looked for" in page(partial) and "were not looked for" not in page(AUDIT)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_the_screen_asks_for_nothing_and_passes_axe(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    place = tmp_path / "audit.html"
    place.write_text(page(FAILED), encoding="utf-8")
    browser.open(place, width)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.asked() == [place.as_uri()] and browser.troubles() == []
    assert violations(browser) == []
