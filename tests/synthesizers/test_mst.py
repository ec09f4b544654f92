from __future__ import annotations

from fractions import Fraction

import numpy as np

from contracts.test_synthesizers import domain_of, fitted, table_of
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.network import Network
from facsimile.table.table import Table

THIRD = Fraction(1, 3)


def test_a_third_each_for_columns_edges_and_pairs() -> None:
    run = fitted(MST(), table_of((3, 2, 4, 3)), Known(300), Fraction(1))
    marginals = [m.marginals for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    edges = [m.epsilon for m, _ in run.tape if isinstance(m, NoisySelection)]
    assert [len(m) for m in marginals] == [4, 3]
    assert [sum(e for _, e in m) for m in marginals] == [THIRD, THIRD]
    assert edges == [THIRD / 3] * 3


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
    table = Table.from_rows(domain_of((10,) * 20), rows)
    drawn = fitted(MST(), table, Known(table.n), Fraction(5)).model.sample(table.n, random)
    assert drawn.n == table.n
