"""Ranks: the rank correlation of two columns of a table, from counts alone."""

from __future__ import annotations

import numpy as np

from facsimile.table.numbers import Floats, scaled
from facsimile.table.table import Table


def rank_correlation(table: Table, one: str, other: str) -> float | None:
    """Spearman's correlation of two columns; None where one of them is constant.

    Records with the same number are tied and share the mean of the ranks that they take together (midranks).
    The correlation of Spearman is the ordinary one of the midranks, with ties as well as without. Ranks are
    centred at (n + 1)/2, their mean, before anything is summed.
    """
    x, y = (_midranks(table, name) for name in (one, other))
    joint = table.marginal((one, other))
    spread = float(x**2 @ joint.sum(axis=1)) * float(y**2 @ joint.sum(axis=0))
    return float(x @ joint @ y) / float(np.sqrt(spread)) if spread else None


def _midranks(table: Table, name: str) -> Floats:
    """The centred midrank of each code; codes with the same number have the same."""
    numbers = scaled(table.domain.axis(name))[0]
    _, place = np.unique(numbers, return_inverse=True)
    counts = np.bincount(place, weights=table.marginal((name,)))
    ends = np.cumsum(counts)
    found: Floats = (ends - counts / 2 - table.n / 2)[place]
    return found
