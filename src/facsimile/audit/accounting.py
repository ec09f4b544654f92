"""Accounting: what is charged for ρ, for composed parts and for random batches, against exact divergences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import cosh, log, sqrt

import numpy as np

from facsimile.documents.evidence import Evidence
from facsimile.privacy.renyi import Curve, epsilon_of
from facsimile.privacy.sampled import Steps
from facsimile.table.exact import Floats
from facsimile.testing.apart import ALIVE
from facsimile.testing.laws import discrete_gaussian

DELTA = Fraction(1, 10**6)
RHO = Fraction(1, 10)
REACH = 400


def epsilon_at(one: Floats, other: Floats, delta: float) -> float:
    """The least ε at which two laws are (ε, δ)-close, one way: Σ(p − e^ε q)⁺ = δ, by halving."""
    low, high = 0.0, 60.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (
            (low, middle) if np.maximum(one - np.exp(middle) * other, 0).sum() <= delta else (middle, high)
        )
    return high


def shifted(sigma: float, by: int) -> Floats:
    """Discrete Gaussian noise on a number."""
    return np.roll(discrete_gaussian(sigma, REACH), by)


def accounting() -> Iterator[Evidence]:
    """ε of a ρ; the divergence of a composition; ε of a step on a random batch."""
    sigma = 1 / sqrt(2 * float(RHO))
    exact = epsilon_at(shifted(sigma, 1), shifted(sigma, 0), float(DELTA))
    said, case = "the exact ε of a Gaussian answer at this δ", f"ρ = {RHO}, δ = {DELTA}"
    yield _found("renyi.epsilon", case, said, float(epsilon_of(RHO, DELTA)), exact, ALIVE)
    parts = (Fraction(1, 2), Fraction(1))
    for order in (2, 8):
        exact = order * float(RHO) + sum(_response(float(part), order) for part in parts)
        said = f"the exact divergence of order {order} of randomised responses and a Gaussian answer"
        charged = float(Curve(RHO, parts).at(Fraction(order)))
        yield _found("renyi.Curve", f"order {order}", said, charged, exact, ALIVE)
    share, sigma = Fraction(1, 10), 2.0
    epsilon, delta = Steps(1, share, Fraction(4), DELTA).replaced
    q, still = float(share), shifted(sigma, 0)
    one, other = ((1 - q) * still + q * shifted(sigma, by) for by in (1, -1))
    said = "the exact ε of one step on a random batch, a record replaced by its opposite"
    yield _found("sampled.Steps", "one step", said, float(epsilon), epsilon_at(one, other, float(delta)))


def _found(
    theorem: str, case: str, said: str, declared: float, exact: float, share: float | None = None
) -> Evidence:
    return Evidence.bounded(theorem, "distinguished", case, said, declared, exact, share)


def _response(epsilon: float, order: int) -> float:
    """The divergence of randomised response."""
    return log(cosh((order - 0.5) * epsilon) / cosh(epsilon / 2)) / (order - 1)
