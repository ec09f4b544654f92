from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from contracts.test_synthesizers import fitted, table_of
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.pep import PEP, SMALLEST
from facsimile.synthesizers.pooled import Floats
from facsimile.table.boxes import Boxes

SHAPE = (3, 2, 4, 5)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_queries_are_all_cells_of_tables_of_the_wanted_columns(k: int) -> None:
    ways = min(k, 4)
    pool = PEP(num_query=10**6, marginal=k).pool(SHAPE, np.random.default_rng(1))
    cells = {
        tuple((code, code + 1) if axis in table else (0, SHAPE[axis]) for axis, code in enumerate(codes))
        for table in combinations(range(4), ways)
        for codes in product(*(range(size) for size in SHAPE))
    }
    found = [tuple(zip(*ends, strict=True)) for ends in zip(pool.low.tolist(), pool.high.tolist(), strict=True)]
    assert set(found) == cells
    assert len(found) == len(cells) == sum(prod(SHAPE[a] for a in t) for t in combinations(range(4), ways))


def test_a_smaller_pool_has_distinct_cells_each_as_likely() -> None:
    """5 of 25 cells, drawn 2,000 times: each about 400 times, within 5 deviations."""
    times = np.zeros((5, 5), np.int64)
    for seed in range(2_000):
        pool = PEP(num_query=5, marginal=2).pool((5, 5), np.random.default_rng(seed))
        assert len({tuple(low) for low in pool.low.tolist()}) == 5
        np.add.at(times, tuple(pool.low.T), 1)
    assert np.abs(times - 400).max() < 5 * (2_000 * 0.2 * 0.8) ** 0.5


def learnt(counts: Floats, pool: Boxes, heard: dict[int, list[int]], updates: int) -> Floats:
    found = counts.copy()
    PEP(num_inner_updates=updates).learn(found, pool, 0, heard)
    found *= counts.sum() / found.sum()
    return found


def test_a_projection_gives_a_query_its_answer_and_keeps_odds_elsewhere() -> None:
    random = np.random.default_rng(1)
    counts = random.gamma(1, 20, (4, 3))
    pool = PEP(num_query=99, marginal=2).pool((4, 3), random)
    inside = np.zeros((4, 3), bool)
    inside[pool.slices(5)] = True
    after = learnt(counts, pool, {5: [40]}, 1)
    assert after[inside].sum() == pytest.approx(40)
    for part in (inside, ~inside):
        assert np.ptp(after[part] / counts[part]) == pytest.approx(0, abs=1e-9)


def test_updates_go_to_the_worst_answers_and_end_where_all_agree() -> None:
    """Against projections one by one, on overlapping queries of pairs; the mean of two answers counts."""
    random = np.random.default_rng(2)
    counts = random.gamma(1, 20, (3, 4, 2))
    n, pool = counts.sum(), PEP(num_query=99, marginal=2).pool((3, 4, 2), random)
    heard = {3: [50, 70], 11: [5], 20: [90], 17: [-8], 8: [30]}
    wanted = {place: float(np.clip(np.mean(y) / n, SMALLEST, 1 - SMALLEST)) for place, y in heard.items()}
    for updates in (1, 2, 5, 9):
        plain = counts.copy()
        for _ in range(updates):
            gaps = {place: abs(plain[pool.slices(place)].sum() / n - y) for place, y in wanted.items()}
            worst = max(gaps, key=lambda place: gaps[place])
            y, a = wanted[worst], plain[pool.slices(worst)].sum() / n
            plain[pool.slices(worst)] *= y * (1 - a) / (a * (1 - y))
            plain *= n / plain.sum()
        assert learnt(counts, pool, heard, updates) == pytest.approx(plain)
    last = learnt(counts, pool, heard, 10**4)
    assert all(abs(last[pool.slices(place)].sum() / n - y) < 2 * SMALLEST for place, y in wanted.items())
    assert learnt(last, pool, heard, 1) == pytest.approx(last, rel=1e-3)


def test_what_cannot_be_moved_is_left_and_does_not_hold_up_the_rest() -> None:
    """A query that no allowed row satisfies, one that every row does, and one that can be learnt."""
    counts = np.array([[0.0, 0.0], [30.0, 70.0]])
    pool = Boxes((2, 2), np.array([[0, 0], [0, 0], [1, 0]]), np.array([[1, 2], [2, 2], [2, 1]]))
    after = learnt(counts, pool, {0: [90], 1: [20], 2: [60]}, 5)
    assert after == pytest.approx(np.array([[0.0, 0.0], [60.0, 40.0]]))


def test_many_rounds_with_much_noise_neither_overflow_nor_lose_a_record() -> None:
    table = table_of((4, 3, 5, 2), 2_000)
    for marginal in (1, 2, 4):
        synthesizer = PEP(num_query=200, num_iterations=60, num_inner_updates=40, marginal=marginal)
        model = fitted(synthesizer, table, Known(2_000), Fraction(1, 10)).model
        assert model.sample(2_000, np.random.default_rng(1)).n == 2_000


def test_hyperparameters_come_as_text() -> None:
    text = {"num_query": "9", "num_iterations": "8", "num_inner_updates": "7", "marginal": "2"}
    assert PEP.of(text) == PEP(9, 8, 7, 2)
    with pytest.raises(ValueError):
        PEP.of({"marginal": "0"})


def test_answers_that_contradict_each_other_leave_counts_finite() -> None:
    """Without scaling, cells of which each wants all records multiply the mass in every update."""
    random = np.random.default_rng(1)
    pool = PEP(num_query=99, marginal=1).pool((4, 3), random)
    counts = random.gamma(1, 20, (4, 3))
    after = learnt(counts, pool, {place: [10**6] for place in range(len(pool))}, 2_000)
    assert np.isfinite(after).all() and (after >= 0).all()
    assert after.sum() == pytest.approx(counts.sum())
