from fractions import Fraction
from math import isqrt
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table.exact import LARGEST
from facsimile.table.scores import MOST, ONE, Factor, RowScores, indicator, units
from facsimile.table.table import Codes
from facsimile.testing import small_domain

DOMAIN = small_domain(3, 2, 4)
ENTRIES = st.integers(-5000, 5000)


@st.composite
def factors(draw: st.DrawFn) -> Factor:
    cliques = draw(st.lists(st.sampled_from([("a",), ("b",), ("c", "a"), ("b", "c")]), unique=True, max_size=3))
    tables = []
    for clique in cliques:
        shape = DOMAIN.project(clique).shape
        flat = draw(st.lists(ENTRIES, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        tables.append((clique, np.array(flat, np.int64).reshape(shape)))
    return Factor(draw(ENTRIES), tuple(tables))


SCORES = st.lists(st.lists(factors(), max_size=3).map(tuple), min_size=1, max_size=4).map(
    lambda functions: RowScores(DOMAIN, tuple(functions))
)
CELLS = np.argwhere(np.ones(DOMAIN.shape, bool))


def one_row(scores: RowScores, row: Codes) -> list[int]:
    """The definition, in Python's integers."""
    found = []
    for function in scores.functions:
        value = ONE
        for factor in function:
            entries = [int(t[tuple(row[DOMAIN.place(name)] for name in clique)]) for clique, t in factor.tables]
            value = (value * (factor.constant + sum(entries)) + ONE // 2) // ONE
        found.append(value)
    return found


@given(scores=SCORES, order=st.permutations(range(len(CELLS))), many=st.integers(1, len(CELLS)))
def test_a_score_is_that_of_its_row_whatever_other_rows_there_are(
    scores: RowScores, order: list[int], many: int
) -> None:
    expected = [one_row(scores, row) for row in CELLS]
    some = order[:many]
    assert scores.of(CELLS[some]).tolist() == [expected[place] for place in some]


@given(scores=SCORES, most=st.one_of(st.integers(1, 30_000), st.sampled_from([2**40, 2**61])))
def test_a_clipped_row_is_drawn_towards_zero_as_far_as_needed_and_no_further(
    scores: RowScores, most: int
) -> None:
    for full, clipped in zip(scores.of(CELLS).tolist(), scores.clipped(CELLS, most).tolist(), strict=True):
        norm = sum(map(abs, full))
        assert sum(map(abs, clipped)) <= most
        for s, c in zip(full, clipped, strict=True):
            exact = Fraction(abs(s) * most, norm) if norm > most else Fraction(abs(s))
            assert abs(c) == exact.numerator // exact.denominator
            assert c == 0 or (c > 0) == (s > 0)


def test_scores_fit_while_no_product_and_no_row_leaves_62_bits() -> None:
    def of(*sizes: int, times: int = 1) -> bool:
        function = tuple(Factor(0, ((("a",), np.array([0, 1, -size])),)) for size in sizes)
        return RowScores(DOMAIN, (function,) * times).fits

    assert of(2**51)
    assert not of(2**52)
    assert of(2**35, 2**26)
    assert not of(2**35, 2**27)
    assert of(2**35, 2**25, 2**10)
    assert not of(2**51, times=2**11)
    largest, less = ((Factor(size),) for size in (2**52 - 1, 2**52 - 2))
    assert RowScores(DOMAIN, (largest,) * 1023 + (less,)).fits, "together one below the limit"
    assert not RowScores(DOMAIN, (largest,) * 1024).fits
    assert not RowScores(DOMAIN, ((Factor(-LARGEST),),)).fits
    assert of(7 * MOST, MOST, MOST), "what criteria make of seven columns"


def test_units_are_the_nearest_and_at_most_the_most() -> None:
    assert units([Fraction(1, 3), 0.5, -1e300, Fraction(10**40)]).tolist() == [341, 512, -MOST, MOST]
    mask = np.array([True, False])
    assert indicator(("b",), mask).of(DOMAIN, np.array([[0, 0, 0], [0, 1, 0]])).tolist() == [ONE, 0]


@given(SCORES, st.integers(1, 60), st.integers(1, 9), st.integers(1, 40))
def test_sums_are_the_same_in_blocks_of_any_size(scores: RowScores, rows: int, most: int, entries: int) -> None:
    """Exact integers add up in any order; memory holds a block."""
    random = np.random.default_rng(rows)
    codes = np.column_stack([random.integers(size, size=rows) for size in DOMAIN.shape])
    counts = random.integers(1, 9, size=rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("facsimile.table.scores.ENTRIES", entries)
        found = scores.summed(codes, counts, most)
    assert found == (scores.clipped(codes, most).T @ counts).tolist()


@pytest.mark.parametrize("norm", [1, 2])
def test_norms_are_those_of_each_line_however_large_its_squares_are(norm: Literal[1, 2]) -> None:
    lines = [[3, -4, 0], [2**40, -(2**41), 1], [0, 0, 0], [1, 1, 1]]
    plain = [
        sum(map(abs, line)) if norm == 1 else isqrt(sum(x * x for x in line) - 1) + 1 for line in lines[:2]
    ]
    norms = RowScores(DOMAIN, (), norm).norms
    assert norms(np.array(lines)).tolist() == [*plain, 0, 3 if norm == 1 else 2]
    assert norms(np.array(lines[:1])).tolist() == [7 if norm == 1 else 5]
