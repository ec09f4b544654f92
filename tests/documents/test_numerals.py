from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import exp

from hypothesis import given
from hypothesis import strategies as st

from facsimile.documents.numerals import above, belief, number


@given(st.floats(-1e12, 1e12), st.sampled_from([ROUND_CEILING, ROUND_FLOOR]))
def test_a_rounded_number_is_on_the_right_side(value: float, rounding: str) -> None:
    shown = number(value, rounding).replace(",", "").replace("−", "-")
    mantissa, _, power = shown.partition(" × 10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    read = Decimal(mantissa).scaleb(int(digits or 0))
    exact = Decimal(repr(value))
    assert (read >= exact) if rounding == ROUND_CEILING else (read <= exact)
    assert abs(read - exact) <= abs(exact) / 1000


@given(st.floats(0.001, 0.999), st.floats(0.001, 30))
def test_beliefs_are_bounds(prior: float, epsilon: float) -> None:
    """Posterior odds are prior odds times at most e^ε and at least e^−ε: what is shown is never too narrow."""
    _, least, most = belief(prior, epsilon)
    odds = prior / (1 - prior)
    for shown, factor, sign in ((least, exp(-epsilon), -1), (most, exp(epsilon), 1)):
        chance = odds * factor / (1 + odds * factor)
        if shown.startswith("nearly"):
            assert min(chance, 1 - chance) < 1e-4
        else:
            share = float(shown.removesuffix("\u00a0%")) / 100
            assert sign * (share - chance) > -1e-12
            assert abs(share - chance) <= 0.001 + 1e-12
            assert 0 < share < 1


def test_what_is_not_there_is_said() -> None:
    assert number(None) == "not finite"
    assert above(None) == "none"
