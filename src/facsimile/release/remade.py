"""Remade: a released table made again from its published noisy answers, without confidential data.

The fit is asked the same questions and given the published answers; sampling, filter and projection follow with
the published seeds. On the same kind of machine the same records come out. Elsewhere a sum may be rounded
differently, and at most MOST_MOVED records may lie in other rows.

What this cannot see: a noisy count that was changed by so little that the table which follows is the same, or
nearly. Only a signature by a key that the reader knows vouches for the noisy tables themselves.
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

Remade = Literal["same", "near"]
"""Record for record, or but for a few records."""
MOST_MOVED = 2
"""Records that another machine's rounding may move. Noisy counts off by a relative 2^-40, a thousand times what
rounding does, moved none in any family (tests/release/test_heard.py)."""


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
        again = recipe.table(model, random)
        moved = distance(again, release.table, recipe.domain.names) // 2
    except Exception:  # answers that were made up may fail anywhere in a fit
        moved = release.table.n
    if moved > MOST_MOVED:
        raise refusal("E503", file=INDEX, problem="the released table does not follow from the noisy tables")
    return "near" if moved else "same"


def _fitted(recipe: Recipe, heard: Heard) -> tuple[RowModel, np.random.Generator]:
    """The model that the answers give, and the generator that sampling goes on with."""
    retelling = Retelling(recipe.domain, heard.said)
    random = np.random.default_rng(heard.own if heard.before is None else heard.before)
    model = recipe.fit(retelling, recipe.specification.budget.generator, random)
    if not retelling.done:
        raise ValueError("more answers than questions")
    return model, random if heard.before is None else np.random.default_rng(heard.own)
