"""Results: words of others are text, never markup; a table comes out in three forms."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.release.microdata import Microdata
from facsimile.results import Listing, Page, Result

TAGS = {"div", "h4", "p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
LETTERS = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
MARKUP = st.sampled_from(["<b>", "</p>", "</td>", "<script>", "&lt;", "&amp;", '"', "'", "<!--", "x"])
TEXTS = st.lists(LETTERS | MARKUP, min_size=1, max_size=4).map("".join)


class Read(HTMLParser):
    """What a browser makes of a text: tags, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.words = set[str](), list[str]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(name == "style" for name, _ in attrs)
        self.tags.add(tag)
        self.words.append("")

    def handle_endtag(self, tag: str) -> None:
        self.words.append("")

    def handle_data(self, data: str) -> None:
        self.words[-1] += data


@given(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_every_word_is_shown_and_none_is_markup(heading: str, line: str, title: str, cells: list[str]) -> None:
    page = Page(heading)
    page.line(line)
    page.table(title, "|".join(f"column {i}" for i, _ in enumerate(cells)), [tuple(cells)])
    read = Read(page.html())
    assert read.tags <= TAGS
    shown = [word for word in read.words if word]
    assert shown == [heading, line, title, *(f"column {i}" for i, _ in enumerate(cells)), *cells]


@dataclass(frozen=True, repr=False)
class Told(Result):
    text: str

    def as_json(self) -> dict[str, Any]:
        return {}

    def page(self) -> Page:
        page = Page(self.text)
        page.line("\nfirst")
        page.line("second")
        return page


def test_a_short_text_stands_for_a_result() -> None:
    assert repr(Told("Births")) == "<Told: Births; first>"
    assert len(repr(Told("x" * 1000))) < 120


def test_a_table_comes_out_as_arrow_pandas_and_polars() -> None:
    table = pa.table({"|a": ["<b>", None], "_b>": [1, 2]})
    data = Microdata("People", table)
    assert data.to_arrow() is table
    assert data.to_pandas().equals(table.to_pandas())
    assert data.to_polars().equals(pl.from_arrow(table))
    assert pl.DataFrame(data).equals(data.to_polars()), "whoever reads Arrow's stream reads it"
    assert pa.table(data) == table
    read = Read(data._repr_html_())
    assert [word for word in read.words if word][-5:] == ["|a", "_b>", "<b>", "1", "2"]
    assert len(data) == 2 and data.as_json() == {"title": "People", "records": 2}


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_missing_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith("pyarrow.pandas")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(FacsimileError, match=f"^E002 .*{package}"):
        getattr(Microdata("People", pa.table({"a": [1]})), f"to_{package}")()


def test_numbers_of_microdata_stand_to_the_right() -> None:
    page = Microdata("t", pa.table({"age": [31], "weight": [0.5], "sex": ["F"]})).page()
    assert [part.heads for part in page.parts if isinstance(part, Listing)] == [
        (("age", True), ("weight", True), ("sex", False))
    ]
