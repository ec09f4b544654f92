from __future__ import annotations

from math import exp

import numpy as np
import pytest

from facsimile.synthesizers.mwem import MWEM


def test_a_query_has_a_range_of_every_column_between_two_uniform_codes() -> None:
    """Of a column with 3 codes: 1/9 for each single one, 2/9 for each pair of ends; all within 5 deviations."""
    pool = MWEM(num_query=20_000, queries="ranges").pool((3, 2), np.random.default_rng(1))
    assert len(pool) == 20_000
    found = dict.fromkeys([(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)], 0)
    for low, high in zip(pool.low[:, 0].tolist(), pool.high[:, 0].tolist(), strict=True):
        found[low, high] += 1
    for (low, high), times in found.items():
        share = (1 if high - low == 1 else 2) / 9
        assert abs(times - 20_000 * share) < 5 * (20_000 * share * (1 - share)) ** 0.5
    together = np.mean((pool.low[:, 0] == 0) & (pool.low[:, 1] == 0))
    assert abs(together - (5 / 9) * (3 / 4)) < 5 * 0.5 / 20_000**0.5


@pytest.mark.parametrize("answer", [-50, 0, 30, 100, 400, 10**9])
@pytest.mark.parametrize("updates", [1, 7])
def test_an_update_multiplies_the_box_and_scales_all_as_often_as_said(answer: int, updates: int) -> None:
    random = np.random.default_rng(1)
    pool = MWEM(num_query=9).pool((4, 3), random)
    counts = random.gamma(1, 20, (4, 3))
    n = counts.sum()
    for newest in range(len(pool)):
        plain, box = counts.copy(), pool.slices(newest)
        for _ in range(updates):
            plain[box] *= exp((min(max(answer, 0), n) - plain[box].sum()) / (2 * n))
            plain *= n / plain.sum()
        found = counts.copy()
        MWEM(num_inner_updates=updates).learn(found, pool, newest, {newest: [7, answer]})
        assert found * (n / found.sum()) == pytest.approx(plain)


def test_cells_of_one_two_and_three_columns_have_equal_parts_of_the_pool() -> None:
    """Where one column has too few cells, what is left goes to more columns."""
    shape = (5, 6, 7, 2)
    for wanted, parts in {1: (0, 0, 1), 30: (10, 10, 10), 300: (20, 140, 140), 10**6: (20, 143, 424)}.items():
        pool = MWEM(num_query=wanted).pool(shape, np.random.default_rng(1))
        restricted = ((pool.high - pool.low) == 1).sum(axis=1)
        assert tuple(int((restricted == ways).sum()) for ways in (1, 2, 3)) == parts
        assert len(np.unique(np.hstack([pool.low, pool.high]), axis=0)) == len(pool) == sum(parts)
    assert len(MWEM(num_query=9).pool((4,), np.random.default_rng(1))) == 4


def test_hyperparameters_come_as_text() -> None:
    text = {"num_query": "128", "num_iterations": "500", "num_inner_updates": "100"}
    assert MWEM.of(text) == MWEM(128, 500, 100)
    assert MWEM.of({"queries": "ranges"}) == MWEM(queries="ranges")
    for bad in ({"num_query": "0"}, {"num_iterations": "0"}, {"num_inner_updates": "0"}, {"queries": "rows"}):
        with pytest.raises(ValueError):
            MWEM.of(bad)


def test_a_box_without_records_or_with_all_is_left_as_it_is() -> None:
    counts = np.ones((4, 3))
    counts[0] = 0.0
    pool = MWEM(num_query=99).pool((4, 3), np.random.default_rng(1))
    for newest in range(len(pool)):
        found = counts.copy()
        MWEM(num_inner_updates=5_000).learn(found, pool, newest, {newest: [10**6]})
        assert np.isfinite(found).all() and found.sum() > 0
