"""Singling out: descriptions taken from the published table that fit exactly one person.

A description is made of conditions on columns: a value, or at least or at most a number. It is taken from a row
of the table and made longer until it fits as few published records as any can. Whoever uses it is strong, and
knows everyone in the table but the targets: of the descriptions, those are used that fit none of the known.

Does one fit exactly one target? A description that fits none of the known fits a target as easily as a control,
unless the table remembers who was in it. Both groups are equally large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from facsimile.risk.people import People
from facsimile.risk.rates import Excess, Rate
from facsimile.table.domain import Domain
from facsimile.table.table import Codes, Table

MOST = 1000
"""Descriptions that are wanted of a table at most: each is compared with everybody."""
TRIES = 20
"""Rows that are tried for each description that is wanted."""
Condition = tuple[int, int, int]
"""A column, and the first and the last code that fit it."""


@dataclass(frozen=True)
class Description:
    """Conditions that all must hold."""

    conditions: tuple[Condition, ...]

    def fits(self, codes: Codes) -> npt.NDArray[np.bool_]:
        """Which rows it fits."""
        found = np.ones(len(codes), bool)
        for place, first, last in self.conditions:
            column = codes[:, place]
            found &= (column >= first) & (column <= last)
        return found


def descriptions(published: Table, wanted: int, random: np.random.Generator) -> Iterator[Description]:
    """Different descriptions, each of a row of its own: single values first, then rows at random.

    One is taken if it fits no more records than the rarest row has: one, where rows may be unique.
    """
    least, found = int(published.counts.min()), set[Description]()
    rows = random.permutation(published.distinct)[: TRIES * wanted]
    of_rows = (_of_row(published, row, least, random) for row in rows)
    for description in chain(_rare(published, least), of_rows):
        if description is not None and description not in found:
            found.add(description)
            yield description


def singling(published: Table, people: People, wanted: int, random: np.random.Generator) -> dict[str, Excess]:
    """Isolated targets and isolated controls; one part for single columns, one for several."""
    wanted = min(wanted, MOST)
    isolated = {"one column": [0, 0, 0], "several columns": [0, 0, 0]}
    for description in descriptions(published, wanted, random):
        if description.fits(people.rest.codes).any():
            continue
        counts = isolated["one column" if len(description.conditions) == 1 else "several columns"]
        counts[0] += 1
        for place, group in enumerate((people.targets, people.controls), 1):
            counts[place] += int(np.count_nonzero(description.fits(group))) == 1
        if sum(tried for tried, _, _ in isolated.values()) >= wanted:
            break
    parts = {
        name: Excess(Rate(hits, tried), Rate(misses, tried)) for name, (tried, hits, misses) in isolated.items()
    }
    return {name: part for name, part in parts.items() if part.members.attacks or name != "one column"}


def _rare(published: Table, least: int) -> Iterator[Description]:
    """Single values that as few records have as the rarest row."""
    for place, axis in enumerate(published.domain.axes):
        counts = published.marginal((axis.name,))
        for code in np.nonzero(counts == least)[0].tolist():
            yield Description(((place, code, code),))


def _of_row(published: Table, row: int, least: int, random: np.random.Generator) -> Description | None:
    """Columns of a row in random order, until only it is left; None where more than the rarest are left."""
    codes, kept, conditions = published.codes[row], np.arange(published.distinct), list[Condition]()
    for place in random.permutation(len(codes)).tolist():
        condition = _condition(published.domain, place, int(codes[place]), bool(random.integers(2)))
        column = published.codes[kept, place]
        kept = kept[(column >= condition[1]) & (column <= condition[2])]
        conditions.append(condition)
        if int(published.counts[kept].sum()) <= least:
            return Description(tuple(sorted(conditions)))
    return None


def _condition(domain: Domain, place: int, code: int, open_ended: bool) -> Condition:
    """The value itself, or, of a number, it and all beyond it on its side of the middle."""
    axis = domain.axes[place]
    numbers = sum(bin_.number is not None for bin_ in axis.bins)
    if not open_ended or code >= numbers:
        return place, code, code
    return (place, code, numbers - 1) if 2 * code >= numbers else (place, 0, code)
