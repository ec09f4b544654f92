"""Synthesize: one generator alone, on public data, as a rehearsal: `fit` and `sample`.

>>> import facsimile
>>> fitted = facsimile.fit("release.yaml", frame, family="workload", epsilon="1", seed=1)  # doctest: +SKIP
>>> fitted.sample().to_pandas()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from facsimile.errors import refusal
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import read_public, rehearse
from facsimile.release.recipe import Recipe
from facsimile.release.writing import labelled
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.families import FAMILIES
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Model
from facsimile.table.encoding import recode
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of a public table, fitted with the noise of ε; a rehearsal, without protection."""

    recipe: Recipe
    model: Model
    seed: int
    spent: Fraction

    def table(self) -> Table:
        """n synthetic records, filtered and projected, as codes."""
        return self.recipe.table(self.model, (self.seed, 1))

    def sample(self) -> pa.Table:
        """The same as labels: an Arrow table, which pandas and Polars read."""
        return labelled(self.table())


def fit(
    specification: Specification | Path | str,
    data: Any,
    family: str = "workload",
    epsilon: Fraction | str = "1",
    seed: int = 1,
    hyperparameters: Mapping[str, str] | None = None,
    alternatives: str | None = None,
    prior: Any = None,
) -> Fitted:
    """Fit one generator to public data: a file, or a pandas, Arrow or Polars table of raw values.

    `alternatives` names the alternative of every column (default: each column's first); `hyperparameters` are
    written as in a specification; `prior` is another public table for families that take one.
    """
    spec = specification if isinstance(specification, Specification) else load(Path(specification))
    if family not in FAMILIES:
        raise refusal("E200", problem=f"There is no family {family}; known: {', '.join(FAMILIES)}.")
    cost = _epsilon(epsilon)
    choice = spec.alternatives_named(alternatives or "")
    table = _public(spec, data, choice)
    recipe = Recipe.alone(spec.sized(table.n), choice, family, dict(hyperparameters or {}))
    if prior is not None:
        recipe = replace(recipe, prior=_public(spec, prior, choice))
    return fitted(recipe, table, cost, seed)


def fitted(recipe: Recipe, table: Table, epsilon: Fraction, seed: int) -> Fitted:
    """Fit a recipe to a public table under its alternatives, and count what that asked for."""
    ledger = MemoryLedger(cap=epsilon)
    model = recipe.fit(Curator.rehearsal(rehearse(table), seed, ledger), epsilon, (seed, 0))
    return Fitted(recipe, model, seed, ledger.spent)


def _epsilon(given: Fraction | str) -> Fraction:
    try:
        found = parse_decimal(given) if isinstance(given, str) else given
    except ValueError:
        found = Fraction(0)
    if found <= 0:
        raise refusal("E200", problem="Epsilon is a decimal number above 0.")
    return found


def _public(specification: Specification, data: Any, choice: Mapping[str, str]) -> Table:
    return recode(specification, read_public(data, specification), choice)
