from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table import differences
from facsimile.table.differences import (
    by_ways,
    cliques,
    distance,
    largest_difference,
    smallest_likeness,
    smallest_one_way,
)
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(2, 3, 4)
tables = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)), min_size=6, max_size=6
).map(lambda rows: Table.from_rows(DOMAIN, rows))


def plain(one: Table, other: Table, ways: int) -> int:
    every = cliques(DOMAIN.names, ways)
    return max(int(np.abs(one.marginal(c) - other.marginal(c)).max()) for c in every)


@given(tables, tables, st.integers(1, 3))
def test_the_largest_difference_is_over_every_cell_of_every_marginal(
    one: Table, other: Table, ways: int
) -> None:
    assert largest_difference(one, other, ways) == plain(one, other, ways)
    assert largest_difference(one, other) == plain(one, other, 3)


@given(tables, tables, st.integers(1, 3))
def test_by_ways_looks_at_tables_of_exactly_so_many_columns(one: Table, other: Table, ways: int) -> None:
    gaps = [np.abs(one.marginal(c) - other.marginal(c)) for c in combinations(DOMAIN.names, ways)]
    largest, mean = by_ways(one, other, ways)
    assert largest == max(int(gap.max()) for gap in gaps)
    assert mean == pytest.approx(sum(int(gap.sum()) for gap in gaps) / len(gaps))


@given(tables, tables, st.sampled_from([1, 6, 100]))
def test_a_domain_too_large_for_an_array_gives_the_same(one: Table, other: Table, few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "DENSE_CELLS", 1)
        patch.setattr(differences, "FEW_CELLS", few)
        assert largest_difference(one, other) == plain(one, other, 3)
        for clique in cliques(DOMAIN.names, 3):
            expected = np.abs(one.marginal(clique) - other.marginal(clique)).sum()
            assert distance(one, other, clique) == expected


def test_an_array_is_made_where_it_is_small_enough_and_equal_tables_do_not_differ() -> None:
    one, other = Table.from_rows(DOMAIN, [[0, 0, 0]] * 3), Table.from_rows(DOMAIN, [[1, 2, 3]] * 3)
    for cells, found in ((24, -1), (23, 3)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(differences, "DENSE_CELLS", cells)
            patch.setattr(differences, "FEW_CELLS", cells - 23)
            for same in (one, Table.from_rows(DOMAIN, [])):
                assert largest_difference(same, same) == largest_difference(same, same, 2) == 0
                assert by_ways(same, same, 2) == (0, 0)
            patch.setattr(differences, "_dense", lambda array: -1)
            assert largest_difference(one, other) == found


def test_twenty_columns_of_ten_values_need_no_array() -> None:
    domain = small_domain(*[10] * 10)
    random = np.random.default_rng(1)
    one, other = (Table.from_rows(domain, random.integers(0, 10, (500, 10))) for _ in range(2))
    pairs = cliques(domain.names, 2)
    expected = max(int(np.abs(one.marginal(c) - other.marginal(c)).max()) for c in pairs)
    assert largest_difference(one, other, 2) == expected


def test_values_of_one_table_only_count_in_full() -> None:
    one, other = Table.from_rows(DOMAIN, [[0, 0, 0]] * 3), Table.from_rows(DOMAIN, [[1, 2, 3]] * 3)
    assert largest_difference(one, other) == 3
    assert smallest_likeness(one, other) == Fraction(1, 4)
    assert smallest_one_way(one) == 0


@given(tables, tables)
def test_the_ratio_of_counts_is_that_of_the_definition(one: Table, other: Table) -> None:
    ratios = [
        Fraction(max(r, s) + 1, min(r, s) + 1)
        for name in DOMAIN.names
        for r, s in zip(one.marginal((name,)).tolist(), other.marginal((name,)).tolist(), strict=True)
    ]
    assert 1 / smallest_likeness(one, other) == max(ratios)
    assert smallest_one_way(one) == min(min(one.marginal((name,)).tolist()) for name in DOMAIN.names)
