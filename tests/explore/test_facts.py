from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conftest import EXAMPLES
from facsimile.errors import SpecRefused
from facsimile.explore.facts import Facts, load_facts

TEXT = """\
facts: 1
title: Small
source: Invented
columns:
  - name: age
    bins: [0-17, 18-64, 65-99]
  - name: kind
    values: [A, B]
    missing: 2.5
  - name: day
    year: 2020
tables:
  - of: [age]
    percent: [20, 50, 30]
  - of: [kind]
    percent: [60, 40]
  - of: [day]
    percent: [8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9]
  - of: [age, kind]
    percent: [[20, 0], [30, 20], [10, 20]]
never:
  - age < 18 and kind = B
"""


def loaded(path: Path, old: str = "", new: str = "") -> Facts:
    assert TEXT.count(old) == 1 or not old
    file = path / "facts.yaml"
    file.write_text(TEXT.replace(old, new) if old else TEXT, encoding="utf-8")
    return load_facts(file)


def test_columns_are_numbers_categories_or_months(tmp_path: Path) -> None:
    facts = loaded(tmp_path)
    age, kind, day = (column.axis for column in facts.columns)
    assert age.labels == ("0-17", "18-64", "65-99")
    assert kind.labels == ("A", "B")
    assert day.labels == tuple(str(month) for month in range(1, 13))
    assert facts.columns[1].missing == Fraction(5, 2)
    assert [str(c) for c in facts.conditions()] == ["age < 18 and kind = B"]


@pytest.mark.parametrize("name", ["births", "discharges"])
def test_the_examples_are_read(name: str) -> None:
    facts = load_facts(EXAMPLES / name / "facts.yaml")
    assert len({table.of for table in facts.tables}) == len(facts.tables)
    assert facts.never


def test_invented_facts_say_so() -> None:
    facts = load_facts(EXAMPLES / "discharges" / "facts.yaml")
    assert "invented" in facts.title
    assert "Invented" in facts.source


@pytest.mark.parametrize("name", ["births", "discharges"])
def test_two_way_tables_agree_with_one_way_tables(name: str) -> None:
    facts = load_facts(EXAMPLES / name / "facts.yaml")
    percent = {table.of: np.array(table.percent, np.float64) for table in facts.tables}
    for (row, column), table in ((of, found) for of, found in percent.items() if len(of) == 2):
        assert table.sum(axis=1) == pytest.approx(percent[(row,)], abs=0.01)
        assert table.sum(axis=0) == pytest.approx(percent[(column,)], abs=0.01)


