"""Means: of a column, overall and within groups."""

from __future__ import annotations

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.groups import crossed, groupings, largest_gap, means, members
from facsimile.acceptance.influence import Influences, numbers
from facsimile.acceptance.kind import Kind
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import Assumed, PlannedSensitivity, number_range, planned_range
from facsimile.privacy.queries import FloorMeans, Query, ResizedMeans
from facsimile.privacy.queries.means import GroupMeans
from facsimile.privacy.queries.sensitivity import group_mean, smallest_group
from facsimile.spec.criteria import ConditionalMean
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.numbers import deviation
from facsimile.table.scores import Factor, RowScores, indicator, units
from facsimile.table.table import Codes, Table


class MeanKind(Kind[ConditionalMean]):
    """The largest difference of means; in the paper's form records are drawn from large groups."""

    expense = 2
    scored = True
    stand = ("floored", "resized")
    topic, about, title = "means", "of", "Mean of {columns}"
    sentence = "The largest difference of the mean of {columns}, overall{within}."

    def query(self, candidate: Candidate) -> Query:
        """Groups filled up to a size that is public; the paper's form cuts larger ones to it as well."""
        spec, domain, of = candidate.specification, candidate.table.domain, self.criterion.of
        bounds = number_range(spec.column(of), domain.axis(of), self.sharp)
        query = FloorMeans if self.sharp else ResizedMeans
        return query(candidate.table, of, groupings(spec, self.criterion.by, domain), bounds, spec.slack)

    def terms(self, specification: Specification, domain: Domain) -> int:
        return crossed(domain, self.criterion.of, self.criterion.by)

    def smallest(self, query: Query) -> int | None:
        assert isinstance(query, GroupMeans)
        return min(group.size for group in query.groups)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Over all groups; not defined where a group is empty on one side only."""
        groups = groupings(candidate.specification, self.criterion.by, candidate.table.domain)
        both = (means(table, self.criterion.of, groups) for table in (original.table, candidate.table))
        return largest_gap(zip(*both, strict=True))

    def influences(self, specification: Specification, table: Table) -> Influences:
        """(x − mean of the group)/(share of the group) inside each group that is not empty, overall first."""
        of, domain, limit = self.criterion.of, table.domain, float(self.criterion.threshold)
        groups = groupings(specification, self.criterion.by, domain)

        def inside(codes: Codes) -> Floats:
            parts = [np.ones((1, len(codes)), bool)]
            for grouping in groups:
                mine = codes[:, domain.place(grouping[0])]
                parts.append(np.array([mask[mine] for mask in members(grouping)]))
            return np.concatenate(parts).T.astype(np.float64)

        shares = table.counts @ inside(table.codes) / table.n
        centres = [float(mean) if mean is not None else 0.0 for mean in means(table, of, groups)]
        present = np.flatnonzero(shares > 0)

        def functions(codes: Codes) -> Floats:
            within = inside(codes)[:, present] / shares[present]
            away: Floats = numbers(domain, of, codes)[:, None] - np.array(centres)[present]
            return within * away

        return Influences.within(functions, len(present), limit)

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """(x − mean of the group)/deviation inside each group; nothing where the column itself makes groups."""
        of, domain = self.criterion.of, table.domain
        groups = [g for g in groupings(specification, self.criterion.by, domain) if g[0] != of]
        inside = [indicator((name,), mask) for name, places in groups for mask in members((name, places))]
        _, *centres = means(table, of, groups)
        spread, numbers = deviation(table, of), domain.axis(of).numbers or ()
        functions = []
        for group, centre in zip(inside, centres, strict=True):
            away = units((number - (centre or 0)) / spread for number in numbers)
            functions.append((group, Factor(0, (((of,), away),))))
        return RowScores(domain, tuple(functions)) if functions else None

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """By the smallest group that is assumed, less what its share may be off."""
        by, n = self.criterion.by, specification.n
        unknown = [name for name in by if name not in assumed.groups]
        if unknown:
            return None, f"needs planning.groups.{unknown[0]}"
        size = min([assumed.groups[name] for name in by] or [n])
        smallest = smallest_group(size, n, specification.slack)
        less = "" if smallest >= size else f" ({size:,} less slack)"
        bounds = planned_range(specification, self.criterion.of, self.sharp)
        return group_mean(bounds, smallest), f"smallest group {smallest:,}{less}"
