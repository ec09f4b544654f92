"""Tables: MWEM and PEP whose questions are whole marginals, a variant that is not the births paper's.

The answers to one question that was chosen again are averaged. After each the model's weights are multiplied a
few times, so that it comes closer to what was measured. The cells of a marginal are disjoint counting queries,
which one measurement answers together; a query of `mwem` and `pep` is one of them. The score is the L1 error
less the error that noise alone would show.

A domain that cannot be held has no weights to multiply. There the rounds and their budget are the same, and the
model is a graphical one, fitted to all answers at some of the rounds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, cycle, islice

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.privacy.queries import MarginalDistances
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Known, some
from facsimile.synthesizers.dense import NOTHING, Dense, Expected, rounded
from facsimile.synthesizers.graphical import Graphical, estimate
from facsimile.synthesizers.junction import junction_tree
from facsimile.synthesizers.rounds import Learner, Rounds
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import ratio
from facsimile.table.measurement import Measurement, joined
from facsimile.table.table import Counts

WAYS = 3
SMALLEST = 1e-3
LARGEST_TREE = 200_000
GROWTH = 1.25


@dataclass(frozen=True)
class TableBased(Rounds):
    """Rounds whose questions are whole tables: which, and where the domain can be held, how one is learnt."""

    @abstractmethod
    def ways(self, columns: int) -> Sequence[int]:
        """How many columns a question may have."""

    @abstractmethod
    def factor(self, found: Floats, measured: Measurement) -> Floats:
        """What the model's marginal is multiplied with to learn a measurement."""

    def learner(self, domain: Domain, known: Known, random: np.random.Generator) -> Learner:
        """Weights, or a graphical model where the domain cannot be held."""
        kind = Weights if domain.cells <= DENSE_CELLS else Refitted
        return kind(self, self._pool(domain, random), domain, known)

    def _pool(self, domain: Domain, random: np.random.Generator) -> list[Clique]:
        """Marginals of the wanted sizes: all of them, or as many as `num_query` drawn at random.

        Where the domain cannot be held, a marginal has to fit into a tree and few columns come before many;
        single columns are left if nothing else is.
        """
        names = domain.names
        sizes = self.ways(len(names))
        if domain.cells <= DENSE_CELLS:
            return some([c for size in sizes for c in combinations(names, size)], self.num_query, random)
        pool: list[Clique] = []
        for size in sizes:
            fitting = [c for c in combinations(names, size) if domain.size(c) <= LARGEST_TREE]
            pool += some(fitting, self.num_query - len(pool), random)
        return pool or some([(name,) for name in names], self.num_query, random)


class Tabled(Learner):
    """A model that learns marginals of a pool; each of `measured` is the mean of its answers."""

    def __init__(self, family: TableBased, pool: Sequence[Clique], domain: Domain, known: Known) -> None:
        self.family, self.pool, self.domain, self.known = family, pool, domain, known
        self.measured: dict[Clique, Measurement] = {}
        self.asked = pool

    def __len__(self) -> int:
        return len(self.pool)

    @abstractmethod
    def rounded(self, clique: Clique) -> Counts:
        """The expected counts of some columns as integers."""

    @abstractmethod
    def take(self, newest: Clique) -> None:
        """Take up the newest of all answers so far."""

    def candidates(self) -> Sequence[Clique]:
        """The questions of the pool that may be asked next."""
        return self.pool

    def scores(self, share: Fraction) -> MarginalDistances:
        """L1 errors, less the error of a measurement."""
        self.asked, noise = self.candidates(), NoisyMarginals.scale(share)
        models = tuple((clique, self.rounded(clique)) for clique in self.asked)
        return MarginalDistances(models, biases=tuple(noise * model.size for _, model in models))

    def question(self, place: int, share: Fraction) -> NoisyMarginals:
        return NoisyMarginals(((self.asked[place], share),))

    def learn(self, place: int, answer: Sequence[Measurement]) -> None:
        """Averaged with earlier answers to the same question."""
        clique = self.asked[place]
        before = [self.measured[clique]] if clique in self.measured else []
        (self.measured[clique],) = joined([*before, *answer])
        self.take(clique)


class Weights(Tabled):
    """A weight for every row of a domain that can be held, multiplied several times for each answer."""

    def __init__(self, family: TableBased, pool: Sequence[Clique], domain: Domain, known: Known) -> None:
        super().__init__(family, pool, domain, known)
        self.cells = Expected(domain, known)

    def rounded(self, clique: Clique) -> Counts:
        return rounded(self.cells.marginal(clique))

    def take(self, newest: Clique) -> None:
        """Updates with the newest answer, then with all in turn, over and over."""
        for clique in islice(chain([newest], cycle(list(self.measured))), self.family.num_inner_updates):
            factor = self.family.factor(self.cells.marginal(clique), self.measured[clique])
            self.cells.scale(clique, factor)

    def model(self) -> Dense:
        return self.cells.model()


class Refitted(Tabled):
    """The graphical model of all answers, fitted again when their number has grown by a quarter, and last.

    So T rounds take about 4 + 4.5·ln(T/4) fits of at most `num_inner_updates` walks a stage. What the model has
    not learnt yet is not asked again before the next fit, and nothing is asked that its tree cannot hold.
    """

    def __init__(self, family: TableBased, pool: Sequence[Clique], domain: Domain, known: Known) -> None:
        super().__init__(family, pool, domain, known)
        self._answered = self._learnt = 0
        self._fit()

    def candidates(self) -> Sequence[Clique]:
        """What is new to the model and fits into its tree, or what was measured before; all if that is none."""
        return [c for c in self.pool if c not in self._waiting and self._holds(c)] or self.pool

    def rounded(self, clique: Clique) -> Counts:
        if clique not in self._rounded:
            self._rounded[clique] = rounded(self._model.marginal(clique))
        return self._rounded[clique]

    def take(self, newest: Clique) -> None:
        """Keep the answer, and fit if it is time."""
        self._waiting.add(newest)
        self._answered += 1
        if self._answered >= GROWTH * self._learnt:
            self._fit()

    def model(self) -> Graphical:
        if self._waiting:
            self._fit()
        return self._model

    def _holds(self, clique: Clique) -> bool:
        """Whether the tree would stay small with one clique more."""
        present = [*(rule for rule, _ in self.known.zeros), *self.measured]
        return clique in present or junction_tree(self.domain, [*present, clique]).cells <= LARGEST_TREE

    def _fit(self) -> None:
        self._learnt, self._waiting = self._answered, set[Clique]()
        self._rounded: dict[Clique, Counts] = {}
        zeros, sweeps = self.known.zeros, self.family.num_inner_updates
        self._model = estimate(self.domain, [*self.measured.values()], zeros, self.known.n, sweeps=sweeps)


@dataclass(frozen=True)
class MWEMTables(TableBased):
    """Questions of up to three columns, learnt by multiplicative weights."""

    def ways(self, columns: int) -> Sequence[int]:
        return range(1, min(WAYS, columns) + 1)

    def factor(self, found: Floats, measured: Measurement) -> Floats:
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

    def factor(self, found: Floats, measured: Measurement) -> Floats:
        """Counts outside the interval are scaled to its nearer end, none below the smallest count."""
        y, b = measured.counts, measured.scale
        return ratio(np.maximum(np.clip(found, y - b, y + b), np.minimum(found, SMALLEST)), found, NOTHING)
