from __future__ import annotations

import numpy as np
import pytest

from contracts.neighbours import small_domain
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.cells import Cells
from facsimile.table.fit import fit

DOMAIN = small_domain(2, 3, 2)


def test_cells_begin_evenly_where_rows_are_allowed() -> None:
    mask = np.array([[True, False], [False, False], [True, True]])
    cells = Cells(DOMAIN, Known(60, ((("b", "a"), mask),)))
    assert cells.counts.sum() == pytest.approx(60)
    assert (cells.marginal(("b", "a")) == np.where(mask, 0, 20)).all()
    assert cells.rounded(("c",)).tolist() == [30, 30]


def test_scaling_keeps_the_number_of_records() -> None:
    cells = Cells(DOMAIN, Known(100))
    cells.scale(("c", "a"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert cells.marginal(("c", "a")) == pytest.approx(np.array([[10.0, 20.0], [30.0, 40.0]]))


def test_matching_is_iterative_proportional_fitting() -> None:
    truth = np.random.default_rng(1).random((2, 3, 2))
    targets = [(("b", "a"), truth.sum(axis=2).T), (("b", "c"), truth.sum(axis=0))]
    cells = Cells(DOMAIN, Known(1_000))
    cells.match([(clique, 1_000 * t / t.sum()) for clique, t in targets], 100, 1e-9)
    assert cells.counts == pytest.approx(1_000 * fit(DOMAIN, targets, sweeps=100, tolerance=1e-9), rel=1e-6)
    assert cells.model().marginal(("b", "a")) == pytest.approx(1_000 * targets[0][1] / truth.sum(), rel=1e-6)
