"""Rehearsals: real candidates of a public table, and how many times its limit each criterion's error is.

For public data only: errors are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import inf
from typing import TypeVar, cast

from facsimile.acceptance.candidate import exact_errors
from facsimile.acceptance.kind import kind_of
from facsimile.errors import FacsimileError
from facsimile.explore.design.draft import Own
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals, NoisyScores
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe
from facsimile.spec.criteria import Criterion
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Clique, Domain
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table

T = TypeVar("T")
FAMILY = "workload"


@dataclass(eq=False)
class Coupled:
    """Answers on a public table, each table of columns with noise of its own: its law is a curator's.

    The noise follows from the seed, the columns, and how often they were asked before. So two workloads with
    one seed meet the same luck in every table that both ask, whatever else they ask. Without a seed answers
    have no noise, and claim what they would have: a fit of them shows its bias.
    """

    domain: Domain
    table: Table
    seed: int | None
    times: Counter[Clique] = field(default_factory=Counter)

    def run(self, mechanism: Mechanism[T]) -> T:
        """Noisy marginals one by one; other mechanisms are not coupled."""
        if self.seed is None and isinstance(mechanism, NoisyScores):
            sums = self.table.counts @ mechanism.scores.clipped(self.table.codes, mechanism.most)
            return cast(T, sums)
        if not isinstance(mechanism, NoisyMarginals):
            return self._curator(self.seed or 0).run(mechanism)
        found: list[Measurement] = []
        for clique, epsilon in mechanism.marginals:
            self.times[clique] += 1
            if self.seed is None:
                counts = self.table.marginal(clique, mechanism.versions)
                variance = mechanism.variance(epsilon)
                found.append(Measurement.of(self.domain, clique, mechanism.versions, counts, variance))
                continue
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

    @property
    def budget(self) -> Fraction:
        """What a fit may spend: the ε, or where δ is declared a ρ."""
        return Recipe.alone(self.specification, self.alternatives, FAMILY, {}).share(self.epsilon)[0]

    def candidate(self, own: Own, seed: int | None) -> Table | None:
        """Fit, sample, filter and project, without noise if there is no seed; None where none can be made."""
        recipe = Recipe.alone(self.specification, self.alternatives, FAMILY, own)
        luck = seed or 0
        try:
            model = recipe.fit(Coupled(self.real.domain, self.real, seed), self.epsilon, (luck, 0))
        except FacsimileError as error:
            if error.code != "E160":
                raise
            return None
        return recipe.table(model, (luck, 1))

    def ratios(self, own: Own, seed: int | None) -> tuple[float, ...]:
        """How many times its limit the error of each criterion is, in the order of the specification."""
        criteria, table = self.specification.criteria, self.candidate(own, seed)
        if table is None:
            return (inf,) * len(criteria)
        errors = exact_errors(self.specification, self.real, table)
        return tuple(ratio(criterion, error.value) for criterion, error in zip(criteria, errors, strict=True))


def ratio(criterion: Criterion, error: float | None) -> float:
    """error/threshold, both on a scale on which no error at all is 0; below 1 the criterion is met."""
    kind = kind_of(criterion)
    limit = kind.from_zero(float(criterion.threshold))
    if error is None or limit <= 0:
        return inf
    return kind.from_zero(error) / limit
