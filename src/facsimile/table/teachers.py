"""Teachers: small judges, each taught on its own part of the records and on public rows, that vote on rows.

All of them look at rows through the same public layer: signs of the cells of some columns, drawn at random. A
teacher is a logistic regression on it after its first step from zero, its records against the public rows: it
calls a row real that lies on the side of its records' mean, seen from the public rows'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

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
        kept = tuple((tuple(clique), frozen(table)) for clique, table in self.signs)
        object.__setattr__(self, "signs", kept)
        if not kept:
            raise ValueError("a layer has signs")
        for clique, table in kept:
            if not clique or len(set(clique)) < len(clique) or table.dtype != np.int64:
                raise ValueError("a layer has integers for distinct columns")
            if table.shape != self.domain.project(clique).shape or table.size > MOST_SIGNS:
                raise ValueError("a layer has a sign for each cell")
            if not bool(((table == 1) | (table == -1)).all()):
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

    def __post_init__(self) -> None:
        shape = np.array(self.layer.domain.shape)
        for name in ("made", "asked"):
            codes = frozen(getattr(self, name))
            object.__setattr__(self, name, codes)
            if codes.dtype != np.int64 or codes.ndim != 2 or codes.shape[1] != len(shape) or not len(codes):
                raise ValueError("a lesson has rows of integers")
            if not bool((codes >= 0).all() and (codes < shape).all()):
                raise ValueError("a lesson has rows of the domain")

    def features(self, codes: Codes) -> Floats:
        """The layer at some rows, less its mean at the made rows."""
        return self.layer.of(codes) - self._mean

    @cached_property
    def _mean(self) -> Floats:
        return np.asarray(self.layer.of(self.made).mean(axis=0))


def votes(lesson: Lesson, records: Codes, teacher: Ints, teachers: int) -> Ints:
    """For each row that is asked about, how many teachers call it real.

    Theorem.  If one record is replaced by another of the same teacher, no count moves by more than 1.
    Proof.    Records are lined up by teacher, in their order [A]: a replacement changes lines of its teacher's
      part alone, and moves no other's. What is computed for a part reads that part and public arrays: signs of
      lines one by one [B], sums over a part's own lines in their order [C], and for each teacher, at its own
      place, products with public arrays [D]. So the other teachers' votes stay what they are, to the last bit.
      A teacher without records calls no row real, and counts like any other.  QED
    """
    order = np.argsort(teacher, kind="stable")  # [A]
    ends = np.append(0, np.cumsum(np.bincount(teacher, minlength=teachers)))
    asked = lesson.features(lesson.asked).T
    total, first = np.zeros(len(lesson.asked), np.int64), 0
    while first < teachers:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + BLOCK, side="right")) - 1)
        own = ends[first : last + 1]
        features = lesson.features(records[order[own[0] : own[-1]]])  # [B]
        total += (_sums(own - own[0]) @ features @ asked > 0).sum(axis=0)  # [C], [D]
        first = last
    return total


def _sums(ends: Ints) -> Any:
    """The matrix that adds up lines from each end to the next."""
    lines = int(ends[-1])
    return csr_array((np.ones(lines), np.arange(lines), ends), shape=(len(ends) - 1, lines))
