"""Sampled steps: their cost is at least the exact divergence and Opacus' figures, and is doubled for
replacing."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logsumexp

from facsimile.privacy.sampled import (
    FINE,
    ORDERS,
    Steps,
    _about,
    _exp_upper,
    _log_moment,
    log_moment,
    one_sided,
)
from facsimile.table.exact import Floats

DELTA = Fraction(1, 10**9)
OPACUS = [
    (200, Fraction(1, 10), Fraction(84, 5), 0.48838060018262974),
    (1000, Fraction(1, 300), Fraction(1), 1.9735479454444131),
    (19000, Fraction(500, 165915), Fraction(5), 0.48299902576551695),
    (100, Fraction(1), Fraction(130), 0.43937814294723004),
]
"""Steps, share, noise multiplier, and the ε of Opacus 1.6.0 at δ = 5·10⁻¹⁰: `compute_rdp` and
`get_privacy_spent` of its RDP analysis, with the integers from 2 to 999 as orders."""


@pytest.mark.parametrize(("steps", "share", "multiplier", "theirs"), OPACUS)
def test_a_record_that_is_there_or_not_costs_what_opacus_says_and_never_less(
    steps: int, share: Fraction, multiplier: Fraction, theirs: float
) -> None:
    ours = float(Steps(steps, share, multiplier**2, DELTA / 2).epsilon)
    assert theirs - 1e-9 <= ours <= theirs * 1.001


@pytest.mark.parametrize(("steps", "share", "multiplier", "theirs"), OPACUS)
def test_replacing_a_record_costs_twice_that_and_more_delta(
    steps: int, share: Fraction, multiplier: Fraction, theirs: float
) -> None:
    made = Steps(steps, share, multiplier**2, DELTA / 2)
    epsilon, delta = made.replaced
    assert epsilon == 2 * made.epsilon
    assert epsilon >= 2 * theirs - 1e-8
    assert float(delta) == pytest.approx((1 + math.exp(made.epsilon)) * 0.5e-9, rel=1e-12)
    assert delta >= (1 + Fraction(math.exp(float(made.epsilon)) * (1 - 1e-15))) * DELTA / 2


def log_gaussian(variance: float, shift: int, reach: int) -> Floats:
    """The discrete Gaussian's logarithms."""
    found = -((np.arange(-reach, reach + 1) - shift) ** 2) / (2 * variance)
    return np.asarray(found - logsumexp(found))


@pytest.mark.parametrize("variance", [0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("share", [Fraction(1, 50), Fraction(1, 4), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize("order", [2, 3, 7, 20])
def test_a_moment_bounds_both_exact_divergences(variance: float, share: Fraction, order: int) -> None:
    """Summed over the integers, for a record that moves the sum by 1; a shift in units of which σ² is given."""
    out, into = (log_gaussian(variance, shift, 2000) for shift in (0, 1))
    parts = [into + math.log(share)] + ([out + math.log(1 - share)] if share < 1 else [])
    mixture = logsumexp(parts, axis=0)
    for one, other in ((mixture, out), (out, mixture)):
        exact = float(logsumexp(order * one + (1 - order) * other))
        assert exact <= float(log_moment(order, share, Fraction(variance))) + 1e-9


def test_a_moment_is_the_sum_it_stands_for() -> None:
    q, variance = Fraction(1, 7), Fraction(9, 4)
    for order in (2, 5, 30):
        found = math.fsum(
            math.comb(order, k) * (6 / 7) ** (order - k) * (1 / 7) ** k * math.exp((k * k - k) / 4.5)
            for k in range(order + 1)
        )
        assert float(log_moment(order, q, variance)) == pytest.approx(math.log(found), rel=1e-12)


@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)])
def test_where_noise_is_tiny_a_moment_is_at_least_its_last_term(share: Fraction) -> None:
    """All λ batches hold the record: q^λ·exp((λ²−λ)/(2σ²))."""
    order, variance = 64, Fraction(1, 1000)
    last = order * math.log(share) + order * (order - 1) / (2 * float(variance))
    assert last <= float(log_moment(order, share, variance))


@pytest.mark.parametrize("epsilon", ["1/100", "1/7", "1", "3", "100", "1000"])
def test_the_least_noise_spends_what_is_given_and_no_more(epsilon: str) -> None:
    """To six digits, on a grid of 2^-24."""
    given = Fraction(epsilon)
    found = Steps.within(50, Fraction(1, 10), given, DELTA)
    assert Fraction(9999, 10_000) * given <= found.replaced[0] <= given
    assert found.replaced[1] <= DELTA
    finer = Fraction(1, FINE) + found.variance * Fraction(1, 2**21)
    assert not Steps(50, Fraction(1, 10), found.variance - finer, found.delta).affordable(given, DELTA)
    assert 2**24 % found.variance.denominator == 0


def test_noise_of_up_to_2_to_the_60_is_looked_for() -> None:
    """With all records in every batch, twice as many steps need twice the variance."""
    given = (Fraction(1), Fraction(3), DELTA)
    base = Steps.within(1, *given).variance
    assert base.denominator == FINE == 2**24
    steps = math.floor(2**60 / base * Fraction(999_999, 1_000_000))
    assert 2**60 * Fraction(99_999, 100_000) < Steps.within(steps, *given).variance <= 2**60
    with pytest.raises(ValueError, match="no noise is enough"):
        Steps.within(math.ceil(2**60 / base * Fraction(1_000_001, 1_000_000)), *given)


def test_orders_are_all_small_integers_and_then_twelve_to_each_doubling() -> None:
    assert ORDERS[:63] == tuple(range(2, 65)) and ORDERS[-1] == 2**14 and len(ORDERS) == 63 + 8 * 12
    assert all(a < b <= 1.08 * a for a, b in pairwise(ORDERS[62:]))


@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(10**4)])
def test_floats_look_for_what_decimals_say(share: Fraction, variance: Fraction) -> None:
    for order in (2, 3, 64, 127):
        found = _log_moment(order, float(share), float(variance))
        assert found == pytest.approx(float(log_moment(order, share, variance)), rel=1e-9, abs=1e-11)
    made = Steps(9, share, variance, DELTA)
    epsilon, order = _about(9, float(share), float(variance), float(DELTA))
    assert epsilon == pytest.approx(float(made.epsilon), rel=1e-9)
    others = (_about_at(made, other) for other in ORDERS if other < 200 and other != order)
    assert min(others) >= epsilon


