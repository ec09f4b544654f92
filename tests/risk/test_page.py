from __future__ import annotations

from pathlib import Path

import pytest

from axe import violations
from browser import Browser
from facsimile.risk.page import page
from risk.samples import sample


def test_the_page_says_the_verdict_before_the_figures_and_what_it_cannot_show() -> None:
    told = sample()
    text = page(told)
    assert (
        text.index("In the release no attack") < text.index("<svg") < text.index("An attack that fails proves")
    )
    assert text.count("<svg") == 4 and text.count('role="img"') == 4
    for word in ("Opinion 05/2014", "Giomi", "most that ε allows", "ab" * 32, "132,733", told.cannot[1][:40]):
        assert word in text


def test_words_of_a_specification_are_text_and_the_page_holds_no_script() -> None:
    text = page(sample("<script>alert(1)</script>"))
    assert "<script" not in text and "&lt;script&gt;" in text and "script-src" not in text


def test_a_delta_is_told() -> None:
    assert "<dt>δ</dt>" in page(sample(delta="0.000001")) and "<dt>δ</dt>" not in page(sample())


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_the_screen_asks_for_nothing_and_passes_axe(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    place = tmp_path / "risk.html"
    place.write_text(page(sample("A title that is as long as titles of registers are")), encoding="utf-8")
    browser.open(place, width)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.asked() == [place.as_uri()] and browser.troubles() == []
    assert violations(browser) == []
