"""Remade: a released table made again from its published noisy answers, without confidential data.

The fit is asked the same questions and given the published answers; sampling, filter and projection follow with
the published seeds. On the same kind of machine the same records come out. Elsewhere a sum may be rounded
differently and a few records fall elsewhere: then the released table must be as near to tables that the same
model draws as these are to each other.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from facsimile.errors import refusal
from facsimile.privacy.reader import read_public
from facsimile.release.heard import Heard, Retelling
from facsimile.release.recipe import Recipe
from facsimile.release.reporting import Release
from facsimile.release.tables import INDEX
from facsimile.sources.address import Address
from facsimile.spec.families import family_of
from facsimile.synthesizers.base import RowModel
from facsimile.table.differences import distance
from facsimile.table.table import Table

Remade = Literal["same", "law"]
"""Record for record, or by the law of the sample."""
DRAWS = 8
DEVIATIONS = 6


def made_again(release: Release, prior: Address | None = None) -> Remade | None:
    """How the released table follows from its noisy answers; refused where it does not.

    None where none are published, or where the fit leans on a public file that is not given.
    """
    if release.heard is None:
        return None
    recipe = release.recipe
    if release.specification.prior is not None and family_of(release.configuration.family).leans:
        if prior is None or release.specification.prior.facts is not None:
            return None
        recipe = Recipe.leaning(
            release.specification, release.configuration, read_public(prior, release.specification)
        )
    try:
        model, random = _fitted(recipe, release.heard)
        if recipe.table(model, random) == release.table:
            return "same"
        follows = _as_near(recipe, model, release.table)
    except Exception:  # answers that were made up may fail anywhere in a fit
        follows = False
    if not follows:
        raise refusal("E503", file=INDEX, problem="the released table does not follow from the noisy tables")
    return "law"


def _fitted(recipe: Recipe, heard: Heard) -> tuple[RowModel, np.random.Generator]:
    """The model that the answers give, and the generator that sampling goes on with."""
    retelling = Retelling(recipe.domain, heard.said)
    random = np.random.default_rng(heard.own if heard.before is None else heard.before)
    model = recipe.fit(retelling, recipe.specification.budget.generator, random)
    if not retelling.done:
        raise ValueError("more answers than questions")
    return model, random if heard.before is None else np.random.default_rng(heard.own)


def _as_near(recipe: Recipe, model: RowModel, table: Table) -> bool:
    """Whether the released table is as near to tables of the model as these are to each other."""
    names = recipe.domain.names
    drawn = [recipe.table(model, np.random.default_rng(seed)) for seed in range(DRAWS)]
    own = [distance(one, drawn[0], names) for one in drawn[1:]]
    apart = float(np.mean([distance(table, one, names) for one in drawn]))
    return apart <= float(np.mean(own)) + DEVIATIONS * max(1.0, float(np.std(own)))
