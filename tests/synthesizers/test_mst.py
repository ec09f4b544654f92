from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.network import Network
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain
from facsimile.testing.synthesizers import fitted, table_of


def test_a_third_for_columns_a_tenth_for_edges_the_rest_for_pairs() -> None:
    run = fitted(MST(), table_of((3, 2, 4, 3)), Known(300), Fraction(1))
    marginals = [m.marginals for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    edges = [m.epsilon for m, _ in run.tape if isinstance(m, NoisySelection)]
    assert [len(m) for m in marginals] == [4, 3]
    assert [sum(e for _, e in m) for m in marginals] == [Fraction(1, 3), Fraction(17, 30)]
    assert edges == [Fraction(1, 30)] * 3


def test_of_a_rho_pairs_have_more_and_each_what_its_cells_deserve() -> None:
    run = fitted(MST(), table_of((3, 2, 4, 3)), Known(300), Rho(1))
    singles, pairs = (m.marginals for m, _ in run.tape if isinstance(m, NoisyMarginals))
    edges = [m.epsilon for m, _ in run.tape if isinstance(m, NoisySelection)]
    assert sum((rho for _, rho in singles), Rho(0)) == Rho(1, 6) and sum(edges, Rho(0)) == Rho(1, 20)
    domain = table_of((3, 2, 4, 3)).domain
    units = [float(rho) / domain.size(pair) ** 0.5 for pair, rho in pairs]
    assert units == pytest.approx([units[0]] * 3, rel=1e-3)


def test_a_large_pair_that_says_little_is_left_alone() -> None:
    """z follows x a little, in a table of 2,500 cells whose noise says more than z does; it is tied to y."""
    random = np.random.default_rng(1)
    x, y, z = random.integers(0, 50, 20_000), random.integers(0, 2, 20_000), random.integers(0, 50, 20_000)
    z = np.where(random.random(20_000) < 0.1, x, z)
    rows = np.column_stack([x, (x < 25) ^ (y * random.integers(0, 2, 20_000)), z]).astype(np.int64)
    table = Table.from_rows(small_domain(50, 2, 50), rows)
    trees = []
    for epsilon in ("1", "1000"):
        run = fitted(MST(), table, Known(table.n), Fraction(epsilon))
        _, pairs = (m.marginals for m, _ in run.tape if isinstance(m, NoisyMarginals))
        trees.append({clique for clique, _ in pairs})
    assert trees == [{("a", "b"), ("b", "c")}, {("a", "b"), ("a", "c")}]


def test_one_possible_edge_needs_no_selection() -> None:
    run = fitted(MST(), table_of((3, 2)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisyMarginals, NoisyMarginals]
    assert run.spent == 1


def test_with_a_great_epsilon_the_tree_is_the_chain_that_made_the_table() -> None:
    table = table_of((4, 4, 4, 4, 4), 20_000)
    model = fitted(MST(), table, Known(table.n), Fraction(100)).model
    assert isinstance(model, Network)
    assert [tuple(name for name, _ in node.parents) for node in model.nodes] == [
        (),
        ("a",),
        ("b",),
        ("c",),
        ("d",),
    ]
    drawn = model.sample(table.n, np.random.default_rng(1))
    for pair in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")):
        assert np.abs(drawn.marginal(pair) - table.marginal(pair)).max() < 0.002 * table.n


def test_twenty_columns_of_ten_values() -> None:
    random = np.random.default_rng(1)
    rows = np.cumsum(random.integers(0, 2, (3_000, 20)), axis=1) % 10
    table = Table.from_rows(small_domain(*(10,) * 20), rows)
    drawn = fitted(MST(), table, Known(table.n), Fraction(5)).model.sample(table.n, random)
    assert drawn.n == table.n
