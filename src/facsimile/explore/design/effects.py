"""Effects: what tables of noisy cells say, taken apart into effects of single columns and of pairs.

A table of k₁ × … × k_d cells with noise of one variance v splits, by orthonormal contrasts of each column, into
a total (known: n), an effect of each column and of each pair, and higher interactions that the estimate leaves
to maximum entropy. An effect of a table is that of its shadow, the other columns summed away: so its noise has
variance v·∏(cells of the others). Tables that hold the same effect add their precisions.

Moments are taken over the distinct rows of a table; the domain is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

import numpy as np
from scipy.sparse import csr_matrix

from facsimile.synthesizers.measurements import BestGroups
from facsimile.table.exact import Floats
from facsimile.table.table import Codes, Table

Sizes = tuple[int, ...]
"""A table: the number of groups of each column of the domain, 1 where the column is not in it."""
Effect = tuple[tuple[int, int], ...]
"""One or two columns by their place, each with its number of groups."""
Asked = Effect | str
"""An effect, or a score by its name."""
MOST_ROWS = 50_000


def effects(table: Sizes) -> dict[Effect, int]:
    """The effects of a table, and how many cells are summed up in each cell of their shadows.

    >>> effects((3, 1, 2))
    {((0, 3),): 2, ((2, 2),): 3, ((0, 3), (2, 2)): 1}
    """
    columns = [(place, size) for place, size in enumerate(table) if size > 1]
    both: list[Effect] = [(column,) for column in columns] + list(combinations(columns, 2))
    return {effect: prod(table) // prod(size for _, size in effect) for effect in both}


def contrasts(size: int) -> Floats:
    """size − 1 orthonormal rows, each with sum 0.

    >>> np.round(contrasts(2), 3).tolist()
    [[0.707, -0.707]]
    """
    rows = np.tril(np.ones((size - 1, size)))
    np.fill_diagonal(rows[:, 1:], -np.arange(1, size))
    found: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


@dataclass(eq=False)
class Moments:
    """Means and covariances of effects, scores and the criteria's functions over a table; each is taken once.

    `functions` decide the criteria; `scores` are functions that are asked for by name. Covariances of a table
    with many distinct rows are those of some of them.
    """

    table: Table
    cuts: Mapping[str, BestGroups]
    functions: Callable[[Codes], Floats]
    scores: Mapping[str, Callable[[Codes], Floats]] = field(default_factory=dict)
    most_rows: int = MOST_ROWS
    rows: Codes = field(init=False)
    weights: Floats = field(init=False)
    _made: dict[object, Floats] = field(default_factory=dict, repr=False)
    _indices: dict[object, Codes] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        kept = np.random.default_rng(0).permutation(self.table.distinct)[: self.most_rows]
        counts = self.table.counts[np.sort(kept)]
        self.rows, self.weights = self.table.codes[np.sort(kept)], counts / counts.sum()

    def covariance(self, one: Asked, other: Asked) -> Floats:
        """Of what one asks for with what the other does, a line for each number of one."""
        if (one, other) not in self._made:
            if isinstance(one, str):
                found = self._with_values(other, one).T
            elif isinstance(other, str):
                found = self._with_values(one, other)
            else:
                found = self._between(one, other)
            self._made[one, other], self._made[other, one] = found, found.T
        return self._made[one, other]

    def with_functions(self, asked: Asked) -> Floats:
        """The covariances of each number that is asked for with each function."""
        if asked not in self._made:
            self._made[asked] = self._with_values(asked, None)
        return self._made[asked]

    def mean(self, asked: Asked | None) -> Floats:
        """Of what is asked for, or of the functions for None, over all rows."""
        if ("mean", asked) not in self._made:
            table = self.table
            if asked is None or isinstance(asked, str):
                found = table.counts @ self._of(asked)(table.codes) / table.n
            else:
                shares = table.counts / table.n
                found = _turned(asked, _summed(self._index(asked, table.codes), shares, _size(asked)))
            self._made["mean", asked] = found
        return self._made["mean", asked]

    def _values(self, asked: str | None) -> Floats:
        """A score, or the functions for None: a line for each row."""
        if ("values", asked) not in self._made:
            self._made["values", asked] = self._of(asked)(self.rows)
        return self._made["values", asked]

    def _of(self, asked: str | None) -> Callable[[Codes], Floats]:
        return self.functions if asked is None else self.scores[asked]

    def _between(self, one: Effect, other: Effect) -> Floats:
        more = _size(other)
        index = self._cells(one) * more + self._cells(other)
        joint = _summed(index, self.weights, _size(one) * more).reshape(-1, more)
        joint -= np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return _turned(other, _turned(one, joint).T).T

    def _with_values(self, one: Asked, other: str | None) -> Floats:
        centred = self._centred(other)
        if isinstance(one, str):
            found: Floats = self._values(one).T @ centred
            return found
        rows = len(centred)
        shape = (rows, _size(one))
        joins = csr_matrix((np.ones(rows), self._cells(one), np.arange(rows + 1)), shape)
        return _turned(one, joins.T @ centred)

    def _centred(self, asked: str | None) -> Floats:
        """Values less their mean, times the weight of each row."""
        if ("centred", asked) not in self._made:
            values = self._values(asked)
            self._made["centred", asked] = (values - self.weights @ values) * self.weights[:, None]
        return self._made["centred", asked]

    def _cells(self, effect: Effect) -> Codes:
        """The cell of each row."""
        if ("cells", effect) not in self._indices:
            self._indices["cells", effect] = self._index(effect, self.rows)
        return self._indices["cells", effect]

    def _index(self, effect: Effect, codes: Codes) -> Codes:
        index = np.zeros(len(codes), np.int64)
        for place, size in effect:
            groups = self.cuts[self.table.domain.names[place]].groups(size)
            index = index * size + groups[codes[:, place]]
        return index


def _size(effect: Effect) -> int:
    return prod(size for _, size in effect)


def _summed(index: Codes, weights: Floats, cells: int) -> Floats:
    return np.bincount(index, weights, cells).astype(np.float64)


def _turned(effect: Effect, cells: Floats) -> Floats:
    """From the cells of a table, its first axis, to its contrasts."""
    found = contrasts(effect[0][1])
    if len(effect) > 1:
        found = np.kron(found, contrasts(effect[1][1])).astype(np.float64)
    return found @ cells
