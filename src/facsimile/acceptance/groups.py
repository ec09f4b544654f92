"""Groups of records: those of a column's coarse groups, and those that may be partners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np

from facsimile.spec.bins import CategoryBin, parse_bin
from facsimile.spec.columns import Axis, Column
from facsimile.spec.criteria import By, Faithfulness, crossed
from facsimile.spec.meanings import meaning
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints, dot
from facsimile.table.matching import EXACT, Likeness
from facsimile.table.numbers import scaled
from facsimile.table.table import Codes, Table
from facsimile.table.view import Shown, View

Grouping = tuple[str, tuple[int, ...]]
MOST_GROUPS = 2**16
Number = TypeVar("Number", Fraction, float)


def groupings(specification: Specification, by: By, domain: Domain) -> tuple[Grouping, ...]:
    """For each conditioning column, the group of each of its codes; crossed ones are columns of a view."""
    return tuple(
        (name, tuple(range(domain.axis(name).size)))
        if len(columns) > 1
        else (name, specification.column(name).coarsening(domain.axis(name))[1])
        for name, columns in crossed(by).items()
    )


def view_of(specification: Specification, by: By, domain: Domain, *more: Shown) -> View:
    """Every column, crossed groups as columns of their own, and what else is made of the columns."""
    plain = map(Shown.plain, domain.axes)
    several = [columns for columns in crossed(by).values() if len(columns) > 1]
    made = (crossing(specification, columns, domain) for columns in several)
    return View(domain, (*plain, *made, *more))


def crossing(specification: Specification, columns: Sequence[str], domain: Domain) -> Shown:
    """A code for each combination of the coarse groups of some columns, the last column's moving fastest."""
    found = [specification.column(name).coarsening(domain.axis(name)) for name in columns]
    sizes = [max(places) + 1 for _, places in found]
    if prod(sizes) > MOST_GROUPS:
        raise ValueError("more crossed groups than can be counted")
    codes = np.ravel_multi_index(np.ix_(*(places for _, places in found)), sizes)
    bins = (CategoryBin(str(code), frozenset([str(code)])) for code in range(prod(sizes)))
    return Shown(Axis("*".join(columns), tuple(bins)), tuple(columns), np.asarray(codes, np.int64))


def named(specification: Specification, by: By, domain: Domain) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each group, in the order of `groupings`: what it is grouped by, and who it is in each column."""
    for name, columns in crossed(by).items():
        own = [specification.column(column) for column in columns]
        found = [column.coarsening(domain.axis(column.name)) for column in own]
        for labels in product(*(labels[: max(places) + 1] for labels, places in found)):
            yield name, tuple(map(spoken, own, labels))


def spoken(column: Column, label: str) -> str:
    """A group's label in words where it is a range in the specification's notation; else as it is."""
    if column.values is None and isinstance(column.groups, list):
        with suppress(ValueError):
            return meaning(parse_bin(label, column.step), column.step)
    return label


def numbers_compared(specification: Specification, of: int, by: By, domain: Domain) -> int:
    """How many cells a column of so many bins has with what conditions it: the most of them."""
    sizes = [prod(domain.axis(name).size for name in columns) for columns in crossed(by).values()]
    return of * max(of, *sizes, 1)


def inside(domain: Domain, groups: Sequence[Grouping], codes: Codes) -> Mask:
    """For each row of codes, whether it belongs to all records (it does) and to each group."""
    parts = [np.ones((1, len(codes)), np.bool_)]
    for grouping in groups:
        mine = codes[:, domain.place(grouping[0])]
        parts.append(np.array([mask[mine] for mask in members(grouping)]))
    return np.concatenate(parts).T


def members(grouping: Grouping) -> Iterator[Mask]:
    """For each group of a column, which codes belong to it."""
    places = np.array(grouping[1])
    yield from (places == group for group in range(int(places.max()) + 1))


def counted(table: Table, of: str, groups: Sequence[Grouping]) -> Iterator[Ints]:
    """How many of all records, then of each group's, fall into each bin of a column."""
    alone = table.marginal((of,))
    yield alone
    for grouping in groups:
        joint = np.diag(alone) if grouping[0] == of else table.marginal((of, grouping[0]))
        yield from (joint[:, inside].sum(axis=1) for inside in members(grouping))


def means(table: Table, of: str, groups: Sequence[Grouping]) -> Iterator[Fraction | None]:
    """The exact mean of all records, then of each group; None where it is empty."""
    values, unit = scaled(table.domain.axis(of))
    for count in counted(table, of, groups):
        size = int(count.sum())
        yield Fraction(int(dot(values, count)), unit * size) if size else None


def largest_gap(pairs: Iterable[tuple[Number | None, Number | None]]) -> float | None:
    """The largest |one − other|; None where one of a pair is not defined and the other is."""
    worst = 0.0
    for one, other in pairs:
        if one is None or other is None:
            if one is not other:
                return None
        else:
            worst = max(worst, float(abs(one - other)))
    return worst


def likeness(specification: Specification, criterion: Faithfulness, domain: Domain) -> Likeness:
    """The criterion's rule for partners, on the codes of a domain.

    A bin counts as the reference bin that holds it, and must be equal where a reference edge lies strictly
    inside it.
    """
    steps = []
    for name in domain.names:
        if name not in criterion.match:
            holders = specification.column(name).holders(domain.axis(name), criterion.reference)
            steps.append((name, tuple(EXACT if holder is None else holder for holder in holders)))
    return Likeness(criterion.match, tuple(steps), criterion.within)
