"""Noise: the only randomness that touches confidential numbers.

`SystemNoise` draws from the operating system's generator: OpenDP's exact samplers for integers, Python's
`secrets` for coins and unbiased draws. Numbers are passed INTO the sampler; nothing is drawn on zero and
added outside. `RehearsalNoise` is its seeded twin for public data; it has the same laws and no protection.

    laplace   value + Z,  P[Z = z] ∝ exp(−|z| ε/Δ)         ε-DP for an integer vector of L1 sensitivity Δ
    argmax    permute-and-flip: i with weight by exp(ε(qᵢ − max q)/(2Δ))   ε-DP for scores of sensitivity Δ

Scales are floats inside OpenDP. They are rounded up until OpenDP's own bound, read as an exact Fraction, is
at most ε: the guarantee is never weaker than what is charged.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

dp.enable_features("contrib")

Integers = npt.NDArray[np.int64]
LARGEST = 2**62


class Noise(Protocol):
    """What a mechanism may ask for."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """The integers, each with discrete Laplace noise: ε-DP if they move by `sensitivity` in L1."""

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """The place of a high score: ε-DP if each score moves by at most `sensitivity`."""

    def coin(self, probability: Fraction) -> bool:
        """True with exactly this probability."""

    def below(self, n: int) -> int:
        """A uniform integer from 0 to n − 1."""


class SystemNoise(Noise):
    """Exact noise from the operating system's generator; it has no seed."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        flat = np.clip(np.asarray(values, np.int64), -LARGEST, LARGEST).ravel()
        drawn = _laplace(sensitivity, epsilon)(flat)
        return np.array(drawn, np.int64).reshape(np.shape(values))

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        return int(_argmax(sensitivity, epsilon)(fitting(scores)))

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

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """Permute-and-flip is the largest score plus exponential noise of scale 2Δ/ε."""
        best = max(scores)
        gaps = np.array([score - best for score in scores], np.float64)
        noise = self._random.exponential(2 * sensitivity / float(epsilon), len(gaps))
        return int(np.argmax(gaps + noise))

    def coin(self, probability: Fraction) -> bool:
        return int(self._random.integers(probability.denominator)) < probability.numerator

    def below(self, n: int) -> int:
        return int(self._random.integers(n))


def fitting(values: Iterable[int]) -> Integers:
    """Integers within ±2^62 however large they were: no sampler saturates, and sensitivities are kept."""
    return np.array([max(-LARGEST, min(LARGEST, value)) for value in values], np.int64)


def _rounded_up(make: Any, sensitivity: int, factor: int, epsilon: Fraction) -> Any:
    """A measurement whose own bound is at most ε."""
    if sensitivity < 1 or epsilon <= 0:
        raise ValueError("sensitivity and epsilon are positive")
    scale = float(factor * sensitivity / epsilon)
    while True:
        measurement = make(scale)
        if Fraction(measurement.map(sensitivity)) <= epsilon:
            return measurement
        scale = math.nextafter(scale, math.inf)


@lru_cache(maxsize=256)
def _laplace(sensitivity: int, epsilon: Fraction) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return _rounded_up(lambda scale: dp.m.make_laplace(*space, scale=scale), sensitivity, 1, epsilon)


@lru_cache(maxsize=256)
def _argmax(sensitivity: int, epsilon: Fraction) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    measure = dp.max_divergence()
    return _rounded_up(lambda scale: dp.m.make_noisy_max(*space, measure, scale=scale), sensitivity, 2, epsilon)
