"""MWEM: multiplicative weights, led by the questions that the model answers worst.

In each of T rounds the marginal that the model gets most wrong is selected and measured, with ε/(2T) for each.
The same one may be chosen again; its answers are averaged. Then the model's weights are multiplied a few times,
so that it comes closer to what was measured. A question is a whole marginal: its cells are disjoint counting
queries, which one measurement of sensitivity 2 answers together. The score is the L1 error less the error that
noise alone would show.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, cycle, islice
from typing import Self

import numpy as np
import numpy.typing as npt

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.synthesizers.base import Answers, Known, Model, Synthesizer
from facsimile.synthesizers.cells import Cells
from facsimile.table.domain import Clique

Floats = npt.NDArray[np.float64]
WAYS = 3
SMALLEST = 1e-3


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


@dataclass(frozen=True)
class QueryBased(Synthesizer):
    """What MWEM and PEP share, rounds of selecting and measuring; they differ in how an answer is learnt."""

    num_query: int = 128
    num_iterations: int = 100
    num_inner_updates: int = 25

    def __post_init__(self) -> None:
        if min(vars(self).values()) < 1:
            raise ValueError("every hyperparameter is at least 1")

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> Self:
        """From the text of a configuration."""
        return cls(**{name: int(value) for name, value in hyperparameters.items()})

    @abstractmethod
    def ways(self, columns: int) -> Sequence[int]:
        """How many columns a question may have."""

    @abstractmethod
    def factor(self, found: Floats, measured: Measured) -> Floats:
        """What the model's marginal is multiplied with to learn a measurement."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Model:
        """Select, measure, learn, T times; where there is one question only, all of a round measures it."""
        domain = answers.domain
        pool = self._pool(domain.names, random)
        cells = Cells(domain, known)
        measured: dict[Clique, Measured] = {}
        part = epsilon / self.num_iterations
        share = part if len(pool) == 1 else part / 2
        noise = 2 / share
        biases = tuple(noise * domain.size(clique) for clique in pool)
        for _ in range(self.num_iterations):
            place = 0
            if len(pool) > 1:
                models = tuple((clique, cells.rounded(clique)) for clique in pool)
                place = answers.run(NoisySelection(MarginalDistances(models, biases=biases), part - share))
            chosen = pool[place]
            counts = answers.run(NoisyMarginals(((chosen, share),)))[chosen].astype(np.float64)
            before = measured.get(chosen)
            measured[chosen] = before.again(counts) if before else Measured(counts, 1, float(noise))
            for clique in islice(_in_turn(chosen, measured), self.num_inner_updates):
                cells.scale(clique, self.factor(cells.marginal(clique), measured[clique]))
        return cells.model()

    def _pool(self, names: Clique, random: np.random.Generator) -> list[Clique]:
        """Marginals of the wanted sizes: all of them, or as many as `num_query` drawn at random."""
        every = [c for size in self.ways(len(names)) for c in combinations(names, size)]
        if len(every) <= self.num_query:
            return every
        return [every[i] for i in sorted(random.choice(len(every), self.num_query, replace=False))]


@dataclass(frozen=True)
class MWEM(QueryBased):
    """Questions of up to three columns, learnt by multiplicative weights."""

    def ways(self, columns: int) -> Sequence[int]:
        """One to three."""
        return range(1, min(WAYS, columns) + 1)

    def factor(self, found: Floats, measured: Measured) -> Floats:
        """e^{(y − m)/(y + m + b)}: half the relative error at most, damped by the noise; y is not negative."""
        y = np.maximum(measured.counts, SMALLEST)
        step = (y - found) / (y + found + measured.scale)
        return np.asarray(np.exp(step))


def _in_turn(newest: Clique, measured: Mapping[Clique, Measured]) -> Iterator[Clique]:
    """The newest, then all in turn, over and over."""
    return chain([newest], cycle(list(measured)))
