"""The statements of the paper's two propositions, and what holds for every table."""

from itertools import combinations
from math import factorial, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.shaping.projection import ALGORITHMS, project
from facsimile.spec.bins import CategoryBin
from facsimile.spec.choices import Algorithm
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.table import Table

SEEDS = st.integers(0, 2**32)


def domain_of(*shape: int) -> Domain:
    bins = [tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)) for size in shape]
    return Domain(tuple(Axis(name, b) for name, b in zip("abcdef", bins, strict=False)))


def table_of(counts: list[int]) -> Table:
    """Rows 0, 1, 2, … of a small domain with these counts."""
    domain = domain_of(4, 5, 6)
    codes = np.stack(np.unravel_index(np.arange(len(counts)), domain.shape), axis=1)
    return Table.from_rows(domain, codes, counts)


def occurrences(table: Table) -> dict[tuple[int, ...], int]:
    return {tuple(row): int(count) for row, count in zip(table.codes.tolist(), table.counts, strict=True)}


COUNTS = st.lists(st.integers(0, 6), min_size=0, max_size=60)


@given(COUNTS, st.integers(1, 5), st.sampled_from(ALGORITHMS), SEEDS)
def test_every_table_keeps_its_records_and_gains_no_row(
    counts: list[int], m: int, algorithm: Algorithm, seed: int
) -> None:
    before = table_of(counts)
    after = project(before, m, algorithm, np.random.default_rng(seed))
    assert after.n == before.n
    assert occurrences(after).keys() <= occurrences(before).keys()
    if before.n >= m:
        assert after.counts.min(initial=m) >= m
    else:
        assert after.distinct <= 1


def _statements(before: Table, after: Table, m: int) -> None:
    """Statements 1 to 4 and 6, which both propositions share."""
    old, new = occurrences(before), occurrences(after)
    assert new.keys() <= old.keys()
    assert {x: k for x, k in new.items() if k > m} == {x: k for x, k in old.items() if k > m}
    assert {x for x, k in old.items() if k == m} <= {x for x, k in new.items() if k == m}
    assert not [x for x, k in new.items() if k < m]
    assert after.n == before.n


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(0, 5), st.integers(2, 4), SEEDS)
def test_the_paper_algorithm_has_the_six_properties(rare: list[int], often: int, m: int, seed: int) -> None:
    """Its assumption: m divides k·n_k for every k < m; here n_k is a multiple of m."""
    counts = [k for k in range(1, m) for _ in range(m * rare[k])] + [m, m + 1, m + 3][:often]
    before = table_of(counts)
    after = project(before, m, "paper", np.random.default_rng(seed))
    _statements(before, after, m)
    new = occurrences(after)
    for k in range(1, m):
        kept = [new.get(x, 0) for x, count in occurrences(before).items() if count == k]
        assert sum(kept) == k * m * rare[k]


def divisible(m: int, rare: list[int]) -> list[int]:
    """Rows with n_k a multiple of m!/k!."""
    return [k for k in range(1, m) for _ in range(factorial(m) // factorial(k) * rare[k])]


@given(st.lists(st.integers(0, 1), min_size=4, max_size=4), st.integers(0, 5), st.integers(2, 4), SEEDS)
def test_the_implementation_has_the_properties_that_hold_surely(
    rare: list[int], often: int, m: int, seed: int
) -> None:
    before = table_of(divisible(m, rare) + [m, m + 1, m + 3][:often])
    _statements(before, project(before, m, "implementation", np.random.default_rng(seed)), m)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_implementation_keeps_the_records_of_each_k_in_expectation(m: int) -> None:
    """Statement 5: the mean of N values in [0, m·n_k] is within m·n_k·√(ln(2/α)/2N) (Hoeffding), α = 1e-7."""
    before = table_of([*divisible(m, [1] * m), m, m + 2])
    random, runs = np.random.default_rng(m), 1000
    sums = np.zeros(m)
    for _ in range(runs):
        after = occurrences(project(before, m, "implementation", random))
        for x, k in occurrences(before).items():
            if k < m:
                sums[k] += after.get(x, 0)
    for k in range(1, m):
        rows = sum(count == k for count in before.counts)
        assert abs(sums[k] / runs - k * rows) < m * rows * sqrt(log(2 / 1e-7) / (2 * runs))


def test_margins_move_less_than_by_chance() -> None:
    domain = domain_of(6, 7, 8, 9)
    random = np.random.default_rng(0)
    before = Table.from_rows(
        domain, np.stack(np.unravel_index(random.integers(0, domain.cells, 3000), domain.shape), 1)
    )

    def moved(algorithm: Algorithm) -> float:
        after = project(before, 2, algorithm, np.random.default_rng(1))
        cliques = [*combinations("abcd", 1), *combinations("abcd", 2)]
        return sum(float(((after.marginal(c) - before.marginal(c)) ** 2).sum()) for c in cliques)

    assert 3 * moved("margins") < moved("paper")


def test_too_few_records_take_the_most_frequent_row() -> None:
    after = project(table_of([1, 2, 1]), 5, "margins", np.random.default_rng(0))
    assert occurrences(after) == {(0, 0, 1): 4}
    assert project(table_of([]), 2, "paper", np.random.default_rng(0)).n == 0


def test_a_table_that_is_right_stays_as_it_is() -> None:
    before = table_of([2, 3, 4])
    assert all(project(before, 2, algorithm, np.random.default_rng(0)) == before for algorithm in ALGORITHMS)
