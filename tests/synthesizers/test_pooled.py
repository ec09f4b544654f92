from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, prod

import numpy as np
import pytest

from facsimile.privacy.mechanisms import NoisyAnswer, NoisySelection
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import BoxDistances
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.pooled import MWEM, PEP, SMALLEST, Pooled, counting
from facsimile.table.boxes import Boxes
from facsimile.table.exact import Floats
from facsimile.testing.neighbours import small_domain
from facsimile.testing.synthesizers import fitted, table_of
from table.test_boxes import every_box

BOTH = pytest.mark.parametrize("made", [MWEM, PEP])


@BOTH
def test_every_round_costs_half_for_the_choice_and_half_for_the_count(made: type[Pooled]) -> None:
    run = fitted(made(num_query=30, num_iterations=7), table_of((3, 2, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisySelection, NoisyAnswer] * 7
    assert {m.cost().epsilon for m, _ in run.tape} == {Fraction(1, 14)}
    assert {m.units for m, _ in run.tape if isinstance(m, NoisySelection | NoisyAnswer)} == {1}


@BOTH
def test_the_pool_has_as_many_queries_as_are_wanted(made: type[Pooled]) -> None:
    for wanted in (2, 17, 60):
        run = fitted(made(num_query=wanted, num_iterations=2), table_of((3, 4, 5)), Known(300), Fraction(1))
        scores = [m.scores for m, _ in run.tape if isinstance(m, NoisySelection)]
        assert [len(s.boxes) for s in scores if isinstance(s, BoxDistances)] == [wanted] * 2


@BOTH
def test_one_query_takes_the_whole_budget(made: type[Pooled]) -> None:
    run = fitted(made(num_query=1, num_iterations=3), table_of((3, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisyAnswer] * 3
    assert run.spent == 1


@BOTH
def test_what_is_counted_is_what_was_selected_and_it_may_be_chosen_again(made: type[Pooled]) -> None:
    table = table_of((3, 2), 300)
    run = fitted(made(num_query=4, num_iterations=12), table, Known(300), Fraction(10**6))
    answers = [answer for _, answer in run.tape]
    scores = next(m.scores for m, _ in run.tape if isinstance(m, NoisySelection))
    assert isinstance(scores, BoxDistances)
    true = scores.boxes.sums(table.marginal(table.domain.names))
    assert [answer.units for answer in answers[1::2]] == [true[place] for place in answers[::2]]
    assert len(set(answers[::2])) <= 4 < len(answers[::2])


@BOTH
def test_the_pool_is_drawn_in_public_and_differs_by_seed(made: type[Pooled]) -> None:
    shape = (6, 5, 4)
    pools = [made(num_query=20).pool(shape, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert all(pool.inside(shape) for pool in pools)
    assert (pools[0].low == pools[1].low).all()
    assert (pools[0].low != pools[2].low).any()


def test_a_count_is_that_of_the_box_with_sensitivity_1() -> None:
    table = table_of((3, 2, 4), 200)
    boxes = every_box(table.domain.shape)
    true = boxes.sums(table.marginal(table.domain.names))
    for place in range(len(boxes)):
        query = counting(table.domain, boxes.slices(place))
        query.check(table.domain, table.n)
        assert query.value(table, RehearsalNoise(1)) == true[place]
        everything = all(
            part == slice(0, size) for part, size in zip(boxes.slices(place), (3, 2, 4), strict=True)
        )
        assert query.sensitivity() == (0 if everything else 1)
        assert NoisyAnswer(query, Fraction(1)).units == 1


@pytest.mark.long
@BOTH
def test_a_larger_pool_with_little_noise_comes_closer(made: type[Pooled]) -> None:
    """The distance of the whole table; a few queries cannot say what sixty cells hold."""
    table = table_of((4, 3, 5), 3_000)

    def distance(wanted: int) -> float:
        chosen = made(num_query=wanted, num_iterations=150, num_inner_updates=100)
        drawn = fitted(chosen, table, Known(table.n), Fraction(1000)).model.sample(
            3_000, np.random.default_rng(1)
        )
        return float(np.abs(drawn.marginal(("a", "b", "c")) - table.marginal(("a", "b", "c"))).sum() / 6_000)

    assert distance(60) < distance(12) / 2
    assert distance(12) < distance(2)


def test_a_domain_that_cannot_be_held_is_refused() -> None:
    for made in (MWEM(), PEP()):
        made.check(small_domain(100, 100, 1000), 300, Fraction(1))
        with pytest.raises(ValueError, match="rows"):
            made.check(small_domain(100, 100, 1001), 300, Fraction(1))


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
        MWEM(num_inner_updates=updates).update(found, pool, newest, {newest: [7, answer]})
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


def test_hyperparameters_of_mwem_come_as_text() -> None:
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
        MWEM(num_inner_updates=5_000).update(found, pool, newest, {newest: [10**6]})
        assert np.isfinite(found).all() and found.sum() > 0


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
    PEP(num_inner_updates=updates).update(found, pool, 0, heard)
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


def test_hyperparameters_of_pep_come_as_text() -> None:
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
