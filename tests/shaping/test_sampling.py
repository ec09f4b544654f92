from itertools import combinations, product
from math import ceil, floor
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from facsimile.shaping.sampling import (
    GROUP,
    DrawnRecords,
    Sampling,
    halved,
    independent,
    rounded,
    shared_out,
    systematic,
)
from facsimile.table.exact import Floats, Ints
from facsimile.testing.laws import fits

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
SEEDS = st.integers(0, 2**32)


def mass(shape: tuple[int, ...], seed: int, holes: float = 0.0) -> Floats:
    random = np.random.default_rng(seed)
    p: Floats = random.gamma(0.5, size=shape) * (random.random(shape) >= holes)
    return p


@given(SHAPES, SEEDS, st.integers(0, 500), st.sampled_from([0.0, 0.5]), st.booleans())
def test_there_are_exactly_n_records_and_none_without_mass(
    shape: tuple[int, ...], seed: int, n: int, holes: float, iid: bool
) -> None:
    p = mass(shape, seed, holes)
    counts = (independent if iid else systematic)(p, n, np.random.default_rng(seed))
    assert counts.shape == shape
    assert counts.sum() == n
    assert counts.min() >= 0
    assert not p.any() or not counts[p == 0].any()


def test_two_way_counts_are_much_closer_than_those_of_independent_draws() -> None:
    p, n = mass((8, 7, 6, 5), 3), 4000
    off = {
        draw: max(
            float(
                np.abs(
                    draw(p, n, np.random.default_rng(s)).sum(axis=(0, 2)) - p.sum(axis=(0, 2)) * n / p.sum()
                ).max()
            )
            for s in range(5)
        )
        for draw in (independent, systematic)
    }
    assert 3 * off[systematic] < off[independent]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20).filter(any), st.integers(0, 1000), SEEDS)
def test_each_share_is_rounded_up_or_down(weights: list[float], n: int, seed: int) -> None:
    shares = np.array(weights) / sum(weights) * n
    counts = rounded(np.array(weights), n, np.random.default_rng(seed))
    assert counts.sum() == n
    assert np.abs(counts - shares).max() < 1 + 1e-6


def test_rounding_is_right_on_average() -> None:
    """With u the uniform start, a share of 3/10 becomes 1 for exactly three tenths of the starts: α = 1e-6."""
    weights = np.array([3.0, 5.0, 2.0])
    random = np.random.default_rng(1)
    places = [int(np.argmax(rounded(weights, 1, random))) for _ in range(5000)]
    assert fits(np.bincount(places, minlength=3), weights / 10)


def test_independent_draws_follow_the_mass() -> None:
    p = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert fits(independent(p, 10_000, np.random.default_rng(2)).ravel(), p.ravel() / 10)


@pytest.mark.parametrize("draw", [independent, systematic])
def test_without_mass_every_cell_is_as_good(draw: object) -> None:
    assert callable(draw)
    assert draw(np.zeros((2, 3)), 7, np.random.default_rng(0)).sum() == 7


class Every:
    """All uniform numbers on a grid: block k draws line k of their product, so that means are exact."""

    def __init__(self, grid: int, numbers: int) -> None:
        self.lines = (np.array(list(product(range(grid), repeat=numbers))) + 0.5) / grid
        self.used = 0

    def random(self, count: int) -> Floats:
        wanted = count // len(self.lines)
        self.used += wanted
        return self.lines[:, self.used - wanted : self.used].ravel()


