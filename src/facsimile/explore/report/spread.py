"""Spread: how the values of one criterion lie over trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Spread:
    """One criterion over trials: each value over what it is compared with, so that below 1 is met.

    A trial without a value failed, and counts as infinite. `undefined` is the number of these, `quantiles` are
    those at QUANTILES, `overshoot` is the median over the trials that failed, `values` are evenly spaced order
    statistics: thinned out, they keep the shape of the distribution and its ends.
    """

    criterion: str
    threshold: float
    trials: int
    failed: int
    undefined: int
    quantiles: tuple[float, ...]
    overshoot: float | None
    values: tuple[float, ...]


def spread(criterion: str, threshold: float, values: Sequence[float | None], points: int) -> Spread:
    """The distribution of some values, of which at most `points` are kept.

    >>> spread("mean", 2.0, [0.5, 3.0, None, 1.5], 3).values
    (0.5, 3.0, inf)
    """
    ordered = sorted(np.inf if value is None else value for value in values)
    failed = [value for value in ordered if value >= 1]
    places = np.unique(np.linspace(0, len(ordered) - 1, min(points, len(ordered))).round().astype(int))
    return Spread(
        criterion,
        threshold,
        len(ordered),
        len(failed),
        sum(value is None for value in values),
        tuple(np.quantile(ordered, QUANTILES, method="inverted_cdf").tolist()),
        median(failed) if failed else None,
        tuple(float(ordered[place]) for place in places),
    )
