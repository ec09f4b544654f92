"""Noisy tables: unbiased sums of the original's counts, whose error is a known sum of noise.

A noisy table is y = counts + Z with independent integer noise of one law on every cell (NoisyTable). For a
question that reads some columns let x be the original's counts in their cells. Then n = Σx is known, x is 0 in
the cells that raw rules forbid (the reader codes no record into them), and each table tells sums of x: it is
summed over its other columns, and its noise with it.

Theorem (generalised least squares).  Let tables be fixed before any noise is drawn, y = Ax + Z their cells, V
  the variances of Z. With x_last = n − Σ others put in, y' = Bz + Z. For c = V⁻¹B(B'V⁻¹B)⁺q, where B'c = q, the
  estimate q_last·n + c·y' has exactly the error c·Z, and the smallest variance of all unbiased ones.
Proof.    c·y' = c'Bz + c·Z = q·z + c·Z. The variance is Gauss and Markov's. c depends on the tables' columns
  and shares only, so c·Z is a sum of independent noise with fixed weights, and tails.py has its tails.  QED
In floats B'c = q holds up to a rest e. As z ≥ 0 and Σz ≤ n, the estimate is off by at most n·max|e| more: that
is computed from the weights as they are used, and added to every half width (`slip`).

Other tables have groups that follow from earlier noise (`planned`), or are there because of it (`chosen`). So
would the weights; but a table alone has none:

Theorem.  Let q be fixed in advance, and parts w of a level β: one for the fixed tables together, one for each
  planned table that has q's columns, and for the t-th chosen table 6/(π²t²) of one more, if there may be any;
  all parts adding up to 1. If all that determine q are intersected, the intersection misses with at most β.
Proof.    The parts are known before any noise. Given everything before its own noise, a planned or a chosen
  table is fixed, and its noise is fresh: it misses with at most its part of β, or says nothing. Those
  probabilities add up to at most β, since Σ 6/(π²t²) ≤ 1.  QED
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, pi, prod

import numpy as np

from facsimile.analysis.basis import NoisyTable
from facsimile.analysis.tails import Cells, Law, half_width, law_of
from facsimile.shaping.constraints import allowed
from facsimile.spec.constraints import Condition, names
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints

MOST_ATOMS = 800
ESTIMABLE = 1e-7
FLAT = 1e-11
SNAP = 2.0**-34
LEAST_VARIANCE = 1e-9
"""Weights may be any that determine the sum: those of next to no noise need not be the best."""


@dataclass(frozen=True, eq=False)
class Sum:
    """Σ wᵢ·yᵢ + constant: an estimate of q(R) whose error is Σ wᵢ·Zᵢ, up to the slip."""

    design: Design
    constant: float
    weights: Floats
    slip: float

    def value(self, tables: Sequence[NoisyTable]) -> float:
        """The estimate from these tables."""
        return self.constant + float(self.weights @ self.design.read(tables))

    def less(self, other: Sum, factor: float) -> Sum:
        """This sum less the other, so often."""
        weights = self.weights - factor * other.weights
        slip = self.slip + abs(factor) * other.slip
        return Sum(self.design, self.constant - factor * other.constant, weights, slip)

    def half_width(self, beta: float, rough: bool = False) -> float:
        """r with P[|estimate − q(R)| > r] ≤ β; a rough one is wider, and quick."""
        found = (
            Cells(abs(w), law, times)
            for w, (law, times) in zip(self.weights.tolist(), self.design.noise, strict=True)
        )
        return half_width(found, beta, rough) + self.slip

    @property
    def variance(self) -> float:
        """The variance of its error."""
        return sum(
            float(w) ** 2 * law.variance * k
            for w, (law, k) in zip(self.weights.tolist(), self.design.noise, strict=True)
        )


@dataclass(frozen=True, eq=False)
class Shadow:
    """A table summed onto the columns of a question: `onto[i]` is the row of each group of its i-th column.

    `atoms`: the row that each atom belongs to. `times`: how many cells of the table each row sums.
    """

    place: int
    axes: tuple[int, ...]
    onto: tuple[Ints, ...]
    shape: tuple[int, ...]
    atoms: Ints
    times: Ints
    law: Law

    def read(self, table: NoisyTable) -> Floats:
        """The counts of its rows."""
        others = tuple(i for i in range(len(table.columns)) if i not in self.axes)
        counts = np.asarray(table.counts.sum(axis=others), np.float64)
        counts = np.transpose(counts, np.argsort(np.argsort(self.axes)))
        return _summed(counts, self.onto, self.shape)


@dataclass(frozen=True, eq=False)
class Design:
    """What some tables can tell of some sums over the cells of some columns; noise plays no part in it."""

    n: int
    shadows: tuple[Shadow, ...]
    alive: Mask
    queries: Floats

    @cached_property
    def noise(self) -> tuple[tuple[Law, int], ...]:
        """The law of each row's noise, and how many cells it sums."""
        return tuple((s.law, int(k)) for s in self.shadows for k in s.times.tolist())

    def read(self, tables: Sequence[NoisyTable]) -> Floats:
        """Every row's count."""
        return np.concatenate([s.read(tables[s.place]).ravel() for s in self.shadows])

    @cached_property
    def sums(self) -> tuple[Sum | None, ...]:
        """The best estimate of each query; None where the tables do not determine it."""
        rows = sum(len(s.times) for s in self.shadows)
        matrix, start = np.zeros((rows, len(self.alive))), 0
        for s in self.shadows:
            matrix[start + s.atoms, np.arange(len(self.alive))] = 1.0
            start += len(s.times)
        matrix, queries = matrix[:, self.alive], self.queries[:, self.alive]
        last, design = matrix[:, -1], matrix[:, :-1] - matrix[:, -1:]
        wanted = queries[:, :-1] - queries[:, -1:]
        precision = 1 / np.maximum([law.variance * k for law, k in self.noise], LEAST_VARIANCE)
        values, vectors = np.linalg.eigh(design.T @ (design * precision[:, None]))
        kept = values > FLAT * max(values.max(initial=0.0), 1e-300)
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        weights = (wanted @ inverse) @ (design * precision[:, None]).T
        return tuple(self._sum(*one, design, last) for one in zip(queries, wanted, weights, strict=True))

    def _sum(self, query: Floats, wanted: Floats, weights: Floats, design: Floats, last: Floats) -> Sum | None:
        """With weights on a grid, so that equal ones are equal in floats too."""
        step = float(np.abs(weights).max(initial=0.0)) * SNAP
        kept: Floats = np.rint(weights / step) * step if step else weights
        rest = float(np.abs(wanted - kept @ design).max(initial=0.0))
        if rest > ESTIMABLE * max(1e-300, float(np.abs(query).max(initial=0.0))):
            return None
        constant = (float(query[-1]) if len(query) else 0.0) - float(kept @ last)
        return Sum(self, constant * self.n, kept, self.n * rest)


