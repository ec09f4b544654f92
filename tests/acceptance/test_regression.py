"""A regression from noisy moments: right where there is no noise, harmless where there is nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.acceptance.regression import Centring, Fit
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.table.linear import Linear, fitted
from facsimile.table.regression import Scaling
from facsimile.table.table import Table
from facsimile.table.view import View
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(5, 4, 8)
KNOWN = {"a": (Fraction(2), Fraction(3, 2)), "c": (Fraction(4), Fraction(2))}


def sample(n: int = 4_000) -> Table:
    random = np.random.default_rng(8)
    a, b = random.integers(0, 5, n), random.integers(0, 4, n)
    c = np.clip(a + (b > 1) + random.integers(-1, 3, n), 0, 7)
    return Table.from_rows(DOMAIN, np.column_stack([a, b, c]))


def fit(table: Table, centring: Centring, epsilon: Fraction, seed: int = 1) -> Fit:
    curator = Curator.rehearsal(rehearse(table), seed)
    question = centring.moments(View.of_columns(table.domain), epsilon)
    return centring.solved(question, curator.run(question), table.n)


@pytest.mark.parametrize("known", [{}, KNOWN])
def test_without_noise_it_is_least_squares(known: dict[str, tuple[Fraction, Fraction]]) -> None:
    table = sample()
    centring = Centring.in_public(DOMAIN, "c", known)
    found = fit(table, centring, Fraction(10**6))
    wanted = fitted(table, centring.scaling)
    assert wanted is not None
    assert np.allclose([float(x) for x in found.coefficients], [float(x) for x in wanted], atol=0.02)
    line = Linear.scaled(DOMAIN, found.scaling, found.coefficients)
    predicted = line.predict(table.codes) / line.unit
    assert abs(float(np.mean(np.repeat(predicted - table.column("c"), table.counts)))) < 0.02


def test_standardised_by_a_candidate_it_is_least_squares_too() -> None:
    table = sample()
    found = fit(table, Centring.by_candidate(table, "c"), Fraction(10**6))
    wanted = fitted(table, Scaling.by(table, "c"))
    assert wanted is not None
    assert np.allclose([float(x) for x in found.coefficients], [float(x) for x in wanted], atol=0.02)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10_000), Fraction(1, 100), Fraction(1)])
def test_noise_never_makes_it_wild(epsilon: Fraction) -> None:
    """Slopes stay within what the correlations' smallest eigenvalue allows, whatever the noise."""
    for seed in range(20):
        found = fit(sample(50), Centring.in_public(DOMAIN, "c", {}), epsilon, seed)
        assert all(np.isfinite(float(x)) for x in found.coefficients)
    one_value = small_domain(1, 3, 4)
    table = Table.from_rows(one_value, [[0, 1, 2], [0, 2, 3], [0, 0, 0]])
    assert fit(table, Centring.in_public(one_value, "c", {}), epsilon).coefficients
