"""Smoothness: neighbouring values of an ordered column have counts of a like size, as far as the counts say so.

Noise hides a rare value more than a frequent one: 300 ± 70 among neighbours of 280, 350 and 450 is better told
by all four. Let μ = exp(f) be the expected counts, measured with precision Q as Qμ ≈ w. Differences of f, first
and second ones, follow Student's law with 3 degrees of freedom, so that a jump or a heap here and there says
little about the rest; either law is taken half, as a mean of two opinions. The scale of each is learnt from the
same noisy counts (EM: its square is the mean of u·(d² + Var d), u = 4/(3 + d²/scale²) the weight of a
difference d). Where counts jump about, scales are large and nothing is smoothed; a value with clear counts
keeps them in any case.
"""

from __future__ import annotations

import numpy as np

from facsimile.table.exact import Floats, Ints

FREEDOM = 3.0
ROUNDS = 20
SETTLED = 0.01
SMALLEST_SCALE = 1e-3
REACH = -20.0, 50.0
"""Of the logarithm of a count."""
FEWEST = 4
"""A column with fewer values has no shape to be learnt."""


def along(
    line: Ints, precision: Floats, weighted: Floats, counts: Floats, variances: Floats
) -> tuple[Floats, Floats]:
    """Counts and variances of the codes of a line, the others given; as they are where nothing is measured."""
    if len(line) < FEWEST or not precision[line, line].any():
        return counts[line], variances[line]
    inside = precision[np.ix_(line, line)]
    others = weighted[line] - precision[line] @ counts + inside @ counts[line]
    return smooth(inside, others, counts[line])


def smooth(precision: Floats, weighted: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Counts and their variances, from the precision of what was measured, precision × counts, and a start.

    >>> noisy = np.array([310.0, 180.0, 380.0, 440.0, 610.0])
    >>> smooth(np.eye(5) / 70**2, noisy / 70**2, noisy)[0].round().tolist()
    [282.0, 265.0, 352.0, 448.0, 596.0]
    """
    size = len(counts)
    differences = [np.diff(np.eye(size), order, axis=0) for order in (1, 2)]
    noise = np.diag(precision).clip(min=1e-12) ** -0.5
    f = np.log(np.maximum(counts, np.minimum(noise, max(1.0, counts.mean()))))
    scales = [float(np.median((d @ f) ** 2)) + 0.05 for d in differences]
    for _ in range(ROUNDS):
        weights = [
            (FREEDOM + 1) / (FREEDOM + (d @ f) ** 2 / s) for d, s in zip(differences, scales, strict=True)
        ]
        rough = sum(0.5 * (d.T * (u / s)) @ d for d, u, s in zip(differences, weights, scales, strict=True))
        mean = np.exp(f)
        hessian = rough + mean[:, None] * precision * mean
        covariance = np.linalg.inv(hessian + 1e-9 * np.eye(size))
        step = covariance @ (mean * (weighted - precision @ mean) - rough @ f)
        f = np.clip(f + np.clip(step, -1, 1), *REACH)
        scales = [
            max(SMALLEST_SCALE, float(np.mean(u * ((d @ f) ** 2 + ((d @ covariance) * d).sum(axis=1)))))
            for d, u in zip(differences, weights, strict=True)
        ]
        if np.abs(step).max() < SETTLED:
            break
    return np.exp(f), np.exp(2 * f) * np.diag(covariance)
