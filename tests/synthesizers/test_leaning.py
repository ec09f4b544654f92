"""Leaning: a good prior helps where noise is large, a wrong one gives way, and smooth shares are smoothed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.synthesizers.leaning import (
    BELIEF,
    MULTIPLES,
    Leaning,
    beliefs,
    shared,
    smooth,
    softness,
    trusted,
)
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.table import Table

N, RECORDS, CODES = 100_000, 10_000, 30
SHARES: Floats = np.exp(-((np.arange(CODES) - 12.0) ** 2) / 60)
SHARES /= SHARES.sum()
ORDERED = Axis("a", parse_bins((f"1..{CODES}",), Fraction(1)))
NOMINAL = Axis("a", tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(CODES)))


def prior(random: np.random.Generator, shares: Floats = SHARES) -> Floats:
    return random.multinomial(RECORDS, shares).astype(np.float64)


def test_belief_is_one_and_begins_with_a_half_for_the_same_population() -> None:
    assert BELIEF.sum() == pytest.approx(1) and BELIEF[0] == 0.5
    assert MULTIPLES[0] == 1 and (np.diff(MULTIPLES) > 0).all()


def test_where_noise_hides_all_belief_stays_and_where_counts_speak_it_moves() -> None:
    expected = np.full(20, 1000.0)
    deaf = beliefs(expected + 300, expected, expected, 1e12)
    assert deaf == pytest.approx(BELIEF, abs=1e-3)
    wrong = beliefs(expected * np.where(np.arange(20) % 2, 0.5, 1.5), expected, expected, 10.0)
    assert wrong @ MULTIPLES > 100 and wrong[0] < 1e-6
    right = beliefs(expected, expected, expected, 10.0)
    assert right[0] > 0.9


@given(st.integers(0, 2**32), st.floats(1, 1e6))
@settings(max_examples=30)
def test_an_estimate_lies_between_what_was_counted_and_what_was_expected(seed: int, noise: float) -> None:
    random = np.random.default_rng(seed)
    expected = N * SHARES
    counts = expected + random.normal(0, noise**0.5, CODES)
    weight = trusted(counts, expected, expected, np.full(CODES, noise))
    assert ((weight > 0) & (weight <= 1)).all()


@pytest.mark.parametrize("noise", [30.0, 100.0, 300.0])
def test_another_sample_helps_and_another_population_does_no_harm(noise: float) -> None:
    """Squared errors relative to the counts, over 40 draws: at most 0.9 and 1.1 of those without a prior."""
    errors = {"alone": 0.0, "sample": 0.0, "elsewhere": 0.0}
    other = SHARES * np.exp(0.15 * np.arange(CODES))
    for seed in range(40):
        random = np.random.default_rng(seed)
        truth = random.multinomial(N, SHARES).astype(np.float64)
        counts = truth + random.normal(0, noise, CODES)
        for name, shares in (("sample", SHARES), ("elsewhere", other / other.sum())):
            found, doubts = shared(prior(random, shares), ORDERED)
            leaning = Leaning(RECORDS, {"a": found}, {"a": doubts})
            estimate, _ = leaning.column("a", counts, np.full(CODES, noise**2), N * found, np.arange(CODES))
            errors[name] += float(((estimate - truth) ** 2 / (truth + 1)).sum())
        errors["alone"] += float(((counts - truth) ** 2 / (truth + 1)).sum())
    assert errors["sample"] < 0.9 * errors["alone"]
    assert errors["elsewhere"] < 1.1 * errors["alone"]


def test_an_ordered_column_is_smoothed_and_a_nominal_one_is_as_it_is() -> None:
    error = {"smooth": 0.0, "raw": 0.0}
    for seed in range(20):
        counts = prior(np.random.default_rng(seed))
        found, doubts = shared(counts, ORDERED)
        plain, variances = shared(counts, NOMINAL)
        assert plain == pytest.approx((counts + 0.5) / (counts + 0.5).sum())
        assert variances == pytest.approx(1 / (counts + 0.5))
        assert (doubts <= variances + 1e-12).all()
        rare = SHARES < 0.01
        error["smooth"] += float((np.log(found / SHARES)[rare] ** 2).sum())
        error["raw"] += float((np.log(plain / SHARES)[rare] ** 2).sum())
    assert error["smooth"] < 0.6 * error["raw"]


def test_a_heap_is_no_reason_to_smooth_the_rest_away() -> None:
    """An open bin at the end holds much more than its neighbour: both stay, up to their chance."""
    counts = prior(np.random.default_rng(1))
    counts[0] += 4_000
    found, _ = shared(counts, ORDERED)
    assert found[0] * counts.sum() == pytest.approx(counts[0], rel=0.05)
    curve, variances = smooth(np.log(counts + 0.5), 1 / (counts + 0.5))
    assert np.isfinite(curve).all() and (variances > 0).all()


@given(st.integers(0, 2**32), st.integers(0, 300))
@settings(max_examples=30)
def test_any_table_can_be_leaned_on(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    domain = Domain((ORDERED, Axis("b", NOMINAL.bins[:3])))
    table = Table.from_rows(domain, random.integers(0, domain.shape, (n, 2)) // random.integers(1, 30))
    found = Leaning.on(table)
    for name in domain.names:
        assert found.shares[name].sum() == pytest.approx(1)
        assert (found.shares[name] > 0).all() and (found.doubts[name] > 0).all()


def test_what_a_prior_has_few_records_of_weighs_less() -> None:
    expected = np.full(CODES, 1000.0)
    noise, counts = np.full(CODES, 1e4), expected + 100
    moved = [
        Leaning(RECORDS, {}, {"a": np.full(CODES, 1 / records)}).column(
            "a", counts, noise, expected, np.arange(CODES)
        )
        for records in (1000, 100, 10)
    ]
    far = [float((estimate - expected).mean()) for estimate, _ in moved]
    assert 0 < far[0] < far[1] < far[2] < 100
    slack = [softness(counts, expected, np.full(CODES, records), 1e4, 0.1).mean() for records in (1000.0, 10.0)]
    assert slack[1] < 0.2 * slack[0]
