"""Bounds: how large the exact value can be, given a noisy one. Integer noise Z of ratio a = exp(−ε/units)."""

from __future__ import annotations

import math
from fractions import Fraction

from facsimile.acceptance.decision import LAPLACE, Measured, margin
from facsimile.spec.criteria import MarginalsRelative

ALPHA = Fraction(1, 20)


def deviation(units: int, epsilon: Fraction) -> float:
    """The standard deviation of discrete Laplace noise: √(2a)/(1 − a)."""
    a = math.exp(-float(epsilon) / units)
    return math.sqrt(2 * a) / (-math.expm1(-float(epsilon) / units))


def upper(noisy: int, units: int, epsilon: Fraction, alpha: Fraction = ALPHA) -> int:
    """U with P[exact ≤ U] ≥ 1 − α for a fresh measurement.

    exact > U means Z < noisy − U = −t, so P ≤ P[Z ≤ −t − 1] = a^(t+1)/(1+a): t + 1 is the margin of α.
    """
    return noisy + max(0, margin(alpha, epsilon, units) - 1)


def upper_if_accepted(
    noisy: int, units: int, epsilon: Fraction, last: int, alpha: Fraction = ALPHA
) -> int | None:
    """The same for a value that was published because it is at most `last`; None where no bound is finite.

    Given acceptance, P[Z ≤ noisy − exact | Z ≤ last − exact] ≤ α. With c = a^(last − noisy) and
    y = 2/(α(1 + a + √((1+a)² − 4ac/α))) this holds for every exact above U = noisy + ⌈ln y/ln(1/a)⌉ − 1.
    """
    a = math.exp(-float(epsilon) / units)
    c = a ** max(0, last - noisy)
    if c > float(alpha):
        return None
    root = math.sqrt(max(0.0, (1 + a) ** 2 - 4 * a * c / float(alpha)))
    y = 2 / (float(alpha) * (1 + a + root))
    return noisy + max(0, math.ceil(math.log(y) * units / float(epsilon) + 1e-9) - 1)


def bound(measured: Measured, epsilon: Fraction, in_loop: bool) -> float | None:
    """The criterion's error is at most this with probability 95 %; None where no bound is finite."""
    if measured.mechanism != LAPLACE:
        return None
    units = measured.noise_units
    if in_loop:
        last = math.ceil(measured.tested_at * measured.grid) - 1
        found = upper_if_accepted(measured.units, units, epsilon, last)
    else:
        found = upper(measured.units, units, epsilon)
    if found is None:
        return None
    value = (found + 1) / measured.grid
    if isinstance(measured.criterion, MarginalsRelative):
        if measured.form == "sharp":
            return 1 / (1 - value) if value < 1 else None
        return value if value < measured.criterion.clip else None  # a clipped ratio may be any above it
    return max(0.0, value)
