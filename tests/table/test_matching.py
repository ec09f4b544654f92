"""Faithfulness is an exact maximum matching."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.table import matching
from facsimile.table.matching import EXACT, Likeness, matched
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(2, 3, 4)
Row = tuple[int, int, int]
rows = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3))
tables = st.lists(rows, min_size=1, max_size=7)
references = st.tuples(
    st.lists(st.sampled_from([0, 1, EXACT]), min_size=3, max_size=3),
    st.lists(st.sampled_from([0, 1, 2, EXACT]), min_size=4, max_size=4),
)


def partners(one: Row, other: Row, b: list[int], c: list[int], within: int) -> bool:
    """The rule, word for word: equal where it must be, at most one other column off by a few reference bins."""
    if one[0] != other[0]:
        return False
    off = 0
    for x, y, reference in ((one[1], other[1], b), (one[2], other[2], c)):
        if reference[x] == -1 or reference[y] == -1:
            if x != y:
                return False
        else:
            distance = abs(reference[x] - reference[y])
            if distance > within:
                return False
            off += distance > 0
    return off <= 1


def brute(one: list[Row], other: list[Row], b: list[int], c: list[int], within: int) -> int:
    """A maximum matching by augmenting paths, record by record."""
    taken: dict[int, int] = {}

    def augment(i: int, seen: set[int]) -> bool:
        for j, row in enumerate(other):
            if j not in seen and partners(one[i], row, b, c, within):
                seen.add(j)
                if j not in taken or augment(taken[j], seen):
                    taken[j] = i
                    return True
        return False

    return sum(augment(i, set()) for i in range(len(one)))


@settings(max_examples=400)
@given(tables, tables, references, st.integers(0, 2))
def test_it_equals_brute_force(
    one: list[Row], other: list[Row], steps: tuple[list[int], list[int]], within: int
) -> None:
    like = Likeness(("a",), (("b", tuple(steps[0])), ("c", tuple(steps[1]))), within)
    found = matched(Table.from_rows(DOMAIN, one), Table.from_rows(DOMAIN, other), like)
    assert found == brute(one, other, steps[0], steps[1], within)


def test_it_equals_brute_force_on_many_records() -> None:
    random = np.random.default_rng(4)
    one, other = ([tuple(row) for row in random.integers(0, [2, 3, 4], (400, 3)).tolist()] for _ in range(2))
    like = Likeness(("a",), (("b", (0, 1, 2)), ("c", (0, 1, EXACT, 2))), 1)
    found = matched(Table.from_rows(DOMAIN, one), Table.from_rows(DOMAIN, other), like)
    assert found == brute(one, other, [0, 1, 2], [0, 1, EXACT, 2], 1)


def test_a_table_matches_itself_whatever_the_order_of_columns() -> None:
    table = Table.from_rows(DOMAIN, np.random.default_rng(1).integers(0, [2, 3, 4], (50, 3)))
    like = Likeness(("c", "a"), (("b", (0, 1, 2)),), 0)
    assert matched(table, table, like) == 50
    assert matched(table, table, Likeness(("a", "b", "c"), (), 1)) == 50


def test_every_column_that_must_be_equal_is_and_nobody_matches_no_records() -> None:
    like = Likeness(("c", "a"), (("b", (0, 1, 2)),), 1)
    row, *others = (Table.from_rows(DOMAIN, rows) for rows in ([[0, 0, 0]], [[1, 0, 0]], [[0, 0, 1]], []))
    near = Table.from_rows(DOMAIN, [[0, 1, 0]])
    assert matched(row, near, like) == matched(near, row, like) == 1
    far = Table.from_rows(DOMAIN, [[0, 2, 0]])
    for within in (1, 2):
        steps = Likeness(("c", "a"), like.steps, within)
        assert matched(row, far, steps) == matched(far, row, steps) == within - 1
    for other in others:
        assert matched(row, other, like) == matched(other, row, like) == 0


def test_too_many_records_are_refused() -> None:
    like = Likeness(("a", "b", "c"), (), 1)
    one, less, more = (Table.from_rows(DOMAIN, [[0, 0, 0]], [n]) for n in (1, 2**31 - 1, 2**31))
    assert matched(less, less, like) == 2**31 - 1
    for pair in ((one, more), (more, one)):
        with pytest.raises(ValueError, match="fewer"):
            matched(*pair, like)


def test_too_many_values_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 values of a, 4 of b with room for a step, 5 of c: 40 in all."""
    table = Table.from_rows(DOMAIN, [[1, 2, 3]])
    like = Likeness(("a",), (("b", (0, 1, 2)), ("c", (0, 1, 2, 3))), 1)
    monkeypatch.setattr(matching, "LARGEST_INDEX", 40)
    assert matched(table, table, like) == 1
    monkeypatch.setattr(matching, "LARGEST_INDEX", 39)
    with pytest.raises(ValueError, match="too many"):
        matched(table, table, like)


def test_it_equals_networkx_on_two_thousand_records() -> None:
    """Record against record, by another library's algorithm."""
    import networkx as nx

    random = np.random.default_rng(2)
    sides = [random.integers(0, (2, 3, 4), (2_000, 3)) for _ in range(2)]
    sides[1][:, 2] = np.minimum(sides[1][:, 2], random.integers(0, 4, 2_000))
    b, c = [0, 1, EXACT], [0, 1, 2, 3]
    alike = {
        (tuple(x), tuple(y))
        for x in np.ndindex(2, 3, 4)
        for y in np.ndindex(2, 3, 4)
        if partners(x, y, b, c, 1)
    }
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    left, right = ([tuple(int(v) for v in row) for row in side] for side in sides)
    graph.add_nodes_from(("left", i) for i in range(2_000))
    places: dict[tuple[int, ...], list[int]] = {}
    for j, row in enumerate(right):
        places.setdefault(row, []).append(j)
    graph.add_edges_from(
        (("left", i), ("right", j))
        for i, row in enumerate(left)
        for other, js in places.items()
        if (row, other) in alike
        for j in js
    )
    found = nx.bipartite.hopcroft_karp_matching(graph, [("left", i) for i in range(2_000)])
    one, other = (Table.from_rows(DOMAIN, side) for side in sides)
    likeness = Likeness(("a",), (("b", tuple(b)), ("c", tuple(c))), 1)
    assert matched(one, other, likeness) == len(found) // 2 < 2_000
