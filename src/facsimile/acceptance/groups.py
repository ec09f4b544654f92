"""Groups of records: those of a column's coarse groups, and those that may be partners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from facsimile.spec.criteria import Faithfulness
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Domain
from facsimile.table.exact import dot
from facsimile.table.matching import EXACT, Likeness
from facsimile.table.numbers import scaled
from facsimile.table.table import Table

Grouping = tuple[str, tuple[int, ...]]
Number = TypeVar("Number", Fraction, float)


def groupings(specification: Specification, by: Sequence[str], domain: Domain) -> tuple[Grouping, ...]:
    """For each conditioning column, the group of each of its codes."""
    return tuple((name, specification.column(name).coarsening(domain.axis(name))[1]) for name in by)


def crossed(domain: Domain, of: str, by: Sequence[str]) -> int:
    """How many cells a column has with itself, or with one that conditions it: the most of them."""
    return max(domain.axis(of).size * domain.axis(name).size for name in (of, *by))


def members(grouping: Grouping) -> Iterator[Mask]:
    """For each group of a column, which codes belong to it."""
    places = np.array(grouping[1])
    yield from (places == group for group in range(int(places.max()) + 1))


def means(table: Table, of: str, groups: Sequence[Grouping]) -> Iterator[Fraction | None]:
    """The exact mean of all records, then of each group; None where it is empty."""
    values, unit = scaled(table.domain.axis(of))
    alone = table.marginal((of,))
    counts = [alone]
    for grouping in groups:
        joint = np.diag(alone) if grouping[0] == of else table.marginal((of, grouping[0]))
        counts += [joint[:, inside].sum(axis=1) for inside in members(grouping)]
    for count in counts:
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
