"""People and sources: what is printed about them has a form before a release begins."""

from __future__ import annotations

import copy
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.spec.load import load, loads, validated
from facsimile.spec.people import MOST_PEOPLE, Source, is_mail
from specs import SMALL, small

WHOLE: dict[str, Any] = {
    "partners": [{"role": "Steward"}, {"name": "Ada", "organisation": "An office"}, {"organisation": "A club"}],
    "requirements": {"Format": "A table."},
    "approvals": [{"by": "A board", "of": "The plan", "when": "2024-02-29"}, {"by": "Ada", "of": "The rest"}],
    "legal_basis": "A law",
    "ethics_review": "None was needed",
    "contact": "data@office.example",
    "feedback": "https://office.example/feedback?a=1",
}


def governed(**changes: Any) -> dict[str, Any]:
    return SMALL | {"governance": WHOLE | changes}


def sourced(source: Any) -> dict[str, Any]:
    data = copy.deepcopy(SMALL)
    data["criteria"][0]["threshold_source"] = source
    return data


def refused(data: Any) -> FacsimileError:
    with pytest.raises(FacsimileError) as caught:
        validated(data)
    return caught.value


def test_a_whole_governance_is_read() -> None:
    found = validated(governed()).governance
    assert found
    assert found.model_dump(exclude_none=True) == {
        **WHOLE,
        "partners": tuple(WHOLE["partners"]),
        "approvals": tuple(WHOLE["approvals"]),
    }


@pytest.mark.parametrize("name", ["release", "released", "nvss", "ours"])
def test_every_criterion_of_the_births_says_where_the_paper_speaks_of_it(births: Path, name: str) -> None:
    for criterion in load(births / f"{name}.yaml").criteria:
        for source in (criterion.source, criterion.threshold_source):
            assert isinstance(source, Source)
            assert source.when is None, "the paper gives no day"
            assert re.search(r"\(paper, sections? (1\.1|2\.5)[.0-9]*", source.why or "")


def test_a_specification_without_people_keeps_its_hash() -> None:
    assert "source" not in small().budget.model_dump(exclude_none=True)
    assert not {"governance", "threshold_source"} & set(small().canonical().split('"'))
    assert validated(governed()).digest() != small().digest()


def test_a_source_is_a_sentence_or_says_who_why_and_when() -> None:
    assert validated(sourced("  A board,\n in spring ")).criteria[0].threshold_source == "A board, in spring"
    told = {"by": "A board", "why": "To be useful.", "when": "2024"}
    assert validated(sourced(told)).criteria[0].threshold_source == Source(**told)
    assert validated(sourced({"by": "A board"})).criteria[0].threshold_source == Source(by="A board")


