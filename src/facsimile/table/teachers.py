"""Teachers: small judges, each taught on its own part of the records and on public rows, that vote on rows.

All of them look at rows through the same public layer: signs of the cells of some columns, drawn at random. A
teacher is a logistic regression on it, taught by a fixed number of steps from zero, in which its records and
the public rows weigh the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints, frozen
from facsimile.table.table import Codes

BLOCK = 1 << 17
MOST_SIGNS = 1 << 24


@dataclass(frozen=True, eq=False)
class Layer:
    """A sign, 1 or −1, for every cell of some columns each."""

    domain: Domain
    signs: tuple[tuple[Clique, Ints], ...]

    def __post_init__(self) -> None:
        kept = tuple((clique, frozen(table)) for clique, table in self.signs)
        object.__setattr__(self, "signs", kept)
        for clique, table in kept:
            if table.shape != self.domain.project(clique).shape or table.size > MOST_SIGNS:
                raise ValueError("a layer has a sign for each cell")
            if not (np.abs(table) == 1).all():
                raise ValueError("a sign is 1 or -1")

    def of(self, codes: Codes) -> Floats:
        """The signs of each row."""
        found = np.empty((len(codes), len(self.signs)))
        for place, (clique, table) in enumerate(self.signs):
            found[:, place] = table[tuple(codes[:, self.domain.place(name)] for name in clique)]
        return found


@dataclass(frozen=True, eq=False)
class Lesson:
    """What every teacher is told, all of it public: a layer, rows that were made, and rows to vote on."""

    layer: Layer
    made: Codes
    asked: Codes
    steps: int = 1

    def features(self, codes: Codes) -> Floats:
        """The layer at some rows, less its mean at the made rows, and a constant."""
        return np.column_stack([self.layer.of(codes) - self._mean, np.ones(len(codes))])

    @cached_property
    def _mean(self) -> Floats:
        return np.asarray(self.layer.of(self.made).mean(axis=0))


def votes(lesson: Lesson, records: Codes, teacher: Ints, teachers: int) -> Ints:
    """For each row that is asked about, how many teachers call it real.

    Theorem.  If one record is replaced by another of the same teacher, no count moves by more than 1.
    Proof.    Records are lined up by teacher, in their order [A]: a replacement changes lines of its teacher's
      part alone, and moves no other's. What is computed for a part reads that part and public arrays: lines one
      by one [B], sums over a part's own lines in their order [C], columns of products with public arrays, one
      for each teacher, at fixed places [D]. So the other teachers' votes stay what they are, to the last bit. A
      teacher without records is taught by public rows alone; its vote counts like any other.  QED
    """
    order = np.argsort(teacher, kind="stable")  # [A]
    ends = np.append(0, np.cumsum(np.bincount(teacher, minlength=teachers)))
    made, asked = lesson.features(lesson.made), lesson.features(lesson.asked)
    total = np.zeros(len(asked), np.int64)
    first = 0
    while first < teachers:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + BLOCK, side="right")) - 1)
        own = ends[first : last + 1]
        features = lesson.features(records[order[own[0] : own[-1]]])
        total += (_taught(lesson, features, own - own[0], made) @ asked.T > 0).sum(axis=0)  # [D]
        first = last
    return total


def _taught(lesson: Lesson, features: Floats, ends: Ints, made: Floats) -> Floats:
    """The weights of teachers whose records follow each other."""
    sizes = np.diff(ends)
    of = np.repeat(np.arange(len(sizes)), sizes)
    part: Any = csr_array((1 / sizes[of], np.arange(len(of)), ends), shape=(len(sizes), len(of)))
    weights = np.zeros((len(sizes), features.shape[1]))
    for _ in range(lesson.steps):
        missed = expit(-(features * weights[of]).sum(axis=1))  # [B]
        fooled = expit(made @ weights.T)  # [D]
        weights += part @ (missed[:, None] * features) - fooled.T @ made / len(made)  # [C]
    return weights
