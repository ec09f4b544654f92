"""Statistics: each criterion as a question about the confidential table, for one candidate.

A statistic knows the query, the value below which the criterion is met, and how to read an answer back as the
criterion's error. `None` where the candidate itself decides: it cannot meet the criterion.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from facsimile.acceptance.groups import groupings, likeness
from facsimile.acceptance.ratio import clipped, tested_at
from facsimile.acceptance.regression import Fit, refitting
from facsimile.acceptance.sums import correlations, named, quantiles, ranges
from facsimile.privacy.noise import LARGEST
from facsimile.privacy.queries import (
    ClippedRatio,
    FloorMeans,
    LargestDifference,
    OneStep,
    PredictionGap,
    Query,
    ResizedMeans,
    TailDifference,
    TotalVariation,
    Unlikeness,
    Unmatched,
    WorstSum,
)
from facsimile.privacy.queries.regression import Cells
from facsimile.shaping.constraints import allowed, impossible
from facsimile.spec.choices import Statistic
from facsimile.spec.columns import Axis, Column
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
from facsimile.spec.families import DENSE_CELLS
from facsimile.spec.release import Specification
from facsimile.table.domain import Clique, Domain
from facsimile.table.linear import newton_terms, predictable
from facsimile.table.table import Table

Range = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class Asked:
    """A criterion as a query: met when the query's value is below `limit`.

    A noisy value by itself is compared with `tested_at`: the limit, or less where luck has a margin.
    """

    criterion: Criterion
    form: Statistic
    query: Query
    limit: Fraction
    tested_at: Fraction

    @cached_property
    def sensitivity(self) -> Fraction:
        """Δ of the query."""
        return self.query.sensitivity()

    def error(self, value: Fraction) -> Fraction | None:
        """The criterion's error that a value of the query stands for; None where it is infinite.

        Only the likeness of counts is asked on another scale than its error, the ratio.
        """
        if isinstance(self.query, Unlikeness):
            return 1 / (1 - value) if value < 1 else None
        return value


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate table with what questions about it share.

    `fit` is the regression of the original that predictions are compared with, `refit` the one that
    coefficients were, where they were measured in the paper's form. Both are one where it was paid once.
    """

    specification: Specification
    table: Table
    fit: Fit | None = None
    refit: Fit | None = None

    def asked(self, criterion: Criterion, form: Statistic | None = None) -> Asked | None:
        """The criterion's question in its own form or in another; None where the candidate cannot meet it.

        Nor can it where integer noise is too short for the sensitivity: what is accepted can be measured.
        """
        chosen = form or self.specification.statistic_of(criterion)
        query = self._query(criterion, chosen == "sharp")
        if query is None:
            return None
        limit = criterion.threshold
        if isinstance(query, Unlikeness):
            limit = 1 - 1 / criterion.threshold if criterion.threshold > 1 else Fraction(0)
        if isinstance(query, ClippedRatio):
            limit = min(limit, query.clip)
        ratio = clipped(self.specification, criterion) if chosen == "paper" else None
        asked = Asked(criterion, chosen, query, limit, limit if ratio is None else tested_at(ratio))
        return None if asked.sensitivity > LARGEST // 2 else asked

    def _query(self, criterion: Criterion, sharp: bool) -> Query | None:
        if isinstance(criterion, RegressionCoefficients):
            return self._step(criterion, sharp)
        if isinstance(criterion, RegressionError):
            return self._gap(criterion, sharp)
        if isinstance(criterion, ConditionalMean):
            kind = FloorMeans if sharp else ResizedMeans
            groups = groupings(self.specification, criterion.by, self.table.domain)
            column = self.specification.column(criterion.of)
            bounds = number_range(column, self.table.domain.axis(column.name), sharp)
            return kind(self.table, criterion.of, groups, bounds, self.specification.slack)
        if isinstance(criterion, MarginalsRelative):
            return Unlikeness(self.table) if sharp else ClippedRatio(self.table, criterion.clip)
        return plain_query(self.specification, criterion, self.table)

    def _step(self, criterion: RegressionCoefficients, sharp: bool) -> Query | None:
        terms = newton_terms(self.table, criterion.target)
        known = sharp or self.specification.shares_once(criterion)
        if terms is None or not (known or refitting(self.table, criterion.target, criterion.epsilon)):
            return None
        return OneStep(terms, self.cells, self.table.n)

    def _gap(self, criterion: RegressionError, sharp: bool) -> Query | None:
        own = Fit.of(self.table, criterion.target)
        if own is None or self.fit is None:
            return None
        models = self.fit.on(self.table.domain), own.on(self.table.domain)
        if not all(predictable(model) for model in models):
            return None
        column = self.specification.column(criterion.target)
        bounds = number_range(column, column.finest, sharp=False)
        return PredictionGap(*models, bounds, self.cells if sharp else None, self.table.n)

    @cached_property
    def cells(self) -> Cells | None:
        """The cells that raw constraints allow; None where a domain is too large to list."""
        domain = self.table.domain
        if domain.cells > DENSE_CELLS:
            return None
        return Cells(allowed(self.specification.raw_conditions(), domain))


def plain_query(specification: Specification, criterion: Criterion, candidate: Table) -> Query:
    """The query of a criterion that has one form only."""
    domain = candidate.domain
    if isinstance(criterion, MarginalsAbsolute):
        return LargestDifference(candidate, criterion.ways)
    if isinstance(criterion, Faithfulness):
        return Unmatched(candidate, likeness(specification, criterion, domain))
    if isinstance(criterion, TotalVariationDistance):
        return TotalVariation(candidate, _marginals(criterion, domain), criterion.over == "average")
    if isinstance(criterion, MarginalsTail):
        return TailDifference(candidate, _marginals(criterion, domain), criterion.beyond)
    if isinstance(criterion, Correlation):
        return WorstSum(correlations(candidate, criterion.of))
    if isinstance(criterion, NamedQuery):
        clique, mask = impossible(criterion.condition(specification.names), domain)
        return WorstSum(named(candidate, clique, mask, criterion.of, specification.slack))
    if isinstance(criterion, RangesAbsolute | Quantile):
        groups = groupings(specification, criterion.by, domain)
        if isinstance(criterion, RangesAbsolute):
            return WorstSum(ranges(candidate, criterion.of, groups))
        return WorstSum(quantiles(candidate, criterion.of, groups, criterion.at))
    raise TypeError("the criterion has two forms")


def _marginals(criterion: TotalVariationDistance | MarginalsTail, domain: Domain) -> tuple[Clique, ...]:
    return criterion.of or tuple(combinations(domain.names, min(criterion.ways or 1, len(domain.names))))


def number_range(column: Column, axis: Axis, sharp: bool) -> Range:
    """[L, U] around every number of the axis: the declared bounds, or for sharp forms just the range."""
    numbers = axis.numbers or (Fraction(0), Fraction(1))
    declared = () if sharp or column.bounds is None else column.bounds
    every = (*numbers, *declared)
    return min(every), max(every)
