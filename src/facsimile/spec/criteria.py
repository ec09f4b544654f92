"""Criteria: how far the release may be from the confidential table, and what each test may spend.

A criterion is met when its error is strictly below its threshold. `statistic: paper` is the error as the
births paper defines it; `sharp` is the form with less noise. Sensitivities are not declared here: they
follow from the form, the domain and the number of records.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from facsimile.spec.decimals import Count, Epsilon, Exact
from facsimile.spec.model import Model, Name

Statistic = Literal["paper", "sharp"]


class _Criterion(Model):
    threshold: Exact = Field(gt=0, description="Met when the error is strictly below.")
    epsilon: Epsilon = Field(description="Budget share of the measurement that is published.")
    statistic: Statistic | None = Field(default=None, description="Overrides the specification's `statistic`.")

    @property
    def name(self) -> str:
        """The criterion's name in reports."""
        return str(self.criterion)  # type: ignore[attr-defined]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return ()


class MarginalsAbsolute(_Criterion):
    """The largest difference of any count of any k-way table, as a share of all records."""

    criterion: Literal["marginals-absolute"]
    ways: Count | None = Field(default=None, ge=1, description="Largest k; default: all columns.")


class MarginalsRelative(_Criterion):
    """The largest ratio of two one-way counts, each plus one."""

    criterion: Literal["marginals-relative"]
    clip: Exact = Field(default=Fraction(2), gt=1, description="Ratios are clipped to [1, clip] (paper form).")
    false_accept: Exact = Field(
        default=Fraction(1, 20),
        gt=0,
        lt=Fraction(1, 2),
        description="Probability that a clipped ratio passes by luck of the noise (paper form).",
    )
    planning_s_min: Count = Field(
        default=50, ge=0, description="Smallest one-way count to plan with, before a release exists."
    )


class ConditionalMean(_Criterion):
    """The largest difference of a column's mean, overall and within the groups of other columns."""

    criterion: Literal["mean"]
    of: Name = Field(description="The column whose mean is taken.")
    by: tuple[Name, ...] = Field(default=(), description="Columns whose groups condition it; overall is added.")

    @property
    def name(self) -> str:
        """The criterion's name in reports."""
        return f"mean-{self.of}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return (self.of, *self.by)


class RegressionCoefficients(_Criterion):
    """The L1 distance of regression coefficients, features standardised by the release."""

    criterion: Literal["regression-coefficients"]
    target: Name
    planning_sensitivity: Exact | None = Field(
        default=None, gt=0, description="Sensitivity of the one-step statistic to plan with (sharp form)."
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return (self.target,)


class RegressionError(_Criterion):
    """The difference of mean absolute prediction errors, trained on the release and on the original."""

    criterion: Literal["regression-mae"]
    target: Name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return (self.target,)


class Faithfulness(_Criterion):
    """The share of records of the release without a partner of their own in the original.

    Partners agree on the columns `match` and differ by at most `within` bins in one of the others. A bin
    finer than the reference counts as its reference bin; a bin with a reference edge strictly inside it
    must match exactly.
    """

    criterion: Literal["faithfulness"]
    match: tuple[Name, ...] = Field(description="Columns that must be equal.")
    within: Count = Field(default=1, ge=0, description="How many reference bins one other column may be off.")
    reference: str = Field(description="The alternative whose bins count.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return self.match


def _kind(value: Any) -> str | None:
    found = value.get("criterion") if isinstance(value, dict) else getattr(value, "criterion", None)
    return found if isinstance(found, str) else None


Criterion = Annotated[
    Annotated[MarginalsAbsolute, Tag("marginals-absolute")]
    | Annotated[MarginalsRelative, Tag("marginals-relative")]
    | Annotated[ConditionalMean, Tag("mean")]
    | Annotated[RegressionCoefficients, Tag("regression-coefficients")]
    | Annotated[RegressionError, Tag("regression-mae")]
    | Annotated[Faithfulness, Tag("faithfulness")],
    Discriminator(_kind),
]
