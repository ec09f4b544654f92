"""Noise: the only randomness that touches confidential numbers.

`SystemNoise` draws from the operating system's generator: OpenDP's exact samplers for integers, Python's
`secrets` for coins and unbiased draws. Numbers are passed INTO the sampler; nothing is drawn on zero and
added outside. `RehearsalNoise` is its seeded twin for public data; it has the same laws and no protection.

    laplace   value + Z,  P[Z = z] ∝ exp(−|z| ε/Δ)         ε-DP for an integer vector of L1 sensitivity Δ
    gaussian  value + Z,  P[Z = z] ∝ exp(−z²ρ/Δ²)          ρ-zCDP for an integer vector of L2 sensitivity Δ
    argmax    permute-and-flip: i with weight by exp(ε(qᵢ − max q)/(2Δ))   ε-DP for scores of sensitivity Δ
    gumbel    the exponential mechanism: i with P ∝ exp(√(2ρ) qᵢ/Δ)        ρ-zCDP for scores of sensitivity Δ

Permute-and-flip at ε is ε²/2-zCDP only; the exponential mechanism at ε has a range of ε between its log ratios,
so it is ε²/8-zCDP. Hence one for each currency.

Scales are floats inside OpenDP. They are rounded up until OpenDP's own bound, read as an exact Fraction, is
at most ε or ρ: the guarantee is never weaker than what is charged. A `share` is an ε, or a ρ (budget.Rho).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from opendp import domains, measurements, measures, metrics
from opendp.mod import enable_features

from facsimile.privacy.budget import Rho

enable_features("contrib")

Integers = npt.NDArray[np.int64]
LARGEST = 2**62


class Noise(Protocol):
    """What a mechanism may ask for."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """The integers, each with discrete Laplace noise: ε-DP if they move by `sensitivity` in L1."""

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        """The integers, each with discrete Gaussian noise: ρ-zCDP if they move by √`square` in L2."""

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """The place of a high score: ε-DP if each score moves by at most `sensitivity`."""

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        """The place of a high score: ρ-zCDP if each score moves by at most `sensitivity`."""

    def coin(self, probability: Fraction) -> bool:
        """True with exactly this probability."""

    def below(self, n: int) -> int:
        """A uniform integer from 0 to n − 1."""


class SystemNoise(Noise):
    """Exact noise from the operating system's generator; it has no seed."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        return _each(_laplace(sensitivity, epsilon), values)

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        return _each(_gaussian(square, rho), values)

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        return int(_argmax(sensitivity, epsilon)(fitting(scores)))

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        return int(_gumbel(sensitivity, rho)(fitting(scores)))

    def coin(self, probability: Fraction) -> bool:
        return secrets.randbelow(probability.denominator) < probability.numerator

    def below(self, n: int) -> int:
        return secrets.randbelow(n)


