"""The documentation's site: every page has its place, every name its words; nothing comes from elsewhere."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import facsimile
import facsimile.testing
from conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MADE = [DOCS / "conf.py", DOCS / "docstrings.py", DOCS / "style.css", *PAGES]
API = re.compile(r"^```\{api\} facsimile\.([\w.]+)\n(?::from: ([\w.]+)\n)?", re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def placed() -> list[str]:
    """The pages that the menu names, without their ending."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text(DOCS / "index.md"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines]


def documented(name: str) -> dict[str, str]:
    """The names that a page of the reference explains, and where each stands."""
    return {shown: home or shown for shown, home in API.findall(text(DOCS / "reference" / f"{name}.md"))}


def test_the_menu_names_every_page_once() -> None:
    pages = [path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES]
    assert sorted(placed()) == [page for page in pages if page != "index"]


def test_the_menu_is_ordered_by_reader() -> None:
    captions = re.findall(r"^:caption: (.*)$", text(DOCS / "index.md"), re.MULTILINE)
    assert captions == ["Curators", "Epidemiologists and lawyers", "Data users", "Reviewers", "Developers"]


def test_the_reference_has_every_name_of_the_package_by_its_home() -> None:
    homes = {name: f"{home}.{name}" for home, names in facsimile._HOMES.items() for name in names}
    assert documented("package").items() >= homes.items()


def test_the_reference_has_every_contract() -> None:
    public = {name for name, held in vars(facsimile.testing).items() if name[0] != "_" and callable(held)}
    assert {name.removeprefix("testing.") for name in documented("testing")} == public


@pytest.mark.parametrize("page", ["package", "synthesizers", "criteria", "mechanisms", "testing"])
def test_what_the_reference_names_is_there_and_says_what_it_is(page: str) -> None:
    assert documented(page)
    for home in documented(page).values():
        module, _, name = home.rpartition(".")
        assert getattr(import_module(f"facsimile.{module}"), name).__doc__


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    loads = r"!\[[^\]]*\]\(https?:|<(?:script|img|link|iframe)\b|@import|url\("
    assert re.search(loads, re.sub(r"^LOADED = .*$", "", text(path), flags=re.MULTILINE)) is None
    assert path.suffix == ".md" or "://" not in text(path)


def test_a_build_fails_at_a_warning_and_is_run_by_the_continuous_integration() -> None:
    assert re.search(r"^\t.*sphinx-build .*--fail-on-warning.* docs build/site$", text(ROOT / "Makefile"), re.M)
    assert "\nmake docs\n" in text(ROOT / ".ci" / "run")


def test_the_schema_is_published_with_the_pages() -> None:
    assert "facsimile schema > build/site-extra/facsimile.schema.json" in text(ROOT / "Makefile")
    assert 'html_extra_path = ["../build/site-extra"]' in text(DOCS / "conf.py")
    assert 'href="facsimile.schema.json"' in text(DOCS / "index.md")
