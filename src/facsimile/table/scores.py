"""Scores: public functions of a row in exact integers, whose sums over records say what a model gets wrong.

A score is a product of factors. A factor is a constant plus one entry of each of its tables, a table being of
one column or of a few. So a score depends on a row's codes alone: not on the other rows, not on their order,
not on how an engine adds floats. Entries are in units of 2^−10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import LARGEST, Ints, dot, frozen, largest, product, roots, total
from facsimile.table.table import Codes

BITS = 10
ONE = 1 << BITS
MOST = 1 << 20
ENTRIES = 1 << 22
"""So many scores are held at once when they are summed."""
MOST_FUNCTIONS = 512
"""More functions than this are not asked for: each has a little noise, and all of them much."""
MOST_ENTRIES = 1 << 26
"""More scores of rows than this are not asked for: a model has to hold them."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A constant plus an entry of each table, in units.

    >>> from facsimile.spec.columns import Axis, parse_bins
    >>> domain = Domain(tuple(Axis(name, parse_bins(["0..2"], Fraction(1))) for name in "ab"))
    >>> Factor(7, ((("b",), np.array([0, 10, 20])),)).of(domain, np.array([[0, 2], [1, 0]])).tolist()
    [27, 7]
    """

    constant: int
    tables: tuple[tuple[Clique, Ints], ...] = ()

    def __post_init__(self) -> None:
        kept = tuple((clique, frozen(table)) for clique, table in self.tables)
        object.__setattr__(self, "tables", kept)

    @property
    def reach(self) -> int:
        """At least its size on any row."""
        return abs(self.constant) + sum(largest(table) for _, table in self.tables)

    def of(self, domain: Domain, codes: Codes) -> Ints:
        """Its value on each row of codes."""
        found = np.full(len(codes), self.constant, np.int64)
        for clique, table in self.tables:
            found += table[tuple(codes[:, domain.place(name)] for name in clique)]
        return found


@dataclass(frozen=True, eq=False)
class RowScores:
    """Some scores over one domain, each a tuple of factors; `norm`: whether rows are clipped in L1 or in L2."""

    domain: Domain
    functions: tuple[tuple[Factor, ...], ...]
    norm: Literal[1, 2] = 1

    @property
    def fits(self) -> bool:
        """Whether no factor, no product and no row's ‖s‖₁ can leave 62 bits, whatever the row."""
        every = 0
        for factors in self.functions:
            size = ONE
            for reach in (factor.reach for factor in factors):
                if size * reach >= LARGEST:
                    return False
                size = (size * reach >> BITS) + 1
            every += size
        return every < LARGEST

    def of(self, codes: Codes) -> Ints:
        """A line for each row of codes, a column for each score, in units.

        A product of two factors is brought back to units before the next, rounded to the nearest.
        """
        known: dict[Factor, Ints] = {}
        columns = []
        for factors in self.functions:
            found = np.full(len(codes), ONE, np.int64)
            for factor in factors:
                if factor not in known:
                    known[factor] = factor.of(self.domain, codes)
                found = (found * known[factor] + ONE // 2) >> BITS
            columns.append(found)
        return np.column_stack(columns)

    def clipped(self, codes: Codes, most: int) -> Ints:
        """The scores of each row, drawn together towards zero until their norm is at most `most`:
        s ← sign(s)·⌊|s|·most/N⌋, N = ‖s‖₁ or ⌈‖s‖₂⌉.

        No |s̄| exceeds |s|·most/N, so ‖s̄‖ ≤ ‖s‖·most/N ≤ most. Flooring the size, not the number, is what makes
        this true of negative ones.
        """
        found = self.of(codes)
        norms = self.norms(found)
        over = norms > most
        far = found[over]
        less = product(np.abs(far), np.array([most])) // norms[over, None]
        found[over] = np.sign(far) * less
        return found

    def norms(self, found: Ints) -> Ints:
        """‖s‖₁ of each line, or ⌈‖s‖₂⌉."""
        if self.norm == 1:
            return np.asarray(np.abs(found).sum(axis=1))
        squares = product(found, found)
        return roots(squares.sum(axis=1) if total(squares) < LARGEST else squares.astype(object).sum(axis=1))

    def summed(self, codes: Codes, counts: Ints, most: int) -> list[int]:
        """Σ counts·(clipped scores), exactly, block by block: memory does not grow with the rows."""
        rows = max(1, ENTRIES // len(self.functions))
        sums = [0] * len(self.functions)
        for start in range(0, len(codes), rows):
            block = slice(start, start + rows)
            found = dot(self.clipped(codes[block], most).T, counts[block])
            sums = [one + int(more) for one, more in zip(sums, found, strict=True)]
        return sums


def units(values: Iterable[Fraction | float]) -> Ints:
    """Numbers in units, the nearest ones, at most ±MOST.

    >>> units([Fraction(1, 2), -1e30]).tolist()
    [512, -1048576]
    """
    return np.array([max(-MOST, min(MOST, round(value * ONE))) for value in values], np.int64)


def indicator(clique: Clique, mask: npt.NDArray[np.bool_]) -> Factor:
    """One on some cells of some columns."""
    return Factor(0, ((clique, ONE * mask.astype(np.int64)),))
