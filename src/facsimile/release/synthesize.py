"""Synthesize: one generator alone, on public data, as a rehearsal: `fit` and `sample`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import read_public, rehearse
from facsimile.release import stored
from facsimile.release.check import show_upper
from facsimile.release.microdata import Microdata
from facsimile.release.recipe import Recipe
from facsimile.release.writing import labelled
from facsimile.results import Page, Result
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.families import FAMILIES, others
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import RowModel
from facsimile.table.encoding import recode
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Result):
    """A model of a public table, fitted with the noise of ε; a rehearsal, without protection."""

    recipe: Recipe
    model: RowModel
    seed: int
    spent: Fraction

    def table(self, n: int | None = None, seed: int | None = None) -> Table:
        """n synthetic records (as many as were fitted), filtered and projected, as codes."""
        known = self.recipe.specification
        recipe = replace(self.recipe, specification=known if n is None else known.sized(n))
        return recipe.table(self.model, (self.seed if seed is None else seed, 1))

    def sample(self, n: int | None = None, seed: int | None = None) -> Microdata:
        """The same as labels, for pandas, Polars and Arrow; the seed of the fit unless another is given.

        >>> fitted.sample(1000, seed=2).to_pandas()  # doctest: +SKIP
        """
        for number, least in ((n, 1), (seed, 0)):
            if number is not None and (type(number) is not int or number < least):
                problem = "A sample has a whole number of records, 1 or more, and a seed of 0 or more."
                raise refusal("E003", problem=problem, call="facsimile.fit")
        known = self.as_json() | ({} if seed is None else {"seed": seed})
        about = {name: value for name, value in known.items() if name != "records"}
        return Microdata(self.recipe.specification.title, labelled(self.table(n, seed)), about)

    @property
    def family(self) -> str:
        """The generator."""
        return self.recipe.configuration.family

    @property
    def delta(self) -> Fraction:
        """The δ of the fit, where the specification declares one."""
        return self.recipe.specification.budget.delta

    @property
    def loss(self) -> str:
        """What it spent, for people."""
        delta = f", delta {show_decimal(self.delta)}" if self.delta else ""
        return f"epsilon {show_upper(self.spent)}{delta}"

    @property
    def n(self) -> int:
        """How many records were fitted."""
        return self.recipe.specification.n

    def save(self, path: Path | str) -> None:
        """Write the model to a new file; `Fitted.load` reads it, and runs no code of it."""
        about = {
            "specification": self.recipe.specification.model_dump(mode="json", exclude_none=True),
            "configuration": self.recipe.configuration.as_json(),
            "seed": self.seed,
            "spent": show_decimal(self.spent),
        }
        stored.write(Path(path), about, self.model)

    @classmethod
    def load(cls, path: Path | str) -> Fitted:
        """A model that `save` wrote; any other file is refused.

        >>> facsimile.Fitted.load("births.model").sample(1000)  # doctest: +SKIP
        """
        about, model = stored.read(Path(path))
        try:
            spec, configuration = validated(about["specification"]), Configuration(**about["configuration"])
            found = cls(Recipe(spec, configuration), model, int(about["seed"]), parse_decimal(about["spent"]))
            whole = found.recipe.domain == model.domain
        except (FacsimileError, KeyError, TypeError, ValueError):
            whole = False
        if not whole:
            raise refusal("E422")
        return found

    def as_json(self) -> dict[str, Any]:
        """What `synthesize --json` prints, the file aside."""
        return {
            "rehearsal": True,
            "family": self.family,
            "records": self.n,
            "epsilon": float(self.spent),
            **({"delta": float(self.delta)} if self.delta else {}),
            "seed": self.seed,
        }

    def page(self) -> Page:
        """What it is, in short."""
        page = Page(self.recipe.specification.title)
        page.line(f"{self.family} fitted to {self.n:,} public records, {self.loss}: a rehearsal")
        page.line("Nothing is protected: the noise is seeded.")
        chosen = {**self.recipe.configuration.hyperparameters, **self.recipe.configuration.alternatives}
        page.table("Configuration", "name|value", chosen.items())
        return page


def fit(
    specification: Specification,
    data: Any,
    family: str | None,
    epsilon: Fraction,
    seed: int,
    hyperparameters: Mapping[str, str] | None = None,
    alternatives: str | None = None,
    prior: Table | None = None,
) -> Fitted:
    """Fit one generator to public data: an address, or a table of raw values that speaks Arrow.

    The configuration is the specification's first, or its first of the `family`. `alternatives` names another
    alternative for every column; `hyperparameters`, written as in a specification, stand for those of the
    configuration; `prior` is another public table, at the finest refinement, for families that lean on one.
    """
    known = (*FAMILIES, *others())
    if family not in (None, *known):
        raise refusal("E200", problem=f"There is no family {family}; known: {', '.join(known)}.")
    chosen = Recipe.first(specification, family, hyperparameters or {}).configuration
    if alternatives is not None:
        chosen = replace(chosen, alternatives=specification.alternatives_named(alternatives))
    table = recode(specification, read_public(data, specification), chosen.alternatives)
    recipe = Recipe.leaning(specification.sized(table.n), chosen, prior)
    ledger = MemoryLedger(*recipe.share(epsilon))
    model = recipe.fit(Curator.rehearsal(rehearse(table), seed, ledger), epsilon, (seed, 0))
    return Fitted(recipe, model, seed, ledger.spent.epsilon or epsilon)
