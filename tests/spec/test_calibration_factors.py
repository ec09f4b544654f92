"""A calibration in a specification: factors above 0 for kinds that are known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.spec.load import validated
from specs import SMALL

GOOD: dict[str, Any] = {"data": "births of 2013", "replicates": "20", "kappa": {"two-way": "2.75"}}


def test_a_calibration_is_read_and_changes_the_promise() -> None:
    found = validated(SMALL | {"calibration": GOOD})
    assert found.calibration is not None and found.calibration.kappa == {"two-way": Fraction(11, 4)}
    assert found.canonical() != validated(SMALL).canonical()
    assert "calibration" not in validated(SMALL).canonical()


@pytest.mark.parametrize(
    "wrong", [{"kappa": {"two-way": "0"}}, {"kappa": {"four-way": "2"}}, {"kappa": {}}, {"replicates": "1"}]
)
def test_a_factor_without_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(FacsimileError):
        validated(SMALL | {"calibration": GOOD | wrong})
