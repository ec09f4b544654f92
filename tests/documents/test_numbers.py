"""The numbers that stand for values are on the page, in the PDF and in the metadata, exactly."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from documents.sample import BIRTHS, ODD
from facsimile.documents.metadata import datapackage
from facsimile.documents.readme import html
from facsimile.documents.report import Report


def listed(report: Report) -> dict[str, str]:
    """Each column's line of the table of numbers."""
    table = re.search(r'<table class="numbers".*?</table>', html(report), re.DOTALL)
    if table is None:
        return {}
    rows = re.findall(r"<tr.*?<code>(.*?)</code>.*?<td[^>]*>(.*?)</td>", table[0], re.DOTALL)
    return {unescape(name): unescape(cell) for name, cell in rows}


def test_every_number_that_a_value_does_not_say_itself_is_listed() -> None:
    found = listed(BIRTHS)
    assert set(found) == {"mother_age", "parity", "gestation_week", "birth_sex", "birth_weight"}
    for column in BIRTHS.columns:
        for label, number in zip(column.labels, column.numbers or (), strict=True):
            said = (
                f"{label} is {number:,g}" if number < 1000 else f"{label} is {number:,.1f}".removesuffix(".0")
            )
            assert (said in found.get(column.name, "").split("; ")) is (label != f"{number:g}"), said


def test_a_number_beside_a_value_is_not_rounded() -> None:
    """A range of 100 whole grams has the middle 1549.5; 1550 is another number."""
    assert re.search(r"1500-1599( <em>[^<]*</em>)? <small>1,549.5</small>", html(BIRTHS))


def test_the_table_says_that_means_are_not_of_the_original_values() -> None:
    assert (
        "are of these numbers, in this table and in the confidential file alike, not of the original"
        in html(BIRTHS)
    )


def test_values_that_are_their_own_numbers_need_no_table() -> None:
    first = BIRTHS.columns[0]
    plain = replace(
        first,
        labels=("-3", "0", "1500"),
        meanings=("-3", "0", "1500"),
        numbers=(-3.0, 0.0, 1500.0),
        counts=(1, 1, 1),
    )
    assert listed(replace(BIRTHS, columns=(plain,))) == {}
    assert listed(replace(BIRTHS, columns=(replace(plain, numbers=None),))) == {}


@pytest.mark.parametrize("report", [BIRTHS, ODD], ids=["births", "odd"])
def test_the_metadata_hold_the_number_of_each_value(report: Report) -> None:
    fields = datapackage(report, {"data.csv": (1, "a" * 64)})["resources"][0]["schema"]["fields"]
    for field, column in zip(fields, report.columns, strict=True):
        if column.numbers is None:
            assert "facsimile" not in field
        else:
            numbers = field["facsimile"]["numbers"]
            assert list(numbers.items()) == list(zip(column.labels, column.numbers, strict=True))
