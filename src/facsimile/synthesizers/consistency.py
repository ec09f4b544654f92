"""Consistency: the non-negative tables that agree with each other and lie closest to noisy ones.

Noisy tables of overlapping columns contradict each other and have negative cells. It is known that shared
marginals agree, that everything adds up to n, that no cell is negative and that impossible cells are empty. The
first two are a linear space: a projection on it replaces shared marginals, small ones first, by their means
weighted by precision. The last two are a box. Dykstra's method alternates between both projections and finds
the nearest tables in the intersection. One-way counts are settled first, without the box, and then held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Version
from facsimile.table.exact import Floats
from facsimile.table.fit import grouped
from facsimile.table.measurement import Measurement

FIRM = 1e-9
LARGE = 20_000_000
FEWEST = 25
"""Tables with many cells are mostly noise: they get fewer rounds, so that rounds × cells stays below LARGE."""


@dataclass(frozen=True, eq=False)
class _Overlap:
    """The tables that hold some attributes: place, other axes, order of the rest, cells summed; weights."""

    members: tuple[tuple[int, tuple[int, ...], tuple[int, ...], float], ...]
    weights: Floats


def consistent(
    tables: Sequence[Measurement],
    total: float,
    zeros: Sequence[tuple[Clique, Mask]] = (),
    rounds: int = 100,
    tolerance: float = 1e-4,
) -> list[Floats]:
    """Non-negative tables with sum `total` whose shared marginals agree, up to `tolerance` of the total.

    After so many rounds at most; fewer for large tables. Cells whose rows are all among the zeros are empty.
    """
    singles = _singles(tables, total)
    empty = [*(emptied(zeros, table) for table in tables), *(emptied((), single) for single in singles)]
    known = [*tables, *singles]
    overlaps = [_overlap(known, shared) for shared in _shared(known)]
    now = [table.counts.copy() for table in known]
    debts = [np.zeros_like(x) for x in now]
    boxed = now
    cells = sum(x.size for x in now)
    for _ in range(min(rounds, max(FEWEST, LARGE // cells))):
        for overlap in overlaps:
            _agree(now, overlap)
        for i, x in enumerate(now):
            now[i] = x + (total - x.sum()) / x.size
        owed = [x + debt for x, debt in zip(now, debts, strict=True)]
        boxed = [np.where(never, 0.0, np.maximum(x, 0.0)) for x, never in zip(owed, empty, strict=True)]
        moved = max(float(np.abs(b - x).sum()) for b, x in zip(boxed, now, strict=True))
        debts = [x - b for x, b in zip(owed, boxed, strict=True)]
        now = [b.copy() for b in boxed]
        if moved <= tolerance * total:
            break
    return [_scaled(x, never, total) for x, never in zip(boxed[: len(tables)], empty, strict=False)]


def _singles(tables: Sequence[Measurement], total: float) -> list[Measurement]:
    """The one-way counts on which the tables agree, held firmly in what follows.

    They come before cells are made non-negative. That lifts what is empty, most of all in a rare value whose
    many cells are nearly empty; the sum of its noisy cells has no such bias.
    """
    now = [table.counts.copy() for table in tables]
    for shared in _shared(tables):
        _agree(now, _overlap(tables, shared))
    found: dict[Version, Measurement] = {}
    for x, table in zip(now, tables, strict=True):
        for name, version in zip(table.columns, table.versions, strict=True):
            if version not in found:
                single = replace(table, counts=x).onto((name,))
                found[version] = replace(single, counts=nearest(single.counts, total), variance=FIRM)
    return list(found.values())


def nearest(
    counts: Floats,
    total: float,
    variances: Floats | None = None,
    possible: Mask | None = None,
    least: float = 0.0,
) -> Floats:
    """The counts that are not negative and have this sum, nearest in Σ(x − y)²/variance.

    By Lagrange x = max(0, y + variance·λ). Codes leave in the order of y/variance until λ fits the rest. A code
    that may occur keeps the least mass.

    >>> nearest(np.array([8.0, 4.0, -6.0]), 10).tolist()
    [7.0, 3.0, 0.0]
    """
    spread = np.ones_like(counts) if variances is None else variances
    places = np.arange(len(counts)) if possible is None else np.flatnonzero(possible)
    order = places[np.argsort(-(counts / spread)[places], kind="stable")]
    level = (total - np.cumsum(counts[order])) / np.cumsum(spread[order])
    last = np.flatnonzero(counts[order] + spread[order] * level > 0)[-1]
    found = np.zeros_like(counts)
    found[order] = np.maximum(least, counts[order] + spread[order] * level[last])
    return found


def emptied(zeros: Sequence[tuple[Clique, Mask]], table: Measurement) -> Mask:
    """The cells of a table, its columns in groups or not, in which every row is ruled out by one zero."""
    found = np.zeros(table.counts.shape, np.bool_)
    for clique, mask in zeros:
        inside = [name for name in table.columns if name in clique]
        if inside:
            others = tuple(place for place, name in enumerate(clique) if name not in inside)
            kept = [name for name in clique if name in inside]
            part: Mask = np.asarray(mask.all(axis=others)).transpose([kept.index(name) for name in inside])
            groups = [group for name, group in zip(table.columns, table.groups, strict=True) if name in inside]
            ruled = grouped((~part).astype(np.float64), groups) < 1
            places = [place for place, name in enumerate(table.columns) if name not in inside]
            found |= np.expand_dims(ruled, places)
    return found


def _scaled(x: Floats, empty: Mask, total: float) -> Floats:
    """The table with its sum put right; uniform where nothing is left."""
    if x.sum() <= 0:
        x = np.ones_like(x) if empty.all() else (~empty).astype(np.float64)
    scaled: Floats = x * (total / x.sum())
    return scaled


def _shared(tables: Sequence[Measurement]) -> list[frozenset[Version]]:
    """All intersections of two or more tables' attributes, smaller ones first."""
    sets = [frozenset(table.versions) for table in tables]
    found: set[frozenset[Version]] = set()
    frontier = {a & b for i, a in enumerate(sets) for b in sets[:i]} - {frozenset()}
    while frontier:
        found |= frontier
        frontier = {a & b for a in frontier for b in sets} - found - {frozenset()}
    return sorted(found, key=lambda s: (len(s), sorted(map(repr, s))))


def _overlap(tables: Sequence[Measurement], shared: frozenset[Version]) -> _Overlap:
    order = sorted(shared, key=repr)
    members, weights = [], []
    for place, table in enumerate(tables):
        if shared <= set(table.versions):
            others = tuple(i for i, a in enumerate(table.versions) if a not in shared)
            kept = [a for a in table.versions if a in shared]
            summed = prod(table.counts.shape[i] for i in others)
            members.append((place, others, tuple(kept.index(a) for a in order), float(summed)))
            weights.append(1 / (table.variance * summed))
    return _Overlap(tuple(members), np.array(weights) / sum(weights))


def _agree(now: list[Floats], overlap: _Overlap) -> None:
    """Every table takes over the weighted mean of the shared marginal; the difference is spread evenly."""
    found = [now[place].sum(axis=others).transpose(order) for place, others, order, _ in overlap.members]
    mean = sum(weight * marginal for weight, marginal in zip(overlap.weights, found, strict=True))
    for (place, others, order, summed), marginal in zip(overlap.members, found, strict=True):
        step = ((mean - marginal) / summed).transpose(np.argsort(order))
        now[place] += np.expand_dims(step, others)
