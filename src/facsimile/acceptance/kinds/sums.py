"""Sums over records: ranges, quantiles, correlations, named queries.

Each is written for one candidate S as integer terms of a record's cell, where the sum should be, and a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.groups import (
    Grouping,
    groupings,
    largest_gap,
    members,
    numbers_compared,
    view_of,
)
from facsimile.acceptance.kind import Kind, ShareKind, Stand, Told
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import APART, UNKNOWN, Assumed, PlannedSensitivity, product
from facsimile.privacy.queries import Query, WorstSum
from facsimile.privacy.queries.sensitivity import smallest_group
from facsimile.privacy.queries.sums import Sums
from facsimile.privacy.queries.view import seen
from facsimile.shaping.constraints import implausible, impossible
from facsimile.spec.bins import MissingBin
from facsimile.spec.criteria import Correlation, NamedQuery, Quantile, RangesAbsolute, crossed
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints, dot, integers, rounded
from facsimile.table.numbers import correlation, deviation, grid, mean, scaled, standardised
from facsimile.table.scores import ONE, Factor, RowScores, indicator, units
from facsimile.table.table import Table

UNIT = 1024


class RangesKind(ShareKind[RangesAbsolute]):
    """The largest difference of a prefix, a suffix or a group."""

    topic, about, title = "counts", "of", "Ranges of {columns}"
    sentence = (
        "The largest difference of the count of any range (up to a value, or beyond it) of "
        "{columns}, overall{within}, as a share of all records."
    )

    def query(self, candidate: Candidate) -> Query:
        spec, by = candidate.specification, self.criterion.by
        view = view_of(spec, by, candidate.table.domain)
        groups = groupings(spec, by, view.domain)
        return seen(view, WorstSum(ranges(view.of(candidate.table), self.criterion.of, groups)))

    def terms(self, specification: Specification, domain: Domain) -> int:
        """Each prefix and suffix, within each group."""
        inside = 1
        for columns in crossed(self.criterion.by).values():
            found = (specification.column(c).coarsening(domain.axis(c))[1] for c in columns)
            groups = prod(max(places) + 1 for places in found)
            codes = domain.axis(columns[0]).size if len(columns) == 1 else groups
            inside = max(inside, 2 * groups * codes)
        return max(2 * domain.axis(name).size ** 2 * inside for name in self.criterion.of)


class QuantileKind(Kind[Quantile]):
    """The rank of a candidate's quantile in the original."""

    topic, about, title = "quantiles", "of", "{Which} of {columns}"
    sentence = (
        "How far the release's {which} of {columns} is from being one of the original, in "
        "ranks as a share of the release's group, overall{within}{filled}."
    )

    def query(self, candidate: Candidate) -> Query:
        c, spec = self.criterion, candidate.specification
        view = view_of(spec, c.by, candidate.table.domain)
        groups = groupings(spec, c.by, view.domain)
        return seen(view, WorstSum(quantiles(view.of(candidate.table), c.of, groups, c.at, c.fill_to or 1)))

    def terms(self, specification: Specification, domain: Domain) -> int:
        return numbers_compared(specification, domain.axis(self.criterion.of).size, self.criterion.by, domain)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        n = specification.n
        smallest = min([assumed.groups.get(name, n) for name in crossed(self.criterion.by)] or [n])
        smallest = max(smallest, min(n, self.criterion.fill_to or 1))
        return Fraction(1, max(1, smallest)), f"smallest group {smallest:,}"

    def words(self) -> dict[str, str]:
        at = self.criterion.at
        which = "median" if at == Fraction(1, 2) else f"{show_decimal(at)} quantile"
        return {"which": which, "Which": which.capitalize()}


