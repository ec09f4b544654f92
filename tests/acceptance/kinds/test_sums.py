"""Ranges, quantiles, correlations and named queries against what the words say, record by record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.acceptance.kinds.sums import correlations, named, quantiles, ranges
from facsimile.privacy.noise import SystemNoise
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.table.numbers import correlation, mean
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(4, 3)
GROUPS = (("b", (0, 0, 1)),)
ROW = st.tuples(st.integers(0, 3), st.integers(0, 2))


def tables(n: int) -> st.SearchStrategy[Table]:
    return st.lists(ROW, min_size=n, max_size=n).map(lambda rows: Table.from_rows(DOMAIN, rows))


def worst(parts: tuple[Sums, ...], table: Table) -> Fraction:
    return WorstSum(parts).value(table, SystemNoise())


def inside(table: Table, group: int | None) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Column a of the records of a group of b."""
    records = table.records()
    return records[:, 0] if group is None else records[np.array((0, 0, 1))[records[:, 1]] == group, 0]


@given(tables(12), tables(12))
def test_ranges_are_the_largest_difference_of_any_listed_count(real: Table, synthetic: Table) -> None:
    differences = []
    for group in (None, 0, 1):
        a, b = inside(real, group), inside(synthetic, group)
        differences.append(abs(len(a) - len(b)))
        for edge in range(3):
            differences += [
                abs((a <= edge).sum() - (b <= edge).sum()),
                abs((a > edge).sum() - (b > edge).sum()),
            ]
    assert worst(ranges(synthetic, ("a",), GROUPS), real) == Fraction(int(max(differences)), 12)


@given(tables(12), tables(12), st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]))
def test_quantiles_are_off_by_ranks(real: Table, synthetic: Table, at: Fraction) -> None:
    errors = [Fraction(0)]
    for group in (None, 0, 1):
        a, b = inside(real, group), inside(synthetic, group)
        size = max(1, len(b))
        place = next(x for x in range(4) if (b <= x).sum() >= at * len(b))
        errors += [
            (int((a < place).sum()) - at * len(a)) / size,
            (at * len(a) - int((a <= place).sum())) / size,
        ]
    assert worst(quantiles(synthetic, "a", GROUPS, at), real) == max(errors)


@given(tables(12))
def test_a_table_has_its_own_quantiles_ranges_and_shares(table: Table) -> None:
    mask = np.array([1, 0, 0, 1]) > 0
    parts = (
        ranges(table, ("a", "b"), GROUPS),
        quantiles(table, "a", GROUPS, Fraction(1, 2)),
        named(table, ("a",), mask, None, Fraction(0)),
        correlations(table, ("a", "b")),
    )
    assert all(worst(part, table) == 0 for part in parts)
    assert worst(named(table, ("b",), np.array([1, 0, 1]) > 0, "a", Fraction(0)), table) < Fraction(1, 100)


@given(tables(12), tables(12))
def test_a_named_share_is_a_difference_of_counts(real: Table, synthetic: Table) -> None:
    mask = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]]) > 0
    one, other = (int(t.marginal(("a", "b"))[mask].sum()) for t in (real, synthetic))
    assert worst(named(synthetic, ("a", "b"), mask, None, Fraction(0)), real) == Fraction(abs(one - other), 12)


@given(tables(12), tables(12))
def test_a_named_mean_is_never_too_small_where_enough_records_are_there(real: Table, synthetic: Table) -> None:
    mask = np.array([1, 0, 1]) > 0
    one, other = (t.filter(mask[t.column("b")]) for t in (real, synthetic))
    if other.n and one.n >= other.n:
        found = worst(named(synthetic, ("b",), mask, "a", Fraction(0)), real)
        assert found >= abs(mean(one, "a") - mean(other, "a")) - Fraction(one.n, 500 * other.n)


def test_one_step_is_close_to_the_difference_of_correlations() -> None:
    random = np.random.default_rng(4)
    a = random.integers(0, 4, 20_000)
    rows = np.column_stack([a, np.clip(a - random.integers(0, 3, 20_000), 0, 2)])
    synthetic = Table.from_rows(DOMAIN, rows)
    rows[:600, 1] = random.integers(0, 3, 600)
    real = Table.from_rows(DOMAIN, rows)
    exact = abs((correlation(real, "a", "b") or 0) - (correlation(synthetic, "a", "b") or 0))
    assert exact > 0.01
    assert float(worst(correlations(synthetic, ("a", "b")), real)) == pytest.approx(exact, rel=0.1)
