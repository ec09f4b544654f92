"""Slack: how much room one candidate leaves below the thresholds of all criteria, as one smooth number.

    overshoot of a criterion    log(error / threshold): negative where it is met, one unit for all criteria
    badness of a candidate      (1/β)·log Σ exp(β·overshoot), a smooth maximum; its slack is minus that

The worst criterion decides whether a candidate is accepted, so the badness follows the maximum. It is smooth,
because a search that sees the maximum alone does not notice what happens to the second worst. It lies above
the maximum by at most log(number of criteria)/β. The ratio of two counts is 1 when there is no error at all, so
it is taken as its sharp form takes it: 1 − 1/ratio beside 1 − 1/threshold.

For public data only: errors are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import exp, inf, log
from typing import TypeVar, cast

from facsimile.acceptance.candidate import exact_error
from facsimile.acceptance.kind import kind_of
from facsimile.errors import FacsimileError
from facsimile.explore.learning.draft import Texts
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe
from facsimile.spec.criteria import Criterion
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Clique, Domain
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table

T = TypeVar("T")
SHARPNESS = 6.0
"""β: a criterion whose error is a tenth further below its threshold than the worst weighs half as much."""
FURTHEST = log(1000)
"""Overshoots are cut at ±FURTHEST; an error that is not defined counts as that far beyond its threshold."""
NEGLIGIBLE = 0.005
Overshoots = tuple[float, ...]
Lost = Callable[[float], bool]


def overshoot(criterion: Criterion, error: float | None) -> float:
    """log(error/threshold), between −FURTHEST and FURTHEST."""
    if error is None:
        return FURTHEST
    kind = kind_of(criterion)
    error, limit = kind.from_zero(error), kind.from_zero(float(criterion.threshold))
    if limit <= 0:
        return FURTHEST
    return max(-FURTHEST, min(FURTHEST, log(error / limit))) if error > 0 else -FURTHEST


def badness(overshoots: Iterable[float]) -> float:
    """The smooth maximum.

    >>> round(badness([0.1, -9.0, -9.0]), 6), round(badness([0.1, 0.1]) - 0.1, 3)
    (0.1, 0.116)
    """
    every = list(overshoots)
    worst = max(every, default=-FURTHEST)
    return worst + log(sum(exp(SHARPNESS * (one - worst)) for one in every) or 1.0) / SHARPNESS


def not_lost(_: float) -> bool:
    """Nothing is lost yet."""
    return False


@dataclass(eq=False)
class Coupled:
    """Answers on a public table, each table of columns with noise of its own: its law is a curator's.

    The noise follows from the seed, the columns, and how often they were asked before. So two workloads with
    one seed meet the same luck in every table that both ask, whatever else they ask.
    """

    domain: Domain
    table: Table
    seed: int
    times: Counter[Clique] = field(default_factory=Counter)

    def run(self, mechanism: Mechanism[T]) -> T:
        """Noisy marginals one by one; other mechanisms are not coupled."""
        if not isinstance(mechanism, NoisyMarginals):
            return self._curator(self.seed).run(mechanism)
        found: list[Measurement] = []
        for clique, epsilon in mechanism.marginals:
            self.times[clique] += 1
            name = f"{self.seed} {self.times[clique]} {' '.join(clique)}"
            seed = int.from_bytes(sha256(name.encode()).digest()[:8], "big")
            found += self._curator(seed).run(replace(mechanism, marginals=((clique, epsilon),)))
        return cast(T, tuple(found))

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """The same records under other axes."""
        return replace(self, domain=domain, table=self.table.recode(domain, maps))

    def _curator(self, seed: int) -> Curator:
        return Curator.rehearsal(rehearse(self.table), seed)


@dataclass(frozen=True, eq=False)
class Rehearsals:
    """Makes candidates of a public table with the workload family, and compares them with it.

    `real` is the table under `alternatives`; the projection is the specification's first.
    """

    specification: Specification
    real: Table
    alternatives: Mapping[str, str]
    epsilon: Fraction

    def candidate(self, texts: Texts, seed: int) -> Table | None:
        """Fit, sample, filter and project; None where no junction tree can hold the model."""
        own = dict(zip(("measurements", "weights"), texts, strict=True))
        recipe = Recipe.alone(self.specification, self.alternatives, "workload", own)
        try:
            model = recipe.fit(Coupled(self.real.domain, self.real, seed), self.epsilon, (seed, 0))
        except FacsimileError as error:
            if error.code != "E160":
                raise
            return None
        return recipe.table(model, (seed, 1))

    def overshoots(self, texts: Texts, seed: int, lost: Lost = not_lost) -> Overshoots:
        """Every criterion of one candidate, in the order of the specification.

        Cheap ones are computed first. A costly one is left out (−∞) where the badness without it is `lost`
        already, and where even its largest error, all records, would hardly add to it.
        """
        table = self.candidate(texts, seed)
        criteria = self.specification.criteria
        if table is None:
            return (FURTHEST,) * len(criteria)
        found: dict[int, float] = {}
        for place in sorted(range(len(criteria)), key=lambda place: _cost(criteria[place])):
            criterion, bad = criteria[place], badness(found.values())
            if _cost(criterion) and (lost(bad) or _added(bad, overshoot(criterion, 1.0)) < NEGLIGIBLE):
                found[place] = -inf
            else:
                error = exact_error(self.specification, criterion, self.real, table)
                found[place] = overshoot(criterion, error)
        return tuple(found[place] for place in range(len(criteria)))


def _cost(criterion: Criterion) -> int:
    """0: cheap. The errors of the costly ones are shares of all records."""
    kind = kind_of(criterion)
    return kind.expense * kind.share


def _added(bad: float, one: float) -> float:
    """By how much one criterion more raises a badness."""
    return badness([bad, one]) - bad