@pytest.mark.parametrize("quarters", [(1, 1, 1, 1), (3, 3, 3, 3), (1, 2, 3, 1), (3, 1, 2, 1), (2, 3, 3, 1)])
def test_fractions_rise_with_their_own_probability_and_no_two_together(quarters: tuple[int, ...]) -> None:
    """Exactly, over all outcomes: every probability in a duel of quarters is a multiple of 1/12."""
    every = Every(12, 4)
    fractions = np.array(quarters) / 4
    blocks = len(every.lines)
    chosen = halved(np.tile(fractions, blocks), np.full(blocks, 4), every).reshape(blocks, 4)  # type: ignore[arg-type]
    assert every.used == 4
    assert chosen.mean(axis=0) == pytest.approx(fractions, abs=1e-12)
    for pair in ([0, 1], [2, 3]):
        assert set(chosen[:, pair].sum(axis=1)) <= {floor(fractions[pair].sum()), ceil(fractions[pair].sum())}
    assert set(chosen.sum(axis=1)) <= {floor(fractions.sum()), ceil(fractions.sum())}
    for one, other in combinations(range(4), 2):
        together = (chosen[:, one] & chosen[:, other]).mean()
        assert together <= fractions[one] * fractions[other] + 1e-12


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), SEEDS)
def test_every_block_has_its_sum_rounded_up_or_down(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    fractions = random.random(sum(sizes))
    chosen = halved(fractions, np.array(sizes), random)
    starts = np.cumsum([0, *sizes[:-1]])
    off = np.add.reduceat(chosen.astype(float), starts) - np.add.reduceat(fractions, starts)
    assert (np.abs(off) < 1).all()


def test_fractions_whose_sum_is_rounded_to_two_both_rise_without_a_warning() -> None:
    almost = np.nextafter(1.0, 0.0)
    for pair in ([1.0, almost], [almost, 1.0], [1.0, 1.0]):
        assert halved(np.array(pair), np.array([2]), np.random.default_rng(1)).all()


def test_blocks_do_not_share_their_luck() -> None:
    """Two blocks of three in 20,000 trials: the sums are independent. Chi-square at one in a million."""
    random = np.random.default_rng(1)
    fractions = np.array([0.5, 0.6, 0.4, 0.7, 0.3, 0.5])
    chosen = halved(np.tile(fractions, 20_000), np.full(40_000, 3), random).reshape(20_000, 2, 3)
    sums = chosen.sum(axis=2) - 1
    assert fits(np.bincount(sums[:, 0] * 2 + sums[:, 1], minlength=4), np.full(4, 0.25))


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=5),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.5]),
    SEEDS,
)
def test_groups_are_shared_out_whole_and_to_codes_with_mass(
    counts: list[int], width: int, holes: float, seed: int
) -> None:
    laws = mass((len(counts), width), seed, holes)
    laws[:, 0] += ~laws.any(axis=1)
    drawn = shared_out(laws, np.arange(len(counts)), np.array(counts), np.random.default_rng(seed))
    assert len(drawn) == sum(counts)
    for line, codes in enumerate(np.split(drawn, np.cumsum(counts)[:-1])):
        expected = laws[line] / laws[line].sum() * counts[line]
        found = np.bincount(codes, minlength=width)
        assert not found[laws[line] == 0].any()
        assert (np.abs(found - expected) < 1 + np.log2(width + 1)).all()


# A tree of pairs: b given a, c given a, d given b; one more column without parents.
TREE = {"a": None, "b": "a", "c": "a", "d": "b", "e": None}
WIDTH = {"a": 3, "b": 2, "c": 3, "d": 2, "e": 3}


def laws_of(column: str, seed: int) -> Floats:
    parent = TREE[column]
    lines = WIDTH[parent] if parent else 1
    random = np.random.default_rng([seed, ord(column)])
    found: Floats = random.dirichlet(np.full(WIDTH[column], 0.8), lines)
    return found


def law_of(table: tuple[str, ...], seed: int) -> Floats:
    """The law of some columns by its definition."""
    p = np.ones(tuple(WIDTH.values()))
    for column, parent in TREE.items():
        shape = [WIDTH[c] if c in (column, parent) else 1 for c in WIDTH]
        p = p * laws_of(column, seed).reshape(shape)
    others = tuple(place for place, column in enumerate(WIDTH) if column not in table)
    return np.asarray(p.sum(axis=others))


def trials(n: int, seed: int, sampling: Sampling, times: int = 4000) -> dict[str, Ints]:
    """The columns of n records of the tree, many times at once: every trial has lines of its own."""
    records = DrawnRecords(n * times, np.random.default_rng(seed), sampling)
    trial = np.repeat(np.arange(times), n)
    codes: dict[str, Ints] = {}
    for column, parent in TREE.items():
        laws = laws_of(column, seed)
        line = trial * len(laws) + (codes[parent] if parent else 0)
        codes[column] = records.draw(np.tile(laws, (times, 1)), line)
    return codes


TABLES = [table for k in (1, 2, 3) for table in combinations(WIDTH, k)]


def counts_of(codes: dict[str, Ints], table: tuple[str, ...], n: int) -> Ints:
    """The counts of a table, a line for every trial."""
    times = len(codes["a"]) // n
    index = np.repeat(np.arange(times), n)
    for column in table:
        index = index * WIDTH[column] + codes[column]
    cells = int(np.prod([WIDTH[column] for column in table]))
    return np.bincount(index, minlength=times * cells).reshape(times, cells)


