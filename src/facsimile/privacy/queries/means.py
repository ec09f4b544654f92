"""Errors of means: the largest difference of a column's mean, overall and within groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks, sensitivity
from facsimile.privacy.queries.base import Query, worst_excess
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints, dot
from facsimile.table.numbers import grid, scaled
from facsimile.table.table import Table


@dataclass(frozen=True)
class Group:
    """One group of S: its mean (on the grid) and the size it is counted with."""

    centre: Fraction
    size: int


@dataclass(frozen=True, eq=False)
class GroupMeans(Query):
    """What both forms share: groups, and how sums are taken from counts.

    `groupings` gives for each conditioning column the group of each of its codes. All records together are
    a group of their own, of the public size n. A group is counted with at least `fill_to` records.
    """

    candidate: Table
    of: str
    groupings: tuple[tuple[str, tuple[int, ...]], ...]
    bounds: tuple[Fraction, Fraction]
    slack: Fraction
    fill_to: int = 1

    def __post_init__(self) -> None:
        if not all(checks.whole(g, 0, checks.MOST_GROUPS) for _, places in self.groupings for g in places):
            raise ValueError("groups are numbered from 0")

    def check(self, domain: Domain, n: int) -> None:
        """A candidate of n records; bounds around every number of the column; a group for each code."""
        checks.sized(self.candidate, domain, n)
        checks.bounded(self.bounds, checks.numbered(domain, self.of))
        for name, places in self.groupings:
            checks.grouped(domain, name, places)
            checks.columns(domain, tuple(dict.fromkeys((self.of, name))))
        checks.require(checks.exact([self.slack]) and checks.whole(self.fill_to), "a slack, and a size")

    def counts(self, table: Table) -> Iterator[Ints]:
        """For each group, how many of its records fall into each bin of the averaged column."""
        yield table.marginal((self.of,))
        for name, places in self.groupings:
            joint = np.diag(table.marginal((self.of,))) if name == self.of else table.marginal((self.of, name))
            for group in range(max(places) + 1):
                yield joint[:, np.flatnonzero(np.array(places) == group)].sum(axis=1)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All of S, then its groups; an empty one has its centre in the middle and size 1."""
        (low, high), n = self.bounds, self.candidate.n
        values, unit = scaled(self.candidate.domain.axis(self.of))
        found: list[Group] = []
        for counts in self.counts(self.candidate):
            count = int(counts.sum())
            mean = Fraction(int(dot(values, counts)), unit * count) if count else (low + high) / 2
            size = sensitivity.smallest_group(count, n, self.slack) if count else 1
            found.append(Group(min(high, max(low, grid(mean))), max(size, self.fill_to) if found else n))
        return tuple(found)

    @abstractmethod
    def error(self, counts: Ints, group: Group, noise: Noise) -> Fraction:
        """|mean − centre| of one group of the confidential table."""

    def errors(self, table: Table, noise: Noise) -> list[tuple[Fraction, Fraction]]:
        """For each group its error and its sensitivity."""
        pairs = zip(self.counts(table), self.groups, strict=True)
        return list(zip((self.error(c, g, noise) for c, g in pairs), self._moves, strict=True))

    def value(self, table: Table, noise: Noise) -> Fraction:
        return max(error for error, _ in self.errors(table, noise))

    def sensitivity(self) -> Fraction:
        return max(self._moves)

    def steps(self, threshold: Fraction) -> list[Fraction]:
        return self._moves

    @cached_property
    def _moves(self) -> list[Fraction]:
        return [sensitivity.group_mean(self.bounds, group.size) for group in self.groups]

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        return worst_excess(self.errors(table, noise), threshold)


@dataclass(frozen=True, eq=False)
class FloorMeans(GroupMeans):
    """|f − centre| with f = (Σx + max(0, m − n_v)·centre)/max(n_v, m): the true mean where n_v ≥ m.

    Theorem.  Δ = (U − L)/m for each group, and the largest of them for the maximum, where every number x of the
      column lies in [L, U] (by check) and so does the centre (it is clipped).
    Proof.    f is the mean of d = max(n_v, m) terms in [L, U] [A], and d depends on R: sensitivity.group_mean
      has the proof, with the centre as filler. The numerator is an exact sum [B]. An absolute value and a
      maximum move no more than their arguments.  QED
    """

    def error(self, counts: Ints, group: Group, noise: Noise) -> Fraction:
        values, unit = scaled(self.candidate.domain.axis(self.of))
        present = int(counts.sum())
        total = Fraction(int(dot(values, counts)), unit) - present * group.centre  # [B]
        return abs(total) / max(present, group.size)  # [A]


@dataclass(frozen=True, eq=False)
class ResizedMeans(GroupMeans):
    """|mean of m records − centre|: m drawn without replacement, or the group filled up with its centre.

    Theorem.  NoisyAnswer of it is ε-DP with Δ = (U − L)/m, where every number of the column lies in [L, U] (by
      check) and so does the centre (it is clipped).
    Proof.    Give every record position an independent secret key; the m smallest keys of a group are a
      uniform draw [A]. Fix all keys: replacing a record changes at most one of the m drawn terms, whether it
      stays, enters or leaves (another takes its place, or the centre does), so the mean, an exact sum [B] over
      m, moves by at most (U − L)/m. For each choice of keys the answer is ε-DP; so is their mixture, the keys
      being drawn fresh each time, apart for each group, and never shown.  QED
    """

    def error(self, counts: Ints, group: Group, noise: Noise) -> Fraction:
        values, unit = scaled(self.candidate.domain.axis(self.of))
        present = int(counts.sum())
        kept = counts if present <= group.size else _drawn(counts, group.size, noise)  # [A]
        total = Fraction(int(dot(values, kept)), unit) - int(kept.sum()) * group.centre  # [B]
        return abs(total) / group.size


def _drawn(counts: Ints, size: int, noise: Noise) -> Ints:
    """The counts of `size` records drawn without replacement: a uniform subset of positions."""
    n = int(counts.sum())
    few = min(size, n - size)
    chosen: set[int] = set()
    for place in range(n - few, n):
        drawn = noise.below(place + 1)
        chosen.add(place if drawn in chosen else drawn)
    edges = np.cumsum(counts)
    taken = np.bincount(np.searchsorted(edges, sorted(chosen), side="right"), minlength=len(counts))
    return taken if few == size else counts - taken
