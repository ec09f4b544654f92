from __future__ import annotations

from dataclasses import replace

import pytest

from documents.described import REPORTS, SIZES
from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents import facts
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report
from facsimile.spec.people import Governance


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_the_warning_names_the_epsilon_and_the_delta_or_the_rehearsal(report: Report) -> None:
    words = facts.warning(report)
    assert f"epsilon {report.epsilon}" in words
    assert ("delta" in words) == (report.delta is not None)
    assert words.startswith(REHEARSAL) == report.rehearsal
    assert ("No row is a person" in words) != report.rehearsal


def test_every_bound_is_told_and_how_sure_it_is() -> None:
    told = facts.bounds(BIRTHS)
    assert [line.partition(":")[0] for line in told[:-2]] == [c.name for c in BIRTHS.criteria]
    assert told[-2] == "All 8 bounds hold together with a probability of at least 95 %."
    assert "mean-parity" in told[-1]
    assert "faithfulness" not in told[-1]
    assert facts.unbounded(BIRTHS) == []


def test_where_there_is_none_that_is_said() -> None:
    assert facts.bounds(ODD) == ["No error of this table has a bound."]
    assert facts.unbounded(ODD) == ["Without a bound: query-<odd>, quantile-0.5-a."]


def test_a_release_is_named_by_its_doi_and_else_by_its_table() -> None:
    assert facts.identifier(PUBLISHED) == "https://doi.org/10.5281/zenodo.1234567"
    without = [BIRTHS, replace(PUBLISHED, rehearsal=True), replace(BIRTHS, data_hash="0" * 64)]
    named = [facts.identifier(report) for report in without]
    assert all(name.startswith("urn:uuid:") for name in named)
    assert named[0] == named[1] != named[2]
    assert [facts.landing(report) for report in without] == [None, None, None]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("data@office.example", ("data@office.example", None)),
        ("https://office.example/ask", (None, "https://office.example/ask")),
        ("not an <address>", (None, None)),
        (None, (None, None)),
    ],
)
def test_a_contact_is_a_mail_address_a_link_or_nothing(
    written: str | None, found: tuple[str | None, str | None]
) -> None:
    report = replace(BIRTHS, governance=Governance.model_construct(contact=written))
    assert facts.contact(report) == found


def test_files_of_data_are_described_and_others_are_not() -> None:
    assert list(facts.described(SIZES)) == [name for name in SIZES if name != "report.json"]
    assert facts.described({"README.html": (1, ""), "tables/notes.txt": (1, "")}) == {}


def test_what_happened_to_values_is_told() -> None:
    column = replace(BIRTHS.columns[0], missing="unknown", blanks="1", others="2", clipped=True, left_out=True)
    assert len(facts.treated(column)) == 6
    assert facts.treated(replace(BIRTHS.columns[0], coarse=False)) == []


def test_rules_and_rare_rows_are_told() -> None:
    told = facts.removed(BIRTHS)
    assert len(told) == len(BIRTHS.rules) + 1
    assert told[-1] == "Rare rows: algorithm paper, min_count 2."
    assert facts.removed(replace(BIRTHS, rules=(), projection={})) == []


def test_uses_are_what_was_tested() -> None:
    assert facts.uses(BIRTHS) == ["counts and shares", "means", "regression", "whole rows"]
