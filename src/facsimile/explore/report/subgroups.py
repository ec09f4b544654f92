"""Subgroups: means, medians, counts and partners within each coarse group of the columns that declare some.

Both tables are public, under the same alternatives and of the same size; nothing of this may be computed from a
confidential table. Every figure is exact, and its line is a row for a table of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.acceptance.groups import crossing, likeness, named
from facsimile.explore.report.exhibits import Row
from facsimile.spec.columns import Axis
from facsimile.spec.criteria import ConditionalMean, Faithfulness, Proportion, crossed
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask, implausible
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import dot
from facsimile.table.matching import matched
from facsimile.table.numbers import scaled
from facsimile.table.table import Counts, Table


@dataclass(frozen=True, eq=False)
class Subgroup:
    """The records whose cell of some columns is one of the group's; all records where there is no column."""

    columns: Clique
    label: str
    cells: Mask

    @property
    def words(self) -> str:
        """Who they are."""
        return f"{' × '.join(self.columns)}: {self.label}" if self.columns else self.label

    def holds(self, table: Table) -> Mask:
        """Whether each distinct row of a table belongs to it."""
        if not self.columns:
            return np.ones(table.distinct, np.bool_)
        return self.cells[tuple(table.column(name) for name in self.columns)]

    def of(self, table: Table) -> Table:
        """The group's records."""
        return table.filter(self.holds(table)) if self.columns else table

    def counts(self, table: Table, name: str) -> Counts:
        """The counts of another column's values, or of its own, within the group."""
        return self.of(table).marginal((name,))


EVERYBODY = Subgroup((), "all records", np.ones(0, np.bool_))


def groups(specification: Specification, domain: Domain) -> tuple[Subgroup, ...]:
    """Every group of every column that declares groups, and every crossed group that a criterion names."""
    declared = [name for name in domain.names if specification.column(name).groups is not None]
    asked = (one for criterion in specification.criteria for one in getattr(criterion, "by", ()))
    found = []
    for columns in crossed((*declared, *asked)).values():
        made = crossing(specification, columns, domain)
        said = named(specification, (columns,), domain)
        found += [
            Subgroup(columns, ", ".join(labels), made.codes == code) for code, (_, labels) in enumerate(said)
        ]
    return tuple(found)


def numeric(domain: Domain) -> tuple[str, ...]:
    """The columns whose every value has a number."""
    return tuple(axis.name for axis in domain.axes if axis.numbers is not None)


def centres(specification: Specification, real: Table, synthetic: Table) -> Iterator[Row]:
    """The mean and the median of every column with numbers, overall and within every group of other columns;
    and the share of every event that a proportion speaks of.

    None where a group holds no record. The median is the smallest number that at least half of the records do
    not exceed. `threshold` is that of the criterion about this mean, if there is one.
    """
    asked = {c.of: c for c in specification.criteria_of(ConditionalMean)}
    for of in numeric(real.domain):
        axis, criterion = real.domain.axis(of), asked.get(of)
        for group in (EVERYBODY, *groups(specification, real.domain)):
            covered = criterion is not None and _covered(group, criterion)
            if of in group.columns and not covered:
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
    for proportion in specification.criteria_of(Proportion):
        yield from _shares(specification, proportion, real, synthetic)


def _covered(group: Subgroup, criterion: ConditionalMean | Proportion) -> bool:
    """Whether a criterion compares a group."""
    return not group.columns or group.columns in crossed(criterion.by).values()


def _shares(
    specification: Specification, criterion: Proportion, real: Table, synthetic: Table
) -> Iterator[Row]:
    """How often an event happened, overall and within the groups that a criterion compares."""
    condition, threshold = criterion.condition(specification.names), float(criterion.threshold)
    happened = [implausible([condition], table.domain, table.codes) for table in (real, synthetic)]
    for group in (EVERYBODY, *groups(specification, real.domain)):
        if not _covered(group, criterion):
            continue
        found, sizes = [], []
        for table, event in zip((real, synthetic), happened, strict=True):
            inside = group.holds(table)
            sizes.append(int(table.counts[inside].sum()))
            found.append(int(table.counts[inside & event].sum()) / sizes[-1] if sizes[-1] else None)
        one, other = found
        yield {
            "of": f"share where {criterion.where}", "label": group.words,
            "real_records": sizes[0], "synthetic_records": sizes[1], "original": one, "released": other,
            "original_median": None, "released_median": None,
            "difference": None if one is None or other is None else other - one, "threshold": threshold,
        }  # fmt: skip


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
            if axis.name not in group.columns
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
