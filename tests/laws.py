"""Statistical tests with a stated error rate: α = 1e-6, so that a correct sampler fails once in a million."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

ALPHA = 1e-6


def discrete_laplace(scale: float, reach: int) -> npt.NDArray[np.float64]:
    """P[Z = z] for z from −reach to reach, the tails added to the ends."""
    a = math.exp(-1 / scale)
    z = np.arange(-reach, reach + 1)
    p = (1 - a) / (1 + a) * a ** np.abs(z)
    tail = a ** (reach + 1) / (1 + a)
    p[0] += tail
    p[-1] += tail
    return p


def discrete_gaussian(sigma: float, reach: int) -> npt.NDArray[np.float64]:
    """P[Z = z] for z from −reach to reach, the tails added to the ends."""
    far = reach + int(40 * sigma) + 1
    weights = np.exp(-(np.arange(-far, far + 1) ** 2) / (2 * sigma**2))
    return counted(np.arange(-far, far + 1), reach, weights / weights.sum())


def exponential_mechanism(scores: Sequence[int], scale: float) -> list[float]:
    """P ∝ exp(qᵢ/scale)."""
    weights = [math.exp((q - max(scores)) / scale) for q in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> list[float]:
    """The exact law: visit candidates in random order, take i with probability exp(ε(qᵢ − max)/(2Δ))."""
    accept = [math.exp(float(epsilon) * (q - max(scores)) / (2 * sensitivity)) for q in scores]
    found = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            found[i] += left * accept[i] / len(orders)
            left *= 1 - accept[i]
    return found


def fits(counts: npt.ArrayLike, law: npt.ArrayLike) -> bool:
    """Chi-square test of counts against a law, cells joined until each expects at least ten."""
    observed, expected = np.asarray(counts, float), np.asarray(law, float) * np.sum(counts)
    cells: list[list[float]] = [[0.0, 0.0]]
    for o, e in zip(observed, expected, strict=True):
        cells[-1][0] += o
        cells[-1][1] += e
        if cells[-1][1] >= 10:
            cells.append([0.0, 0.0])
    last = cells.pop()
    cells[-1][0] += last[0]
    cells[-1][1] += last[1]
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    return bool(chi2.sf(statistic, len(cells) - 1) > ALPHA)


def counted(draws: npt.ArrayLike, reach: int, weights: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
    """How often each integer from −reach to reach occurs, beyond clipped to the ends."""
    return np.bincount(np.clip(np.asarray(draws), -reach, reach) + reach, weights, minlength=2 * reach + 1)