@pytest.mark.parametrize("n", [5, 3 * GROUP + 2])
@pytest.mark.parametrize("sampling", ["iid", "systematic"])
def test_every_count_is_right_on_average(n: int, sampling: Sampling) -> None:
    """Within 6.5 standard deviations of independent draws, and some room for rare cells: α < 1e-6."""
    codes = trials(n, 1, sampling)
    for table in TABLES:
        p = law_of(table, 1).ravel()
        mean = counts_of(codes, table, n).mean(axis=0)
        assert (np.abs(mean - n * p) <= 6.5 * np.sqrt(n * p / 4000) + 7 * n / 4000).all(), table


@pytest.mark.parametrize("n", [5, 3 * GROUP + 2, 10 * GROUP])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_count_of_a_tree_is_farther_off_than_in_independent_draws(n: int, seed: int) -> None:
    """The theorem: E|N − t| ≤ E|B − t| for every cell and target t, B binomial.

    A correct sampler fails less than once in a million: 6.5 standard errors, 250 cells, three targets.
    """
    codes = trials(n, seed, "systematic")
    for table in TABLES:
        p = law_of(table, seed).ravel()
        counts = counts_of(codes, table, n)
        values = np.arange(n + 1)[:, None]
        weights = binom.pmf(values, n, p)
        for shift in (0, 0.5, np.sqrt(n) / 2):
            target = n * p + shift
            off = np.abs(counts - target)
            expected = (weights * np.abs(values - target)).sum(axis=0)
            error = 6.5 * off.std(axis=0) / np.sqrt(4000) + 7 * n / 4000 / 3
            assert (off.mean(axis=0) <= expected + error).all(), table


def test_lines_and_columns_do_not_share_their_luck() -> None:
    """Two lines of one record, two columns, 20,000 times: the four codes are independent. α = 1e-6."""
    times = 20_000
    records = DrawnRecords(2 * times, np.random.default_rng(1), "systematic")
    line = np.arange(2 * times)
    drawn = [records.draw(np.full((2 * times, 2), 0.5), line).reshape(times, 2) for _ in range(2)]
    index = np.concatenate(drawn, axis=1) @ [8, 4, 2, 1]
    assert fits(np.bincount(index, minlength=16), np.full(16, 1 / 16))


def test_each_record_of_a_group_is_as_good_as_the_other() -> None:
    """Which of a group's records get the code that one half of them gets: chi-square at 1e-6."""
    times = 20_000
    records = DrawnRecords(4 * times, np.random.default_rng(1), "systematic")
    drawn = records.draw(np.full((times, 2), 0.5), np.repeat(np.arange(times), 4)).reshape(times, 4)
    assert (drawn.sum(axis=1) == 2).all()
    seen = np.bincount(drawn @ [8, 4, 2, 1], minlength=16)[[3, 5, 6, 9, 10, 12]]
    assert seen.sum() == times
    assert fits(seen, np.full(6, 1 / 6))


def test_tables_are_much_closer_than_those_of_independent_draws() -> None:
    """The gaps are some fifty standard errors wide, so α is far below 1e-6."""
    n = 60 * GROUP
    drawn = [trials(n, 3, sampling, 100) for sampling in get_args(Sampling)]
    for k, share in {1: 0.5, 2: 0.7, 3: 0.8}.items():
        gaps = [
            [
                np.abs(counts_of(codes, t, n) - n * law_of(t, 3).ravel()).sum(axis=1)
                for t in TABLES
                if len(t) == k
            ]
            for codes in drawn
        ]
        iid, systematic_ = (float(np.mean(gap)) for gap in gaps)
        assert systematic_ < share * iid


@given(st.integers(0, 60), st.integers(1, 4), SEEDS)
def test_draws_are_a_function_of_the_seed(n: int, lines: int, seed: int) -> None:
    laws = mass((lines, 5), seed) + 1e-3
    line = np.random.default_rng(seed).integers(0, lines, n)
    one, other = (DrawnRecords(n, np.random.default_rng(seed), "systematic").draw(laws, line) for _ in range(2))
    assert one.tolist() == other.tolist()


def test_dense_counts_are_right_on_average_and_one_way_counts_nearly_exact() -> None:
    """Means of 800: within 6.5 standard deviations of independent draws, α < 1e-6 over 24 cells."""
    p, n, random = mass((4, 3, 2), 5), 40, np.random.default_rng(1)
    share = p / p.sum()
    drawn = np.array([systematic(p, n, random) for _ in range(800)])
    assert (np.abs(drawn.mean(axis=0) - n * share) <= 6.5 * np.sqrt(n * share / 800) + 0.1).all()
    for axis in range(3):
        others = tuple(place for place in range(3) if place != axis)
        off = drawn.sum(axis=tuple(place + 1 for place in others)) - n * share.sum(axis=others)
        assert (off.var(axis=0) < 1).all()
