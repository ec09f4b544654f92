"""Tails: how far sums of independent integer noise can lie from zero, rounded against us.

A cell of a noisy table has noise Z, discrete Laplace of ratio a = exp(−ε/2) or discrete Gaussian of variance
1/ρ. Both laws are symmetric. With characteristic function φ and moment generating function m:

    discrete Laplace    P[|Z| > t] = 2a^(t+1)/(1+a)    φ(θ) = (1−a)²/(1 − 2a·cos θ + a²)
                        m(s) = (1−a)²/((1−a·e^s)(1−a·e^−s)) for |s| < ln(1/a)
    discrete Gaussian   φ(θ) = Σ_k exp(−σ²(θ+2πk)²/2) / Σ_k exp(−σ²(2πk)²/2), by Poisson summation
                        m(s) ≤ exp(s²σ²/2)  (Canonne, Kamath and Steinke 2020)

A sum W = Σ wᵢZᵢ of independent cells stays within r with P[|W| > r] ≤ β, by one of three ways:

One cell.    The exact tail.
Chernoff.    P[W ≥ r] ≤ e^(−sr)·Π m(s·wᵢ) for every s > 0, so r = (ln(2/β) + Σ ln m(s·wᵢ))/s serves both sides,
  each at β/2. The best s is searched for; every s is valid, so the search cannot do harm.
On a grid.   Theorem.  Let mᵢ be integers, rᵢ = wᵢ − h·mᵢ, W' = Σ mᵢZᵢ. If P[|W'| > t] ≤ β' and
  P[|Σ rᵢZᵢ| > r'] ≤ β − β', then P[|W| > h·t + r'] ≤ β.
  Proof.    W = h·W' + Σ rᵢZᵢ: if neither part exceeds its limit, W does not exceed the sum of the limits.  QED
  The law of W' modulo N is the inverse Fourier transform of Π φᵢ(mᵢθ) on N points, and P[|W'| > t] is at most
  what lies beyond t modulo N, plus P[|W'| ≥ N/2], which Chernoff bounds [A]. Where all weights are equal, the
  grid is the weight, nothing is left over, and the answer is exact but for the roundings named below.

Rounding.    Noise is drawn with a scale that is rounded up by a few units in the last place: rates are taken
  as smaller, and variances as larger, by a part in 10⁹ [B]. A transform on 2^17 points of numbers in [0, 1] is
  good to 10⁻¹³ in each point, and a tail to 10⁻¹⁰: that is added to every tail that comes of one [C], and
  levels below 10⁻⁷ are left to Chernoff. Half widths are multiplied by 1 + 10⁻⁹ [D].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, expm1, inf, log, log1p, pi, sqrt

import numpy as np
from scipy.optimize import minimize_scalar

from facsimile.privacy.budget import Rho
from facsimile.table.exact import Floats

LOOSE = 1e-9
SLIP = 1e-10
SMALLEST_LEVEL = 1e-7
POINTS = 2**17
FINE = 2048
"""A grid has so many steps in one standard deviation, or fewer where that takes too many points."""
MOST_WEIGHTS = 96
REST = 0.02
"""The part of a level that what falls off the grid may fail with."""


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

    @cached_property
    def variance(self) -> float:
        return 2 * exp(-self.rate) / expm1(-self.rate) ** 2

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


def half_width(cells: Iterable[Cells], beta: float) -> float:
    """r with P[|Σ wᵢZᵢ| > r] ≤ β; 0 where nothing is summed, infinite where β is 0.

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
    return _half_width(tuple(sorted(kept, key=lambda c: (c.weight, c.law.variance, c.times))), float(beta))


@lru_cache(maxsize=65_536)
def _half_width(cells: tuple[Cells, ...], beta: float) -> float:
    if len(cells) == 1 and cells[0].times == 1:
        return cells[0].weight * cell(cells[0].law, beta)
    found = _chernoff(cells, beta)
    if SMALLEST_LEVEL <= beta < 1 and len(cells) <= MOST_WEIGHTS:
        found = min(found, _on_grid(cells, beta))
    return found * (1 + LOOSE)  # [D]


def _deviation(cells: tuple[Cells, ...]) -> float:
    return sqrt(sum(c.times * c.weight**2 * c.law.variance for c in cells))


def _chernoff(cells: tuple[Cells, ...], beta: float) -> float:
    """The smallest r that a search over s finds."""
    wanted = max(0.0, log(2 / beta))
    limit = min(c.law.limit / c.weight for c in cells)
    highest = min(limit * (1 - 1e-9), 1e3 * (1 + wanted) / _deviation(cells))

    def reach(log_s: float) -> float:
        s = exp(log_s)
        return (wanted + sum(c.times * c.law.log_moment(s * c.weight) for c in cells)) / s

    ends = log(highest) - 18, log(highest)
    best = minimize_scalar(reach, bounds=ends, method="bounded", options={"xatol": 1e-6})
    return reach(float(best.x))


def _on_grid(cells: tuple[Cells, ...], beta: float) -> float:
    """By a Fourier transform, on the weight itself where there is one, else on a grid of small steps."""
    reach = _chernoff(cells, beta / 1000)
    weights = {c.weight for c in cells}
    step = cells[0].weight
    if len(weights) > 1:
        step = max(_deviation(cells) / FINE, 2 * reach / POINTS)
    points = 1 << (2 * ceil(reach / step) + 2).bit_length()
    if points > 4 * POINTS:
        return inf
    whole = [1 if len(weights) == 1 else round(c.weight / step) for c in cells]
    rest = tuple(
        Cells(abs(c.weight - m * step), c.law, c.times)
        for c, m in zip(cells, whole, strict=True)
        if c.weight != m * step
    )
    law = _transformed(cells, whole, points)
    far = 2 * np.cumsum(law[::-1])[::-1]
    level = beta * (1 - REST if rest else 1) - beta / 1000 - SLIP  # [A] [C]
    enough = np.flatnonzero(far[1:] <= level)
    if not len(enough):
        return inf
    return float(step * int(enough[0])) + (_chernoff(rest, beta * REST) if rest else 0.0)


def _transformed(cells: tuple[Cells, ...], whole: list[int], points: int) -> Floats:
    """P[W' = t] modulo `points`, t from 0 to half of them."""
    theta = 2 * pi * np.arange(points // 2 + 1) / points
    logarithm = np.zeros(len(theta))
    for c, m in zip(cells, whole, strict=True):
        if m:
            logarithm += c.times * c.law.log_characteristic((m * theta) % (2 * pi))
    law: Floats = np.fft.irfft(np.exp(logarithm), points)[: points // 2 + 1]
    return np.maximum(law, 0.0)
