from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from facsimile.synthesizers.consistency import consistent, emptied, nearest
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement


def noisy_tables(seed: int, scale: float) -> tuple[Floats, list[Measurement]]:
    random = np.random.default_rng(seed)
    truth = random.poisson(random.gamma(0.5, 200, (3, 4, 2, 2))).astype(np.float64)
    tables = []
    for clique in (("a", "b"), ("c", "b"), ("a", "b", "d"), ("d",)):
        exact = np.einsum(f"abcd->{''.join(clique)}", truth)
        tables.append(Measurement.fine(clique, exact + random.laplace(0, scale, exact.shape), 2 * scale**2))
    return truth, tables


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 30.0, 1000.0]))
def test_tables_become_non_negative_agree_and_sum_to_n(seed: int, scale: float) -> None:
    truth, tables = noisy_tables(seed, max(scale, 1e-3))
    n = max(1.0, truth.sum())
    ab, cb, abd, d = consistent(tables, n, rounds=2_000, tolerance=1e-6)
    for table in (ab, cb, abd, d):
        assert table.min() >= 0
        assert table.sum() == pytest.approx(n)
    near = {"abs": 1e-3 * n}
    assert ab.sum(axis=0) == pytest.approx(cb.sum(axis=0), **near)
    assert ab == pytest.approx(abd.sum(axis=2), **near)
    assert d == pytest.approx(abd.sum(axis=(0, 1)), **near)


@pytest.mark.parametrize("seed", range(5))
def test_it_comes_closer_to_the_truth_than_each_table_alone(seed: int) -> None:
    truth, tables = noisy_tables(seed, 30.0)
    found = consistent(tables, truth.sum())
    exact = truth.sum(axis=2).transpose(0, 1, 2)
    alone = np.abs(tables[2].counts - exact).sum()
    assert np.abs(found[2] - exact).sum() < alone


def test_exact_tables_stay_as_they_are() -> None:
    truth, tables = noisy_tables(3, 1e-9)
    for table, found in zip(tables, consistent(tables, truth.sum()), strict=True):
        assert found == pytest.approx(table.counts, abs=1e-3)


def test_rare_values_keep_their_unbiased_counts() -> None:
    """500 nearly empty cells: cutting off negative noise would lift a count of 100 to about 2,000."""
    random = np.random.default_rng(1)
    counts = np.zeros((2, 500))
    counts[0] = 200
    counts[1, 0] = 100
    noisy = Measurement.fine(("a", "b"), counts + random.laplace(0, 8, counts.shape), 128)
    (found,) = consistent([noisy], counts.sum())
    assert found[1].sum() < 100 + 6 * np.sqrt(500 * 128)


def test_cells_known_to_be_empty_are() -> None:
    empty = np.array([[True, False], [False, False]])
    measured = Measurement.fine(("a", "b"), np.full((2, 2), 5.0), 1.0)
    (found,) = consistent([measured], 20, [(("a", "b"), empty)])
    assert found[0, 0] == 0
    assert found.sum() == pytest.approx(20)
    single = Measurement.fine(("a",), np.array([-5.0, 5.0]), 1.0)
    (hopeless,) = consistent([single], 3, [(("a",), np.ones(2, np.bool_))])
    assert hopeless.sum() == pytest.approx(3)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6), st.floats(0.5, 100))
@settings(max_examples=100)
def test_the_nearest_vector_of_a_sum_satisfies_the_conditions_of_lagrange(x: list[float], total: float) -> None:
    found = nearest(np.array(x), total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    moved = np.array(x) - found
    level = moved[found > 0]
    assert np.ptp(level) < 1e-9
    assert (moved[found == 0] <= level.max() + 1e-9).all()


def test_it_is_the_weighted_least_squares_estimate_of_two_tables() -> None:
    """Against a general optimiser, where no cell is near zero."""
    random = np.random.default_rng(5)
    a, ab = random.normal(100, 5, 3), random.normal(50, 3, (3, 2))
    found = consistent([Measurement.fine(("a",), a, 25.0), Measurement.fine(("a", "b"), ab, 9.0)], 300)[1]

    def loss(x: Floats) -> float:
        table = x.reshape(3, 2)
        return float(((table.sum(1) - a) ** 2).sum() / 25 + ((table - ab) ** 2).sum() / 9)

    best = minimize(loss, ab.ravel(), constraints={"type": "eq", "fun": lambda x: x.sum() - 300})
    assert found.ravel() == pytest.approx(best.x, abs=0.05)


def test_a_cell_is_empty_where_one_zero_rules_out_all_its_rows() -> None:
    mask = np.zeros((3, 2), np.bool_)
    mask[1:, 0] = True
    mask[2, 1] = True
    zeros = ((("b", "a"), mask),)
    sizes, halves = {"a": 2, "b": 3, "c": 2}, np.array([0, 1, 1])

    def empty(*columns: str) -> Any:
        return emptied(
            zeros, Measurement.fine(columns, np.zeros([sizes[name] for name in columns]), 1.0)
        ).tolist()

    assert empty("a", "b") == mask.T.tolist()
    assert empty("b", "c") == [[False] * 2, [False] * 2, [True] * 2]
    assert not np.any(empty("c"))
    coarse = Measurement(("b", "a"), (halves, np.arange(2)), np.zeros((2, 2)), 1.0)
    assert emptied(zeros, coarse).tolist() == [[False, False], [True, False]]


def test_versions_of_a_column_that_differ_are_no_shared_columns() -> None:
    fine = Measurement.fine(("a",), np.array([9.0, 1.0, 2.0]), 1.0)
    coarse = Measurement(("a",), (np.array([0, 0, 1]),), np.array([3.0, 9.0]), 1.0)
    one, other = consistent([fine, coarse], 12)
    assert one == pytest.approx([9, 1, 2])
    assert other == pytest.approx([3, 9])


@given(
    st.lists(st.floats(-50, 100), min_size=1, max_size=8),
    st.lists(st.floats(0.1, 10), min_size=8, max_size=8),
    st.integers(0, 2**32),
)
def test_nothing_that_is_not_negative_and_sums_to_n_is_nearer(
    counts: list[float], variances: list[float], seed: int
) -> None:
    given_, spread = np.array(counts), np.array(variances[: len(counts)])
    random = np.random.default_rng(seed)
    possible = random.random(len(counts)) < 0.8
    possible[0] = True
    found = nearest(given_, 40, spread, possible)
    assert found.sum() == pytest.approx(40)
    assert (found >= 0).all()
    assert not found[~possible].any()

    def distance(x: Floats) -> float:
        return float(((x - given_)[possible] ** 2 / spread[possible]).sum())

    for _ in range(20):
        other = random.dirichlet(np.ones(int(possible.sum()))) * 40
        anywhere = np.zeros(len(counts))
        anywhere[possible] = other
        assert distance(found) <= distance(anywhere) + 1e-6
