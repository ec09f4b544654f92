"""Listed configurations: the few of a space that a release may draw, each written out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from facsimile.spec.decimals import Count
from facsimile.spec.model import Model, Reference, Setting

Algorithm = Literal["paper", "implementation", "margins"]
MOST_LISTED = 1_000


class ListedProjection(Model):
    """The projection of one configuration; what `projection` lists once may be left out."""

    algorithm: Algorithm | None = None
    min_count: Count | None = None


class Listed(Model):
    """One configuration; a column that uses one alternative only may be left out."""

    alternatives: dict[Reference, Reference] = Field(default_factory=dict, description="Column: alternative.")
    family: str
    hyperparameters: dict[str, Setting] = Field(default_factory=dict, description="Hyperparameter: its value.")
    projection: ListedProjection = ListedProjection()
