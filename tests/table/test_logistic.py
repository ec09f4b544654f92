"""The logistic function in integers is the function, rising, between 0 and 1."""

from __future__ import annotations

import numpy as np

from facsimile.table.logistic import logistic

BITS = 20


def test_it_is_the_function_to_two_units() -> None:
    odds = np.linspace(-20, 20, 100_003)
    units = np.rint(odds * 2**BITS).astype(np.int64)
    exact = 2**BITS / (1 + np.exp(-units / 2**BITS))
    found = logistic(units, BITS)
    assert np.abs(found - exact).max() <= 2
    assert found.dtype == np.int64 and (np.diff(found) >= 0).all()
    assert (found + logistic(-units, BITS) - 2**BITS).max() <= 1


def test_what_is_far_out_is_0_or_1_however_large() -> None:
    assert logistic(np.array([-(10**30), 10**30], object), BITS).tolist() == [0, 2**BITS]
    assert logistic(np.array([-(2**62), 2**62]), BITS).tolist() == [0, 2**BITS]
