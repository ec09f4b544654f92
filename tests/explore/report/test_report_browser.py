"""The report in a real browser with no network: it draws itself, sorts, filters and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import Browser
from facsimile.explore.report import write_report
from facsimile.explore.study import Study
from reports import nasty_study, study_of, told, trial
from studies import configurations


@pytest.fixture(scope="module")
def written(explored: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_report(explored, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    write_report(nasty_study(folder / "nasty.study"), folder / "report.html")
    return folder / "report.html"


def opened(browser: Browser, path: Path, width: int) -> int:
    """Open a page and wait until all its charts are drawn; how many there are."""
    browser.open(path, width)
    return int(browser.until("document.documentElement.dataset.drawn"))


def column(browser: Browser, name: str, place: int) -> list[str]:
    cells = (
        f"[...document.querySelectorAll('[data-sheet={name}] tbody tr')].map(r => r.cells[{place}].textContent)"
    )
    found: list[str] = browser.value(cells)
    return found


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("which", ["written", "nasty"])
def test_the_page_draws_itself_and_asks_for_nothing(
    browser: Browser, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(which)
    drawn = opened(browser, path, width)
    assert (
        drawn
        == len(told(path.read_text())["charts"])
        == browser.value("document.querySelectorAll('.chart svg').length")
    )
    empty = "[...document.querySelectorAll('.chart svg')].filter(s => !s.querySelector('.mark')).length"
    assert browser.value(empty) == 0
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.asked() == [path.as_uri()] and browser.troubles() == []
    assert browser.value("document.querySelectorAll('main b, main img').length") == 0


def test_the_script_writes_every_cell_as_the_page_had_it(browser: Browser, written: Path) -> None:
    cells = "[...document.querySelectorAll('.grid td, .grid tbody th')].map(c => c.textContent)"
    opened(browser, written, 1280)
    scripted = browser.value(cells)
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(written, 1280)
    plain = browser.value(cells)
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert len(plain) > 500 and plain == scripted
    assert browser.value("getComputedStyle(document.querySelector('.choice')).display") == "none"


def test_tables_sort_by_mouse_and_keyboard(browser: Browser, written: Path) -> None:
    opened(browser, written, 1280)
    head = "document.querySelectorAll('[data-sheet=columns] thead th')"
    browser.click("[data-sheet=columns] thead th:nth-child(3) button")
    counts = [int(text.replace(",", "")) for text in column(browser, "columns", 2)]
    assert counts == sorted(counts, reverse=True) and len(set(counts)) > 3
    assert browser.value(f"{head}[2].getAttribute('aria-sort')") == "descending"
    browser.press("Shift+Tab")
    browser.press("Enter")
    assert browser.value(f"{head}[1].getAttribute('aria-sort')") == "ascending"
    assert browser.value(f"[...{head}].filter(h => h.hasAttribute('aria-sort')).length") == 1
    values = column(browser, "columns", 1)
    assert values[-2:] == ["F", "M"] and values[:3] == ["0-29", "30-59", "60-89"]


def test_the_filter_leaves_the_rows_that_hold_all_words(browser: Browser, written: Path) -> None:
    opened(browser, written, 1280)
    before = column(browser, "configurations", 1)
    browser.click("[data-sheet=configurations] input")
    browser.type("MST min_count")
    found = column(browser, "configurations", 1)
    assert 0 < len(found) < len(before) and set(found) == {"mst"}
    said = browser.value("document.querySelector('[data-sheet=configurations] output').textContent")
    assert said == f"{len(found)} of {len(before)} rows"


def test_a_choice_fills_its_chart_and_its_table_anew(browser: Browser, written: Path) -> None:
    opened(browser, written, 1280)
    pairs = told(written.read_text())["datasets"]["cells"]["pair"]
    sizes = [pairs["at"].count(place) for place in range(len(pairs["texts"]))]
    place, cells = next((i, size) for i, size in enumerate(sizes) if size != sizes[0])
    drawn = "document.querySelectorAll('[data-chart=cells] rect.mark').length"
    assert browser.value(drawn) == sizes[0] == len(column(browser, "cells", 0))
    picked = (
        "(() => { const list = document.querySelector('[data-pick=cells]');"
        f" list.selectedIndex = {place}; list.dispatchEvent(new Event('change')); }})()"
    )
    browser.do(picked)
    browser.until(f"{drawn} === {cells}")
    assert len(column(browser, "cells", 0)) == cells


def test_many_rows_are_shown_when_asked(browser: Browser, tmp_path: Path) -> None:
    sampling = ["iid", "systematic"]
    study = study_of(
        tmp_path / "many.study",
        families=[{"family": "mst", "grid": {"sampling": sampling}}],
        projection={"algorithm": ["margins"], "min_count": [str(k) for k in range(1, 21)]},
    )
    every = configurations(study.setup.specification)
    study.add(every, [trial(study, i, 0, i % 3 == 0, 0.5 + i / 100) for i in range(len(every))])
    out = tmp_path / "report.html"
    write_report(study, out)
    opened(browser, out, 1280)
    assert len(every) > 60 and "population" in told(out.read_text())["charts"]
    assert len(column(browser, "configurations", 0)) == 50
    browser.click("[data-sheet=configurations] .tools button")
    assert sorted(column(browser, "configurations", 0)) == sorted(c.identifier for c in every)


def test_a_mark_tells_its_figures_and_a_chart_can_be_saved(browser: Browser, written: Path) -> None:
    opened(browser, written, 1280)
    over = (
        "(() => { const mark = document.querySelector('[data-chart=acceptance] .mark:last-child');"
        " mark.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 400, clientY: 300 }));"
        " const hint = document.querySelector('.hint'); return hint.hidden ? '' : hint.textContent; })()"
    )
    assert "accepted trials" in browser.value(over)
    saved = (
        "(() => { window.found = []; HTMLAnchorElement.prototype.click = function () {"
        " found.push(this.download, decodeURIComponent(this.href)); };"
        " document.querySelectorAll('[data-chart=acceptance] details button').forEach(b => b.click()); })()"
    )
    browser.do(saved)
    browser.until("found.length === 4")
    svg, drawing, png, picture = browser.value("found")
    assert (svg, png) == ("acceptance.svg", "acceptance.png")
    assert "http://www.w3.org/2000/svg" in drawing and picture.startswith("data:image/png;base64,")
    assert browser.troubles() == []


def test_a_table_that_is_too_wide_says_so(browser: Browser, written: Path) -> None:
    told_of = "[...document.querySelectorAll('.held')].filter(h => !h.querySelector('.beyond').hidden).length"
    wide = "[...document.querySelectorAll('.held .scroll')].filter(s => s.scrollWidth > s.clientWidth + 2)"
    for width in (390, 1280):
        opened(browser, written, width)
        assert browser.value(told_of) == browser.value(f"{wide}.length") > 0
    browser.do("document.querySelector('[data-sheet=configurations] .scroll').scrollLeft = 5000")
    browser.until("document.querySelector('[data-sheet=configurations] .beyond').hidden")


def test_charts_follow_the_width_of_the_page(browser: Browser, written: Path) -> None:
    opened(browser, written, 1280)
    browser.ask("Emulation.setDeviceMetricsOverride", width=600, height=844, deviceScaleFactor=1, mobile=False)
    browser.until("+document.querySelector('[data-chart=acceptance] svg').getAttribute('width') < 600")
    assert browser.value("document.documentElement.scrollWidth") <= 600
