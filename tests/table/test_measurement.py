from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table.measurement import Measurement, joined
from facsimile.testing.neighbours import small_domain

COUNTS = np.arange(60.0).reshape(3, 4, 5)


def test_the_noise_of_a_shadow_is_that_of_the_cells_it_sums() -> None:
    shadow = Measurement.fine(("a", "b", "c"), COUNTS, 4.0).onto(("a", "c"))
    assert (shadow.columns, shadow.variance) == (("a", "c"), 4.0 * 4)
    assert shadow.counts.tolist() == COUNTS.sum(axis=1).tolist()
    assert [len(groups) for groups in shadow.groups] == [3, 5]


def test_a_shadow_has_the_order_that_was_asked_for() -> None:
    turned = Measurement.fine(("a", "b", "c"), COUNTS, 4.0).onto(("c", "a", "b"))
    assert turned.counts.tolist() == COUNTS.transpose(2, 0, 1).tolist()
    assert [len(groups) for groups in turned.groups] == [5, 3, 4]
    assert Measurement.fine(("a",), np.ones(3), 1.0).onto(()).counts.tolist() == 3.0


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=6))
def test_repeated_measurements_are_averaged_by_precision(given_: list[tuple[int, int]]) -> None:
    (found,) = joined(Measurement.fine(("a",), np.array([x * 1.0]), v * 1.0) for x, v in given_)
    precision = sum(1 / v for _, v in given_)
    assert found.counts == pytest.approx(np.array([sum(x / v for x, v in given_) / precision]))
    assert found.variance == pytest.approx(1 / precision)


def test_tables_in_other_groups_are_other_tables() -> None:
    fine = Measurement.fine(("a",), np.ones(3), 1.0)
    coarse = Measurement(("a",), (np.array([0, 0, 1]),), np.ones(2), 1.0)
    assert joined([fine, coarse, fine])[1] is coarse
    assert (fine.versions, coarse.versions) == ((("a", None),), (("a", (0, 0, 1)),))


def test_a_measurement_of_a_domain_has_its_groups_and_the_variance_of_laplace_noise() -> None:
    versions = (("b", (0, 1, 1)), ("a", None))
    found = Measurement.of(small_domain(2, 3), ("a", "b"), versions, np.ones((2, 2), np.int64), 18.0)
    assert [groups.tolist() for groups in found.groups] == [[0, 1], [0, 1, 1]]
    assert found.counts.dtype == np.float64
    assert (found.variance, found.scale) == (18.0, 3.0)
