"""Linear criteria: worst errors and powers, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from facsimile.acceptance.influence import Influences
from facsimile.explore.design.linear import POWER, LinearCriteria
from facsimile.table.exact import Floats
from facsimile.table.table import Codes


def nothing(codes: Codes) -> Floats:
    return np.zeros((len(codes), 2))


CRITERIA = LinearCriteria(
    (
        ("bounded", Influences(nothing, np.array([-1.0, -0.5]), np.array([2.0, np.inf]))),
        ("summed", Influences.summed(nothing, 2, 4.0)),
    )
)


def test_the_worst_error_beside_its_limit() -> None:
    errors = np.array([[1.0, -2.0], [9.0, 0.1], [1.0, 3.0], [-1.0, -3.0]])
    assert CRITERIA.worst(errors).tolist() == [[0.5, 2.0], [0.5, 1.5]]


def test_powers_follow_the_worst_and_have_its_slopes() -> None:
    errors = np.array([[1.0, -0.9], [9.0, 0.1], [1.0, 2.0], [-1.0, -1.5]])
    found, slopes = CRITERIA.powers(errors)
    assert found[0] == pytest.approx(2 * 0.5**POWER) and found[1] == pytest.approx(0.9**POWER + 0.875**POWER)
    for place in range(4):
        step = np.zeros_like(errors)
        step[place] = 1e-6
        up, down = (CRITERIA.powers(errors + sign * step)[0] for sign in (1, -1))
        assert slopes[place] == pytest.approx((up - down) / 2e-6, rel=1e-3, abs=1e-9)
