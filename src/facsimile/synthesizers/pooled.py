"""Pool: rounds over a pool of random counting queries, as the births paper describes MWEM and PEP.

A query counts the records in a box: a range of codes of each column. `num_query` are drawn in public. In each
of T rounds the query that the model answers worst is selected and then measured, with ε/(2T) for each; one
record moves a score and an answer by at most 1. The same query may be chosen again. Then the answer updates the
model up to `num_inner_updates` times.

The model is an expected count for every row of the domain that no rule excludes, so the domain must be one that
can be held; the variants over whole tables (tables.py) have no such limit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from facsimile.privacy.mechanisms import NoisyAnswer, NoisySelection
from facsimile.privacy.queries import BoxDistances, WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Answers, Known
from facsimile.synthesizers.cells import Cells
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.rounds import Rounds
from facsimile.table.boxes import Boxes
from facsimile.table.domain import Domain

Floats = npt.NDArray[np.float64]
Heard = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Pooled(Rounds):
    """Rounds over boxes: which are drawn, and how an answer is learnt."""

    @abstractmethod
    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """The queries to choose from."""

    @abstractmethod
    def learn(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """Update expected counts in place, given every answer so far by the place of its query."""

    def check(self, domain: Domain, n: int, epsilon: Fraction) -> None:
        """The domain can be held."""
        if domain.cells > DENSE_CELLS:
            raise ValueError(f"the domain has more than {DENSE_CELLS:,} rows")

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Dense:
        """Select, measure, learn, T times; where there is one query only, all of a round measures it."""
        domain = answers.domain
        pool, cells = self.pool(domain.shape, random), Cells(domain, known)
        heard: dict[int, list[int]] = {}
        part = epsilon / self.num_iterations
        share = part if len(pool) == 1 else part / 2
        for _ in range(self.num_iterations):
            newest = 0
            if len(pool) > 1:
                scores = BoxDistances(pool, np.rint(pool.sums(cells.counts)).astype(np.int64))
                newest = answers.run(NoisySelection(scores, part - share))
            answer = answers.run(NoisyAnswer(counting(domain, pool.slices(newest)), share))
            heard.setdefault(newest, []).append(answer.units)
            self.learn(cells.counts, pool, newest, heard)
            cells.counts *= cells.n / cells.counts.sum()
        return cells.model()


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
