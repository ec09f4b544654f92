"""Ties: how much two columns of a public table say about each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from facsimile.table.exact import Floats
from facsimile.table.table import Table

Pair = tuple[str, str]
SAME = 0.7
"""Two columns that share so large a part of what one of them says are taken for one."""


@dataclass(frozen=True, eq=False)
class Ties:
    """The pairs of a table's columns, by their mutual information."""

    table: Table

    @cached_property
    def strengths(self) -> dict[Pair, float]:
        """Mutual information in nats, less what chance alone would show; strongest first."""
        names = [axis.name for axis in self.table.domain.axes if axis.size > 1]
        found = {pair: self._information(pair) for pair in combinations(names, 2)}
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def _information(self, pair: Pair) -> float:
        joint = self.table.marginal(pair) / self.table.n
        rows, columns = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
        chance = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1) / (2 * self.table.n)
        return _entropy(rows) + _entropy(columns) - _entropy(joint) - chance

    def of(self, one: str, other: str) -> float:
        """The strength of a pair, in either order."""
        return self.strengths.get((one, other), self.strengths.get((other, one), 0.0))

    def to_others(self, name: str, most: int = 3) -> float:
        """How much the strongest others say about a column."""
        found = (value for pair, value in self.strengths.items() if name in pair)
        return sum(value for value, _ in zip(found, range(most), strict=False))

    def same(self, one: str, other: str) -> bool:
        """Whether one says nearly all that the other does."""
        least = min(_entropy(self.table.marginal((name,)) / self.table.n) for name in (one, other))
        return self.of(one, other) > SAME * least


def _entropy(shares: Floats) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())
