"""Ranks: the rank correlation of two columns of a table, from counts alone."""

from __future__ import annotations

import numpy as np

from facsimile.table.exact import Floats
from facsimile.table.numbers import scaled
from facsimile.table.table import Table


def rank_correlation(table: Table, one: str, other: str) -> float | None:
    """Spearman's correlation of two columns; None where one of them is constant.

    Records with the same number are tied and share the mean of the ranks that they take together (midranks).
    The correlation of Spearman is the ordinary one of the midranks, with ties as well as without. Ranks are
    centred at (n + 1)/2, their mean, before anything is summed.

    >>> from facsimile.spec.columns import Axis, Fraction, parse_bins
    >>> from facsimile.table.domain import Domain
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0", "1-9", "10-900"], Fraction(1))) for name in "ab"))
    >>> round(rank_correlation(Table.from_rows(domain, [[0, 0], [1, 1], [2, 1]]), "a", "b"), 3)
    0.866
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