class RehearsalNoise(Noise):
    """The seeded twin: the same laws from NumPy's generator, for public data only."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """The difference of two geometric draws is a discrete Laplace draw."""
        p = -math.expm1(-float(epsilon) / sensitivity)
        shape = np.shape(values)
        drawn = self._random.geometric(p, shape) - self._random.geometric(p, shape)
        return np.asarray(values + drawn, np.int64)

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        """A discrete Gaussian draw: a discrete Laplace draw, kept with the ratio of the two laws."""
        drawn = _rejected(self._random, math.sqrt(square / (2 * float(rho))), int(np.size(values)))
        return np.asarray(values + drawn.reshape(np.shape(values)), np.int64)

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """Permute-and-flip is the largest score plus exponential noise of scale 2Δ/ε."""
        noise = self._random.exponential(2 * sensitivity / float(epsilon), len(scores))
        return int(np.argmax(_gaps(scores) + noise))

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        """The exponential mechanism is the largest score plus Gumbel noise of scale Δ/√(2ρ)."""
        noise = self._random.gumbel(0, sensitivity / math.sqrt(2 * float(rho)), len(scores))
        return int(np.argmax(_gaps(scores) + noise))

    def coin(self, probability: Fraction) -> bool:
        return int(self._random.integers(probability.denominator)) < probability.numerator

    def below(self, n: int) -> int:
        return int(self._random.integers(n))


def noisy(noise: Noise, values: Integers, moved: int, square: int, share: Fraction) -> Integers:
    """Integers that move by at most `moved` in L1 and √`square` in L2, with the noise of a share: ε or ρ."""
    if isinstance(share, Rho):
        return noise.gaussian(values, square, share)
    return noise.laplace(values, moved, share)


def selected(noise: Noise, scores: Sequence[int], sensitivity: int, share: Fraction) -> int:
    """The place of a high score, with the noise of a share: ε or ρ."""
    if isinstance(share, Rho):
        return noise.gumbel(scores, sensitivity, share)
    return noise.argmax(scores, sensitivity, share)


def fitting(values: Iterable[int]) -> Integers:
    """Integers within ±2^62 however large they were: no sampler saturates, and sensitivities are kept."""
    return np.array([max(-LARGEST, min(LARGEST, value)) for value in values], np.int64)


def _gaps(scores: Sequence[int]) -> npt.NDArray[np.float64]:
    best = max(scores)
    return np.array([score - best for score in scores], np.float64)


def _rejected(random: np.random.Generator, sigma: float, n: int) -> Integers:
    """n discrete Gaussian draws, by rejection from a discrete Laplace of scale t = ⌊σ⌋ + 1: a draw z is kept
    with probability exp(−(|z| − σ²/t)²/(2σ²)) (Canonne, Kamath and Steinke 2020, algorithm 3)."""
    t, found = math.floor(sigma) + 1, np.empty(0, np.int64)
    p = -math.expm1(-1 / t)
    while len(found) < n:
        size = 2 * (n - len(found)) + 16
        z = random.geometric(p, size) - random.geometric(p, size)
        kept = random.random(size) < np.exp(-((np.abs(z) - sigma**2 / t) ** 2) / (2 * sigma**2))
        found = np.concatenate([found, z[kept]])
    return found[:n]


def _each(measurement: Any, values: Integers) -> Integers:
    """A measurement of a vector, in the shape of the values."""
    drawn = measurement(np.clip(np.asarray(values, np.int64), -LARGEST, LARGEST).ravel())
    return np.array(drawn, np.int64).reshape(np.shape(values))


def _rounded_up(make: Callable[[float], Any], scale: float, moved: float, share: Fraction) -> Any:
    """A measurement whose own bound is at most the share, where its input moves by at most `moved`."""
    if not moved > 0 or share <= 0:
        raise ValueError("sensitivity and share are positive")
    while True:
        measurement = make(scale)
        if Fraction(measurement.map(moved)) <= share:
            return measurement
        scale = math.nextafter(scale, math.inf)


@lru_cache(maxsize=256)
def _laplace(sensitivity: int, epsilon: Fraction) -> Any:
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l1_distance(T="i64")
    scale = float(sensitivity / epsilon) if epsilon > 0 else 0.0
    return _rounded_up(lambda b: measurements.make_laplace(*space, scale=b), scale, sensitivity, epsilon)


@lru_cache(maxsize=256)
def _gaussian(square: int, rho: Fraction) -> Any:
    """The L2 distance that OpenDP is told is at least √square."""
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T="f64")
    moved = math.nextafter(math.sqrt(square), math.inf) if square > 0 else 0.0
    scale = moved / math.sqrt(2 * float(rho)) if rho > 0 else 0.0
    return _rounded_up(lambda sigma: measurements.make_gaussian(*space, scale=sigma), scale, moved, rho)


@lru_cache(maxsize=256)
def _argmax(sensitivity: int, epsilon: Fraction) -> Any:
    unit = 2 / float(epsilon) if epsilon > 0 else 0.0
    return _noisy_max(measures.max_divergence(), unit, sensitivity, epsilon)


@lru_cache(maxsize=256)
def _gumbel(sensitivity: int, rho: Fraction) -> Any:
    unit = 1 / math.sqrt(2 * float(rho)) if rho > 0 else 0.0
    return _noisy_max(measures.zero_concentrated_divergence(), unit, sensitivity, rho)


def _noisy_max(measure: Any, unit: float, sensitivity: int, share: Fraction) -> Any:
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.linf_distance(T="i64")
    make = partial(measurements.make_noisy_max, *space, measure)
    return _rounded_up(lambda scale: make(scale=scale), sensitivity * unit, sensitivity, share)
