"""Costs add up, and logarithms are never understated."""

import operator
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.budget import WIDE, Cost, Rho, as_decimal, log_upper, upper

EXACT = Context(prec=120)
SLACK = Fraction(1, 10**39)


def true_log(value: Fraction) -> Fraction:
    """ln(value) to 119 digits."""
    return Fraction(EXACT.ln(EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))))


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_a_logarithm_is_rounded_up_and_not_far(value: Fraction) -> None:
    """By a whole unit of the 40th digit at least: so far may what is rounded be off."""
    assert true_log(value) + SLACK / 10 < log_upper(value) + SLACK / 10**6 < true_log(value) + SLACK / 4
    assert (log_upper(value) * 10**40).denominator == 1
    assert len(as_decimal(value / 3).as_tuple().digits) in range(1, 51)


def test_a_fraction_has_50_digits() -> None:
    assert str(as_decimal(Fraction(1, 3))) == f"0.{'3' * 50}"


def test_costs_add_exactly() -> None:
    tenth = Cost(Fraction("0.1"), Fraction("0.00001"))
    assert sum([tenth] * 9, tenth) == Cost(Fraction(1), Fraction("0.0001"))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(-1))
    with pytest.raises(ValueError, match="not negative"):
        Cost(Fraction(1), Fraction(-1))
    with pytest.raises(ValueError, match="not negative"):
        Cost(rho=Fraction(-1))


def test_a_rho_is_a_currency_of_its_own() -> None:
    half, third = Rho(1, 2), Fraction(1, 3)
    for kept in (
        half + half,
        half - half / 4,
        half * third,
        third * half,
        half / 3,
        0 + half,
        half - 0,
    ):
        assert type(kept) is Rho
    assert sum([half, half], Fraction(0)) == Rho(1)
    assert half / Rho(1, 4) == 2 and type(half / Rho(1, 4)) is Fraction
    for one, two in ((half, third), (third, half)):
        for mixed in (operator.add, operator.sub):
            with pytest.raises(TypeError):
                mixed(one, two)
    for mixed, one in ((operator.mul, half), (operator.truediv, third)):
        with pytest.raises(TypeError):
            mixed(one, half)


def test_a_share_costs_what_it_is() -> None:
    assert Cost.of(Rho(1, 2)) == Cost(rho=Fraction(1, 2))
    assert Cost.of(Fraction(1, 2), Fraction(1, 9)) == Cost(Fraction(1, 2), Fraction(1, 9))
    with pytest.raises(ValueError, match="no epsilon"):
        Cost(Rho(1, 2))


AMOUNTS = [Fraction(k, 3) for k in range(3)]


@pytest.mark.parametrize("place", range(3))
def test_a_cost_covers_another_in_every_currency_or_not_at_all(place: int) -> None:
    whole = [Fraction(1, 3)] * 3
    for amount in AMOUNTS:
        other = [*whole[:place], amount, *whole[place + 1 :]]
        assert Cost(*whole).covers(Cost(*other)) is (amount <= Fraction(1, 3))


@given(st.fractions(0, 1000, max_denominator=10**6))
def test_an_exponential_of_any_size_is_rounded_up_and_not_far(x: Fraction) -> None:
    """Once e^24 had too many digits before the point to be rounded at the 40th after it."""
    precise = Context(prec=600)
    true = Fraction(precise.exp(precise.divide(Decimal(x.numerator), Decimal(x.denominator))))
    found = upper(WIDE.exp(as_decimal(x)))
    assert true < found <= true + max(Fraction(2, 10**40), true * Fraction(3, 10**42))
