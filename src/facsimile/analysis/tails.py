"""Tails: how far sums of independent integer noise can lie from zero, rounded against us.

A cell of a noisy table has noise Z, discrete Laplace of ratio a = exp(−ε/2) or discrete Gaussian of variance
1/ρ. Both laws are symmetric. With characteristic function φ and moment generating function m:

    discrete Laplace    P[|Z| > t] = 2a^(t+1)/(1+a)    φ(θ) = (1−a)²/(1 − 2a·cos θ + a²)
                        m(s) = (1−a)²/((1−a·e^s)(1−a·e^−s)) for |s| < ln(1/a)
    discrete Gaussian   φ(θ) = Σ_k exp(−σ²(θ+2πk)²/2) / Σ_k exp(−σ²(2πk)²/2), by Poisson summation
                        m(s) ≤ exp(s²σ²/2)  (Canonne, Kamath and Steinke 2020)

A sum W = Σ wᵢZᵢ of independent cells stays within r with P[|W| > r] ≤ β, by the best of four ways:

One cell.    The exact tail.
Chernoff.    P[W ≥ r] ≤ e^(−sr)·Π m(s·wᵢ) for every s > 0, so r = (ln(2/β) + Σ ln m(s·wᵢ))/s serves both sides,
  each at β/2. The best s is searched for; every s is valid, so the search cannot do harm.
One weight.  W/w is an integer whose law modulo N is the inverse Fourier transform of Π φᵢ on N points, and
  P[|W/w| > t] is at most what lies beyond t modulo N, plus P[|W/w| ≥ N/2], which Chernoff bounds [A].
Smoothed.    Theorem.  Let U be the sum of m uniform numbers on [−η/m, η/m], drawn for this proof alone, and
  L ≥ 2r. Then P[|W| > r] ≤ P[|W + U| > r − η modulo L] + P[|W| ≥ L − r], and with t_k = 2πk/L
      P[|W + U| > ρ modulo L] ≤ 1 − 2ρ/L − Σ_{k=1}^{K} 2·sin(t_kρ)/(πk)·Π φᵢ(wᵢt_k)·φ_U(t_k) + e_K,
      φ_U(t) = (sin(ηt/m)/(ηt/m))^m, e_K = 2/(πm)·(m/(ηt_K))^m.
  Proof.    |U| ≤ η, so |W| > r makes |W + U| > r − η; and modulo L unless |W + U| > L − (r − η), which needs
  |W| ≥ L − r. The law of W + U modulo L has Fourier coefficients φ_W(t_k)·φ_U(t_k), the indicator of |x| > ρ on
  a period has 1 − 2ρ/L and −2·sin(t_kρ)/(πk) for the cosines; they decay like k^−(m+1), so the series converges
  absolutely to the probability. What is left out is at most Σ_{k>K} 2/(πk)·(m/(ηt_k))^m ≤ e_K, by an integral.
  QED  The last probability is Chernoff's again [A].

Rounding.    Noise is drawn with a scale that is rounded up by a few units in the last place: rates are taken
  as smaller, and variances as larger, by a part in 10⁹ [B]. A transform or a series of at
  most 2^18 terms in [−1, 1] is good to 10⁻¹¹: 10⁻¹⁰ is added to every tail that comes of one [C], and levels
  below 10⁻⁷ are left to Chernoff. Half widths are multiplied by 1 + 10⁻⁹ [D].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, inf, log, log1p, pi, sqrt

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.table.exact import Floats

LOOSE = 1e-9
SLIP = 1e-10
SMALLEST_LEVEL = 1e-7
POINTS = 2**18
FINE = 100
"""η is this part of a standard deviation."""
UNIFORMS = 8
MOST_TERMS = 2**25
"""A series is computed where its terms, times the different weights, are no more."""


class Law(ABC):
    """The law of the noise on one cell."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Its variance, or a little more."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """The s from which there is no m(s)."""

    @abstractmethod
    def beyond(self, t: int) -> float:
        """P[|Z| > t] for an integer t ≥ 0."""

    @abstractmethod
    def log_moment(self, s: float) -> float:
        """ln m(s) for 0 < s < limit, or a bound of it."""

    @abstractmethod
    def log_characteristic(self, theta: Floats) -> Floats:
        """ln φ(θ) for θ in [0, 2π]."""