class CorrelationKind(Kind[Correlation]):
    """The largest difference of a pair's correlation, by one step from the candidate's."""

    stand = ("step", "step")
    topic, about, title = "correlations", "of", "Correlations of {columns}"
    sentence = "The largest difference of the correlation of two of the columns {columns}."

    def query(self, candidate: Candidate) -> Query:
        return WorstSum(correlations(candidate.table, self.criterion.of))

    def terms(self, specification: Specification, domain: Domain) -> int:
        pairs = combinations(self.criterion.of, 2)
        return max(domain.axis(one).size * domain.axis(other).size for one, other in pairs)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Not defined where a column is constant on one side only."""
        tables, pairs = (original.table, candidate.table), combinations(self.criterion.of, 2)
        return largest_gap((correlation(tables[0], *pair), correlation(tables[1], *pair)) for pair in pairs)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """The widest product of two standardised columns."""
        missing = assumed.unknown(self.criterion.of)
        if missing:
            return None, missing
        scaled = [assumed.standardised(specification, name, sharp=False) for name in self.criterion.of]
        widest = max(product(one, other) for one, other in combinations(scaled, 2))
        return widest / specification.n, APART


class QueryKind(ShareKind[NamedQuery]):
    """The share of records that satisfy a condition, or a column's mean among them."""

    share = False
    scored = True

    def query(self, candidate: Candidate) -> Query:
        spec, table, c = candidate.specification, candidate.table, self.criterion
        clique, mask = impossible(c.condition(spec.names), table.domain)
        return WorstSum(named(table, clique, mask, c.of, spec.slack))

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Of a mean: not defined where no record satisfies the condition on one side only."""
        of = self.criterion.of
        if of is None:
            return super().exact(candidate, original)
        condition = self.criterion.condition(candidate.specification.names)
        both = (original.table, candidate.table)
        one, other = (t.filter(implausible([condition], t.domain, t.codes)) for t in both)
        return largest_gap([(mean(one, of) if one.n else None, mean(other, of) if other.n else None)])

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """One half where the condition holds and minus one half elsewhere; or (x − mean)/deviation there."""
        domain, of = table.domain, self.criterion.of
        clique, mask = impossible(self.criterion.condition(specification.names), domain)
        inside = indicator(clique, mask)
        if of is None:
            return RowScores(domain, ((replace(inside, constant=-ONE // 2),),))
        meant = table.filter(implausible([self.criterion.condition(specification.names)], domain, table.codes))
        centre, spread = mean(meant, of) if meant.n else Fraction(0), deviation(table, of)
        away = units((number - centre) / spread for number in domain.axis(of).numbers or ())
        return RowScores(domain, ((inside, Factor(0, (((of,), away),))),))

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """A share; the sensitivity of a mean depends on how many satisfy the condition."""
        return (None, UNKNOWN) if self.criterion.of else super().planned(specification, assumed)

    @property
    def told(self) -> Told:
        c = self.criterion
        name = c.query.replace("_", " ")
        if c.of is None:
            said = f"The difference of the share of records where {c.where}."
            return Told(f"Share: {name}", said, "counts", ())
        said = f"The difference of the mean of {c.of} among records where {c.where}."
        return Told(f"Mean of {c.of}: {name}", said, "means", (c.of,))

    @property
    def stands(self) -> Stand:
        """A few records are filled up."""
        return "itself" if self.criterion.of is None else "floored"


def ranges(candidate: Table, of: Sequence[str], groups: Sequence[Grouping]) -> tuple[Sums, ...]:
    """Prefix and suffix counts of ordered columns, overall and within groups; and the groups' own counts."""
    parts = [_shares(candidate, (g[0],), np.array(list(members(g)))) for g in groups]
    for name in of:
        prefixes = np.tril(np.ones((candidate.domain.axis(name).size,) * 2, bool))[: _ordered(candidate, name)]
        if not len(prefixes):
            continue
        parts.append(_shares(candidate, (name,), prefixes))
        for grouping in groups:
            if grouping[0] != name:
                inside = np.array(list(members(grouping)))
                both = [p[:, None] & g[None, :] for q in prefixes for p in (q, ~q) for g in inside]
                parts.append(_shares(candidate, (name, grouping[0]), np.array(both)))
    return tuple(parts)


def quantiles(
    candidate: Table, of: str, groups: Sequence[Grouping], at: Fraction, fill_to: int = 1
) -> tuple[Sums, ...]:
    """Ranks of S's quantile b in R: #{x < b} − p·n_v and p·n_v − #{x ≤ b}, in shares of the group of S.

    A group counts with at least `fill_to` records.
    """
    parts = [_ranks(candidate, (of,), np.ones(candidate.domain.axis(of).size, bool), at)]
    for grouping in groups:
        size = candidate.domain.axis(of).size
        for inside in members(grouping):
            if grouping[0] == of:
                parts.append(_ranks(candidate, (of,), inside, at, fill_to))
            else:
                parts.append(_ranks(candidate, (of, grouping[0]), np.tile(inside, (size, 1)), at, fill_to))
    return tuple(parts)


