"""Measurement: noisy counts of some columns, each perhaps in groups of its codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.exact import Floats, Ints


@dataclass(frozen=True, eq=False)
class Measurement:
    """`groups[i]` is the group of each code of column i; every count has independent noise of one variance."""

    columns: Clique
    groups: tuple[Ints, ...]
    counts: Floats
    variance: float

    @classmethod
    def of(
        cls, domain: Domain, columns: Clique, versions: Versions, counts: Ints, variance: float
    ) -> Measurement:
        """Of columns of a domain, some of them in groups."""
        given = {name: np.array(codes) for name, codes in versions if codes is not None}
        groups = tuple(given.get(name, np.arange(domain.axis(name).size)) for name in columns)
        return cls(columns, groups, counts.astype(np.float64), variance)

    @classmethod
    def fine(cls, columns: Clique, counts: Floats, variance: float) -> Measurement:
        """Of columns as fine as they are."""
        return cls(columns, tuple(np.arange(size) for size in counts.shape), counts, variance)

    @property
    def scale(self) -> float:
        """b of Laplace noise of this variance, which is 2b²."""
        return sqrt(self.variance / 2)

    @cached_property
    def versions(self) -> Versions:
        """The columns with their groups."""
        pairs = zip(self.columns, self.groups, self.counts.shape, strict=True)
        return tuple((name, None if size == len(g) else tuple(g.tolist())) for name, g, size in pairs)

    def onto(self, columns: Clique) -> Measurement:
        """The shadow on some of the columns, in the order given: the noise of summed cells adds up.

        >>> Measurement.fine(("a", "b"), np.ones((2, 3)), 1.0).onto(("a",)).variance
        3.0
        """
        kept = [self.columns.index(name) for name in columns]
        others = tuple(place for place in range(len(self.columns)) if place not in kept)
        counts = np.asarray(self.counts.sum(axis=others)).transpose(np.argsort(np.argsort(kept)))
        variance = self.variance * (self.counts.size // counts.size)
        return Measurement(columns, tuple(self.groups[place] for place in kept), counts, variance)


def joined(measurements: Iterable[Measurement]) -> list[Measurement]:
    """One measurement for each table; repeated ones averaged by their precision, which adds up.

    >>> one, other = (Measurement.fine(("a",), np.array([x]), v) for x, v in ((8.0, 1.0), (3.0, 4.0)))
    >>> [(m.counts.tolist(), m.variance) for m in joined([one, other])]
    [([7.0], 0.8)]
    """
    found: dict[Versions, Measurement] = {}
    for new in measurements:
        old = found.get(new.versions)
        if old is not None:
            weight = new.variance / old.variance
            counts = (weight * old.counts + new.counts) / (weight + 1)
            new = replace(new, counts=counts, variance=new.variance / (weight + 1))
        found[new.versions] = new
    return list(found.values())


def told_apart(size: int, groups: Sequence[Ints]) -> Ints:
    """The class of each of so many codes: codes of one class have the same group in all that was measured.

    >>> told_apart(5, [np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2])]).tolist()
    [0, 0, 1, 2, 3]
    """
    lines = list(zip(*(group.tolist() for group in groups), strict=True)) or [()] * size
    places = {line: place for place, line in enumerate(dict.fromkeys(lines))}
    return np.array([places[line] for line in lines])
