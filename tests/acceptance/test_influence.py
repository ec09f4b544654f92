"""Influences: near a public table the linear view of a criterion is its error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.candidate import exact_error
from facsimile.acceptance.influence import cells
from facsimile.acceptance.kind import kind_of
from facsimile.explore.design.linear import LinearCriteria
from facsimile.spec.load import validated
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from workloads import plain

LINEAR: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "ways": "2", "threshold": "0.001"},
    {"criterion": "total-variation", "of": [["a", "b"]], "threshold": "0.01"},
    {"criterion": "total-variation", "of": [["a", "b"], ["b", "c"]], "over": "average", "threshold": "0.01"},
    {"criterion": "mean", "of": "b", "by": ["a", "c"], "threshold": "0.02"},
    {"criterion": "ranges-absolute", "of": ["b"], "by": ["a"], "threshold": "0.01"},
    {"criterion": "correlation", "of": ["a", "b", "c"], "threshold": "0.01"},
    {"criterion": "regression-coefficients", "target": "b", "threshold": "0.05"},
    {"criterion": "query", "query": "few", "where": "a < 2 and b > 3", "threshold": "0.01"},
]
SHAPE = {"a": 4, "b": 5, "c": 3}


def near(n: int = 40_000) -> tuple[Table, Table]:
    """Two tables of dependent columns, of which a fiftieth of the records differ."""
    domain = Domain(validated(plain(SHAPE, LINEAR[:1])).finest())
    random = np.random.default_rng(5)
    codes = random.integers(0, domain.shape, (n, 3))
    codes[:, 1] = np.minimum(codes[:, 0] + random.integers(0, 3, n), 4)
    other = codes.copy()
    other[: n // 50] = np.sort(random.integers(0, domain.shape, (n // 50, 3)), axis=1) % domain.shape
    return Table.from_rows(domain, codes), Table.from_rows(domain, other)


@pytest.mark.parametrize("given", LINEAR, ids=lambda one: str(one["criterion"]))
def test_the_linear_view_is_the_error_to_first_order(given: dict[str, Any]) -> None:
    real, made = near()
    specification = validated(plain(SHAPE, [given])).sized(real.n)
    linear = LinearCriteria.of(specification, real)
    means = [table.counts @ linear.functions(table.codes) / table.n for table in (made, real)]
    predicted = float(linear.worst((means[0] - means[1])[:, None])[0, 0])
    error = exact_error(specification, specification.criteria[0], real, made)
    assert error is not None
    assert predicted == pytest.approx(error / float(specification.criteria[0].threshold), rel=0.08)


@pytest.mark.parametrize("threshold", ["1.05", "1.1", "1.2", "1.6"])
def test_a_ratio_is_met_where_its_linear_view_is(threshold: str) -> None:
    real, made = near()
    specification = validated(plain(SHAPE, [{"criterion": "marginals-relative", "threshold": threshold}]))
    (criterion,) = specification.criteria
    found = kind_of(criterion).influences(specification, real)
    assert found is not None
    gap = made.counts @ found.of(made.codes) / made.n - real.counts @ found.of(real.codes) / real.n
    error = exact_error(specification.sized(real.n), criterion, real, made)
    assert error is not None
    assert bool(((found.low < gap) & (gap < found.high)).all()) == (error < float(criterion.threshold))


def test_a_quantile_is_met_by_its_own_table_with_room() -> None:
    real, made = near()
    specification = validated(
        plain(SHAPE, [{"criterion": "quantile", "of": "b", "by": ["a"], "threshold": "0.05"}])
    )
    linear = LinearCriteria.of(specification.sized(real.n), real)
    assert float(linear.worst(np.zeros((len(linear.parts[0][1].low), 1)))[0, 0]) == 0
    means = [table.counts @ linear.functions(table.codes) / table.n for table in (made, real)]
    error = exact_error(specification.sized(real.n), specification.criteria[0], real, made)
    assert error is not None and float(linear.worst((means[0] - means[1])[:, None])[0, 0]) < 1 and error < 0.05


def test_kinds_without_a_linear_view_have_none() -> None:
    real, _ = near()
    match = {"criterion": "faithfulness", "match": ["a"], "within": "1", "reference": "all", "threshold": "0.1"}
    tail = {"criterion": "marginals-tail", "ways": "2", "beyond": "0.1", "threshold": "0.1"}
    specification = validated(plain(SHAPE, [match, tail]))
    assert [kind_of(c).influences(specification, real) for c in specification.criteria] == [None, None]


def test_cells_tell_each_record_its_cell() -> None:
    real, _ = near(50)
    found = cells(real.domain, ("c", "a"), real.codes)
    assert found.sum(axis=1).tolist() == [1.0] * real.distinct
    assert np.array_equal(real.counts @ found, real.marginal(("c", "a")).ravel())
