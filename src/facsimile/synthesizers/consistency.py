"""Consistency: the non-negative tables that agree with each other and lie closest to noisy ones.

Noisy tables of overlapping columns contradict each other and have negative cells. It is known that shared
marginals agree, that everything adds up to n, that no cell is negative and that impossible cells are empty. The
first two are a linear space: a projection on it replaces shared marginals, small ones first, by their means
weighted by precision. The last two are a box. Dykstra's method alternates between both projections and finds
the nearest tables in the intersection. One-way counts are settled first, without the box, and then held.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from facsimile.table.conditions import Mask

Floats = npt.NDArray[np.float64]
Attributes = tuple[Hashable, ...]
FIRM = 1e-9
LARGE = 20_000_000
FEWEST = 25
"""Tables with many cells are mostly noise: they get fewer rounds, so that rounds × cells stays below LARGE."""


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy counts of some attributes (an axis each), the variance of a cell, and cells known to be empty."""

    attributes: Attributes
    counts: Floats
    variance: float
    empty: Mask | None = None


@dataclass(frozen=True, eq=False)
class _Overlap:
    """The tables that hold some attributes: place, other axes, order of the rest, cells summed; weights."""

    members: tuple[tuple[int, tuple[int, ...], tuple[int, ...], float], ...]
    weights: Floats


def consistent(
    tables: Sequence[Noisy], total: float, rounds: int = 100, tolerance: float = 1e-4
) -> list[Floats]:
    """Non-negative tables with sum `total` whose shared marginals agree, up to `tolerance` of the total.

    After so many rounds at most; fewer for large tables.
    """
    singles = _singles(tables, total)
    tables = [*tables, *singles]
    overlaps = [_overlap(tables, shared) for shared in _shared(tables)]
    now = [table.counts.astype(np.float64) for table in tables]
    debts = [np.zeros_like(x) for x in now]
    boxed = now
    cells = sum(x.size for x in now)
    for _ in range(min(rounds, max(FEWEST, LARGE // cells))):
        for overlap in overlaps:
            _agree(now, overlap)
        for i, x in enumerate(now):
            now[i] = x + (total - x.sum()) / x.size
        boxed = [_boxed(x + debt, table.empty) for x, debt, table in zip(now, debts, tables, strict=True)]
        moved = max(float(np.abs(b - x).sum()) for b, x in zip(boxed, now, strict=True))
        debts = [x + debt - b for x, debt, b in zip(now, debts, boxed, strict=True)]
        now = [b.copy() for b in boxed]
        if moved <= tolerance * total:
            break
    pairs = list(zip(boxed, tables, strict=True))[: len(tables) - len(singles)]
    return [_scaled(b, table.empty, total) for b, table in pairs]


def _singles(tables: Sequence[Noisy], total: float) -> list[Noisy]:
    """The one-way counts on which the tables agree, held firmly in what follows.

    They come before cells are made non-negative. That lifts what is empty, most of all in a rare value whose
    many cells are nearly empty; the sum of its noisy cells has no such bias.
    """
    now = [table.counts.astype(np.float64) for table in tables]
    for shared in _shared(tables):
        _agree(now, _overlap(tables, shared))
    found: dict[Hashable, Floats] = {}
    for x, table in zip(now, tables, strict=True):
        for axis, attribute in enumerate(table.attributes):
            others = tuple(i for i in range(x.ndim) if i != axis)
            found.setdefault(attribute, simplex(x.sum(axis=others), total))
    return [Noisy((attribute,), counts, FIRM) for attribute, counts in found.items()]


def simplex(x: Floats, total: float) -> Floats:
    """The non-negative vector with this sum that lies closest to x: max(x − t, 0)."""
    falling = np.sort(x)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(x) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    nearest: Floats = np.maximum(x - level, 0.0)
    return nearest


def _boxed(x: Floats, empty: Mask | None) -> Floats:
    found = np.maximum(x, 0.0)
    return found if empty is None else np.where(empty, 0.0, found)


def _scaled(x: Floats, empty: Mask | None, total: float) -> Floats:
    """The table with its sum put right; uniform where nothing is left."""
    if x.sum() <= 0:
        x = np.ones_like(x) if empty is None or empty.all() else (~empty).astype(np.float64)
    scaled: Floats = x * (total / x.sum())
    return scaled


def _shared(tables: Sequence[Noisy]) -> list[frozenset[Hashable]]:
    """All intersections of two or more tables' attributes, smaller ones first."""
    sets = [frozenset(table.attributes) for table in tables]
    found: set[frozenset[Hashable]] = set()
    frontier = {a & b for i, a in enumerate(sets) for b in sets[:i]} - {frozenset()}
    while frontier:
        found |= frontier
        frontier = {a & b for a in frontier for b in sets} - found - {frozenset()}
    return sorted(found, key=lambda s: (len(s), sorted(map(repr, s))))


def _overlap(tables: Sequence[Noisy], shared: frozenset[Hashable]) -> _Overlap:
    order = sorted(shared, key=repr)
    members, weights = [], []
    for place, table in enumerate(tables):
        if shared <= set(table.attributes):
            others = tuple(i for i, a in enumerate(table.attributes) if a not in shared)
            kept = [a for a in table.attributes if a in shared]
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
