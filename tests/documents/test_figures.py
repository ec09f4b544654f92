from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from documents.sample import BIRTHS, ODD, PIXEL
from facsimile.documents import figures
from facsimile.documents.figures import (
    ACCENT,
    GREY,
    WIDTH,
    described,
    framed,
    one_way,
    picture,
    quality,
    standalone,
    weighed,
)
from facsimile.documents.report import ColumnEntry as Column

LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
LABELS = st.lists(st.text(LETTERS, min_size=1, max_size=120), min_size=1, max_size=40, unique=True)


@st.composite
def columns(draw: st.DrawFn) -> Column:
    labels = draw(LABELS)
    count = st.integers(0, 10**9)
    counts = draw(st.lists(count, min_size=len(labels), max_size=len(labels)))
    missing = draw(st.none() | st.sampled_from(labels))
    name = draw(st.text(LETTERS, max_size=30))
    return Column(name, "words", tuple(labels), tuple(labels), None, missing, tuple(counts))


def bars(drawing: str) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(drawing)
    return [bar for bar in found.iter("rect") if bar.get("fill") in (ACCENT, GREY)]


@given(columns())
def test_a_bar_is_as_long_as_its_count(column: Column) -> None:
    widths = [float(bar.get("width", "")) for bar in bars(one_way(column))]
    assert len(widths) == len(column.labels)
    most = max(column.counts)
    longest = max(widths)
    for width, count in zip(widths, column.counts, strict=True):
        assert width == pytest.approx(longest * count / most if most else 0, abs=0.02)


@given(columns())
def test_every_mark_lies_inside_the_drawing(column: Column) -> None:
    drawing = ElementTree.fromstring(one_way(column))
    _, _, width, height = (float(x) for x in drawing.get("viewBox", "").split())
    assert width == WIDTH
    for bar in drawing.iter("rect"):
        x, y, length, thickness = (float(bar.get(name, "")) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert length >= 0
        assert x + length <= width
        assert y + thickness <= height
    for text in drawing.iter("text"):
        assert 0 <= float(text.get("x", "")) <= width
        assert float(text.get("y", "")) <= height


@given(columns())
def test_the_words_of_a_chart_give_every_label_and_count(column: Column) -> None:
    said = ElementTree.fromstring(one_way(column)).get("aria-label", "")
    assert " ".join(said.split()) == " ".join(described(column).split())
    for label, count in zip(column.meanings, column.counts, strict=True):
        assert f"{label}: {count:,}" in described(column)


def test_a_missing_value_has_a_colour_of_its_own() -> None:
    column = ODD.columns[0]
    grey = [bar.get("fill") == GREY for bar in bars(one_way(column))]
    assert grey == [label == column.missing for label in column.labels]


def test_labels_of_usual_length_are_shown_in_words_on_one_line() -> None:
    for column in BIRTHS.columns:
        texts = [text.text for text in ElementTree.fromstring(one_way(column)).iter("text")]
        assert set(column.meanings) <= set(texts)
        assert not {"<18", "44<", "10<", "4499<"} & set(texts)


@given(columns())
@example(Column("a", "b", ("x" * 120, "y z " * 30), ("x" * 120, "y z " * 29 + "y z"), None, None, (1, 2)))
def test_no_label_is_cut(column: Column) -> None:
    """Whatever its length: every letter is there, in lines that fit the drawing."""
    texts = [text for text in ElementTree.fromstring(one_way(column)).iter("text") if text.text]
    left = [text for text in texts if text.get("text-anchor") == "start" or float(text.get("x", "")) < 300]
    said = "".join("".join(text.text or "" for text in left).split())
    for words in column.meanings:
        assert "".join(words.split()) in said
    assert all(figures._width(text.text or "") <= WIDTH for text in texts)


def test_no_title_of_a_criterion_is_cut() -> None:
    long = replace(BIRTHS.criteria[0], title=" ".join(["word"] * 40) + " " + "x" * 90)
    texts = [text.text or "" for text in ElementTree.fromstring(quality([long])).iter("text")]
    assert "".join(long.title.split()) in "".join("".join(texts).split())
    assert all(figures._width(text) <= WIDTH for text in texts)


@pytest.mark.parametrize(("value", "bound", "inside"), [(0.5, 1.4, True), (-0.1, 1, False), (0.5, 1.6, False)])
def test_what_leaves_the_chart_is_known(value: float, bound: float, inside: bool) -> None:
    assert framed([replace(BIRTHS.criteria[0], threshold=1, value=value, bound=bound)]) is inside


def test_a_logo_is_drawn_in_its_own_shape() -> None:
    drawing = ElementTree.fromstring(standalone(picture(PIXEL)))
    assert drawing.get("viewBox") == "0 0 2 1"


def test_a_column_of_nothing_can_be_drawn() -> None:
    column = Column("a", "b", ("x", "y"), ("x", "y"), None, None, (0, 0))
    assert [bar.get("width") for bar in bars(one_way(column))] == ["0.00", "0.00"]


def test_the_chart_of_criteria_puts_each_dot_at_its_share_of_the_threshold() -> None:
    dots = list(ElementTree.fromstring(quality(BIRTHS.criteria)).iter("circle"))
    scale = (WIDTH - 10) / 1.5
    for dot, criterion in zip(dots, BIRTHS.criteria, strict=True):
        assert criterion.value is not None
        share = min(1.5, max(0, criterion.value / criterion.threshold))
        assert float(dot.get("cx", "")) == pytest.approx(5 + scale * share, abs=0.06)


def test_a_criterion_without_a_value_or_a_bound_is_drawn_as_such() -> None:
    drawing = quality(ODD.criteria)
    assert len(list(ElementTree.fromstring(drawing).iter("circle"))) == 1
    assert "not finite" in drawing
    assert f"{ODD.criteria[0].title}: not finite" in weighed(ODD.criteria)


@pytest.mark.parametrize("value", [-1e9, 0.0, 1e9])
def test_no_value_leaves_the_chart_of_criteria(value: float) -> None:
    drawing = ElementTree.fromstring(quality([replace(BIRTHS.criteria[0], value=value, bound=value + 1)]))
    for name in ("cx", "x1", "x2"):
        for mark in drawing.iter():
            assert 0 <= float(mark.get(name, "0")) <= WIDTH


def test_a_drawing_of_its_own_has_a_namespace() -> None:
    assert (
        ElementTree.fromstring(standalone(one_way(BIRTHS.columns[0]))).tag == "{http://www.w3.org/2000/svg}svg"
    )
