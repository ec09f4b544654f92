"""The ratio of one-way counts in the paper's form: where a noisy one is tested, and how often luck passes it.

Ratios are clipped to [1, λ], so whatever lies beyond λ is asked about as λ itself. Only the noise can carry it
below the value T' that is tested at. T' is fixed by the specification, before a candidate exists.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor

from facsimile.privacy.budget import log_upper
from facsimile.privacy.queries.sensitivity import ratio_clipped
from facsimile.spec.criteria import Criterion, MarginalsRelative
from facsimile.spec.release import Specification

DIGITS = 6


def clipped(specification: Specification, criterion: Criterion) -> MarginalsRelative | None:
    """The criterion, if it is a ratio that is clipped and tested with noise of its own; otherwise None."""
    alone = specification.scheme == "paper" and specification.statistic_of(criterion) == "paper"
    return criterion if alone and isinstance(criterion, MarginalsRelative) else None


def tested_at(criterion: MarginalsRelative) -> Fraction:
    """T': as it is given, or λ + (Δ/ε)·ln(2p) rounded down to six digits, and never above the threshold.

    Δ is that of a release whose smallest one-way count is `planning_s_min`. A ratio of λ or more then passes
    with P[λ + Lap(Δ/ε) ≤ T'] = p = `false_accept`, and less often where the smallest count is larger.
    """
    if criterion.tested_at is not None:
        return criterion.tested_at
    scale = ratio_clipped(criterion.clip, criterion.planning_s_min) / criterion.epsilon
    lowered = criterion.clip - scale * log_upper(1 / (2 * criterion.false_accept))
    return min(criterion.threshold, Fraction(floor(lowered * 10**DIGITS), 10**DIGITS))


def luck(criterion: MarginalsRelative, grid: int, units: int) -> float:
    """How likely a ratio of λ or more passes by luck of the noise, ½·exp((T' − λ)·ε/Δ) on a grid.

    ⌊λ·grid⌋ + Z < T'·grid, Z discrete Laplace noise of ratio a = exp(−ε/units): P[Z ≤ −t] = a^t/(1 + a).
    """
    t = floor(criterion.clip * grid) - ceil(tested_at(criterion) * grid) + 1
    a = exp(-float(criterion.epsilon) / units)
    return float(a**t / (1 + a))
