"""Rules: none is ever broken, and each would be by chance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.draft.rules import EXPECTED, MOST, unbroken
from facsimile.shaping.constraints import allowed
from facsimile.spec.bins import CategoryBin, MissingBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import parse_condition, resolve
from facsimile.table.domain import Domain
from facsimile.table.table import Table

AGE = Axis("age", parse_bins(["<18", "18-44", "45-64", "65≤"], Fraction(1)))
WARD = Axis(
    "ward",
    (
        CategoryBin("surgery", frozenset(["surgery"])),
        CategoryBin("all others", frozenset(["medicine", "other ward"])),
        CategoryBin("birth", frozenset(["birth"])),
        MissingBin("unknown"),
    ),
)
NIGHTS = Axis("nights", parse_bins(["0", "1-3", "3<"], Fraction(1)))
DOMAIN = Domain((AGE, WARD, NIGHTS))


def test_rules_of_numbers_and_categories_are_found() -> None:
    random = np.random.default_rng(1)
    age, ward, nights = (random.integers(0, size, 6000) for size in DOMAIN.shape)
    kept = ~((ward == 2) & (age != 1)) & ~((age == 0) & (nights == 2))
    found = unbroken(Table.from_rows(DOMAIN, np.column_stack([age, ward, nights])[kept]))
    assert any("ward = birth" in rule.never and "age" in rule.never for rule in found)
    assert any(rule.never == "age < 18 and nights >= 4" for rule in found)
    assert all(rule.expected >= EXPECTED for rule in found)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(0, 40))
def test_no_record_breaks_a_rule(seed: int, holes: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.integers(0, size, 3000) for size in DOMAIN.shape])
    out = _holes(random, holes)
    table = Table.from_rows(DOMAIN, rows[[tuple(row[:2]) not in out for row in rows.tolist()]])
    for rule in unbroken(table):
        condition = resolve(parse_condition(rule.never), DOMAIN.names)
        possible = allowed([condition], DOMAIN)
        assert possible[tuple(table.codes.T)].all(), rule


def _holes(random: np.random.Generator, holes: int) -> set[tuple[int, int]]:
    """Some cells of the first two columns that shall be empty."""
    cells = random.integers(0, DOMAIN.shape[:2], (holes // 4, 2))
    return {(int(a), int(b)) for a, b in cells}


@pytest.mark.parametrize("records", [2, 50])
def test_a_few_records_prove_nothing(records: int) -> None:
    rows = np.zeros((records, 3), int)
    assert unbroken(Table.from_rows(DOMAIN, rows)) == []


def test_there_are_a_dozen_at_most() -> None:
    codes = np.repeat(np.arange(4)[:, None], 8, axis=1).repeat(500, axis=0)
    axes = tuple(Axis(f"c{place}", AGE.bins) for place in range(8))
    assert 0 < len(unbroken(Table.from_rows(Domain(axes), codes))) <= MOST