def correlations(candidate: Table, columns: Sequence[str]) -> tuple[Sums, ...]:
    """One step from S's correlation r towards R's: the mean of x·y − r(x² + y²)/2, standardised by S.

    It is the derivative of the correlation in the direction of one record, so that its mean over R is the
    difference of correlations up to second order.
    """
    parts = []
    for pair in combinations(columns, 2):
        x, y = (np.array([float(v) for v in standardised(candidate, name)]) for name in pair)
        r = float(grid(correlation(candidate, *pair) or 0.0))
        influence = np.outer(x, y) - r * (x[:, None] ** 2 + y[None, :] ** 2) / 2
        terms = rounded(UNIT * influence)
        parts.append(_both_ways(candidate, pair, terms[None], Fraction(UNIT * candidate.n)))
    return tuple(parts)


def named(candidate: Table, clique: Clique, mask: Mask, of: str | None, slack: Fraction) -> tuple[Sums, ...]:
    """The share of records in some cells; or how far a column's mean among them can be from S's.

    For the mean: Σ(x − c)/m over those records, c the mean of S and m what is left of S's group when its share
    is off by `slack`: at least the difference of means wherever R has m records there.
    """
    if of is None:
        return (_shares(candidate, clique, mask[None]),)
    wide = clique if of in clique else (*clique, of)
    inside = mask if of in clique else np.repeat(mask[..., None], candidate.domain.axis(of).size, axis=-1)
    counts = candidate.marginal(wide) * inside
    values, unit = scaled(candidate.domain.axis(of))
    along = counts.sum(axis=tuple(place for place, name in enumerate(wide) if name != of))
    size = int(counts.sum())
    centre = grid(Fraction(int(dot(values, along)), unit * size) if size else Fraction(0), 10)
    shifted = integers(UNIT * value - int(centre * UNIT * unit) for value in values.tolist())
    shape = [-1 if name == of else 1 for name in wide]
    terms = np.where(inside, shifted.reshape(shape), 0)
    left = smallest_group(size, candidate.n, slack)
    return (_both_ways(candidate, wide, terms[None], Fraction(UNIT * unit * left), centred=False),)


def _ordered(table: Table, name: str) -> int:
    """How many prefixes a column has: its bins without the last, and without a code for missing values."""
    return sum(not isinstance(b, MissingBin) for b in table.domain.axis(name).bins[:-1])


def _shares(candidate: Table, clique: Clique, masks: Mask) -> Sums:
    return _both_ways(candidate, clique, masks.astype(np.int64), Fraction(candidate.n))


def _both_ways(candidate: Table, clique: Clique, terms: Ints, unit: Fraction, centred: bool = True) -> Sums:
    """Sums above and below where S has them (or above and below zero)."""
    counts = candidate.marginal(clique).ravel()
    sums = [int(s) if centred else 0 for s in dot(terms.reshape(len(terms), -1), counts)]
    both = np.concatenate([terms, -terms])
    return Sums(clique, both, (*sums, *(-s for s in sums)), (unit,) * len(both))


def _ranks(candidate: Table, clique: Clique, inside: Mask, at: Fraction, fill_to: int = 1) -> Sums:
    """Both rank errors of S's quantile within one group; terms in units of 1/denominator of p."""
    counts = candidate.marginal(clique) * inside
    along = counts if counts.ndim == 1 else counts.sum(axis=1)
    size = int(along.sum())
    p, q = at.numerator, at.denominator
    place = int(np.searchsorted(np.cumsum(along), -(-p * size // q))) if size else 0
    order = np.arange(len(along)).reshape((-1, *(1,) * (inside.ndim - 1)))
    terms = integers([0, -p, q - p])
    below, upto = (terms[inside * (1 + (mask * 1))] for mask in (order < place, order <= place))
    return Sums(clique, np.stack([below, -upto]), (0, 0), (Fraction(q * max(fill_to, size)),) * 2)
