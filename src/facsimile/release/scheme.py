"""The scheme: what happens in one index of the search, and what is measured after it.

paper               configuration → fit → sample → filter → project → measure every criterion, all must be met
test-then-measure   configuration → fit → sample → filter → project → one joint test; measured after acceptance
train-once          fitted before the search; sample → filter → project → one joint test; measured afterwards
measured            configuration → fit → sample → filter → project → measure with margins: that is the test
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Measured
from facsimile.acceptance.regression import Fit, fit_once
from facsimile.release.heard import Heard, Hearing
from facsimile.release.recipe import Recipe
from facsimile.shaping.constraints import implausible
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import Answers, RowModel
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Accepted:
    """A candidate that passed; in schemes `paper` and `measured` with what was measured on the way.

    `fit` is the regression that predictions are compared with, `refit` the one that coefficients were. `heard`
    is what the generator was fitted to, where that is published.
    """

    table: Table
    configuration: Configuration
    measured: tuple[Measured, ...] = ()
    fit: Fit | None = None
    refit: Fit | None = None
    heard: Heard | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was fitted once before the search: a regression of the original, or the generator itself."""

    fit: Fit | None = None
    recipe: Recipe | None = None
    model: RowModel | None = None
    heard: Heard | None = None


@dataclass(frozen=True, eq=False)
class Scheme:
    """A specification at work. `below` draws an integer from a public, unbiased law; `prior` is public too."""

    specification: Specification
    below: Callable[[int], int]
    prior: Table | None = None

    def drawn(self) -> Recipe:
        """A configuration, drawn uniformly and with replacement."""
        drawn = self.specification.drawable.draw(self.below)
        return Recipe.leaning(self.specification, drawn, self.prior)

    def prepare(self, answers: Answers, random: np.random.Generator) -> Prepared:
        """What comes before the search, paid once."""
        spec = self.specification
        prepared = Prepared()
        if spec.budget.once is not None and spec.once_formula is not None:
            prepared = replace(prepared, fit=fit_once(answers, spec, spec.once_formula, spec.budget.once))
        if spec.scheme == "train-once":
            recipe = self.drawn()
            model, heard = self._fitted(recipe, under(answers, recipe), random)
            prepared = replace(prepared, recipe=recipe, model=model, heard=heard)
        return prepared

    def index(self, answers: Answers, prepared: Prepared, random: np.random.Generator) -> Accepted | None:
        """One iteration: a candidate that passed, or None."""
        recipe = prepared.recipe or self.drawn()
        asked, model, heard = under(answers, recipe), prepared.model, prepared.heard
        if model is None:
            model, heard = self._fitted(recipe, asked, random)
        table = recipe.table(model, random)
        if not presentable(recipe, table):
            return None
        candidate = Candidate(self.specification, table, prepared.fit)
        made = Accepted(table, recipe.configuration, fit=prepared.fit, heard=heard)
        if self.specification.scheme == "paper":
            found = candidate.measured_all(asked, stop=True)
            return None if found is None else replace(made, measured=found[0], fit=found[1], refit=found[2])
        if self.specification.scheme == "measured":
            measured = candidate.measured_by_test(asked)
            return None if measured is None else replace(made, measured=measured)
        return made if candidate.passes(asked) else None

    def _fitted(
        self, recipe: Recipe, answers: Answers, random: np.random.Generator
    ) -> tuple[RowModel, Heard | None]:
        """The model of a recipe; and what it was fitted to, where that is published."""
        epsilon = self.specification.budget.generator
        if not self.specification.publishes("tables"):
            return recipe.fit(answers, epsilon, random), None
        hearing = Hearing(answers)
        return recipe.fit(hearing, epsilon, random), hearing.heard()

    def finish(self, accepted: Accepted, answers: Answers) -> Accepted:
        """With what is published about the accepted candidate; never a reason to try again."""
        if self.specification.scheme in ("paper", "measured"):
            return accepted
        recipe = Recipe(self.specification, accepted.configuration)
        candidate = Candidate(self.specification, accepted.table, accepted.fit)
        found = candidate.measured_all(under(answers, recipe), stop=False)
        assert found is not None, "an accepted candidate can be measured"
        return replace(accepted, measured=found[0], fit=found[1], refit=found[2])


def under(answers: Answers, recipe: Recipe) -> Answers:
    """The same answers under a configuration's alternatives."""
    return answers.recoded(recipe.domain, recipe.specification.recodings(recipe.configuration.alternatives))


def presentable(recipe: Recipe, table: Table) -> bool:
    """Whether a table has n records, no implausible row and no row that is too rare: free of budget."""
    if table.n != recipe.specification.n or implausible(recipe.conditions, table.domain, table.codes).any():
        return False
    return int(table.counts.min()) >= int(recipe.configuration.projection["min_count"])
