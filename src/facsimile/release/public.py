"""What a public file of the same form says: the sizes that planning needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from facsimile.release.noise import Assumed
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table


@dataclass(frozen=True)
class PublicSummary:
    """Counts of a public table; nothing like it is ever made of a confidential one."""

    n: int
    distinct: int
    smallest: dict[str, int]
    groups: dict[str, int]
    spreads: dict[str, tuple[Fraction, Fraction]]

    def as_json(self) -> dict[str, object]:
        """The summary as plain data."""
        return {
            "n": self.n,
            "distinct_rows": self.distinct,
            "smallest_one_way": self.smallest,
            "smallest_group": self.groups,
        }


def summarise(specification: Specification, table: Table) -> PublicSummary:
    """The sizes of a public table under each column's first alternative."""
    first = {column.name: column.used[0] for column in specification.columns}
    coded = recode(specification, table, first)
    groups = {}
    for column in specification.columns:
        if column.groups is not None:
            labels, places = column.coarsening(coded.domain.axis(column.name))
            sums = dict.fromkeys(range(len(labels)), 0)
            for place, count in zip(places, coded.marginal((column.name,)), strict=True):
                sums[place] += int(count)
            groups[column.name] = min(sums.values())
    smallest = {name: int(coded.marginal((name,)).min()) for name in coded.domain.names}
    return PublicSummary(table.n, coded.distinct, smallest, groups, _spreads(coded, coded.domain))


def assumptions(summary: PublicSummary, n: int) -> Assumed:
    """The public sizes, scaled to n records, in place of the specification's planning values."""
    groups = {name: size * n // summary.n for name, size in summary.groups.items()}
    return Assumed(min(summary.smallest.values()) * n // summary.n, groups, summary.spreads)


def _spreads(table: Table, domain: Domain) -> dict[str, tuple[Fraction, Fraction]]:
    found = {}
    for axis in domain.axes:
        if axis.numbers is None:
            continue
        counts = [int(count) for count in table.marginal((axis.name,))]
        mean = sum((x * c for x, c in zip(axis.numbers, counts, strict=True)), Fraction(0)) / table.n
        square = sum((x * x * c for x, c in zip(axis.numbers, counts, strict=True)), Fraction(0)) / table.n
        deviation = Fraction(math.sqrt(square - mean * mean)).limit_denominator(2**20)
        found[axis.name] = (mean, deviation or Fraction(1))
    return found
