"""Criteria in words, for documents: one sentence for each, from the specification alone."""

from __future__ import annotations

from facsimile.spec.criteria import (
    ConditionalMean,
    Correlation,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    MarginalsTail,
    NamedQuery,
    Quantile,
    RangesAbsolute,
    RegressionCoefficients,
    RegressionError,
    TotalVariationDistance,
)
from facsimile.spec.decimals import show_decimal


def words(criterion: Criterion) -> str:
    """What the criterion measures."""
    if isinstance(criterion, MarginalsAbsolute):
        ways = "any number of columns" if criterion.ways is None else f"up to {criterion.ways} columns"
        return f"The largest difference of any count in any table of {ways}, as a share of all records."
    if isinstance(criterion, MarginalsRelative):
        return (
            "The largest ratio between the two counts of any value of any single column, each count plus one."
        )
    if isinstance(criterion, ConditionalMean):
        return f"The largest difference of the mean of {criterion.of}, overall{_within(criterion.by)}."
    if isinstance(criterion, RegressionCoefficients):
        return (
            f"The sum of absolute differences of the coefficients of a linear regression of {criterion.target} "
            "on all other columns, each standardised."
        )
    if isinstance(criterion, RegressionError):
        return (
            f"The difference of mean absolute errors when {criterion.target} is predicted from all other "
            "columns by a regression trained on the release and by one trained on the original."
        )
    if isinstance(criterion, Faithfulness):
        return (
            "The share of records of the release without a partner of their own in the original: equal in "
            f"{_listed(criterion.match)} and at most {criterion.within} bin off in one other column."
        )
    if isinstance(criterion, RangesAbsolute):
        return (
            "The largest difference of the count of any range (up to a value, or beyond it) of "
            f"{_listed(criterion.of)}, overall{_within(criterion.by)}, as a share of all records."
        )
    if isinstance(criterion, TotalVariationDistance):
        which = "worst of the chosen tables" if criterion.over == "worst" else "average of the chosen tables"
        return f"The share of records that stand in another cell than in the original, {which}."
    if isinstance(criterion, MarginalsTail):
        return (
            f"The difference of counts that all but {show_decimal(criterion.beyond * 100)} % of the cells of "
            "the chosen tables keep, as a share of all records."
        )
    if isinstance(criterion, Quantile):
        return (
            f"How far the release's quantile {show_decimal(criterion.at)} of {criterion.of} is from being one "
            f"of the original, in ranks as a share of the group, overall{_within(criterion.by)}."
        )
    if isinstance(criterion, Correlation):
        return f"The largest difference of the correlation of two of the columns {_listed(criterion.of)}."
    return _named(criterion)


def _named(criterion: NamedQuery) -> str:
    if criterion.of is None:
        return f"The difference of the share of records where {criterion.where}."
    return f"The difference of the mean of {criterion.of} among records where {criterion.where}."


def _within(by: tuple[str, ...]) -> str:
    return f" and within the groups of {_listed(by)}" if by else ""


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no column"
