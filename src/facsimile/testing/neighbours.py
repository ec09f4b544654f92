"""Neighbouring tables to measure a sensitivity on: every pair of a tiny domain, and nasty pairs of larger ones.

Values lie on the bounds, groups are emptied, a record moves between groups, counts tie.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from string import ascii_lowercase

import numpy as np

from facsimile.spec.bins import CategoryBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.table import Table

Neighbours = tuple[Table, Table]
"""Two tables that differ in one record."""


def small_domain(*sizes: int) -> Domain:
    """Columns a, b, c, … with bins 0, 1, 2, …"""
    return Domain(
        tuple(
            Axis(name, parse_bins([f"0..{size - 1}"] if size > 1 else ["0"], Fraction(1)))
            for name, size in zip(ascii_lowercase, sizes, strict=False)
        )
    )


def numbered_domain(*columns: Sequence[Fraction | int]) -> Domain:
    """Columns a, b, c, … whose bins stand for these numbers."""
    return Domain(
        tuple(
            Axis(
                name,
                tuple(CategoryBin(str(i), frozenset([str(i)]), Fraction(x)) for i, x in enumerate(numbers)),
            )
            for name, numbers in zip(ascii_lowercase, columns, strict=False)
        )
    )


def heavy_pairs(domain: Domain, n: int, sizes: Sequence[int]) -> Iterator[Neighbours]:
    """Tables of very many records in two cells, one record moved between them.

    Terms of these sizes are summed: the number of records in a cell is also such that the sum passes an edge
    at which 64 bits wrap.
    """
    cells = list(itertools.product(*(range(size) for size in domain.shape)))
    edges = {edge // size + shift for size in sizes for edge in (2**62, 2**63, 2**64) for shift in (-1, 0, 1)}
    for one, other in itertools.permutations(cells, 2):
        for k in sorted({1, n // 2, n - 1} | {k for k in edges if 0 < k < n}):
            yield (
                Table.from_rows(domain, [one, other], [k, n - k]),
                Table.from_rows(domain, [one, other], [k - 1, n - k + 1]),
            )


def every_pair(domain: Domain, n: int) -> Iterator[Neighbours]:
    """All neighbouring tables of n records over a tiny domain."""
    cells = list(itertools.product(*(range(size) for size in domain.shape)))
    for rest in itertools.combinations_with_replacement(cells, n - 1):
        for one, other in itertools.combinations(cells, 2):
            yield Table.from_rows(domain, [*rest, one]), Table.from_rows(domain, [*rest, other])


def random_pairs(domain: Domain, n: int, count: int) -> Iterator[Neighbours]:
    """Random tables, one record replaced, often by a corner of the domain."""
    random = np.random.default_rng(3)
    corners = [np.zeros(len(domain.shape), int), np.array(domain.shape) - 1]
    for i in range(count):
        rows = random.integers(0, domain.shape, (n, len(domain.shape)))
        if i % 3 == 0:
            rows[:] = corners[i % 2]
        other = rows.copy()
        other[0] = corners[(i + 1) % 2] if i % 2 else random.integers(0, domain.shape)
        yield Table.from_rows(domain, rows), Table.from_rows(domain, other)


def tables(pairs: Iterable[Neighbours]) -> list[Table]:
    """The distinct tables of some pairs."""
    return list({content(table): table for pair in pairs for table in pair}.values())


def content(table: Table) -> bytes:
    """The same for tables of one domain with the same rows."""
    return table.codes.tobytes() + table.counts.tobytes()
