"""Effects: what tables of noisy cells say, taken apart into effects of single columns and of pairs.

A table of k₁ × … × k_d cells with noise of one variance v splits, by orthonormal contrasts of each column, into a
total (known: n), an effect of each column and of each pair, and higher interactions that the estimate leaves to
maximum entropy. An effect of a table is that of its shadow, the other columns summed away: so its noise has
variance v·∏(cells of the others). Tables that hold the same effect add their precisions.

Moments are taken over a public table P, its distinct rows weighted; the domain is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
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
    """Means and covariances of effects, scores and the criteria's functions over a public table.

    `functions` decide the criteria; `scores` are functions that are asked for by name. `start` is a table with the
    columns of the public one, independent of each other as far as rules allow: what a fit starts from.
    """

    table: Table
    start: Table
    cuts: Mapping[str, BestGroups]
    functions: Callable[[Codes], Floats]
    scores: Mapping[str, Callable[[Codes], Floats]] = field(default_factory=dict)
    _made: dict[object, Floats] = field(default_factory=dict, repr=False)
    _indices: dict[object, Codes] = field(default_factory=dict, repr=False)

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

    def apart(self, asked: Asked | None) -> Floats:
        """Means at the start less those of the public table; of the functions for None."""
        if ("apart", asked) not in self._made:
            here, there = (self._mean(asked, table) for table in (self.table, self.start))
            self._made["apart", asked] = there - here
        return self._made["apart", asked]

    def _values(self, asked: str | None) -> Floats:
        """A score, or the functions for None: a line for each distinct row."""
        if ("values", asked) not in self._made:
            self._made["values", asked] = self._of(asked)(self.table.codes)
        return self._made["values", asked]

    def _of(self, asked: str | None) -> Callable[[Codes], Floats]:
        return self.functions if asked is None else self.scores[asked]

    def _mean(self, asked: Asked | None, table: Table) -> Floats:
        if asked is None or isinstance(asked, str):
            found: Floats = table.counts @ self._of(asked)(table.codes) / table.n
            return found
        return _turned(asked, np.bincount(self._index(asked, table), table.counts, _size(asked)) / table.n)

    def _between(self, one: Effect, other: Effect) -> Floats:
        more = _size(other)
        index = self._cells(one) * more + self._cells(other)
        joint = np.bincount(index, self.table.counts, _size(one) * more).reshape(-1, more) / self.table.n
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
            weights, values = self.table.counts / self.table.n, self._values(asked)
            self._made["centred", asked] = (values - weights @ values) * weights[:, None]
        return self._made["centred", asked]

    def _cells(self, effect: Effect) -> Codes:
        """The cell of each row of the public table."""
        if ("cells", effect) not in self._indices:
            self._indices["cells", effect] = self._index(effect, self.table)
        return self._indices["cells", effect]

    def _index(self, effect: Effect, table: Table) -> Codes:
        index = np.zeros(table.distinct, np.int64)
        for place, size in effect:
            groups = self.cuts[table.domain.names[place]].groups(size)
            index = index * size + groups[table.codes[:, place]]
        return index


def _size(effect: Effect) -> int:
    return prod(size for _, size in effect)


def _turned(effect: Effect, cells: Floats) -> Floats:
    """From the cells of a table, its first axis, to its contrasts."""
    found: Floats = reduce(np.kron, [contrasts(size) for _, size in effect]) @ cells
    return found
