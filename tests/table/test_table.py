from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table.domain import Domain
from facsimile.table.table import Table, _grouped, add
from table.test_domain import domain

Rows = list[list[int]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Domain, Rows]:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    row = st.tuples(*(st.integers(0, size - 1) for size in shape)).map(list)
    return domain(shape), draw(st.lists(row, max_size=40))


@given(tables(), st.randoms(use_true_random=False))
def test_a_table_is_its_records_in_any_order(drawn: tuple[Domain, Rows], chance: st.DataObject) -> None:
    d, rows = drawn
    table = Table.from_rows(d, rows)
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Table.from_rows(d, shuffled) == table
    assert table.n == len(rows)
    assert table.records().tolist() == sorted(rows)
    counted = Counter(map(tuple, rows))
    assert table.distinct == len(counted)
    assert Table.from_rows(d, list(counted), list(counted.values())) == table
    assert {tuple(row): count for row, count in zip(table.codes.tolist(), table.counts, strict=True)} == counted


@given(tables(), st.data())
def test_marginals_are_dense_and_sum_to_n(drawn: tuple[Domain, Rows], data: st.DataObject) -> None:
    d, rows = drawn
    table = Table.from_rows(d, rows)
    clique = tuple(data.draw(st.permutations(d.names))[: data.draw(st.integers(0, len(d.names)))])
    marginal = table.marginal(clique)
    assert marginal.shape == d.project(clique).shape
    assert marginal.dtype == np.int64
    assert int(marginal.sum()) == table.n
    places = [d.place(name) for name in clique]
    counted = Counter(tuple(row[place] for place in places) for row in rows)
    for cell in product(*(range(size) for size in marginal.shape)):
        assert marginal[cell] == counted[cell]
    projected = table.project(clique)
    assert (projected.n, projected.distinct) == (table.n, len(counted))
    assert projected.marginal(clique).tolist() == marginal.tolist()


@given(tables(), st.data())
def test_recoding_joins_codes(drawn: tuple[Domain, Rows], data: st.DataObject) -> None:
    d, rows = drawn
    maps = {
        axis.name: tuple(data.draw(st.lists(st.integers(0, 2), min_size=axis.size, max_size=axis.size)))
        for axis in d.axes
    }
    target = domain([3] * len(d.axes))
    direct = [[maps[name][code] for name, code in zip(d.names, row, strict=True)] for row in rows]
    assert Table.from_rows(d, rows).recode(target, maps) == Table.from_rows(target, direct)


@given(tables())
def test_parts_add_up_to_the_whole(drawn: tuple[Domain, Rows]) -> None:
    d, rows = drawn
    table = Table.from_rows(d, rows)
    keep = table.column("c0") == 0
    assert add([table.filter(keep), table.filter(~keep)]) == table
    assert table.filter(keep).n == sum(row[0] == 0 for row in rows)


def test_equality() -> None:
    table = Table.from_rows(domain([2, 2]), [[0, 1], [1, 1], [0, 1]])
    assert table == Table.from_rows(domain([2, 2]), [[1, 1], [0, 1]], [1, 2])
    assert table != Table.from_rows(domain([2, 2]), [[0, 1], [1, 1]])
    assert table != Table.from_rows(domain([2, 3]), [[0, 1], [1, 1], [0, 1]])
    assert table != "table"
    with pytest.raises(TypeError):
        hash(table)


def test_rows_with_a_zero_count_do_not_exist() -> None:
    table = Table.from_rows(domain([2]), [[0], [1]], [0, 3])
    assert (table.distinct, table.n) == (1, 3)
    assert Table.from_rows(domain([2]), [[0]], [0]).n == 0
    assert Table.from_rows(domain([2]), []).marginal(("c0",)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ([[2]], None),
        ([[-1]], None),
        ([[0]], [-1]),
        ([[0]], [1, 1]),
        ([[0]], [2**53]),
        ([[0], [2]], None),
        ([[-1], [0]], None),
        ([[0], [1]], [1, -1]),
    ],
)
def test_what_is_no_table(rows: Rows, counts: list[int] | None) -> None:
    with pytest.raises(ValueError, match=r"code|count|records"):
        Table.from_rows(domain([2]), rows, counts)


def test_a_table_has_fewer_than_2_to_the_53_records() -> None:
    counts = [2**52, 2**52 - 1]
    table = Table.from_rows(domain([2]), [[0], [1]], counts)
    assert (table.n, table.marginal(("c0",)).tolist()) == (2**53 - 1, counts)


def test_a_table_cannot_be_changed() -> None:
    table = Table.from_rows(domain([2]), [[0]])
    for array in (table.codes, table.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_rows_of_a_domain_beyond_any_index_are_told_apart() -> None:
    rows = np.array([[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    codes, counts = _grouped(rows, np.array([1, 2, 4]), [2**16] * 5)
    assert codes.tolist() == [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]] and counts.tolist() == [2, 5]


def test_a_marginal_joins_the_codes_of_columns_that_have_groups() -> None:
    table = Table.from_rows(domain([3, 2]), [[0, 0], [1, 1], [2, 1], [2, 1]])
    first, second = table.domain.names
    assert table.marginal((first, second), ((first, (0, 0, 1)), (second, None))).tolist() == [[1, 1], [0, 2]]
    assert table.domain.sizes((second, first), ((first, (0, 0, 1)),)) == (2, 2)
