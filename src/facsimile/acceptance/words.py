"""Criteria in words, for documents: from the specification alone, one case for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, assert_never

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

Topic = Literal["counts", "means", "quantiles", "correlations", "regression", "rows"]
Stand = Literal["itself", "floored", "resized", "step", "fit"]


@dataclass(frozen=True)
class Told:
    """A criterion for readers: a short title, what it measures, its topic, and the columns it speaks of."""

    title: str
    words: str
    topic: Topic
    columns: tuple[str, ...]


def words(criterion: Criterion) -> str:
    """What the criterion measures, in one sentence."""
    return told(criterion).words


def titles(criteria: Iterable[Criterion]) -> dict[str, str]:
    """The short title of each criterion, by its name: for pages, where a name would be a raw key."""
    return {criterion.name: told(criterion).title for criterion in criteria}


def told(criterion: Criterion) -> Told:
    """The criterion for readers; a kind without a case is an error of types."""
    c = criterion
    match c:
        case MarginalsAbsolute():
            ways = "any number of columns" if c.ways is None else _columns(c.ways)
            said = f"The largest difference of any count in any table of {ways}, as a share of all records."
            return Told("Counts", said, "counts", ())
        case MarginalsRelative():
            said = "The largest ratio of the two counts of any value of any single column, each count plus one."
            return Told("Counts of single columns, as a ratio", said, "counts", ())
        case ConditionalMean():
            said = f"The largest difference of the mean of {c.of}, overall{_within(c.by)}."
            return Told(f"Mean of {c.of}", said, "means", (c.of,))
        case RegressionCoefficients():
            said = (
                f"The sum of absolute differences of the coefficients of a linear regression of {c.target} "
                "on all other columns, each standardised."
            )
            return Told(f"Regression of {c.target}: its coefficients", said, "regression", (c.target,))
        case RegressionError():
            said = (
                f"The difference of mean absolute errors when {c.target} is predicted from all other "
                "columns by a regression trained on the release and by one trained on the original."
            )
            return Told(f"Regression of {c.target}: its predictions", said, "regression", (c.target,))
        case Faithfulness():
            equal = f"equal in {_listed(c.match)} and " if c.match else ""
            steps = "1 bin" if c.within == 1 else f"{c.within} bins"
            said = (
                "The share of records of the release without a partner of their own in the original: "
                f"{equal}at most {steps} off in one other column."
            )
            return Told("Rows without a partner", said, "rows", c.match)
        case RangesAbsolute():
            said = (
                "The largest difference of the count of any range (up to a value, or beyond it) of "
                f"{_listed(c.of)}, overall{_within(c.by)}, as a share of all records."
            )
            return Told(f"Ranges of {_listed(c.of)}", said, "counts", c.of)
        case TotalVariationDistance():
            which = "worst" if c.over == "worst" else "average"
            said = (
                f"The share of records that stand in another cell than in the original, {which} of "
                f"{_tables(c.of, c.ways)}."
            )
            return Told(f"Records in another cell, {which} table", said, "counts", c.columns)
        case MarginalsTail():
            said = (
                f"The difference of counts that all but {show_decimal(c.beyond * 100)} % of the cells of "
                f"{_tables(c.of, c.ways)} keep, as a share of all records."
            )
            return Told("Counts of nearly all cells", said, "counts", c.columns)
        case Quantile():
            said = (
                f"How far the release's {_quantile(c.at)} of {c.of} is from being one of the original, in "
                f"ranks as a share of the release's group, overall{_within(c.by)}."
            )
            return Told(f"{_quantile(c.at).capitalize()} of {c.of}", said, "quantiles", (c.of,))
        case Correlation():
            said = f"The largest difference of the correlation of two of the columns {_listed(c.of)}."
            return Told(f"Correlations of {_listed(c.of)}", said, "correlations", c.of)
        case NamedQuery():
            name = c.query.replace("_", " ")
            if c.of is None:
                said = f"The difference of the share of records where {c.where}."
                return Told(f"Share: {name}", said, "counts", ())
            said = f"The difference of the mean of {c.of} among records where {c.where}."
            return Told(f"Mean of {c.of}: {name}", said, "means", (c.of,))
        case _:
            assert_never(c)


def stands(criterion: Criterion, form: str) -> Stand:
    """What was measured in place of the error: the error itself, or what stands in for it.

    `floored`: a small group is filled up with the release's mean. `resized`: so is it, and of a large group a
    random part is taken. `step`: one step from the release's figure towards the original's. `fit`: a noisy
    regression of the original in place of its own.
    """
    c = criterion
    match c:
        case ConditionalMean():
            return "resized" if form == "paper" else "floored"
        case NamedQuery():
            return "itself" if c.of is None else "floored"
        case RegressionCoefficients():
            return "fit" if form == "paper" else "step"
        case RegressionError():
            return "fit"
        case Correlation():
            return "step"
        case (
            MarginalsAbsolute()
            | MarginalsRelative()
            | Faithfulness()
            | RangesAbsolute()
            | TotalVariationDistance()
            | MarginalsTail()
            | Quantile()
        ):
            return "itself"
        case _:
            assert_never(c)


def _columns(ways: int) -> str:
    return "one column" if ways == 1 else f"up to {ways} columns"


def _tables(of: tuple[tuple[str, ...], ...], ways: int | None) -> str:
    if ways is not None:
        return "the tables of one column" if ways == 1 else f"the tables of {ways} columns"
    return f"the tables of {'; '.join(_listed(marginal) for marginal in of)}"


def _quantile(at: Fraction) -> str:
    return "median" if at == Fraction(1, 2) else f"{show_decimal(at)} quantile"


def _within(by: tuple[str, ...]) -> str:
    return f" and within the groups of {_each(by)}" if by else ""


def _each(names: tuple[str, ...]) -> str:
    """Groups are taken by one column at a time, never by several together."""
    return names[0] if len(names) == 1 else f"each of {_listed(names)}"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
