"""Effects: a table taken apart is the table, and moments are those of its rows."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from facsimile.explore.design.effects import Moments, contrasts, effects
from facsimile.synthesizers.measurements import BestGroups
from facsimile.table.exact import Floats
from facsimile.table.table import Codes, Table
from workloads import small


def cuts(table: Table) -> dict[str, BestGroups]:
    names = table.domain.names
    return {
        n: BestGroups.of(table.marginal((n,)).astype(float), list(range(table.domain.axis(n).size)))
        for n in names
    }


def functions(codes: Codes) -> Floats:
    return np.column_stack([codes[:, 0] * codes[:, 1], codes[:, 2] == 1]).astype(np.float64)


@given(st.integers(2, 9))
def test_contrasts_are_orthonormal_and_sum_to_nothing(size: int) -> None:
    rows = contrasts(size)
    assert np.allclose(rows @ rows.T, np.eye(size - 1)) and np.allclose(rows.sum(axis=1), 0)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_effects_of_a_table_are_those_of_its_columns_and_pairs(sizes: list[int]) -> None:
    found = effects(tuple(sizes))
    inside = sum(size > 1 for size in sizes)
    assert len(found) == inside * (inside + 1) // 2
    for effect, summed in found.items():
        assert summed * prod(size for _, size in effect) == prod(sizes)


def test_moments_are_covariances_over_the_rows() -> None:
    _, table = small()
    moments = Moments(table, cuts(table), functions, {"s": lambda codes: codes[:, :1].astype(np.float64)})
    one, other = ((0, 3), (1, 5)), ((2, 3),)

    def rows(codes: Codes) -> dict[object, Floats]:
        groups = cuts(table)["a"].groups(3)[codes[:, 0]]
        pair = np.einsum("ki,li->ikl", contrasts(3)[:, groups], contrasts(5)[:, codes[:, 1]])
        return {
            one: pair.reshape(len(codes), -1),
            other: contrasts(3)[:, codes[:, 2]].T,
            "s": codes[:, :1].astype(np.float64),
            None: functions(codes),
        }

    values, weights = rows(moments.rows), moments.weights
    centred = {name: value - weights @ value for name, value in values.items()}
    for a in (one, other, "s"):
        for b in (one, other, "s"):
            expected = (centred[a] * weights[:, None]).T @ centred[b]
            assert np.allclose(moments.covariance(a, b), expected)
        assert np.allclose(moments.with_functions(a), (centred[a] * weights[:, None]).T @ centred[None])
        assert np.allclose(moments.mean(a), weights @ values[a])
    assert np.allclose(moments.mean(None), weights @ values[None])
    few = Moments(table, cuts(table), functions, most_rows=5)
    assert len(few.rows) == 5 and few.weights.sum() == 1 and np.allclose(few.mean(None), moments.mean(None))
