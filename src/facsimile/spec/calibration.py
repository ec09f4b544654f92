"""Calibration: how far intervals by replicates must reach, as public data showed it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from facsimile.spec.decimals import Count, Exact
from facsimile.spec.mistakes import Mistake
from facsimile.spec.model import Model, Prose

Kind = Literal["one-way", "two-way", "three-way", "means", "proportions", "medians", "coefficients"]


class Calibration(Model):
    """For each kind of statistic the factor κ: an interval is the estimate ± κ standard errors, at 95 %."""

    data: Prose = Field(description="The public data it was found on.")
    replicates: Count = Field(description="How many replicates a standard error had.", ge=2)
    kappa: dict[Kind, Exact] = Field(description="Kind of statistic: its factor.", min_length=1)

    def mistakes(self) -> Iterator[Mistake]:
        """A factor is above 0."""
        for kind, factor in self.kappa.items():
            if factor <= 0:
                yield Mistake(("kappa", kind), "a factor of a calibration is above 0")
