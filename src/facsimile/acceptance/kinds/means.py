"""Means: of a column, or of an event, overall and within groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import ClassVar, TypeVar

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.groups import (
    counted,
    groupings,
    inside,
    largest_gap,
    means,
    members,
    named,
    numbers_compared,
    view_of,
)
from facsimile.acceptance.influence import Influences, numbers
from facsimile.acceptance.kind import Kind, Stand, Subgroup, Topical
from facsimile.acceptance.model import happened
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import Assumed, PlannedSensitivity, number_range, planned_range
from facsimile.privacy.queries import FloorMeans, Query, ResizedMeans, Viewed
from facsimile.privacy.queries.means import GroupMeans
from facsimile.privacy.queries.sensitivity import Range, group_mean, smallest_group
from facsimile.privacy.queries.view import seen
from facsimile.spec.constraints import names as spoken_of
from facsimile.spec.criteria import EVENT, ConditionalMean, Proportion, crossed
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, dot
from facsimile.table.numbers import deviation, scaled
from facsimile.table.scores import MOST_FUNCTIONS, Factor, RowScores, indicator, units
from facsimile.table.table import Codes, Table
from facsimile.table.view import View

M = TypeVar("M", ConditionalMean, Proportion)
SHARE = (Fraction(0), Fraction(1))


class GroupedKind(Kind[M]):
    """The largest difference of means; in the paper's form records are drawn from large groups."""

    expense = 2
    scored = True
    stand: ClassVar[tuple[Stand, Stand]] = ("floored", "resized")
    topic: ClassVar[Topical] = "means"

    @property
    @abstractmethod
    def of(self) -> str:
        """The column of the view whose mean is taken."""

    @abstractmethod
    def view(self, specification: Specification, domain: Domain) -> View:
        """Its groups, and what is averaged, as columns."""

    @abstractmethod
    def bounds(self, specification: Specification, domain: Domain) -> Range:
        """Around every number that is averaged, on a domain of a view."""

    @abstractmethod
    def planned_bounds(self, specification: Specification) -> Range:
        """Around every number that may be averaged."""

    def query(self, candidate: Candidate) -> Query:
        """Groups filled up to a size that is public; the paper's form cuts larger ones to it as well."""
        spec, view = candidate.specification, self.view(candidate.specification, candidate.table.domain)
        groups, bounds = groupings(spec, self.criterion.by, view.domain), self.bounds(spec, view.domain)
        query = FloorMeans if self.sharp else ResizedMeans
        fill_to = self.criterion.fill_to or 1
        return seen(view, query(view.of(candidate.table), self.of, groups, bounds, spec.slack, fill_to))

    def smallest(self, query: Query) -> int | None:
        return min(group.size for group in _groups(query).groups)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Over all groups; not defined where a group is empty on one side only, unless it is filled up."""
        if self.criterion.fill_to is not None:
            return float(max(abs(error) for error in self._filled(candidate, original.table)))
        spec, view = candidate.specification, self.view(candidate.specification, candidate.table.domain)
        groups = groupings(spec, self.criterion.by, view.domain)
        both = (means(view.of(table), self.of, groups) for table in (original.table, candidate.table))
        return largest_gap(zip(*both, strict=True))

    def _filled(self, candidate: Candidate, original: Table) -> Iterator[Fraction]:
        """Σ(x − c)/max(k, m) over the k records of each group, c the candidate's mean or the middle."""
        spec, view = candidate.specification, self.view(candidate.specification, candidate.table.domain)
        groups, (low, high) = groupings(spec, self.criterion.by, view.domain), self.bounds(spec, view.domain)
        values, unit = scaled(view.domain.axis(self.of))
        centres = means(view.of(candidate.table), self.of, groups)
        fewest = 1
        for counts, mean in zip(counted(view.of(original), self.of, groups), centres, strict=True):
            size, centre = int(counts.sum()), (low + high) / 2 if mean is None else mean
            yield (Fraction(int(dot(values, counts)), unit) - size * centre) / max(size, fewest)
            fewest = self.criterion.fill_to or 1

    def influences(self, specification: Specification, table: Table) -> Influences:
        """(x − mean of the group)/(share of the group) inside each group that is not empty, overall first."""
        of, limit, view = self.of, float(self.criterion.threshold), self.view(specification, table.domain)
        groups, shown = groupings(specification, self.criterion.by, view.domain), view.of(table)
        shares = table.counts @ inside(view.domain, groups, view.rows(table.codes)) / table.n
        centres = [float(mean) if mean is not None else 0.0 for mean in means(shown, of, groups)]
        present = np.flatnonzero(shares > 0)
        counts_as = np.maximum(shares, (self.criterion.fill_to or 0) / table.n)

        def functions(codes: Codes) -> Floats:
            rows = view.rows(codes)
            within = inside(view.domain, groups, rows)[:, present] / counts_as[present]
            away: Floats = numbers(view.domain, of, rows)[:, None] - np.array(centres)[present]
            return within * away

        return Influences.within(functions, len(present), limit)

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """(x − mean of the group)/deviation inside each group; nothing where the column itself makes groups.

        None for too many groups.
        """
        view = self.view(specification, table.domain)
        of, shown = view.column(self.of), view.of(table)
        groups = [g for g in groupings(specification, self.criterion.by, view.domain) if g[0] != self.of]
        if sum(max(places) + 1 for _, places in groups) > MOST_FUNCTIONS:
            return None
        whose = ((view.column(grouping[0]), mask) for grouping in groups for mask in members(grouping))
        _, *centres = means(shown, self.of, groups)
        spread, functions = deviation(shown, self.of), []
        for (by, mask), centre in zip(whose, centres, strict=True):
            away = units((number - (centre or 0)) / spread for number in of.axis.numbers or ())[of.codes]
            functions.append((indicator(by.clique, mask[by.codes]), Factor(0, ((of.clique, away),))))
        return RowScores(table.domain, tuple(functions)) if functions else None

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """By the smallest group that is assumed, less what its share may be off; or as it is filled up."""
        by, n, filled = crossed(self.criterion.by), specification.n, self.criterion.fill_to or 1
        unknown = [name for name in by if name not in assumed.groups]
        bounds = self.planned_bounds(specification)
        if unknown and self.criterion.fill_to is None:
            return None, f"needs planning.groups.{unknown[0]}"
        if unknown:
            return group_mean(bounds, min(filled, n)), f"groups filled up to {filled:,}"
        size = min([assumed.groups[name] for name in by] or [n])
        smallest = max(min(filled, n), smallest_group(size, n, specification.slack))
        less = "" if smallest >= size else f" ({size:,} less slack)"
        return group_mean(bounds, smallest), f"smallest group {smallest:,}{less}"

    def subgroups(self, candidate: Candidate) -> Iterator[Subgroup]:
        """Its mean overall and within each group of the release."""
        spec, view = candidate.specification, self.view(candidate.specification, candidate.table.domain)
        groups, table = groupings(spec, self.criterion.by, view.domain), view.of(candidate.table)
        who = chain([("", ())], named(spec, self.criterion.by, candidate.table.domain))
        figures = zip(counted(table, self.of, groups), means(table, self.of, groups), strict=True)
        asked = _groups(candidate.query(self)).groups
        for (by, labels), (counts, mean), group in zip(who, figures, asked, strict=True):
            found = None if mean is None else float(mean)
            yield Subgroup(by, labels, int(counts.sum()), found, group.size)


