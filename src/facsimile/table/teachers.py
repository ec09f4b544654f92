"""Teachers: small judges, each taught on its own part of the records and on public rows, that vote on rows.

All share a public hidden layer (a critic's). A teacher is a logistic regression on it, taught by a fixed number
of steps from zero, in which its records and the public rows weigh the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from facsimile.table.critic import Critic
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Codes

BLOCK = 1 << 17
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Lesson:
    """What every teacher is told, all of it public: a hidden layer, rows that were made, and rows to vote
    on."""

    critic: Critic
    made: Codes
    asked: Codes
    steps: int = 1
    rate: float = 1.0

    def features(self, codes: Codes) -> Floats:
        """The hidden layer at some rows, centred and scaled by what the made rows have, and a constant."""
        mean, scale = self._scale
        return np.column_stack([(self.critic.hidden(codes) - mean) / scale, np.ones(len(codes))])

    @cached_property
    def _scale(self) -> tuple[Floats, float]:
        made = self.critic.hidden(self.made)
        spread = float(np.sqrt(((made - made.mean(axis=0)) ** 2).sum(axis=1).mean()))
        return made.mean(axis=0), max(LEAST, spread)


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
        weights += lesson.rate * (part @ (missed[:, None] * features) - fooled.T @ made / len(made))  # [C]
    return weights