def _about_at(made: Steps, order: int) -> float:
    """The ε that one order shows."""
    moment = made.steps * float(log_moment(order, made.share, made.variance))
    return (moment - math.log(order * float(made.delta))) / (order - 1) + math.log(1 - 1 / order)


def test_far_orders_are_charged_as_batches_of_all_records() -> None:
    """From 10^6 on, in units of the squared order: below, the sum is less; beyond, exponents grow too large."""
    half, one = Fraction(1, 2), Fraction(1)
    assert log_moment(1000, half, one) < 1000 * 999 // 2 - 500
    assert log_moment(1001, half, one) == 1001 * 1000 // 2


def test_where_chance_covers_everything_nothing_is_spent() -> None:
    assert Steps(1, Fraction(1, 100), Fraction(10**6), Fraction(9, 10)).epsilon == 0


def test_a_cost_is_affordable_up_to_its_last_digit() -> None:
    made, little = Steps(1, Fraction(1, 10), Fraction(4), DELTA), Fraction(1, 10**60)
    epsilon, delta = made.replaced
    assert made.affordable(epsilon, delta)
    assert not made.affordable(epsilon - little, delta) and not made.affordable(epsilon, delta - little)


@pytest.mark.parametrize("value", ["0", "1/7", "3", "40"])
def test_an_exponential_is_rounded_up_and_not_far(value: str) -> None:
    exact = Context(prec=120)
    true = Fraction(exact.exp(exact.divide(*(Decimal(x) for x in Fraction(value).as_integer_ratio()))))
    assert true * (1 + Fraction(9, 10**41)) < _exp_upper(Fraction(value)) < true * (1 + Fraction(11, 10**41))


def test_as_many_steps_as_are_affordable_and_one_more_is_not() -> None:
    found = Steps.most(10**6, Fraction(1, 300), Fraction(25), Fraction(1), DELTA)
    assert found is not None and found.affordable(Fraction(1), DELTA)
    more = Steps(found.steps + 1, found.share, found.variance, found.delta)
    assert not more.affordable(Fraction(1), DELTA)
    few = Steps.most(7, Fraction(1, 300), Fraction(25), Fraction(1), DELTA)
    assert few is not None and few.steps == 7


def test_what_is_not_affordable_is_refused() -> None:
    for variance in (Fraction(1), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**20)):
        assert Steps.most(10**5, Fraction(1, 300), variance, Fraction(1), DELTA) is None
    for epsilon, delta in ((Fraction(0), DELTA), (Fraction(1), Fraction(0)), (Fraction(1), Fraction(1))):
        with pytest.raises(ValueError):
            Steps.within(10, Fraction(1, 10), epsilon, delta)
    with pytest.raises(ValueError, match="no noise is enough"):
        Steps.within(1000, Fraction(1), Fraction(1, 10**9), DELTA)


def test_more_of_anything_costs_more_and_more_noise_less() -> None:
    base = (100, Fraction(1, 10), Fraction(100), DELTA)
    costs = [Steps(*base), Steps(200, *base[1:]), Steps(200, Fraction(1, 5), *base[2:])]
    assert all(a.replaced[0] < b.replaced[0] for a, b in pairwise(costs))
    assert Steps(100, Fraction(1, 10), Fraction(200), DELTA).epsilon < costs[0].epsilon


@pytest.mark.parametrize(
    "broken",
    [(0, 1, 1, "1/2"), (1, 0, 1, "1/2"), (1, 2, 1, "1/2"), (1, 1, 0, "1/2"), (1, 1, -1, "1/2"),
     (1, 1, 1, "0"), (1, 1, 1, "1"), (1, 1, 1, "-1")],
)  # fmt: skip
def test_what_has_no_guarantee_cannot_be_built(broken: tuple[int, int, int, str]) -> None:
    with pytest.raises(ValueError):
        Steps(broken[0], *(Fraction(part) for part in broken[1:]))


def test_a_delta_is_shared_by_the_two_neighbours_of_a_replacement() -> None:
    own = one_sided(Fraction(1), DELTA)
    assert float(own) == pytest.approx(1e-9 / (1 + math.exp(0.5)), rel=1e-12)
    assert (1 + Fraction(math.exp(0.5))) * own <= DELTA * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "1/2"), (-1, "1/2"), (1, 0), (1, 1)])
def test_only_positive_numbers_are_shared(epsilon: int, delta: str | int) -> None:
    with pytest.raises(ValueError, match="positive"):
        one_sided(Fraction(epsilon), Fraction(delta))
