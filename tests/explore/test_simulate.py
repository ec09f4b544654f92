import time
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXAMPLES
from facsimile.errors import SpecRefused
from facsimile.explore import simulate as simulation
from facsimile.explore.facts import FactColumn, Facts, load_facts
from facsimile.explore.simulate import _blocks, _joined, simulate
from facsimile.privacy.private import Private
from facsimile.privacy.reader import read, read_public
from facsimile.shaping.sampling import rounded
from facsimile.spec.bins import NumberBin
from facsimile.spec.columns import Column, Constant
from facsimile.spec.constraints import Atom, Condition, fold, holds, parse_condition, resolve
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.encoding import recode
from facsimile.table.table import Table


@dataclass(frozen=True)
class Example:
    folder: str
    plausible_by: str
    n: int
    points: float

    @property
    def facts(self) -> Facts:
        return load_facts(EXAMPLES / self.folder / "facts.yaml")

    def specification(self, name: str = "release") -> Specification:
        return load(EXAMPLES / self.folder / f"{name}.yaml")


EXAMPLE = {
    "births": Example("births", "nvss", 165_915, 0.2),
    "discharges": Example("discharges", "release", 50_000, 0.5),
}
EACH = pytest.mark.parametrize("name", EXAMPLE)


@cache
def made(name: str, seed: int = 1) -> tuple[Any, float]:
    """The records of an example and the CPU seconds that they took."""
    example = EXAMPLE[name]
    start = time.process_time()
    records = simulate(example.facts, example.n, seed)
    return records, time.process_time() - start


@cache
def encoded(name: str) -> Table:
    return read_public(made(name)[0], EXAMPLE[name].specification())


def distinct(records: Any, name: str) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct values of a raw column, and the place of each record's value among them."""
    column = records.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
    return column.dictionary.to_pylist(), np.array(column.indices)


def codes_of(column: FactColumn, records: Any) -> npt.NDArray[np.int64]:
    """The bin of each raw value that is not blank; −1 for a blank."""
    values, places = distinct(records, column.name)
    bins = [(int(b.low or 0), int(b.high or 0)) for b in column.axis.bins if isinstance(b, NumberBin)]

    def code(value: Any) -> int:
        if column.values is not None:
            return column.values.index(value)
        number = value.month if column.year is not None else value
        (found,) = (place for place, (low, high) in enumerate(bins) if low <= number <= high)
        return found

    return np.array([-1 if value is None else code(value) for value in values])[places]


@EACH
def test_one_way_tables_are_met(name: str) -> None:
    facts, records = EXAMPLE[name].facts, made(name)[0]
    columns = {column.name: column for column in facts.columns}
    assert records.column_names == list(columns)
    assert records.num_rows == EXAMPLE[name].n
    for table in (table for table in facts.tables if len(table.of) == 1):
        codes = codes_of(columns[table.of[0]], records)
        present = codes[codes >= 0]
        found = 100 * np.bincount(present, minlength=len(table.percent)) / len(present)
        off = np.abs(found - np.array(table.percent, np.float64))
        assert off.max() < EXAMPLE[name].points, table.of


@EACH
def test_two_way_tables_are_met(name: str) -> None:
    facts, records = EXAMPLE[name].facts, made(name)[0]
    codes = {column.name: codes_of(column, records) for column in facts.columns}
    for table in (table for table in facts.tables if len(table.of) == 2):
        percent = np.array(table.percent, np.float64)
        first, second = (codes[name] for name in table.of)
        present = (first >= 0) & (second >= 0)
        cells = (first * percent.shape[1] + second)[present]
        found = 100 * np.bincount(cells, minlength=percent.size) / len(cells)
        assert np.abs(found - percent.ravel()).max() < EXAMPLE[name].points, table.of
        assert np.abs(found - percent.ravel()).sum() / 2 < 3, table.of


def test_dates_are_the_middle_of_a_month_of_the_year() -> None:
    days, _ = distinct(made("births")[0], "date_of_birth")
    assert sorted(days) == [date(2019, month, 15) for month in range(1, 13)]


@EACH
def test_blanks_are_as_frequent_as_declared(name: str) -> None:
    facts, records = EXAMPLE[name].facts, made(name)[0]
    for column in facts.columns:
        share = 100 * records.column(column.name).null_count / records.num_rows
        assert share == pytest.approx(float(column.missing), abs=0.3)
        assert (share > 0) == (column.missing > 0)


@EACH
def test_no_record_is_implausible(name: str) -> None:
    specification = EXAMPLE[name].specification(EXAMPLE[name].plausible_by)
    records = made(name)[0]
    assert specification.raw_conditions
    for condition in specification.raw_conditions:
        assert not broken(condition, specification, records).any(), str(condition)


def broken(condition: Condition, specification: Specification, records: Any) -> Mask:
    """On which records a condition holds; each atom is decided once for each distinct value."""

    def atom(a: Atom) -> Mask:
        column = specification.column(a.names[0])
        values, places = distinct(records, column.raw_name)
        return np.array([holds(a, {column.name: seen(column, value)}) for value in values])[places]

    return fold(condition, atom, np.logical_and.reduce, np.logical_or.reduce)