@pytest.mark.parametrize("place", ["budget", "selection", "projection"])
def test_other_parts_have_a_source_too(place: str) -> None:
    data = copy.deepcopy(SMALL)
    data[place]["source"] = {"by": "A board"}
    assert getattr(validated(data), place).source == Source(by="A board")


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("", "E200"),
        (" ", "E200"),
        ("x" * 4001, "E200"),
        (["A board"], "E200"),
        (True, "E200"),
        ({}, "E214"),
        ({"why": "because"}, "E214"),
        ({"by": ""}, "E200"),
        ({"by": "x" * 121}, "E200"),
        ({"by": "=1+1"}, "E161"),
        ({"by": "A \u202eboard"}, "E161"),
        ({"by": "A board", "why": " "}, "E200"),
        ({"by": "A board", "when": "2023-02-29"}, "E200"),
        ({"by": "A board", "when": "2023-13"}, "E200"),
        ({"by": "A board", "when": "0000"}, "E200"),
        ({"by": "A board", "when": "20230101"}, "E200"),
        ({"by": "A board", "when": "2023-W01-1"}, "E200"),
        ({"by": "A board", "when": "٢٠٢٣"}, "E200"),
        ({"by": "A board", "when": "2023-1-1"}, "E200"),
        ({"by": "A board", "when": "2023-01-01T10:00"}, "E200"),
        ({"by": "A board", "when": "yesterday"}, "E200"),
        ({"by": "A board", "when": ""}, "E200"),
        ({"by": "A board", "where": "here"}, "E205"),
    ],
    ids=str,
)
def test_any_other_source_is_refused(source: Any, code: str) -> None:
    assert refused(sourced(source)).code == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"partners": [{}]}, "E200"),
        ({"partners": {"name": "Ada"}}, "E200"),
        ({"partners": [{"name": "Ada"}] * (MOST_PEOPLE + 1)}, "E200"),
        ({"partners": [{"name": "Ada", "email": "ada@office.example"}]}, "E205"),
        ({"partners": [{"name": "@Ada"}]}, "E161"),
        ({"requirements": {"": "A table."}}, "E200"),
        ({"requirements": {"Format": ""}}, "E200"),
        ({"requirements": ["Format"]}, "E200"),
        ({"requirements": {str(i): "x" for i in range(MOST_PEOPLE + 1)}}, "E200"),
        ({"approvals": [{"by": "A board"}]}, "E214"),
        ({"approvals": [{"of": "The plan"}]}, "E214"),
        ({"approvals": [{"by": "A board", "of": "The plan", "when": "soon"}]}, "E200"),
        ({"legal_basis": ""}, "E200"),
        ({"ethics_review": " "}, "E200"),
        ({"contact": ""}, "E200"),
        ({"contact": "the office"}, "E200"),
        ({"contact": "data@office"}, "E200"),
        ({"contact": "data@office.example\n"}, "E200"),
        ({"contact": "data@office.example?subject=<b>"}, "E200"),
        ({"contact": '"data"@office.example'}, "E200"),
        ({"contact": "mailto:data@office.example"}, "E200"),
        ({"contact": "a" * 300 + "@office.example"}, "E200"),
        ({"contact": "data@" + "a." * 150 + "example"}, "E200"),
        ({"feedback": "javascript:alert(1)"}, "E200"),
        ({"feedback": "https://office.example/<script>"}, "E200"),
        ({"feedback": "//office.example/"}, "E200"),
        ({"owner": "Ada"}, "E205"),
    ],
    ids=str,
)
def test_any_other_governance_is_refused(changes: dict[str, Any], code: str) -> None:
    assert refused(governed(**changes)).code == code


def test_a_contact_is_given_once() -> None:
    assert validated(SMALL | {"contact": "the office"}).contact == "the office"
    without = {key: value for key, value in WHOLE.items() if key != "contact"}
    assert validated(SMALL | {"contact": "the office", "governance": without})
    assert "two contacts" in str(refused(governed() | {"contact": "the office"}))


def test_mistakes_are_told_at_their_lines_all_at_once() -> None:
    approval = "    - by: A\n      of: B\n      when: never\n"
    text = f"governance:\n  partners:\n    - {{}}\n  approvals:\n{approval}  contact: x\n"
    with pytest.raises(FacsimileError) as caught:
        loads(text)
    told = str(caught.value)
    for words in ("line 3: A partner needs", "line 7: `when` is wrong: a day", "line 8: `contact` is wrong"):
        assert words in told


@given(st.integers(0, 80_000), st.integers(0, 2))
def test_every_day_month_and_year_is_taken(days: int, less: int) -> None:
    day = (date(1850, 1, 1) + timedelta(days)).isoformat()
    when = day[: (10, 7, 4)[less]]
    assert Source(by="A", when=when).when == when


@given(st.text(max_size=30))
def test_no_text_becomes_an_address_with_marks_of_a_page(text: str) -> None:
    for candidate in (text, f"{text}@office.example", f"a@{text}.example", f"a@office.{text}"):
        assert not (is_mail(candidate) and any(mark in candidate for mark in "<>&\"'`?:/ \t\n"))
