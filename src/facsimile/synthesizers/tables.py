"""Tables: MWEM and PEP whose questions are whole marginals, a variant that is not the births paper's.

In each of T rounds the marginal that the model gets most wrong is selected and measured, with ε/(2T) for each.
The same one may be chosen again; its answers are averaged. Then the model's weights are multiplied a few times,
so that it comes closer to what was measured. The cells of a marginal are disjoint counting queries, which one
measurement of sensitivity 2 answers together; a query of `mwem` and `pep` is one of them. The score is the L1
error less the error that noise alone would show.

A domain that cannot be held has no weights to multiply. There the rounds and their budget are the same, and the
model is a graphical one, fitted to all answers at some of the rounds (`learners.Refitted`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Answers, Known, Model
from facsimile.synthesizers.cells import ratio
from facsimile.synthesizers.learners import LARGEST_TREE, Learner, Measured, Refitted, Weights
from facsimile.synthesizers.rounds import Rounds
from facsimile.table.domain import Clique, Domain

Floats = npt.NDArray[np.float64]
WAYS = 3
SMALLEST = 1e-3


@dataclass(frozen=True)
class TableBased(Rounds):
    """Rounds whose questions are whole tables: which, and where the domain can be held, how one is learnt."""

    @abstractmethod
    def ways(self, columns: int) -> Sequence[int]:
        """How many columns a question may have."""

    @abstractmethod
    def factor(self, found: Floats, measured: Measured) -> Floats:
        """What the model's marginal is multiplied with to learn a measurement."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Model:
        """Select, measure, learn, T times; where there is one question only, all of a round measures it."""
        domain = answers.domain
        pool = self._pool(domain, random)
        learner = self._learner(domain, known)
        measured: dict[Clique, Measured] = {}
        part = epsilon / self.num_iterations
        share = part if len(pool) == 1 else part / 2
        noise = 2 / share
        for _ in range(self.num_iterations):
            chosen = pool[0]
            if len(pool) > 1:
                models = tuple((clique, learner.rounded(clique)) for clique in learner.candidates(pool))
                biases = tuple(noise * model.size for _, model in models)
                place = answers.run(NoisySelection(MarginalDistances(models, biases=biases), part - share))
                chosen, _ = models[place]
            counts = answers.run(NoisyMarginals(((chosen, share),)))[chosen].astype(np.float64)
            before = measured.get(chosen)
            measured[chosen] = before.again(counts) if before else Measured(counts, 1, float(noise))
            learner.learn(chosen, measured)
        return learner.model()

    def _learner(self, domain: Domain, known: Known) -> Learner:
        if domain.cells <= DENSE_CELLS:
            return Weights(domain, known, self.num_inner_updates, self.factor)
        return Refitted(domain, known, self.num_inner_updates)

    def _pool(self, domain: Domain, random: np.random.Generator) -> list[Clique]:
        """Marginals of the wanted sizes: all of them, or as many as `num_query` drawn at random.

        Where the domain cannot be held, a marginal has to fit into a tree and few columns come before many;
        single columns are left if nothing else is.
        """
        names = domain.names
        sizes = self.ways(len(names))
        if domain.cells <= DENSE_CELLS:
            return _some([c for size in sizes for c in combinations(names, size)], self.num_query, random)
        pool: list[Clique] = []
        for size in sizes:
            fitting = [c for c in combinations(names, size) if domain.size(c) <= LARGEST_TREE]
            pool += _some(fitting, self.num_query - len(pool), random)
        return pool or _some([(name,) for name in names], self.num_query, random)


@dataclass(frozen=True)
class MWEMTables(TableBased):
    """Questions of up to three columns, learnt by multiplicative weights."""

    def ways(self, columns: int) -> Sequence[int]:
        """One to three."""
        return range(1, min(WAYS, columns) + 1)

    def factor(self, found: Floats, measured: Measured) -> Floats:
        """e^{(y − m)/(y + m + b)}: half the relative error at most, damped by the noise; y is not negative."""
        y = np.maximum(measured.counts, SMALLEST)
        step = (y - found) / (y + found + measured.scale)
        return np.asarray(np.exp(step))


@dataclass(frozen=True)
class PEPTables(TableBased):
    """Questions of `marginal` columns, learnt by entropy projection.

    A measured marginal y with noise of scale b allows every count between y − b and y + b; the model moves to
    the closest distribution, in relative entropy, whose counts lie there. On a domain that cannot be held the
    model is the graphical one that MWEM has there: the two then differ in the questions alone.
    """

    marginal: int = 3

    def ways(self, columns: int) -> Sequence[int]:
        """As many as the hyperparameter says, or all there are."""
        return (min(self.marginal, columns),)

    def factor(self, found: Floats, measured: Measured) -> Floats:
        """Counts outside the interval are scaled to its nearer end, none below the smallest count."""
        y, b = measured.counts, measured.scale
        return ratio(np.maximum(np.clip(found, y - b, y + b), np.minimum(found, SMALLEST)), found)


def _some(cliques: list[Clique], most: int, random: np.random.Generator) -> list[Clique]:
    """All, or as many as may be, drawn at random."""
    if len(cliques) <= most:
        return cliques
    return [cliques[i] for i in sorted(random.choice(len(cliques), most, replace=False))]