REFUSED = {
    # shapes
    "one-way too short": ("percent: [20, 50, 30]", "percent: [50, 50]", 14, "one percentage for each cell"),
    "one-way in rows": ("[60, 40]", "[[60], [40]]", 16, "one percentage for each cell"),
    "two-way flat": ("[[20, 0], [30, 20], [10, 20]]", "[20, 0, 30, 20, 10, 20]", 20, "one percentage"),
    "two-way turned": ("[[20, 0], [30, 20], [10, 20]]", "[[20, 30, 10], [0, 20, 20]]", 20, "one percentage"),
    "two-way ragged": ("[[20, 0], [30, 20], [10, 20]]", "[[20, 0, 0], [30, 20]]", 20, "one percentage"),
    "two-way short row": ("[[20, 0], [30, 20], [10, 20]]", "[[20, 0], [30, 20], [30]]", 20, "one percentage"),
    "three-way": ("of: [age, kind]", "of: [age, kind, day]", 19, "at most 2"),
    "of nothing": ("of: [age, kind]", "of: []", 19, "at least 1"),
    # percentages
    "negative": ("[60, 40]", "[-10, 110]", 16, "negative"),
    "too little": ("[60, 40]", "[6, 4]", 16, "adds up to 10, not to 100"),
    "all zero": ("[60, 40]", "[0, 0]", 16, "adds up to 0, not to 100"),
    "a word": ("[60, 40]", "[60, many]", 16, "decimal"),
    # columns
    "bin open above": ("65-99", "64<", 6, "64< needs both ends"),
    "bin open below": ("0-17", "<18", 6, "<18 needs both ends"),
    "bins with a gap": ("18-64", "20-64", 6, "gap"),
    "bins of decimals": ("[0-17, 18-64, 65-99]", "[0-17.5, 17.6-64, 65-99]", 6, "more decimals"),
    "no bins": ("bins: [0-17, 18-64, 65-99]", "bins: []", 6, "may not be empty"),
    "no kind": ("    bins: [0-17, 18-64, 65-99]\n", "", 5, "either bins, values or year"),
    "two kinds": ("year: 2020", "year: 2020\n    values: [x]", 10, "either bins, values or year"),
    "no values": ("values: [A, B]", "values: []", 8, "no value or one value twice"),
    "values twice": ("values: [A, B]", "values: [A, A]", 8, "no value or one value twice"),
    "all missing": ("missing: 2.5", "missing: 100", 9, "below 100"),
    "year 0": ("year: 2020", "year: 0", 11, "at least 1"),
    "name twice": ("name: kind", "name: age", 7, "same name"),
    # tables
    "unknown column": ("of: [age, kind]", "of: [age, sex]", 19, "unknown column"),
    "column twice": ("of: [age, kind]", "of: [age, age]", 19, "one column twice"),
    "no one-way table": ("  - of: [age]\n    percent: [20, 50, 30]\n", "", 12, "age needs a one-way table"),
    # rules
    "cut bin": ("age < 18 and", "age < 21 and", 22, "cuts the bin 18-64"),
    "cut by a list": ("age < 18 and", "age in [17, 18] and", 22, "cuts the bin 0-17"),
    "rule of an unknown column": ("age < 18 and", "sex = F and", 22, "unknown column"),
    "two columns compared": ("age < 18 and kind = B", "age < kind", 22, "compares two columns"),
    "unreadable rule": ("age < 18 and kind = B", "age <", 22, "ends where"),
    "ordered categories": ("kind = B", "kind > B", 22, "orders the categories of kind"),
    "unknown label": ("kind = B", "kind in [B, C]", 22, "C is not a value of kind"),
    "number as a label": ("kind = B", "kind = 3", 22, "3 is not a value of kind"),
    # the whole
    "version": ("facts: 1", "facts: 2", 1, "at most 1"),
    "no title": ("title: Small\n", "", 1, "`title` is missing"),
}  # fmt: skip


NAMES = ("unknown column", "C is not a value of kind", "3 is not a value of kind")


@pytest.mark.parametrize("case", REFUSED)
def test_each_refusal_names_its_line(case: str, tmp_path: Path) -> None:
    old, new, line, words = REFUSED[case]
    with pytest.raises(SpecRefused) as caught:
        loaded(tmp_path, old, new)
    assert (caught.value.line, caught.value.others) == (line, ()), str(caught.value)
    assert caught.value.code == {"`title` is missing": "E214"}.get(words, "E213" if words in NAMES else "E200")
    assert words in caught.value.sentence


def test_a_wrong_column_is_told_before_what_follows_from_it(tmp_path: Path) -> None:
    file = tmp_path / "facts.yaml"
    head, tables = TEXT.replace("65-99", "64<").split("tables:\n")
    before, columns = head.split("columns:\n")
    file.write_text(f"{before}tables:\n{tables}columns:\n{columns}", encoding="utf-8")
    with pytest.raises(SpecRefused, match="needs both ends"):
        load_facts(file)


def test_unknown_keys_and_lost_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecRefused) as caught:
        loaded(tmp_path, "missing: 2.5", "mising: 2.5")
    assert (caught.value.code, caught.value.line) == ("E205", 9)
    assert caught.value.next_step == "Did you mean missing?"
    with pytest.raises(SpecRefused) as caught:
        load_facts(tmp_path / "none.yaml")
    assert caught.value.code == "E212"


def test_rounding_may_miss_a_hundred(tmp_path: Path) -> None:
    assert loaded(tmp_path, "[60, 40]", "[59.7, 39.8]").tables[1].of == ("kind",)