@dataclass(frozen=True)
class Laplace(Law):
    """Discrete Laplace noise of ratio a = exp(−rate)."""

    rate: float

    @property
    def variance(self) -> float:
        return max(1e-300, 2 * exp(-self.rate) / expm1(-self.rate) ** 2)

    @property
    def limit(self) -> float:
        return self.rate

    def beyond(self, t: int) -> float:
        return 2 * exp(-self.rate * (t + 1)) / (1 + exp(-self.rate))

    def log_moment(self, s: float) -> float:
        rate = self.rate
        return max(0.0, 2 * log1p(-exp(-rate)) - log1p(-exp(s - rate)) - log1p(-exp(-s - rate)))

    def log_characteristic(self, theta: Floats) -> Floats:
        a = exp(-self.rate)
        found: Floats = 2 * log1p(-a) - np.log1p(a * (a - 2 * np.cos(theta)))
        return np.minimum(found, 0.0)


@dataclass(frozen=True)
class Gaussian(Law):
    """Discrete Gaussian noise, P[Z = z] ∝ exp(−z²/(2·spread)); its variance is at most its spread."""

    spread: float

    @property
    def variance(self) -> float:
        return self.spread

    @property
    def limit(self) -> float:
        return inf

    def beyond(self, t: int) -> float:
        """By summation up to forty deviations, where what is left out is below 10⁻³⁰⁰."""
        z = np.arange(1, t + 2 + ceil(40 * sqrt(self.spread)), dtype=np.float64)
        weights = np.exp(-(z**2) / (2 * self.spread))
        return float(2 * weights[t:].sum() / (2 * weights.sum() + 1))

    def log_moment(self, s: float) -> float:
        return s * s * self.spread / 2

    def log_characteristic(self, theta: Floats) -> Floats:
        turned = np.where(theta > pi, theta - 2 * pi, theta)
        last = ceil(2 / sqrt(self.spread)) + 2
        shifts = [2 * pi * k for k in range(-last, last + 1)]
        top = sum((np.exp(-self.spread * (turned + shift) ** 2 / 2) for shift in shifts), np.zeros(len(theta)))
        bottom = sum(exp(-self.spread * shift**2 / 2) for shift in shifts)
        return np.asarray(np.log(np.maximum(top / bottom, 1e-300)))


def law_of(share: Fraction) -> Law:
    """The noise of a table with this share, an ε or a ρ, a little wider [B].

    >>> f"{law_of(Fraction(1)).variance:.5f} {law_of(Fraction(1)).beyond(6):.6f}"
    '7.83540 0.037593'
    """
    if isinstance(share, Rho):
        return Gaussian((1 + LOOSE) / float(share))
    return Laplace(float(share) / 2 * (1 - LOOSE))


@dataclass(frozen=True)
class Cells:
    """`times` cells of noisy tables with one law, each of them taken `weight` times."""

    weight: float
    law: Law
    times: int = 1


def cell(law: Law, beta: float) -> int:
    """The smallest t with P[|Z| > t] ≤ β for one cell, 0 < β.

    >>> cell(law_of(Fraction(1)), 0.04), cell(law_of(Fraction(1)), 0.0375)
    (6, 7)
    """
    low, high = -1, 1
    while law.beyond(high) > beta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if law.beyond(middle) > beta else (low, middle)
    return high


def half_width(cells: Iterable[Cells], beta: float, rough: bool = False) -> float:
    """r with P[|Σ wᵢZᵢ| > r] ≤ β; 0 where nothing is summed, infinite where β is 0.

    `rough`: by Chernoff alone, which is quick and never narrower.

    >>> half_width([Cells(1.0, law_of(Fraction(1)))], 0.04)
    6.0
    """
    found = Counter[tuple[float, Law]]()
    for one in cells:
        if one.weight:
            found[abs(one.weight), one.law] += one.times
    kept = [Cells(weight, law, times) for (weight, law), times in found.items() if times]
    if not kept:
        return 0.0
    if not beta > 0:
        return inf
    ordered = tuple(sorted(kept, key=lambda c: (c.weight, c.law.variance, c.times)))
    return _chernoff(ordered, float(beta)) * (1 + LOOSE) if rough else _half_width(ordered, float(beta))