class MeanKind(GroupedKind[ConditionalMean]):
    """The mean of a column."""

    about, title = "of", "Mean of {columns}"
    sentence = "The largest difference of the mean of {columns}, overall{within}{filled}."

    @property
    def of(self) -> str:
        return self.criterion.of

    def view(self, specification: Specification, domain: Domain) -> View:
        return view_of(specification, self.criterion.by, domain)

    def bounds(self, specification: Specification, domain: Domain) -> Range:
        return number_range(specification.column(self.of), domain.axis(self.of), self.sharp)

    def planned_bounds(self, specification: Specification) -> Range:
        return planned_range(specification, self.of, self.sharp)

    def terms(self, specification: Specification, domain: Domain) -> int:
        return numbers_compared(specification, domain.axis(self.of).size, self.criterion.by, domain)


class ProportionKind(GroupedKind[Proportion]):
    """The share of records that satisfy a condition: the mean of a column of 0 and 1."""

    topic, title = "counts", "Share where {where}"
    sentence = (
        "The largest difference of the share of records where {where}, among all records{within}{filled}."
    )

    @property
    def of(self) -> str:
        return EVENT

    def view(self, specification: Specification, domain: Domain) -> View:
        event = happened(self.criterion.condition(specification.names), domain)
        return view_of(specification, self.criterion.by, domain, event)

    def bounds(self, specification: Specification, domain: Domain) -> Range:
        return SHARE

    def planned_bounds(self, specification: Specification) -> Range:
        return SHARE

    def terms(self, specification: Specification, domain: Domain) -> int:
        event = self.criterion.condition(specification.names)
        spoken = domain.size(name for name in domain.names if name in spoken_of(event))
        return max(spoken, numbers_compared(specification, 2, self.criterion.by, domain))

    def words(self) -> dict[str, str]:
        return {"where": self.criterion.where}


def _groups(query: Query | None) -> GroupMeans:
    """The query about groups, behind a view or not."""
    found = query.query if isinstance(query, Viewed) else query
    assert isinstance(found, GroupMeans)
    return found
