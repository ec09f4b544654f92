"""The logistic function in integers is the function, rising, between 0 and 1."""

from __future__ import annotations

import numpy as np

from facsimile.table.logistic import _knots, logistic

BITS = 20


def test_it_is_the_function_to_two_units() -> None:
    odds = np.linspace(-20, 20, 100_003)
    units = np.rint(odds * 2**BITS).astype(np.int64)
    exact = 2**BITS / (1 + np.exp(-units / 2**BITS))
    found = logistic(units, BITS)
    assert np.abs(found - exact).max() <= 2
    assert found.dtype == np.int64 and (np.diff(found) >= 0).all()
    assert (found + logistic(-units, BITS) - 2**BITS).max() <= 1


def test_it_is_the_same_on_any_machine() -> None:
    """Also between knots, and just within and beyond the last ones."""
    odds = np.array([-(16 << 30), -15.9 * 2**30, -5_000_000, 12_345_678, 15.9 * 2**30, 17 << 30]).astype(
        np.int64
    )
    assert logistic(odds, 30).tolist() == [121, 134, 535620919, 539957286, 1073741690, 1073741703]
    assert not _knots(30).flags.writeable


def test_what_is_far_out_is_0_or_1_however_large() -> None:
    assert logistic(np.array([-(10**30), 10**30], object), BITS).tolist() == [0, 2**BITS]
    assert logistic(np.array([-(2**62), 2**62]), BITS).tolist() == [0, 2**BITS]