def seen(column: Column, raw: Any) -> Fraction | str | None:
    """What a raw constraint sees of a field."""
    if raw is None and isinstance(column.missing, Constant):
        return column.missing.value if column.is_category else Fraction(column.missing.value)
    if raw is None:
        return None
    if column.part is not None:
        return Fraction(getattr(raw, column.part))
    if column.values is None:
        return Fraction(raw) // column.step * column.step
    text = column.map.get(raw) if column.map else raw
    return text if text in column.values else column.outside


def test_the_check_of_plausibility_would_find_something() -> None:
    specification, records = EXAMPLE["births"].specification("nvss"), made("births")[0]
    condition = resolve(parse_condition("mother_age < 20 and parity = 3"), specification.names)
    rows = zip(*(records.column(name).to_pylist() for name in ("mother_age", "parity")), strict=True)
    assert broken(condition, specification, records).sum() == sum(a < 20 and p == 3 for a, p in rows) > 0


@EACH
def test_it_takes_at_most_ten_seconds(name: str) -> None:
    assert made(name)[1] <= 10


@EACH
def test_a_seed_decides_everything(name: str) -> None:
    example, records = EXAMPLE[name], made(name)[0]
    assert simulate(example.facts, example.n, 1).equals(records)
    other = simulate(example.facts, example.n, 2)
    assert other.schema == records.schema
    assert not other.equals(records)


@EACH
def test_the_records_are_read_without_refusal(name: str) -> None:
    example = EXAMPLE[name]
    assert example.n == example.specification().n == encoded(name).n
    assert isinstance(read(made(name)[0], example.specification()).private, Private)


def test_births_are_read_as_they_were_written() -> None:
    table, records = encoded("births"), made("births")[0]
    girls = records.column("is_female").to_pylist().count("True")
    assert table.marginal(("birth_sex",)).tolist() == [table.n - girls, girls]
    months = [day.month for day in records.column("date_of_birth").to_pylist()]
    assert table.marginal(("birth_month",)).tolist() == np.bincount(months)[1:].tolist()


def test_discharges_are_read_by_their_rules() -> None:
    """A code for blanks, a constant for blanks, a label for unlisted codes, decimals rounded down."""
    specification, records = EXAMPLE["discharges"].specification(), made("discharges")[0]
    table = recode(specification, encoded("discharges"), specification.alternatives_named("standard"))
    raw = {name: records.column(name).to_pylist() for name in records.column_names}

    def counts(name: str) -> dict[str, int]:
        labels = table.domain.axis(name).labels
        return dict(zip(labels, table.marginal((name,)).tolist(), strict=True))

    assert counts("sex") == {
        "M": raw["sex_code"].count("1"),
        "F": raw["sex_code"].count("2"),
        "unknown": raw["sex_code"].count(None),
    }
    assert counts("severity")["unknown"] == raw["severity"].count(None)
    days = raw["intensive_care_days"]
    assert counts("intensive_care_days")["0"] == days.count(0) + days.count(None)
    assert counts("region")["OTHER"] == sum(region in ("R11", "R12", None) for region in raw["region"])
    assert counts("diagnosis")["OTH"] == sum(code in ("R07", "Z51") for code in raw["diagnosis"])
    weights = [weight in ("1.24", "1.53", "1.92") for weight in raw["cost_weight"]]
    assert counts("cost_weight")["1.0-1.9"] == sum(weights)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_any_number_of_records_can_be_made(n: int) -> None:
    assert simulate(EXAMPLE["discharges"].facts, n, 5).num_rows == n


def facts_of(ties: list[str], never: tuple[str, ...] = (), columns: str = "abcdef", bins: int = 2) -> Facts:
    """Columns of equally likely bins, and a two-way table for each pair of letters."""
    even = Fraction(100, bins)
    tables = [{"of": [name], "percent": [even] * bins} for name in columns]
    tables += [{"of": list(tie), "percent": [[even / bins] * bins] * bins} for tie in ties]
    return Facts.model_validate(
        {
            "facts": 1,
            "title": "Small",
            "source": "Invented",
            "columns": [{"name": name, "bins": [f"1..{bins}"]} for name in columns],
            "tables": tables,
            "never": never,
        }
    )


@pytest.mark.parametrize(
    ("ties", "blocks"),
    [
        ([], ["a", "b", "c", "d", "e", "f"]),
        (["ab"], ["ab", "c", "d", "e", "f"]),
        (["ab", "bc", "cd", "be"], ["ab", "bc", "cd", "be", "f"]),
        (["ab", "bc", "ca"], ["abc", "d", "e", "f"]),
        (["ab", "ba"], ["ab", "c", "d", "e", "f"]),
        (["ab", "bc", "cd", "de", "ef", "fa"], ["abcdef"]),
        (["ab", "bc", "ca", "cd", "de", "ef", "fd"], ["abc", "cd", "def"]),
        (["ab", "bc", "ca", "bd", "dc", "ef"], ["abcd", "ef"]),
        (["ab", "cd", "ef"], ["ab", "cd", "ef"]),
        (["ab", "ef", "bc", "ed"], ["ab", "bc", "ed", "ef"]),
    ],
)
def test_trees_stay_apart_and_cycles_are_joined(ties: list[str], blocks: list[str]) -> None:
    found = _blocks(facts_of(ties))
    assert sorted(found) == sorted(sorted(block) for block in blocks)
    placed: set[str] = set()
    for block in found:
        assert len(placed & set(block)) <= 1
        placed |= set(block)


