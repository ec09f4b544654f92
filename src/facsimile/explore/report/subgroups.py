"""Subgroups: means, medians, counts and partners within each coarse group of the columns that declare some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.acceptance.groups import Mask, groupings, likeness, members
from facsimile.explore.report.granular import numeric
from facsimile.spec.bins import parse_bin
from facsimile.spec.columns import Axis, Column
from facsimile.spec.criteria import ConditionalMean, Faithfulness
from facsimile.spec.meanings import meaning
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.exact import dot
from facsimile.table.matching import Likeness, matched
from facsimile.table.numbers import scaled
from facsimile.table.table import Counts, Table


@dataclass(frozen=True, eq=False)
class Group:
    """The records whose code of a column is one of the group's; all records where `column` is None."""

    column: str | None
    label: str
    codes: Mask

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


@dataclass(frozen=True)
class Centre:
    """The mean and the median of a column within a group; None where it holds no record.

    The median is the smallest number that at least half of the records do not exceed. `threshold` is that of
    the criterion about this mean, if there is one.
    """

    of: str
    column: str | None
    group: str
    records: tuple[int, int]
    means: tuple[float | None, float | None]
    medians: tuple[float | None, float | None]
    threshold: float | None

    @property
    def words(self) -> str:
        """Whose mean it is."""
        return self.group if self.column is None else f"{self.column}: {self.group}"


@dataclass(frozen=True)
class Place:
    """A count within a group: the column, its value, and the records there in both tables."""

    column: str
    label: str
    real: int
    synthetic: int


@dataclass(frozen=True)
class Worst:
    """Where the counts of a group differ most.

    `absolute` is |synthetic − real| over the group's records in the real table (None where it has none), at
    `at`; `ratio` is the largest of (a + 1)/(b + 1) and its inverse, at `ratio_at`.
    """

    column: str
    group: str
    records: tuple[int, int]
    absolute: float | None
    at: Place
    ratio: float
    ratio_at: Place


@dataclass(frozen=True)
class Unmatched:
    """The share of a group's synthetic records that find no partner of their own among its real ones.

    The matching is done anew within the group. A partner who would stand in a neighbouring group does not
    count, so the shares of a column's groups may be larger than the share of all records.
    """

    column: str | None
    group: str
    records: tuple[int, int]
    share: float | None


def groups(specification: Specification, domain: Domain) -> tuple[Group, ...]:
    """Every group of every column that declares groups."""
    found = []
    for name in domain.names:
        column = specification.column(name)
        if column.groups is not None:
            labels = column.coarsening(domain.axis(name))[0]
            masks = members(groupings(specification, (name,), domain)[0])
            said = [spoken(column, label) for label in labels]
            found += [Group(name, label, mask) for label, mask in zip(said, masks, strict=False)]
    return tuple(found)


def spoken(column: Column, label: str) -> str:
    """A group's label in words where it is a range in the specification's notation; else as it is."""
    if column.values is None and isinstance(column.groups, list):
        with suppress(ValueError):
            return meaning(parse_bin(label, column.step), column.step)
    return label


EVERYBODY = Group(None, "all records", np.ones(0, np.bool_))


def centres(specification: Specification, real: Table, synthetic: Table) -> tuple[Centre, ...]:
    """Every column with numbers, overall and within every group of the other columns."""
    found = []
    for of in numeric(real.domain):
        asked = {c.of: c for c in specification.criteria_of(ConditionalMean)}.get(of)
        for group in (EVERYBODY, *groups(specification, real.domain)):
            covered = asked is not None and (group.column is None or group.column in asked.by)
            if group.column == of and not covered:
                continue
            axis = real.domain.axis(of)
            one, other = group.counts(real, of), group.counts(synthetic, of)
            found.append(
                Centre(
                    of,
                    group.column,
                    group.label,
                    (int(one.sum()), int(other.sum())),
                    (_mean(axis, one), _mean(axis, other)),
                    (_median(axis, one), _median(axis, other)),
                    float(asked.threshold) if asked is not None and covered else None,
                )
            )
    return tuple(found)


def _mean(axis: Axis, counts: Counts) -> float | None:
    values, unit = scaled(axis)
    size = int(counts.sum())
    return float(Fraction(int(dot(values, counts)), unit * size)) if size else None


def _median(axis: Axis, counts: Counts) -> float | None:
    values, unit = scaled(axis)
    order = np.argsort(values, kind="stable")
    reached = np.flatnonzero(2 * np.cumsum(counts[order]) >= counts.sum())
    return float(values[order][reached[0]] / unit) if counts.sum() else None


def worst(specification: Specification, real: Table, synthetic: Table) -> tuple[Worst, ...]:
    """Each group's largest errors over the values of every other column."""
    found = (_worst(group, real, synthetic) for group in groups(specification, real.domain))
    return tuple(line for line in found if line is not None)


def _worst(group: Group, real: Table, synthetic: Table) -> Worst | None:
    places = list(_places(group, real, synthetic))
    if group.column is None or not places:
        return None
    size = int(group.counts(real, group.column).sum())
    most = max(places, key=lambda place: abs(place.synthetic - place.real))
    off = max(places, key=_ratio)
    return Worst(
        group.column,
        group.label,
        (size, int(group.counts(synthetic, group.column).sum())),
        abs(most.synthetic - most.real) / size if size else None,
        most,
        _ratio(off),
        off,
    )


def _places(group: Group, real: Table, synthetic: Table) -> Iterator[Place]:
    for axis in real.domain.axes:
        if axis.name != group.column:
            counts = zip(
                axis.labels, group.counts(real, axis.name), group.counts(synthetic, axis.name), strict=True
            )
            yield from (Place(axis.name, label, int(one), int(other)) for label, one, other in counts)


def _ratio(place: Place) -> float:
    less, more = sorted((place.real + 1, place.synthetic + 1))
    return more / less


def unmatched(
    specification: Specification, criterion: Faithfulness, real: Table, synthetic: Table
) -> tuple[Unmatched, ...]:
    """The criterion's error overall, then within every group; a group without synthetic records has none."""
    rule = likeness(specification, criterion, real.domain)
    return tuple(
        _unmatched(group, rule, real, synthetic) for group in (EVERYBODY, *groups(specification, real.domain))
    )


def _unmatched(group: Group, rule: Likeness, real: Table, synthetic: Table) -> Unmatched:
    one, other = group.of(real), group.of(synthetic)
    partners = matched(one, other, rule) if one.n and other.n else 0
    share = (other.n - partners) / other.n if other.n else None
    return Unmatched(group.column, group.label, (one.n, other.n), share)