@lru_cache(maxsize=65_536)
def _half_width(cells: tuple[Cells, ...], beta: float) -> float:
    if len(cells) == 1 and cells[0].times == 1:
        return cells[0].weight * cell(cells[0].law, beta)
    found = _chernoff(cells, beta)
    if SMALLEST_LEVEL <= beta < 1:
        alike = len({c.weight for c in cells}) == 1
        found = min(found, _transformed(cells, beta) if alike else _smoothed(cells, beta))
    return found * (1 + LOOSE)  # [D]


def _deviation(cells: tuple[Cells, ...]) -> float:
    return sqrt(sum(c.times * c.weight**2 * c.law.variance for c in cells))


def _chernoff(cells: tuple[Cells, ...], beta: float) -> float:
    """The smallest r that a search over s finds."""
    from scipy.optimize import minimize_scalar  # slow to import, and seldom needed

    wanted = max(0.0, log(2 / beta))
    limit = min(c.law.limit / c.weight for c in cells)
    highest = min(limit * (1 - 1e-9), 1e3 * (1 + wanted) / _deviation(cells))

    def reach(log_s: float) -> float:
        s = exp(log_s)
        return (wanted + sum(c.times * c.law.log_moment(s * c.weight) for c in cells)) / s

    ends = log(highest) - 18, log(highest)
    best = minimize_scalar(reach, bounds=ends, method="bounded", options={"xatol": 1e-6})
    return reach(float(best.x))


def _transformed(cells: tuple[Cells, ...], beta: float) -> float:
    """Of one weight, exactly but for rounding; infinite where that takes too many points."""
    step, reach = cells[0].weight, _chernoff(cells, beta / 1000)
    points = 1 << (2 * ceil(reach / step) + 2).bit_length()
    if points > POINTS:
        return inf
    theta = 2 * pi * np.arange(points // 2 + 1) / points
    law = np.fft.irfft(np.exp(sum(c.times * c.law.log_characteristic(theta) for c in cells)), points)
    far = 2 * np.cumsum(np.maximum(law[: points // 2 + 1], 0.0)[::-1])[::-1]
    enough = np.flatnonzero(far[1:] <= beta * 0.999 - SLIP)  # [A] [C]
    return float(step * int(enough[0])) if len(enough) else inf


def _smoothed(cells: tuple[Cells, ...], beta: float) -> float:
    """Of any weights; infinite where the series has too many terms."""
    eta, reach = _deviation(cells) / FINE, _chernoff(cells, beta / 1000)
    period = 2 * reach
    last = ceil(UNIFORMS / eta * (2 / (pi * UNIFORMS) / (beta / 1000)) ** (1 / UNIFORMS) * period / (2 * pi))
    if last * len(cells) > MOST_TERMS or last > POINTS:
        return inf
    k = np.arange(1, last + 1)
    t = 2 * pi * k / period
    logarithm = np.zeros(last)
    for c in cells:
        logarithm += c.times * c.law.log_characteristic((c.weight * t) % (2 * pi))
    weights = np.exp(logarithm) * np.sinc(eta * t / UNIFORMS / pi) ** UNIFORMS * 2 / (pi * k)
    kept = np.abs(weights) > SLIP / (8 * last)
    t, weights = t[kept], weights[kept]
    level = beta * 0.998 - 2 * SLIP  # [A] [C]: a thousandth for e_K, one for Chernoff

    def far(rho: float) -> float:
        return 1 - 2 * rho / period - float(np.sin(t * rho) @ weights)

    low, high = 0.0, reach
    while high - low > eta / 10:
        middle = (low + high) / 2
        low, high = (middle, high) if far(middle) > level else (low, middle)
    return high + eta
