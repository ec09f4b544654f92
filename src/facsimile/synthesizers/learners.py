"""Learners: models that grow answer by answer, over every cell of the domain or as a graphical model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice
from typing import Protocol

import numpy as np
import numpy.typing as npt

from facsimile.synthesizers.base import Known, Model
from facsimile.synthesizers.cells import Cells
from facsimile.synthesizers.graphical import estimate
from facsimile.synthesizers.junction import junction_tree
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Counts

Floats = npt.NDArray[np.float64]
LARGEST_TREE = 200_000
GROWTH = 1.25


@dataclass(frozen=True, eq=False)
class Measured:
    """The mean of a marginal's noisy answers, and the scale of the mean's noise."""

    counts: Floats
    times: int
    once: float

    @property
    def scale(self) -> float:
        """b/√times, b the scale of one answer's noise."""
        return self.once / math.sqrt(self.times)

    def again(self, counts: Floats) -> Measured:
        """With one more answer."""
        return Measured((self.counts * self.times + counts) / (self.times + 1), self.times + 1, self.once)


class Learner(Protocol):
    """A model between rounds."""

    def candidates(self, pool: Sequence[Clique]) -> Sequence[Clique]:
        """The questions of a pool that may be asked next, at least one."""

    def rounded(self, clique: Clique) -> Counts:
        """The expected counts of some columns as integers, as scores want them."""

    def learn(self, newest: Clique, measured: Mapping[Clique, Measured]) -> None:
        """Take up the newest of all answers so far."""

    def model(self) -> Model:
        """What was learnt."""


class Weights:
    """A weight for every row of a domain that can be held, multiplied `updates` times for each answer.

    `factor` says with what, given the model's marginal and the measured one.
    """

    def __init__(
        self, domain: Domain, known: Known, updates: int, factor: Callable[[Floats, Measured], Floats]
    ) -> None:
        self.cells, self.updates, self.factor = Cells(domain, known), updates, factor

    def candidates(self, pool: Sequence[Clique]) -> Sequence[Clique]:
        """All of them."""
        return pool

    def rounded(self, clique: Clique) -> Counts:
        """As the weights say."""
        return self.cells.rounded(clique)

    def learn(self, newest: Clique, measured: Mapping[Clique, Measured]) -> None:
        """Updates with the newest answer, then with all in turn, over and over."""
        for clique in islice(chain([newest], cycle(list(measured))), self.updates):
            self.cells.scale(clique, self.factor(self.cells.marginal(clique), measured[clique]))

    def model(self) -> Model:
        """The weights as they are."""
        return self.cells.model()


class Refitted:
    """The graphical model of all answers, fitted again when their number has grown by a quarter, and last.

    So T rounds take about 4 + 4.5·ln(T/4) fits of at most `sweeps` walks a stage. What the model has not learnt
    yet is not asked again before the next fit, and nothing is asked that its tree cannot hold.
    """

    def __init__(self, domain: Domain, known: Known, sweeps: int) -> None:
        self.domain, self.known, self.sweeps = domain, known, sweeps
        self._answered = self._learnt = 0
        self._fit({})

    def candidates(self, pool: Sequence[Clique]) -> Sequence[Clique]:
        """What is new to the model and fits into its tree, or what was measured before; all if that is none."""
        fitting = [c for c in pool if c not in self._waiting and self._holds(c)]
        return fitting or pool

    def rounded(self, clique: Clique) -> Counts:
        """As the last fit says."""
        if clique not in self._rounded:
            self._rounded[clique] = np.rint(self._model.marginal(clique)).astype(np.int64)
        return self._rounded[clique]

    def learn(self, newest: Clique, measured: Mapping[Clique, Measured]) -> None:
        """Keep the answer, and fit if it is time."""
        self._waiting[newest] = measured[newest]
        self._answered += 1
        if self._answered >= GROWTH * self._learnt:
            self._fit(measured)

    def model(self) -> Model:
        """The model of everything."""
        if self._waiting:
            self._fit({**self._measured, **self._waiting})
        return self._model

    def _holds(self, clique: Clique) -> bool:
        """Whether the tree would stay small with one clique more."""
        present = [*(rule for rule, _ in self.known.zeros), *self._measured, *self._waiting]
        return clique in present or junction_tree(self.domain, [*present, clique]).cells <= LARGEST_TREE

    def _fit(self, measured: Mapping[Clique, Measured]) -> None:
        self._measured, self._learnt = dict(measured), self._answered
        self._waiting: dict[Clique, Measured] = {}
        self._rounded: dict[Clique, Counts] = {}
        answers = [(clique, one.counts, one.scale) for clique, one in measured.items()]
        zeros, n = self.known.zeros, self.known.n
        self._model = estimate(self.domain, answers, zeros, n, sweeps=self.sweeps)
