"""What a public file of the same form says: the sizes that planning needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.acceptance.groups import crossing, groupings, inside, means, named, view_of
from facsimile.acceptance.planned import Assumed
from facsimile.spec.criteria import ConditionalMean, Crossing, crossed
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.exact import Floats
from facsimile.table.numbers import floats, mean, variance
from facsimile.table.raw import RawSums
from facsimile.table.table import Table
from facsimile.table.view import View

FAR = Fraction(1, 3)
MEAN_KEYS = ("criterion", "group", "raw", "numbers", "difference", "alternative", "far")


@dataclass(frozen=True)
class BinnedMean:
    """A mean that a criterion compares, of bins' numbers, beside the mean of the values behind them.

    `numbers` is the one of the used `alternative` that is farthest from `raw`.
    """

    criterion: str
    group: str
    raw: float
    numbers: float
    alternative: str
    threshold: Fraction

    @property
    def difference(self) -> float:
        """How far the two are apart."""
        return abs(self.numbers - self.raw)

    @property
    def far(self) -> bool:
        """Whether that is much beside what the criterion allows."""
        return self.difference > self.threshold * FAR


@dataclass(frozen=True)
class PublicSummary:
    """Counts of a public table; nothing like it is ever made of a confidential one."""

    n: int
    distinct: int
    smallest: dict[str, int]
    groups: dict[str, int]
    spreads: dict[str, tuple[Fraction, Fraction]]
    means: tuple[BinnedMean, ...] = ()
    correlations: Floats | None = None

    def as_json(self) -> dict[str, object]:
        """The summary as plain data."""
        return {
            "n": self.n,
            "distinct_rows": self.distinct,
            "smallest_one_way": self.smallest,
            "smallest_group": self.groups,
            "means": [{key: getattr(mean, key) for key in MEAN_KEYS} for mean in self.means],
        }


def summarise(specification: Specification, table: Table, raw: RawSums | None = None) -> PublicSummary:
    """A public table's sizes under each column's first alternative, and its means beside the `raw` ones."""
    coded = recode(specification, table, specification.first)
    groups = {}
    for column in specification.columns:
        if column.groups is not None:
            labels, places = column.coarsening(coded.domain.axis(column.name))
            sums = np.zeros(len(labels), np.int64)
            np.add.at(sums, np.array(places), coded.marginal((column.name,)))
            groups[column.name] = int(sums.min())
    for name, columns in _crossings(specification).items():
        shown = crossing(specification, columns, coded.domain)
        groups[name] = int(View(coded.domain, (shown,)).of(coded).marginal((name,)).min())
    smallest = {name: int(coded.marginal((name,)).min()) for name in coded.domain.names}
    binned = () if raw is None else tuple(_binned(specification, table, raw))
    spreads = {axis.name: _spread(coded, axis.name) for axis in coded.domain.axes if axis.numbers is not None}
    return PublicSummary(table.n, coded.distinct, smallest, groups, spreads, binned, _correlations(coded))


def averaged(specification: Specification) -> list[str]:
    """The columns of numbers whose means are compared."""
    return list(dict.fromkeys(criterion.of for criterion in _means(specification)))


def _means(specification: Specification) -> Iterator[ConditionalMean]:
    for criterion in specification.criteria_of(ConditionalMean):
        if not specification.column(criterion.of).is_category:
            yield criterion


def _binned(specification: Specification, table: Table, raw: RawSums) -> Iterator[BinnedMean]:
    """Overall and within each group: a union of bins, the same records under every alternative."""
    for criterion in _means(specification):
        numbers = {}
        for used in (choice[criterion.of] for choice in specification.space.choices([criterion.of])):
            coded = recode(specification, table, specification.first | {criterion.of: used})
            view = view_of(specification, criterion.by, coded.domain)
            groups = groupings(specification, criterion.by, view.domain)
            numbers[used] = list(means(view.of(coded), criterion.of, groups))
        for place, (group, rows) in enumerate(_groups(specification, criterion, table.domain, raw)):
            behind = raw.mean(criterion.of, rows)
            found = {used: float(each[place] or 0) for used, each in numbers.items()}
            if behind is not None:
                worst = max(found, key=lambda used: abs(found[used] - behind))
                yield BinnedMean(criterion.name, group, behind, found[worst], worst, criterion.threshold)


def _groups(
    specification: Specification, criterion: ConditionalMean, domain: Domain, raw: RawSums
) -> Iterator[tuple[str, Mask]]:
    """All records, then each group, in the order of `means`: its name and its rows."""
    yield "all records", np.ones(len(raw.codes), np.bool_)
    view = view_of(specification, criterion.by, domain)
    groups, rows = groupings(specification, criterion.by, view.domain), view.rows(raw.codes)
    said = (f"{name} {', '.join(labels)}" for name, labels in named(specification, criterion.by, domain))
    yield from zip(said, inside(view.domain, groups, rows).T[1:], strict=True)


def _crossings(specification: Specification) -> dict[str, Crossing]:
    """The crossed groups of all criteria."""
    by = (one for criterion in specification.criteria for one in getattr(criterion, "by", ()))
    return {name: columns for name, columns in crossed(tuple(by)).items() if len(columns) > 1}


def assumptions(summary: PublicSummary, n: int) -> Assumed:
    """The public sizes, scaled to n records, in place of the specification's planning values."""
    groups = {name: size * n // summary.n for name, size in summary.groups.items()}
    s_min = min(summary.smallest.values()) * n // summary.n
    return Assumed(s_min, groups, summary.spreads, summary.correlations)


def _correlations(table: Table) -> Floats | None:
    """Of all columns, in their order; None where one has no numbers. A constant column has none with any."""
    if any(axis.numbers is None for axis in table.domain.axes):
        return None
    rows = np.array([floats(axis)[table.column(axis.name)] for axis in table.domain.axes])
    covariance = np.atleast_2d(np.cov(rows, fweights=table.counts))
    deviations = np.sqrt(np.diag(covariance))
    found: Floats = covariance / np.outer(*(np.where(deviations > 0, deviations, 1.0),) * 2)
    np.fill_diagonal(found, 1.0)
    return found


def _spread(table: Table, name: str) -> tuple[Fraction, Fraction]:
    """Mean and deviation; a deviation of 0 counts as 1."""
    deviation = Fraction(math.sqrt(variance(table, name))).limit_denominator(2**20)
    return mean(table, name), deviation or Fraction(1)
