"""One page first: three numbers that are never bare, a picture that never promises too much, one sheet."""

from __future__ import annotations

import io
from dataclasses import replace
from math import exp

import numpy as np
import pypdf
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from documents.drawn import Drawn, releases
from documents.sample import BIRTHS, ODD, PUBLISHED
from documents.test_readme import APPROXIMATE, NEURAL
from facsimile.documents import figures, readme
from facsimile.documents.report import ColumnEntry, Report
from facsimile.documents.summary import guesses, headlines

LONG = replace(
    PUBLISHED,
    rehearsal=True,
    title="A very long title of a release that " * 30,
    description="And a long description of what it holds. " * 60,
    unit="one person of those who were there " * 20,
    columns=PUBLISHED.columns
    + tuple(
        ColumnEntry(
            f"c{i}", "What it holds, at length. " * 20, ("x" * 70, "y"), ("x" * 70, "y"), None, None, (9, 1)
        )
        for i in range(60)
    ),
)
WIDE = replace(BIRTHS, contact="w" * 400, title="W" * 300)
SAMPLES = {
    "births": BIRTHS,
    "odd": ODD,
    "published": PUBLISHED,
    "approximate": APPROXIMATE,
    "neural": NEURAL,
    "long": LONG,
    "wide": WIDE,
}


@pytest.mark.parametrize("code", ["en", "he"])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_summary_is_one_page_with_the_same_bytes(name: str, code: str) -> None:
    found = readme.summary_pdf(SAMPLES[name], code)
    reader = pypdf.PdfReader(io.BytesIO(found))
    assert len(reader.pages) == 1
    assert b"pdfuaid" in found and b"pdfaid" in found
    assert readme.summary_pdf(SAMPLES[name], code) == found
    assert (reader.pages[0].mediabox.width, reader.pages[0].mediabox.height) == pytest.approx(
        (595.28, 841.89), abs=0.1
    )


def test_what_no_font_has_is_said_on_one_page_too() -> None:
    reader = pypdf.PdfReader(io.BytesIO(readme.summary_pdf(replace(BIRTHS, unit="一人"))))
    assert len(reader.pages) == 1
    assert "README.html shows them" in reader.pages[0].extract_text()


def test_three_numbers_are_a_count_a_mean_and_one_more() -> None:
    count, mean, more = headlines(BIRTHS)
    assert (count.of, mean.of, more.of) == ("count", "mean", "count")
    bound = BIRTHS.criteria[0].bound
    assert bound and count.between
    assert count.between[1] - count.value == int(bound * BIRTHS.records)
    parity = BIRTHS.columns[2]
    exact = np.average(parity.numbers or (), weights=parity.counts)
    assert mean.value == pytest.approx(exact) and mean.between
    assert mean.between == pytest.approx((exact - 0.0719, exact + 0.0719), abs=1e-3)


def test_where_no_bound_speaks_the_page_says_so() -> None:
    bare = replace(BIRTHS, criteria=tuple(replace(c, bound=None) for c in BIRTHS.criteria))
    assert [one.between for one in headlines(bare)] == [None] * 3
    text = readme.html(bare)
    assert text.count("No bound: nobody can say how far it is off") == 3
    assert "no statement about the confidential file" in text
    resized = replace(BIRTHS, criteria=tuple(replace(c, stands="resized") for c in BIRTHS.criteria[2:5]))
    assert all(one.between is None for one in headlines(resized)), "a bound on records that were drawn"


@seed(5)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(releases())
def test_a_number_is_the_tables_own_and_lies_between_its_ends(drawn: Drawn) -> None:
    for one in headlines(drawn.report):
        if one.of == "count":
            assert one.column
            axis = drawn.table.domain.axis(one.column.name)
            assert one.value == drawn.table.marginal((axis.name,))[one.label]
        if one.between:
            assert one.between[0] <= one.value <= one.between[1] or abs(one.value - one.between[0]) < 1e-9


@given(st.floats(0, 30), st.floats(0, 0.1), st.integers(0, 100))
def test_no_guess_does_better_than_the_picture(epsilon: float, delta: float, step: int) -> None:
    """All pairs that (ε, δ) allows for one event: right with (1 + p − q)/2."""
    q = step / 100
    p = min(1, exp(epsilon) * q + delta, 1 - (1 - q - delta) * exp(-epsilon))
    assert (1 + p - q) / 2 <= guesses(epsilon, delta) / 100 + 1e-9


def test_the_picture_shows_as_many_dots_as_the_words_say() -> None:
    svg = figures.guessing(88)
    assert svg.count("<circle") == 200
    colours = [svg.count(f'fill="{colour}"/>') for colour in (figures.ACCENT, figures.GAIN)]
    assert colours == [100, 38]
    assert "at most 88" in svg
    assert "nearly" in figures.guessing(100)


def test_a_text_that_is_too_long_for_one_page_is_cut_between_words() -> None:
    assert readme.shortened("a" * 20, 10) == "a" * 9 + "…"
    assert len(readme.shortened(LONG.title, 160)) <= 160


def first(report: Report) -> str:
    return readme.html(report).partition("<nav")[0]


def test_the_first_page_says_who_publishes_under_which_terms() -> None:
    words = first(PUBLISHED)
    for part in ("CC-BY-4.0", "10.5281/zenodo.1234567", "births@health.example", "1.2", "14 November 2026"):
        assert part in words
    assert "CC-BY-4.0" not in first(replace(PUBLISHED, rehearsal=True))
    assert "This is a rehearsal" in first(ODD) and "This is a rehearsal" not in words
