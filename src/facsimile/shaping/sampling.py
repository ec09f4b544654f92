"""Sampling: integer counts of exactly n records from a dense array of probabilities.

    independent   n draws, each record by itself: every count has its binomial spread
    systematic    one random start, then every n-th part of the mass along a path through the cells

On the path each step changes one column by one code, so every stretch of it holds its expected number of
records up to one, and a record that is rounded away reappears close by. Stretches are whole cells of the tables
of the leading columns; what remains off in the one-way tables of the others is then moved between neighbouring
codes, so that every one-way count is its expectation rounded up or down.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
ROUNDS = 3


def independent(p: Floats, n: int, random: np.random.Generator) -> Ints:
    """Counts of n independent draws."""
    cells = _mass(p)
    counts: Ints = random.multinomial(n, cells / cells.sum()).reshape(p.shape)
    return counts


def systematic(p: Floats, n: int, random: np.random.Generator) -> Ints:
    """Counts as close to their expectations as integers can be, one-way tables included.

    >>> systematic(np.array([[0.5, 0.0], [0.25, 0.25]]), 8, np.random.default_rng(1)).tolist()
    [[4, 0], [2, 2]]
    """
    cells, order = _mass(p), path(p.shape)
    counts = np.empty(p.size, np.int64)
    counts[order] = rounded(cells[order], n, random)
    off = (counts - cells / cells.sum() * n).reshape(p.shape)
    table = counts.reshape(p.shape)
    possible = cells.reshape(p.shape) > 0
    for _ in range(ROUNDS):
        moved = 0
        for axis in range(p.ndim):
            turned = (np.moveaxis(table, axis, 0), np.moveaxis(off, axis, 0), np.moveaxis(possible, axis, 0))
            moved += _level(*turned, random)
        if not moved:
            break
    return table


def rounded(weights: Floats, n: int, random: np.random.Generator) -> Ints:
    """n shared out by weight with one random start: each count is its share rounded up or down.

    >>> rounded(np.array([1.0, 2.0, 1.0]), 8, np.random.default_rng(0)).tolist()
    [2, 4, 2]
    """
    share = np.cumsum(weights)
    edges = np.floor(share / share[-1] * n + random.random()).astype(np.int64)
    edges[np.flatnonzero(weights)[-1] :] = n
    counts: Ints = np.diff(np.minimum(edges, n), prepend=0)
    return counts


def path(shape: tuple[int, ...]) -> Ints:
    """The flat places of all cells, in an order where neighbours differ by one code of one column.

    >>> path((2, 3)).tolist()
    [0, 1, 2, 5, 4, 3]
    """
    order = np.zeros(1, np.int64)
    for size in reversed(shape):
        there, back = order, order[::-1]
        order = np.concatenate([(back if k % 2 else there) + k * len(there) for k in range(size)])
    return order


def _mass(p: Floats) -> Floats:
    """The cells in a row; where none has mass, all of them have the same."""
    cells = p.ravel()
    return cells if cells.any() else np.ones_like(cells)


def _level(counts: Ints, off: Floats, possible: npt.NDArray[np.bool_], random: np.random.Generator) -> int:
    """Move single records between neighbouring codes of the first axis until its table is right up to one.

    `off` is count minus expectation. As many records have to cross from code k to k + 1 as are too many up
    to k; those go whose cell has most too many and whose new cell most too few.
    """
    rest = tuple(range(1, off.ndim))
    crossing = np.rint(np.cumsum(off.sum(axis=rest))).astype(np.int64)[:-1]
    for k in np.flatnonzero(crossing).tolist():
        number = abs(int(crossing[k]))
        start, end = (k, k + 1) if crossing[k] > 0 else (k + 1, k)
        open_ = np.flatnonzero((counts[start] > 0) & possible[end])
        gain = (off[start] - off[end]).ravel()[open_] + 0.5 * random.random(len(open_))
        chosen = np.zeros(counts[start].size, np.int64)
        chosen[open_[np.argsort(-gain, kind="stable")[:number]]] = 1
        step = chosen.reshape(counts[start].shape)
        counts[start] -= step
        counts[end] += step
        off[start] -= step
        off[end] += step
    return int(np.abs(crossing).sum())
