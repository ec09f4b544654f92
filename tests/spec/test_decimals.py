from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.decimals import parse_count, parse_decimal, show_decimal


@given(st.fractions())
def test_what_is_shown_is_read_back(value: Fraction) -> None:
    if len(show_decimal(value)) < 30:
        assert parse_decimal(show_decimal(value)) == value


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), "1e-1"])
def test_a_tenth_is_exact(value: object) -> None:
    assert parse_decimal(value) == Fraction(1, 10)


@pytest.mark.parametrize(
    "value", [True, None, "nan", "inf", "1_000", "0x10", "٣", "1e-400", float("nan"), "1/0", "", "1,5", []]
)
def test_anything_else_is_no_decimal(value: object) -> None:
    with pytest.raises(ValueError, match="decimal"):
        parse_decimal(value)


@pytest.mark.parametrize("value", ["1.0", "1e3", True, "", "1_000", 2.5])
def test_a_count_is_written_in_digits(value: object) -> None:
    with pytest.raises(ValueError, match="whole"):
        parse_count(value)
