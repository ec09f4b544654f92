from __future__ import annotations

from itertools import chain
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import LARGEST_INDEX, Domain, words
from facsimile.table.table import Table


def domain(shape: list[int]) -> Domain:
    """Columns c0, c1, … with so many codes."""
    return Domain(
        tuple(
            Axis(f"c{place}", tuple(CategoryBin(f"v{i}", frozenset([f"v{i}"])) for i in range(size)))
            for place, size in enumerate(shape)
        )
    )


@given(st.lists(st.integers(1, 10**9), max_size=30), st.integers(10**9, LARGEST_INDEX))
def test_words_never_overflow_and_cover_every_column_in_order(shape: list[int], largest: int) -> None:
    runs = words(shape, largest)
    assert list(chain.from_iterable(runs)) == list(range(len(shape)))
    for run in runs:
        assert prod(shape[place] for place in run) <= largest


def test_shape_places_and_sizes() -> None:
    d = domain([2, 3, 5])
    assert (d.names, d.shape, d.cells) == (("c0", "c1", "c2"), (2, 3, 5), 30)
    assert d.place("c1") == 1
    assert d.axis("c2").size == 5
    assert d.project(("c2", "c0")).shape == (5, 2)
    assert d.size(("c0", "c2")) == 10
    assert d == domain([2, 3, 5])
    with pytest.raises(KeyError):
        d.place("c9")


def test_a_domain_may_have_more_cells_than_an_index_can_count() -> None:
    d = domain([10] * 20)
    assert d.cells == 10**20 > LARGEST_INDEX
    rows = np.random.default_rng(1).integers(0, 10, (500, 20))
    rows = np.concatenate([rows, rows[::2], np.zeros((1, 20), int), np.full((2, 20), 9)])
    table = Table.from_rows(d, rows)
    assert table.n == len(rows)
    assert np.array_equal(table.codes, np.unique(rows, axis=0))
    assert np.array_equal(table.records(), np.array(sorted(map(tuple, rows))))
    marginal = table.marginal(("c0", "c19"))
    assert marginal.shape == (10, 10)
    assert marginal.sum() == table.n
    assert table.project(("c19", "c0")).marginal(("c0", "c19")).tolist() == marginal.tolist()
    halves = {name: tuple(i // 5 for i in range(10)) for name in d.names}
    coarse = table.recode(domain([2] * 20), halves)
    assert coarse == Table.from_rows(domain([2] * 20), rows // 5)
    assert table.recode(d, {}) == table
