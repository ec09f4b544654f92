"""Costs add up, and logarithms are never understated."""

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.budget import Cost, log_upper

EXACT = Context(prec=120)
SLACK = Fraction(1, 10**39)


def true_log(value: Fraction) -> Fraction:
    """ln(value) to 119 digits."""
    return Fraction(EXACT.ln(EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))))


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_a_logarithm_is_rounded_up_and_not_far(value: Fraction) -> None:
    assert true_log(value) < log_upper(value) <= true_log(value) + SLACK


def test_costs_add_exactly() -> None:
    tenth = Cost(Fraction("0.1"), Fraction("0.00001"))
    assert sum([tenth] * 9, tenth) == Cost(Fraction(1), Fraction("0.0001"))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(-1))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(1), Fraction(-1))
