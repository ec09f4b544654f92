"""A release that is opened: it answers, and its records carry order, numbers, warning and bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import facsimile
from facsimile.api.answers import Opened
from facsimile.errors import FacsimileError
from releases import N, request, specification, write_data


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rehearsal of the small release, with its noisy tables."""
    from facsimile.release.run import rehearsal

    home = tmp_path_factory.mktemp("opened")
    write_data(home)
    small = specification(families=[{"family": "workload"}], publish=["tables"])
    asked = request(home, specification=small, ledger=None, out=home / "bundle")
    assert rehearsal(asked, 1).report is not None
    return home / "bundle"


@pytest.fixture(scope="module")
def people(bundle: Path) -> Opened:
    return facsimile.open(bundle)


def test_a_question_is_answered_with_an_interval_a_rule_and_a_promise(people: Opened) -> None:
    found = people.count("sex = F")
    assert found.status == "guaranteed"
    assert found.value is not None and found.low is not None and found.high is not None
    assert found.low <= 400 * 2 / 3 <= found.high
    shown = found.page().html()
    assert "About" in shown and "95 % confidence" in shown and "Rule:" in shown and "REHEARSAL" in shown


def test_methods_and_words_ask_the_same(people: Opened) -> None:
    pairs = [
        (people.count("age < 18"), "count where age < 18"),
        (people.proportion("sex = F", "age < 18"), "proportion sex = F given age < 18"),
        (people.mean("age", "sex = F"), "mean age where sex = F"),
        (people.median("age"), "median age"),
        (people.quantile("age", "0.9"), "quantile 0.9 age"),
        (people.table("age", "sex"), "table age by sex"),
        (people.regress("age", "sex"), "regress age on sex"),
        (people.logit("age < 18", "sex"), "logit age < 18 on sex"),
    ]
    for one, words in pairs:
        assert one.as_json() == people.ask(words).as_json() and json.dumps(one.as_json())
        assert one.page().html() and repr(one).startswith("<Answered: ")


def test_the_command_line_calls_the_same_function(bundle: Path, people: Opened) -> None:
    asked = "table sex by age", "0.9", 3
    found = facsimile.answer(bundle, asked[0], confidence=asked[1], together=asked[2])
    assert found.as_json() == people.ask(asked[0], confidence="0.9", together=3).as_json()


def test_a_table_of_cells_is_a_frame(people: Opened) -> None:
    frame = people.table("age", "sex").to_pandas()
    assert list(frame.columns) == ["age", "sex", "value", "low", "high", "status", "rule"]
    assert frame["value"].sum() == N and (frame["low"] <= frame["value"]).all()


def test_records_are_ordered_and_carry_numbers_warning_and_bounds(people: Opened) -> None:
    frame = people.to_pandas()
    assert len(frame) == N and frame["age"].cat.ordered
    assert list(frame["age"].cat.categories) == list(people.basis.table.domain.axis("age").labels)
    assert frame["sex_number"].dtype == float
    assert "Synthetic" in frame.attrs["facsimile_warning"]
    assert "marginals-absolute" in json.loads(frame.attrs["facsimile_bounds"])
    arrow = people.to_arrow()
    assert arrow.schema.field("age").type.ordered and b"facsimile_warning" in (arrow.schema.metadata or {})
    polars = people.to_polars()
    assert polars["age"].dtype.categories.to_list() == list(frame["age"].cat.categories)
    assert polars["age"].to_list() == frame["age"].tolist()


def test_an_opened_release_shows_its_columns_and_that_it_is_a_rehearsal(people: Opened) -> None:
    shown = people.page().html()
    assert "age" in shown and "REHEARSAL" in shown and people.as_json()["noisy_tables"] > 0


@pytest.mark.parametrize("confidence", ["0", "1", "sure", "1/0", "-1"])
def test_a_confidence_that_is_none_is_refused(people: Opened, confidence: str) -> None:
    with pytest.raises(FacsimileError) as refused:
        people.count(confidence=confidence)
    assert refused.value.code == "E435"


def test_an_answer_without_a_guarantee_says_so_in_words(people: Opened) -> None:
    found = people.logit("age < 18", "sex")
    assert found.status == "none" and "NO GUARANTEE" in found.page().html()
    frame = found.to_pandas()
    assert frame["low"].isna().all() and (frame["status"] == "none").all()
