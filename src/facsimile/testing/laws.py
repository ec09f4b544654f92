"""Laws of noise, and statistical tests with a stated error rate: α = 1e-6, so that honest code fails once in a
million."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom, chi2

ALPHA = 1e-6
Law = npt.NDArray[np.float64]


def discrete_laplace(scale: float, reach: int) -> Law:
    """P[Z = z] for z from −reach to reach, the tails added to the ends."""
    a = math.exp(-1 / scale)
    z = np.arange(-reach, reach + 1)
    p = (1 - a) / (1 + a) * a ** np.abs(z)
    tail = a ** (reach + 1) / (1 + a)
    p[0] += tail
    p[-1] += tail
    return p


def discrete_gaussian(sigma: float, reach: int) -> Law:
    """P[Z = z] for z from −reach to reach, the tails added to the ends."""
    far = reach + int(40 * sigma) + 1
    weights = np.exp(-(np.arange(-far, far + 1) ** 2) / (2 * sigma**2))
    return counted(np.arange(-far, far + 1), reach, weights / weights.sum())


def exponential_mechanism(scores: Sequence[int], scale: float) -> list[float]:
    """P ∝ exp(qᵢ/scale)."""
    weights = [math.exp((q - max(scores)) / scale) for q in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> list[float]:
    """Visit candidates in random order, take i with probability aᵢ = exp(ε(qᵢ − max)/(2Δ)).

    That is the largest score plus exponential noise of scale 2Δ/ε, so P[i] = aᵢ·∫₀¹ Π_{j≠i} (1 − aⱼu) du: the
    integral of a polynomial, which Gauss's rule with half as many nodes takes exactly.

    >>> [round(p, 6) for p in permute_and_flip([1, 0], 1, Fraction(2))]
    [0.81606, 0.18394]
    """
    accept = np.exp([float(epsilon) * (q - max(scores)) / (2 * sensitivity) for q in scores])
    nodes, weights = np.polynomial.legendre.leggauss(len(scores) // 2 + 1)
    left = 1 - np.multiply.outer((nodes + 1) / 2, accept)
    others = [np.delete(left, place, axis=1).prod(axis=1) for place in range(len(scores))]
    return [float(a * (weights / 2) @ rest) for a, rest in zip(accept, others, strict=True)]


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
    if not cells:
        raise ValueError("too few draws to judge a law by")
    cells[-1][0] += last[0]
    cells[-1][1] += last[1]
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    return bool(chi2.sf(statistic, len(cells) - 1) > ALPHA)


def counted(draws: npt.ArrayLike, reach: int, weights: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
    """How often each integer from −reach to reach occurs, beyond clipped to the ends."""
    return np.bincount(np.clip(np.asarray(draws), -reach, reach) + reach, weights, minlength=2 * reach + 1)


def likely(hits: int, draws: int, chance: float) -> bool:
    """Whether an event of this chance happens so often: a two-sided binomial test at α."""
    return bool(binom.sf(hits - 1, draws, chance) > ALPHA / 2 and binom.cdf(hits, draws, chance) > ALPHA / 2)


def at_least(hits: int, draws: int, alpha: float) -> float:
    """A chance is at least this, but with probability α (Clopper and Pearson)."""
    return float(beta.ppf(alpha, hits, draws - hits + 1)) if hits else 0.0


def at_most(hits: int, draws: int, alpha: float) -> float:
    """A chance is at most this, but with probability α (Clopper and Pearson)."""
    return float(beta.ppf(1 - alpha, hits + 1, draws - hits)) if hits < draws else 1.0