def test_rules_tie_columns_like_tables_do() -> None:
    assert ["a", "b", "c"] in _blocks(facts_of(["ab"], ("a = 1 and c = 1", "b = 2 and c = 1")))
    assert ["a", "c"] in _blocks(facts_of(["ab"], ("a = 1 and c = 1",)))


@given(st.sets(st.sampled_from([a + b for a, b in combinations("abcdefg", 2)]), max_size=12))
def test_blocks_are_the_biconnected_parts(edges: set[str]) -> None:
    ties = [set(edge) for edge in sorted(edges)]
    groups = _joined(ties)
    for left, right in combinations(groups, 2):
        assert len(left & right) <= 1
    assert all(sum(tie <= group for group in groups) == 1 for tie in ties)
    assert acyclic(groups)
    for group in groups:
        inside = [tie for tie in ties if tie <= group]
        assert len(group) == 2 or all(connected(group - {name}, inside) for name in group)


def connected(columns: set[str], ties: list[set[str]]) -> bool:
    reached = {min(columns)}
    while True:
        more = set().union(reached, *(tie & columns for tie in ties if tie & reached and tie <= columns))
        if more == reached:
            return reached == columns
        reached = more


def acyclic(groups: list[set[str]]) -> bool:
    """Groups and columns form a forest: as many memberships as nodes less components."""
    columns = set().union(*groups)
    parts: list[set[str]] = []
    for group in groups:
        near = [part for part in parts if part & group]
        parts = [part for part in parts if not part & group] + [set().union(group, *near)]
    return sum(len(group) for group in groups) == len(columns) + len(groups) - len(parts)


@pytest.mark.parametrize("rule", ["a > 7", "a < 0", "f > 7"])
def test_a_rule_about_one_column_ties_nothing(rule: str) -> None:
    facts = facts_of(["ab", "bc"], (rule,))
    assert _blocks(facts) == _blocks(facts_of(["ab", "bc"]))
    assert simulate(facts, 10, 1).num_rows == 10


def test_blocks_meet_in_what_was_drawn_before() -> None:
    """Two rules that meet in one column hold together: a = b and b = c in every record."""
    never = ("a = 1 and b = 2", "a = 2 and b = 1", "b = 1 and c = 2", "b = 2 and c = 1")
    records = simulate(facts_of([], never, "abc"), 1000, 3)
    rows = set(zip(*(records.column(name).to_pylist() for name in "abc"), strict=True))
    assert rows == {(1, 1, 1), (2, 2, 2)}
    assert records.column("a").to_pylist().count(1) == 500


@pytest.mark.parametrize("never", [("a < 3",), ("a = 2",), ("a = 1 and b < 3",)])
def test_facts_that_contradict_their_rules_are_refused(never: tuple[str, ...]) -> None:
    with pytest.raises(SpecRefused, match=r"E200 The tables and rules leave no record for [12] of a\."):
        simulate(facts_of([], never, "ab"), 10, 1)


def test_a_block_with_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "LARGEST_BLOCK", 7)
    assert simulate(facts_of(["ab", "bc"]), 10, 1).num_rows == 10
    with pytest.raises(SpecRefused, match="E200 The tables tie a, b, c together too closely"):
        simulate(facts_of(["ab", "bc", "ca"]), 10, 1)


def test_columns_without_a_tie_are_independent() -> None:
    records = simulate(facts_of([], columns="ab"), 40_000, 1)
    first, second = (np.array(records.column(name)) for name in "ab")
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02


@given(
    st.lists(st.integers(0, 9) | st.integers(0, 10**6), min_size=1, max_size=60).filter(any),
    st.integers(1, 10**6),
    st.integers(0, 2**32),
)
def test_a_systematic_count_is_its_expectation_rounded(weights: list[int], n: int, seed: int) -> None:
    counts = rounded(np.array(weights, np.float64), n, np.random.default_rng(seed)).tolist()
    assert sum(counts) == n
    for weight, count in zip(weights, counts, strict=True):
        expected = n * weight / sum(weights)
        assert floor(expected - 1e-6) <= count <= ceil(expected + 1e-6)
        assert weight or not count


def test_systematic_counts_are_right_on_average() -> None:
    p = np.array([0.003, 0.497, 0.0, 0.25, 0.25])
    random = np.random.default_rng(11)
    mean = np.mean([rounded(p, 10, random) for _ in range(4000)], axis=0)
    assert mean == pytest.approx(10 * p, abs=0.03)
