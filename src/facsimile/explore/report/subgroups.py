"""Subgroups: means, medians, counts and partners within each coarse group of the columns that declare some.

Both tables are public, under the same alternatives and of the same size; nothing of this may be computed from a
confidential table. Every figure is exact, and its line is a row for a table of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.acceptance.groups import groupings, likeness, members
from facsimile.explore.report.exhibits import Row
from facsimile.spec.bins import parse_bin
from facsimile.spec.columns import Axis, Column
from facsimile.spec.criteria import ConditionalMean, Faithfulness
from facsimile.spec.meanings import meaning
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Domain
from facsimile.table.exact import dot
from facsimile.table.matching import matched
from facsimile.table.numbers import scaled
from facsimile.table.table import Counts, Table


@dataclass(frozen=True, eq=False)
class Subgroup:
    """The records whose code of a column is one of the group's; all records where `column` is None."""

    column: str | None
    label: str
    codes: Mask

    @property
    def words(self) -> str:
        """Who they are."""
        return self.label if self.column is None else f"{self.column}: {self.label}"

    def of(self, table: Table) -> Table:
        """The group's records."""
        return table if self.column is None else table.filter(self.codes[table.column(self.column)])

    def counts(self, table: Table, name: str) -> Counts:
        """The counts of another column's values, or of its own, within the group."""
        alone = table.marginal((name,))
        if self.column is None:
            return alone
        if self.column == name:
            return np.where(self.codes, alone, 0)
        found: Counts = table.marginal((name, self.column))[:, self.codes].sum(axis=1)
        return found


EVERYBODY = Subgroup(None, "all records", np.ones(0, np.bool_))


def groups(specification: Specification, domain: Domain) -> tuple[Subgroup, ...]:
    """Every group of every column that declares groups."""
    found = []
    for name in domain.names:
        column = specification.column(name)
        if column.groups is not None:
            said = [_spoken(column, label) for label in column.coarsening(domain.axis(name))[0]]
            masks = members(groupings(specification, (name,), domain)[0])
            found += [Subgroup(name, label, mask) for label, mask in zip(said, masks, strict=False)]
    return tuple(found)


def _spoken(column: Column, label: str) -> str:
    """A group's label in words where it is a range in the specification's notation; else as it is."""
    if column.values is None and isinstance(column.groups, list):
        with suppress(ValueError):
            return meaning(parse_bin(label, column.step), column.step)
    return label


def numeric(domain: Domain) -> tuple[str, ...]:
    """The columns whose every value has a number."""
    return tuple(axis.name for axis in domain.axes if axis.numbers is not None)


def centres(specification: Specification, real: Table, synthetic: Table) -> Iterator[Row]:
    """The mean and the median of every column with numbers, overall and within every group of other columns.

    None where a group holds no record. The median is the smallest number that at least half of the records do
    not exceed. `threshold` is that of the criterion about this mean, if there is one.
    """
    asked = {c.of: c for c in specification.criteria_of(ConditionalMean)}
    for of in numeric(real.domain):
        axis, criterion = real.domain.axis(of), asked.get(of)
        for group in (EVERYBODY, *groups(specification, real.domain)):
            covered = criterion is not None and (group.column is None or group.column in criterion.by)
            if group.column == of and not covered:
                continue
            row: Row = {"of": of, "label": group.words}
            one, other = group.counts(real, of), group.counts(synthetic, of)
            row |= {"real_records": int(one.sum()), "synthetic_records": int(other.sum())}
            row |= {"original": _mean(axis, one), "released": _mean(axis, other)}
            row |= {"original_median": _median(axis, one), "released_median": _median(axis, other)}
            lacking = None in (row["original"], row["released"])
            row["difference"] = None if lacking else row["released"] - row["original"]
            row["threshold"] = float(criterion.threshold) if criterion is not None and covered else None
            yield row


def _mean(axis: Axis, counts: Counts) -> float | None:
    values, unit = scaled(axis)
    size = int(counts.sum())
    return float(Fraction(int(dot(values, counts)), unit * size)) if size else None


def _median(axis: Axis, counts: Counts) -> float | None:
    values, unit = scaled(axis)
    order = np.argsort(values, kind="stable")
    reached = np.flatnonzero(2 * np.cumsum(counts[order]) >= counts.sum())
    return float(values[order][reached[0]] / unit) if counts.sum() else None


def worst(specification: Specification, real: Table, synthetic: Table) -> Iterator[Row]:
    """Each group's largest errors over the values of every other column.

    `absolute` is |synthetic − real| over the group's records in the real table (None where it has none), at
    `at`; `ratio` is the largest of (a + 1)/(b + 1) and its inverse, at `ratio_at`.
    """
    for group in groups(specification, real.domain):
        places = [
            (f"{axis.name} {label}: {one:,} → {other:,}", int(one), int(other))
            for axis in real.domain.axes
            if axis.name != group.column
            for label, one, other in zip(
                axis.labels, group.counts(real, axis.name), group.counts(synthetic, axis.name), strict=True
            )
        ]
        if places:
            one, other = group.of(real).n, group.of(synthetic).n
            most = max(places, key=lambda place: abs(place[2] - place[1]))
            off = max(places, key=_ratio)
            yield {
                "label": group.words,
                "real": one,
                "synthetic": other,
                "absolute": abs(most[2] - most[1]) / one if one else None,
                "at": most[0],
                "ratio": _ratio(off),
                "ratio_at": off[0],
            }


def _ratio(place: tuple[str, int, int]) -> float:
    less, more = sorted((place[1] + 1, place[2] + 1))
    return more / less


def unmatched(
    specification: Specification, criterion: Faithfulness, real: Table, synthetic: Table
) -> Iterator[Row]:
    """The share of synthetic records that find no partner of their own, overall and within every group.

    The matching is done anew within a group. A partner who would stand in a neighbouring group does not count,
    so the shares of a column's groups may be larger than the share of all records. A group without synthetic
    records has none.
    """
    rule = likeness(specification, criterion, real.domain)
    for group in (EVERYBODY, *groups(specification, real.domain)):
        one, other = group.of(real), group.of(synthetic)
        partners = matched(one, other, rule) if one.n and other.n else 0
        share = (other.n - partners) / other.n if other.n else None
        yield {"label": group.words, "real": one.n, "synthetic": other.n, "share": share}
