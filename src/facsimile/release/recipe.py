"""The recipe of a candidate: configuration → fit → sample → filter → project. Only the fit sees noisy answers.

Releases, rehearsals, trials and designs make their candidates here and nowhere else. Each step is told where
its randomness comes from: a seed, or the generator that the step before it left off with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import get_args

import numpy as np

from facsimile.acceptance.kind import kinds_of
from facsimile.errors import refusal
from facsimile.release.plan import share_of
from facsimile.shaping.constraints import plausible, zeros
from facsimile.shaping.projection import ALGORITHMS, project
from facsimile.shaping.sampling import Sampling
from facsimile.spec.constraints import Judged
from facsimile.spec.families import SAMPLING, family_of
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import Answers, Foreseen, Known, RowModel, Synthesizer
from facsimile.synthesizers.graphical import TreeTooLarge
from facsimile.synthesizers.registry import registered
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.scores import RowScores
from facsimile.table.table import Table, add

MOST_ROUNDS = 100
MEASUREMENTS, WEIGHTS = "measurements", "weights"
NOTHING_TO_SPEND = "This epsilon, delta and selection leave a fit of the generator nothing to spend."
PROVED = "mode: single, mode: coin with gamma: 0.05, scheme: train-once, or no delta"
MORE = f"a larger epsilon or delta, {PROVED}"
NEEDS_DELTA = "budget.delta: 0.000000001, or a family with pure differential privacy"
Seed = int | Sequence[int]
Randomness = Seed | np.random.Generator


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a configuration turns noisy answers into a candidate of n records."""

    specification: Specification
    configuration: Configuration
    prior: Table | None = None
    """A public table under the configuration's alternatives."""

    @classmethod
    def alone(
        cls, specification: Specification, chosen: Mapping[str, str], family: str, own: Mapping[str, str]
    ) -> Recipe:
        """One family by itself, with hyperparameters of its own and the first of the projections."""
        projection = {name: values[0] for name, values in specification.space.projections.items()}
        return cls(specification, Configuration(chosen, family, own, projection))

    @classmethod
    def first(cls, specification: Specification, family: str | None, own: Mapping[str, str]) -> Recipe:
        """The first configuration of the specification, or of a family in it, but for some hyperparameters.

        A family that it does not name has defaults. Weights of measurements are for these alone.
        """
        made = (one for _, every in specification.made() for one in every)
        found = next((one for one in made if family in (None, one.family)), None)
        if found is None:
            return cls.alone(
                specification, specification.first, family or specification.families[0].family, own
            )
        left = {k: v for k, v in found.hyperparameters.items() if k != WEIGHTS or MEASUREMENTS not in own}
        return cls(specification, replace(found, hyperparameters={**left, **own}))

    @classmethod
    def leaning(cls, specification: Specification, configuration: Configuration, prior: Table | None) -> Recipe:
        """With a public table at the finest refinement, brought under the configuration's alternatives."""
        if prior is None or not family_of(configuration.family).leans:
            return cls(specification, configuration)
        return cls(specification, configuration, recode(specification, prior, configuration.alternatives))

    @property
    def domain(self) -> Domain:
        """The domain of the candidate."""
        return Domain(self.specification.axes(self.configuration.alternatives))

    @property
    def conditions(self) -> tuple[Judged, ...]:
        """What no record of the candidate satisfies."""
        return (*self.specification.raw_conditions, *self.specification.synthetic_conditions)

    def known(self) -> Known:
        """What the synthesizer is told: all of it is public."""
        domain = self.domain
        coarser = {}
        for axis in domain.axes:
            column = self.specification.column(axis.name)
            levels = [None] if column.groups is not None else []
            found = [column.coarsening(axis, level)[1] for level in (*(column.hierarchy or {}), *levels)]
            coarser[axis.name] = tuple(dict.fromkeys(sorted(found, key=lambda groups: -max(groups))))
        scores = partial(asked_scores, self.specification)
        return Known(self.specification.n, zeros(self.conditions, domain), coarser, self.prior, scores=scores)

    def share(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """What a fit with this ε may spend: the ε, or where δ is declared a ρ; and a δ."""
        try:
            return share_of(self.specification, self.configuration.family, epsilon)
        except ValueError:
            raise refusal("E204", problem=NOTHING_TO_SPEND, choice=MORE) from None

    def fit(self, answers: Answers, epsilon: Fraction, random: Randomness) -> RowModel:
        """Ask about the table under the configuration's alternatives."""
        generator = np.random.default_rng(random)  # a generator stays the one it is
        share, delta = self.share(epsilon)
        try:
            return self.synthesizer(epsilon).fit(answers, replace(self.known(), delta=delta), share, generator)
        except TreeTooLarge:
            raise refusal("E160", family=self.configuration.family) from None

    def synthesizer(self, epsilon: Fraction) -> Synthesizer:
        """The family with its hyperparameters; a refusal names what it cannot be made of."""
        family = self.configuration.family
        if not family_of(family).pure and not self.specification.budget.delta:
            raise refusal("E204", problem=f"The family {family} needs a delta.", choice=NEEDS_DELTA)
        if self.configuration.hyperparameters.get(SAMPLING, "iid") not in get_args(Sampling):
            raise refusal("E200", problem="`sampling` is systematic or iid.")
        own = {k: v for k, v in self.configuration.hyperparameters.items() if k != SAMPLING}
        try:
            made = registered(family).of(own)
            share, delta = self.share(epsilon)
            made.check(self.domain, self.specification.n, share, *([delta] if delta else []))
            scored = {kind.criterion.name for kind in kinds_of(self.specification) if kind.scored}
            for name in made.asks():
                if name not in scored:
                    raise ValueError(f"no criterion with scores is called {name}")
            return made
        except (ValueError, TypeError) as error:
            raise refusal("E200", problem=f"The hyperparameters of {family} make no sense: {error}.") from None

    def foreseen(self) -> Foreseen:
        """What is known of the tables of a fit before any noise is drawn."""
        epsilon, n = self.specification.budget.generator, self.specification.n
        return self.synthesizer(epsilon).foreseen(self.domain, n, self.share(epsilon)[0])

    def trains(self, epsilon: Fraction) -> bool:
        """Whether a fit with this ε learns anything."""
        return self.synthesizer(epsilon).trains(self.domain, self.specification.n, *self.share(epsilon))

    @property
    def sampling(self) -> Sampling:
        """`iid` or `systematic` (the default)."""
        return "iid" if self.configuration.hyperparameters.get(SAMPLING) == "iid" else "systematic"

    def table(self, model: RowModel, random: Randomness) -> Table:
        """Sample, filter and project to exactly n records."""
        generator = np.random.default_rng(random)
        return self.projected(self.drawn(model, generator), generator)

    def sampled(self, answers: Answers, epsilon: Fraction, random: Randomness) -> Table:
        """Fit and sample, for several projections to share."""
        generator = np.random.default_rng(random)
        return self.drawn(self.fit(answers, epsilon, generator), generator)

    def drawn(self, model: RowModel, random: np.random.Generator) -> Table:
        """n plausible records, rare rows among them."""
        return draw(model, self.conditions, self.specification.n, random, self.sampling)

    def projected(self, drawn: Table, random: Randomness) -> Table:
        """The same number of records without rare rows."""
        projection = self.configuration.projection
        algorithm = next(name for name in ALGORITHMS if name == projection["algorithm"])
        return project(drawn, int(projection["min_count"]), algorithm, np.random.default_rng(random))


def asked_scores(specification: Specification, name: str, table: Table) -> RowScores | None:
    """What the criterion of this name would ask of the original, near a public table."""
    kind = next(kind for kind in kinds_of(specification) if kind.criterion.name == name)
    return kind.scores(specification, table)


def draw(
    model: RowModel, conditions: Sequence[Judged], n: int, random: np.random.Generator, sampling: Sampling
) -> Table:
    """n plausible records: implausible ones are drawn again (rejection, as the births paper does).

    A model that puts nearly all its mass on implausible rows gets its plausible ones repeated instead of an
    endless loop; one without any is left as it is, for the test to refuse.
    """
    kept = [plausible(conditions, model.sample(n, random, sampling))]
    missing = n - kept[0].n
    for _ in range(MOST_ROUNDS):
        if not missing:
            break
        more = plausible(conditions, model.sample(missing, random, sampling))
        kept.append(more)
        missing -= more.n
    found = add(kept)
    if not found.n:
        return model.sample(n, random, sampling)
    if missing:
        extra = random.multinomial(missing, found.counts / found.n)
        found = Table.from_rows(found.domain, found.codes, found.counts + extra)
    return found