Part = tuple[float, tuple[Sum | None, ...]]
"""A part of a level, and the estimates that have it: None where one is not determined."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """What noisy tables tell of some sums. `speaks`: whether they may, as was known before any noise; `fixed`:
    what the fixed tables tell; `every`: what all of them do."""

    speaks: bool
    fixed: Part | None
    every: tuple[Part, ...]


NOTHING = Estimates(False, None, ())


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """The noisy tables of a release, and what can be estimated from them."""

    domain: Domain
    n: int
    tables: tuple[NoisyTable, ...]
    planned: tuple[Clique, ...] = ()
    more: bool = False
    never: tuple[Condition, ...] = ()

    def told(self, columns: Clique, queries: Floats) -> Estimates:
        """Who may tell some sums, each with a part of a level; the parts and the first are free of noise.

        `queries`: for each question a number for every cell of the columns.
        """
        wanted = set(columns)
        fixed = self._fixed(columns, queries)
        planned = [
            i for i, table in enumerate(self.tables) if table.form == "planned" and wanted <= {*table.columns}
        ]
        chosen = [i for i, table in enumerate(self.tables) if table.form == "chosen"]
        several = sum(wanted <= {*clique} for clique in self.planned)
        parts = (fixed is not None) + max(several, len(planned)) + self.more
        found: list[tuple[float, Design | None]] = [] if fixed is None else [(1 / parts, fixed)]
        found += [(1 / parts, self._design(columns, queries, [i])) for i in planned]
        for t, i in enumerate(chosen, 1):
            if wanted <= {*self.tables[i].columns}:
                found.append((6 / (pi * t) ** 2 / parts, self._design(columns, queries, [i])))
        sums = [(part, design.sums) for part, design in found if design is not None]
        return Estimates(parts > 0 and bool(self.tables), None if fixed is None else sums[0], tuple(sums))

    def _fixed(self, columns: Clique, queries: Floats) -> Design | None:
        """The fixed tables together; where they have too many atoms, the best of them that tells all alone."""
        near = [
            i for i, table in enumerate(self.tables) if table.form == "fixed" and {*table.columns} & {*columns}
        ]
        found = self._design(columns, queries, near) if near else None
        if near and found is None:
            single = [self._design(columns, queries, [i]) for i in near]
            known = [one for one in single if one is not None and any(one.sums)]
            found = min(known, key=_noise_of, default=None)
        return found if found is not None and any(found.sums) else None

    def _design(self, columns: Clique, queries: Floats, places: Sequence[int]) -> Design | None:
        """With forbidden cells as atoms of their own, unless these are too many."""
        allowed_ = self._allowed(columns)
        known = np.concatenate([queries, allowed_[None].astype(np.float64)])
        found = self._atoms(columns, known, queries, allowed_, places)
        return found or self._atoms(columns, queries, queries, allowed_, places)

    def _atoms(
        self, columns: Clique, apart: Floats, queries: Floats, possible: Mask, places: Sequence[int]
    ) -> Design | None:
        """The design whose atoms tell apart what some functions of a cell do, and what tables need."""
        blocks = [_alike(apart, 1 + place) for place in range(len(columns))]
        grouped = [
            [
                table.groups[table.columns.index(name)]
                for table in (self.tables[i] for i in places)
                if name in table.columns
            ]
            for name in columns
        ]
        blocks = [_refined(own, groups) for own, groups in zip(blocks, grouped, strict=True)]
        sizes = [int(own.max()) + 1 for own in blocks]
        if prod(sizes) > MOST_ATOMS:
            return None
        firsts = [np.unique(own, return_index=True)[1] for own in blocks]
        shadows = tuple(self._shadow(i, columns, blocks, firsts) for i in places)
        alive = _summed(possible.astype(np.float64), blocks, sizes).ravel() > 0
        atoms = queries[np.ix_(np.arange(len(queries)), *firsts)].reshape(len(queries), -1)
        return Design(self.n, shadows, alive, atoms)

    def _shadow(self, place: int, columns: Clique, blocks: Sequence[Ints], firsts: Sequence[Ints]) -> Shadow:
        """A table's rows: its groups where they are coarser than the atoms, else the atoms' blocks."""
        table = self.tables[place]
        shared = [i for i, name in enumerate(columns) if name in table.columns]
        axes = tuple(table.columns.index(columns[i]) for i in shared)
        onto, atoms = [], []
        for i, axis in zip(shared, axes, strict=True):
            groups, block = table.groups[axis], blocks[i]
            if _refines(groups, block):
                rows = np.zeros(int(groups.max()) + 1, np.int64)
                rows[groups] = block
                onto.append(rows)
                atoms.append(np.arange(int(block.max()) + 1))
            else:
                onto.append(np.arange(int(groups.max()) + 1))
                atoms.append(groups[firsts[i]])
        shape = tuple(int(rows.max()) + 1 for rows in onto)
        summed = table.counts.size // prod(table.counts.shape[axis] for axis in axes)
        times = _summed(np.full([len(rows) for rows in onto], float(summed)), onto, shape).ravel()
        grid = np.zeros([len(first) for first in firsts], np.int64)
        for i, rows, size in zip(shared, atoms, shape, strict=True):
            grid = grid * size + rows.reshape([-1 if j == i else 1 for j in range(len(columns))])
        return Shadow(
            place, axes, tuple(onto), shape, grid.ravel(), times.astype(np.int64), law_of(table.share)
        )

    def _allowed(self, columns: Clique) -> Mask:
        """The cells that raw rules allow, so far as these speak of the columns."""
        rules = tuple(rule for rule in self.never if set(names(rule)) <= set(columns))
        return _allowed(rules, self.domain.project(columns))


@lru_cache(maxsize=64)
def _allowed(rules: tuple[Condition, ...], domain: Domain) -> Mask:
    return allowed(rules, domain)


def _noise_of(design: Design) -> float:
    return max((found.variance for found in design.sums if found is not None), default=inf)


def _alike(queries: Floats, axis: int) -> Ints:
    """For each code of a column, its block: codes that no question tells apart share one."""
    slices = np.moveaxis(queries, axis, 0).reshape(queries.shape[axis], -1)
    return _renumbered(np.unique(slices, axis=0, return_inverse=True)[1].ravel())


def _renumbered(codes: Ints) -> Ints:
    """Blocks numbered in the order of their first codes.

    >>> _renumbered(np.array([4, 4, 0, 4, 7])).tolist()
    [0, 0, 1, 0, 2]
    """
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[place.ravel()], np.int64)


def _refines(fine: Ints, coarse: Ints) -> bool:
    """Whether codes of one fine block are always in one coarse block."""
    pairs = np.unique(np.stack([fine, coarse]), axis=1).shape[1]
    return bool(pairs == len(np.unique(fine)))


def _refined(block: Ints, groupings: Iterable[Ints]) -> Ints:
    """The coarsest blocks inside these that every grouping refines, or that refine it.

    >>> _refined(np.array([0, 0, 0, 1]), [np.array([0, 0, 1, 1])]).tolist()
    [0, 0, 1, 2]
    """
    every = list(groupings)
    while True:
        cutting = [g for g in every if not _refines(g, block) and not _refines(block, g)]
        if not cutting:
            return block
        block = _renumbered(block * (int(cutting[0].max()) + 1) + cutting[0])


def _summed(array: Floats, onto: Sequence[Ints], shape: Sequence[int]) -> Floats:
    """An array with the entries of each axis added up by their new places."""
    for axis, (rows, size) in enumerate(zip(onto, shape, strict=True)):
        found = np.zeros((size, *np.delete(array.shape, axis)))
        np.add.at(found, rows, np.moveaxis(array, axis, 0))
        array = np.moveaxis(found, 0, axis)
    return array
