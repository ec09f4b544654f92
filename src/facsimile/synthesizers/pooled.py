"""Pool: rounds over a pool of random counting queries, as the births paper describes MWEM and PEP.

A query counts the records in a box: a range of codes of each column. `num_query` are drawn in public. One
record moves a score and an answer by at most 1. An answer updates the model up to `num_inner_updates` times.

The model is an expected count for every row of the domain that no rule excludes, so the domain must be one that
can be held; the variants over whole tables (tables.py) have no such limit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, prod
from typing import Literal, get_args

import numpy as np

from facsimile.privacy.mechanisms import Answer, NoisyAnswer
from facsimile.privacy.queries import BoxDistances, WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.dense import Dense, Expected
from facsimile.synthesizers.rounds import Learner, Rounds
from facsimile.table.boxes import Boxes
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats

Heard = Mapping[int, Sequence[int]]
Queries = Literal["cells", "ranges"]
WAYS = 3
STEEPEST = 300.0
SMALLEST = 1e-6
FARTHEST = 1e30


@dataclass(frozen=True)
class Pooled(Rounds):
    """Rounds over boxes: which are drawn, and how an answer is learnt."""

    @abstractmethod
    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """The queries to choose from."""

    @abstractmethod
    def update(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """Update expected counts in place, given every answer so far by the place of its query."""

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:
        if domain.cells > DENSE_CELLS:
            raise ValueError(f"the domain has more than {DENSE_CELLS:,} rows")

    def learner(self, domain: Domain, known: Known, random: np.random.Generator) -> Learner:
        return _Counting(self, self.pool(domain.shape, random), Expected(domain, known))


class _Counting(Learner):
    """Expected counts that learn the numbers of records in boxes."""

    def __init__(self, family: Pooled, pool: Boxes, cells: Expected) -> None:
        self.family, self.pool, self.cells, self.heard = family, pool, cells, dict[int, list[int]]()

    def __len__(self) -> int:
        return len(self.pool)

    def scores(self, share: Fraction) -> BoxDistances:
        return BoxDistances(self.pool, np.rint(self.pool.sums(self.cells.counts)).astype(np.int64))

    def question(self, place: int, share: Fraction) -> NoisyAnswer:
        return NoisyAnswer(counting(self.cells.domain, self.pool.slices(place)), share)

    def learn(self, place: int, answer: Answer) -> None:
        self.heard.setdefault(place, []).append(answer.units)
        self.family.update(self.cells.counts, self.pool, place, self.heard)
        self.cells.counts *= self.cells.n / self.cells.counts.sum()

    def model(self) -> Dense:
        return self.cells.model()


@dataclass(frozen=True)
class MWEM(Pooled):
    """Multiplicative weights, led by the counting queries that the model answers worst.

    The pool holds `cells`, single cells of tables of one to three columns; or `ranges`, as in SmartNoise, whose
    MWEM the births paper used: a range of codes of every column, each between two codes drawn uniformly.

    An update multiplies what lies in the box by e^{(y − a)/(2n)}, y the measured and a the model's answer, and
    scales all counts to n again (Hardt, Ligett and McSherry 2012). As the births paper says it, the result of a
    round updates the model `num_inner_updates` times; SmartNoise goes through all earlier results each time,
    too, which takes T/2 times as many updates.
    """

    queries: Queries = "cells"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.queries not in get_args(Queries):
            raise ValueError("queries are cells or ranges")

    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """Distinct cells; or between two uniform codes on every column, where the same box may come twice."""
        if self.queries == "cells":
            return cells(shape, range(1, WAYS + 1), self.num_query, random)
        ends = random.integers(0, shape, (2, self.num_query, len(shape)))
        return Boxes(shape, ends.min(axis=0), ends.max(axis=0) + 1)

    def update(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """The newest answer, cut to 0 … n: all updates change the weight of one box, which is one number."""
        box, n = counts[pool.slices(newest)], float(counts.sum())
        inside, answer, power = float(box.sum()), min(max(heard[newest][-1], 0), n), 0.0
        for _ in range(self.num_inner_updates):
            weight = exp(power)
            found = n * inside * weight / (n - inside + inside * weight)
            power = min(max(power + (answer - found) / (2 * n), -STEEPEST), STEEPEST)
        box *= exp(power)


@dataclass(frozen=True)
class PEP(Pooled):
    """Private entropy projection: the flattest model that agrees with the answers so far.

    The pool holds single cells of tables of `marginal` columns. An update projects the model, in relative
    entropy, onto the distributions that give one query its measured answer y: with a the model's, what lies in
    the cell is multiplied by y(n − a)/(a(n − y)), and all counts are scaled to n again. As in the code of its
    authors (Liu, Vietri and Wu 2021) it is the answered query that the model is farthest from, and shares of n
    keep 10⁻⁶ from 0 and 1; where no answer is farther off than that, a round ends. Where a query was answered
    more than once, the answers' mean counts.
    """

    marginal: int = 3

    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """Distinct cells, each as likely as any other; all of them where there are no more."""
        return cells(shape, [self.marginal], self.num_query, random)

    def update(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """Projections onto the worst answers; counts are scaled where their mass, remembered, runs away."""
        boxes, mass = pool.some(list(heard)), float(counts.sum())
        n = mass
        means = np.array([np.mean(answers) for answers in heard.values()])
        wanted = np.clip(means / mass, SMALLEST, 1 - SMALLEST)
        sums = boxes.sums(counts)
        for _ in range(self.num_inner_updates):
            found = np.clip(sums / mass, SMALLEST, 1 - SMALLEST)
            worst = int(np.argmax(np.abs(found - wanted)))
            y, a = float(wanted[worst]), float(found[worst])
            if abs(y - a) < SMALLEST:
                return
            box = counts[boxes.slices(worst)]
            inside, factor = float(box.sum()), y * (1 - a) / (a * (1 - y))
            if not 0 < inside < mass * (1 - SMALLEST):
                wanted[worst] = a
                continue
            touched, parts = boxes.within(worst)
            sums[touched] += (factor - 1) * parts.sums(box)
            box *= factor
            mass += (factor - 1) * inside
            if not n / FARTHEST < mass < n * FARTHEST:
                counts *= n / mass
                sums, mass = boxes.sums(counts), n


def counting(domain: Domain, box: Sequence[slice]) -> WorstSum:
    """The number of records in a box: a sum over the columns that it restricts."""
    ranges = {a.name: part for a, part in zip(domain.axes, box, strict=True) if part != slice(0, a.size)}
    terms = np.zeros(domain.project(ranges).shape, np.int64)
    terms[tuple(ranges.values())] = 1
    return WorstSum((Sums(tuple(ranges), terms[None], (0,), (Fraction(1),)),))


def cells(shape: tuple[int, ...], ways: Sequence[int], most: int, random: np.random.Generator) -> Boxes:
    """Distinct cells of tables of so many columns, as likely as any other of as many; all where they are few.

    Each number of columns, fewest first, has an equal part of what is left.
    """
    low, high = np.empty((0, len(shape)), np.int64), np.empty((0, len(shape)), np.int64)
    sizes = sorted({min(size, len(shape)) for size in ways})
    for place, size in enumerate(sizes):
        tables = list(combinations(range(len(shape)), size))
        ends = np.cumsum([prod(shape[axis] for axis in table) for table in tables])
        part = min((most - len(low)) // (len(sizes) - place), int(ends[-1]))
        drawn = np.sort(random.choice(ends[-1], part, replace=False))
        first, last = np.zeros((part, len(shape)), np.int64), np.tile(np.array(shape), (part, 1))
        of = np.searchsorted(ends, drawn, side="right")
        for i in np.unique(of):
            mine, table = of == i, tables[i]
            codes = np.unravel_index(drawn[mine] - (ends[i - 1] if i else 0), [shape[axis] for axis in table])
            for axis, code in zip(table, codes, strict=True):
                first[mine, axis], last[mine, axis] = code, code + 1
        low, high = np.concatenate([low, first]), np.concatenate([high, last])
    return Boxes(shape, low, high)
