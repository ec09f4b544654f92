"""Differences of two tables over all their marginals.

The largest |q(R) − q(S)| over every cell of every k-way marginal. On a dense domain each marginal of the
difference is summed from a larger one, so all 2^d of them together cost little more than the largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from facsimile.table.domain import Clique
from facsimile.table.table import Codes, Counts, Table

DENSE_CELLS = 20_000_000
FEW_CELLS = 1_000_000


def cliques(names: Clique, ways: int) -> Iterator[Clique]:
    """Every set of 1 to `ways` columns.

    >>> list(cliques(("a", "b", "c"), 2))
    [('a',), ('b',), ('c',), ('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    for size in range(1, ways + 1):
        yield from combinations(names, size)


def largest_difference(one: Table, other: Table, ways: int | None = None) -> int:
    """The largest difference of any count of any marginal of up to `ways` columns (default: all)."""
    names = one.domain.names
    most = len(names) if ways is None else min(ways, len(names))
    if one.domain.cells <= DENSE_CELLS and most == len(names):
        return _dense(_spread(*difference(one, other), one.domain.shape))
    return max(int(np.abs(_gaps(one, other, c)).max(initial=0)) for c in cliques(names, most))


def distance(one: Table, other: Table, clique: Clique) -> int:
    """The L1 distance of one marginal of two tables."""
    return int(np.abs(_gaps(one, other, clique)).sum())


def by_ways(one: Table, other: Table, ways: int) -> tuple[int, float]:
    """Over the tables of exactly so many columns: the largest difference of a count, the mean L1 distance."""
    found = [np.abs(_gaps(one, other, clique)) for clique in combinations(one.domain.names, ways)]
    return max(int(gaps.max(initial=0)) for gaps in found), sum(int(gaps.sum()) for gaps in found) / len(found)


def difference(one: Table, other: Table) -> tuple[Codes, Counts]:
    """The rows of both tables with the counts of the first and minus the counts of the second."""
    return np.concatenate([one.codes, other.codes]), np.concatenate([one.counts, -other.counts])


def _spread(codes: Codes, counts: Counts, shape: tuple[int, ...]) -> Counts:
    """Counts counts on the dense domain; exact, since a float holds every integer below 2^53."""
    index = np.ravel_multi_index(tuple(codes.T), shape)
    return np.bincount(index, weights=counts, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


def _dense(array: Counts) -> int:
    """The largest entry of any marginal: axes are summed away in order, each subset of axes once."""
    worst = 0

    def visit(part: Counts, first: int) -> None:
        nonlocal worst
        if part.ndim:
            worst = max(worst, int(part.max()), -int(part.min()))
            for axis in range(first, part.ndim):
                visit(part.sum(axis=axis), axis)

    visit(array, 0)
    return worst


def _gaps(one: Table, other: Table, clique: Clique) -> Counts:
    """One marginal of the difference: every cell of it where they are few, else those with records."""
    if one.domain.size(clique) <= FEW_CELLS:
        return one.marginal(clique) - other.marginal(clique)
    codes, counts = difference(one.project(clique), other.project(clique))
    _, place = np.unique(codes, axis=0, return_inverse=True)
    return np.bincount(place.ravel(), weights=counts).astype(np.int64)


def smallest_one_way(table: Table) -> int:
    """The smallest one-way count over the whole domain, empty cells included."""
    return min(int(table.marginal((name,)).min()) for name in table.domain.names)


def one_way_pairs(one: Table, other: Table) -> Iterator[tuple[int, int]]:
    """The counts of two tables in every one-way cell of the domain."""
    for name in one.domain.names:
        yield from zip(one.marginal((name,)).tolist(), other.marginal((name,)).tolist(), strict=True)


def smallest_likeness(one: Table, other: Table) -> Fraction:
    """min over one-way cells of min(r̂/ŝ, ŝ/r̂), the counts plus one: the inverse of the largest ratio."""
    return min(Fraction(min(r, s) + 1, max(r, s) + 1) for r, s in one_way_pairs(one, other))
