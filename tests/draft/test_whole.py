"""Whole drafts: they load, pass a check with their public file, and say what was guessed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drafts import stays, write
from facsimile.api.given import InMemory
from facsimile.draft.description import Description
from facsimile.draft.whole import Found, draft
from facsimile.errors import FacsimileError
from facsimile.release.check import mistakes, thorough
from facsimile.sources.address import Address
from facsimile.spec.load import loads


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    path = write(stays(), tmp_path_factory.mktemp("draft") / "stays.csv")
    return draft(Description(Address.of(path)))


def confirmed(text: str) -> str:
    """The text with the rules that it offers: the `# ` is removed from `raw` on."""
    before, raw, after = text.partition("  # raw:\n")
    rules, blank, rest = after.partition("\n\n")
    lines = [re.sub("^  # ", "  ", line) for line in ("  # raw:", *rules.splitlines())]
    return before + "\n".join(lines) + blank + rest if raw else text


def test_the_text_loads_without_a_mistake(found: Found) -> None:
    spec = loads(found.text, mistakes, thorough)
    assert spec.names == ("age_at_stay", "sex", "ward", "nights")
    assert spec.n == 1500 and spec.space.size == 1
    assert all(line == line.rstrip() and len(line) <= 112 for line in found.text.splitlines())


def test_it_says_what_it_is_and_what_was_left_out(found: Found) -> None:
    head = found.text[: found.text.index("facsimile: 1")]
    assert "stays.csv" in head and "1,500 records" in head and "facsimile check" in head
    assert "stay: looks like an identifier" in found.text
    assert str(Path.cwd()) not in found.text and "/tmp" not in found.text


def test_every_guess_has_a_mark_at_its_line(found: Found) -> None:
    guessed = (
        "title",
        "unit",
        "count",
        "description",
        "bounds",
        "threshold",
        "total",
        "generator",
        "min_count",
    )
    for key in guessed:
        lines = re.findall(rf"^.*?\b{key}: .*$|^.*# check: .*\n.*?\b{key}: .*$", found.text, re.MULTILINE)
        assert lines and all("# check:" in line for line in lines), key


def test_rules_that_are_confirmed_still_load(found: Found) -> None:
    spec = loads(confirmed(found.text), mistakes, thorough)
    assert spec.constraints.raw and {rule.never for rule in spec.constraints.raw} == {
        rule.never for rule in found.draft.rules
    }
    assert any("ward = maternity" in rule.never and "sex = m" in rule.never for rule in found.draft.rules)


def test_one_rule_alone_may_be_confirmed(found: Found) -> None:
    first = found.text.index("  # raw:\n")
    end = found.text.index("source: TO BE CONFIRMED", first)
    end = found.text.index("\n", end)
    lines = found.text[first:end].splitlines()
    text = found.text[:first] + "\n".join(re.sub("^  # ", "  ", line) for line in lines) + found.text[end:]
    assert len(loads(text).constraints.raw) == 1


def test_the_draft_follows_from_the_seed(found: Found, tmp_path: Path) -> None:
    path = write(stays(), tmp_path / "stays.csv")
    assert draft(Description(Address.of(path))).text == found.text


def test_its_candidates_pass(found: Found) -> None:
    assert found.tried.passed and found.specification.budget.generator == found.tried.generator


def test_a_threshold_no_trial_meets_is_loosened_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facsimile.draft.promises.ROOM", 0.05)
    monkeypatch.setattr("facsimile.draft.promises.FLOORS", {"marginals-absolute": 1e-4})
    monkeypatch.setattr("facsimile.draft.promises.DEVIATIONS", 1e-4)
    monkeypatch.setattr("facsimile.draft.promises.MOST", 100)
    text = draft(Description(InMemory(stays(400)))).text  # type: ignore[arg-type]
    assert "# check: loosened from" in text
    loads(text, mistakes, thorough)


def test_the_number_of_records_and_a_title_may_be_given() -> None:
    small = stays(300).select(["sex", "ward"])
    found = draft(Description(InMemory(small)), records=90_000, title="Stays: a first release")  # type: ignore[arg-type]
    assert found.specification.n == 90_000 and found.specification.title == "Stays: a first release"
    assert "300 records" in found.text


@pytest.mark.parametrize(
    "columns",
    [
        {"a": ["1"] * 30, "b": ["x"] * 30},
        {"id": [f"p{place}" for place in range(40)]},
        {"blank": [None] * 30},
    ],
)
def test_a_file_without_a_usable_column_is_refused(columns: dict[str, list[Any]]) -> None:
    with pytest.raises(FacsimileError, match="E153"):
        draft(Description(InMemory(pyarrow.table(columns))))  # type: ignore[arg-type]


def test_one_column_is_enough() -> None:
    fee = np.random.default_rng(1).choice([0, 12, 24, 60], 900, p=[0.1, 0.5, 0.3, 0.1])
    found = draft(Description(InMemory(pyarrow.table({"fee": fee}))))  # type: ignore[arg-type]
    assert found.specification.names == ("fee",) and found.tried.passed


ODD = [
    st.integers(-5, 5),
    st.integers(-(10**18), 10**18),
    st.floats(width=64),
    st.floats(-1, 1, width=16),
    st.sampled_from(["a", "b", "", "NA", "?", " x ", "=1", "@", "true", "false", "1", "0", "other", "unknown"]),
    st.text(max_size=6),
    st.dates().map(str),
    st.booleans(),
    st.sampled_from(["1", "2", "99", "999", "-9", "3"]),
    st.sampled_from(["1e5", "0x1", "12", "13,5", "1_000"]),
    st.just("k"),
]


@st.composite
def tables(draw: st.DrawFn) -> pyarrow.Table:
    """Small tables of odd columns."""
    rows = draw(st.integers(1, 60))
    columns = {}
    for name in draw(st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True)):
        values = draw(st.sampled_from(ODD))
        held = st.one_of(values, st.none()) if draw(st.booleans()) else values
        columns[name] = draw(st.lists(held, min_size=rows, max_size=rows))
    return pyarrow.table(columns)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(tables())
def test_whatever_a_table_holds_ends_in_a_draft_or_a_refusal(table: pyarrow.Table) -> None:
    try:
        found = draft(Description(InMemory(table)))  # type: ignore[arg-type]
    except FacsimileError as error:
        assert error.code in ("E103", "E111", "E151", "E153"), error
    else:
        loads(found.text, mistakes, thorough)
        loads(confirmed(found.text), mistakes, thorough)


@pytest.mark.long
@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(tables())
def test_the_same_for_many_tables(table: pyarrow.Table) -> None:
    test_whatever_a_table_holds_ends_in_a_draft_or_a_refusal.hypothesis.inner_test(table)  # type: ignore[attr-defined]
