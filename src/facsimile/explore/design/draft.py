"""A draft: the measurements and weights of a workload to be, in numbers that a search can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import prod
from typing import TypeVar

from facsimile.explore.design.effects import Sizes
from facsimile.explore.design.law import LAPLACE, Law, law_of
from facsimile.synthesizers.measurements import AUTO, COLUMNS_FIRST, EACH, items, shares
from facsimile.table.domain import Clique, Domain

T = TypeVar("T")
LONGEST = 1000
"""The characters that a specification allows in a hyperparameter."""
LEAST = 0.003
"""No share is less: smaller ones say nothing, and lead a search astray."""
Own = Mapping[str, str]
"""Hyperparameters of the workload family."""


@dataclass(frozen=True)
class Draft:
    """A workload to be: every column by itself, tables of several columns, scores of some criteria.

    `shares` of ε or ρ: one for each column, then for each table, then for each score. They sum to 1. `law`: of
    the noise, which says what a table deserves.
    """

    names: Clique
    codes: Sizes
    tables: tuple[Sizes, ...] = ()
    scores: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    law: Law = LAPLACE

    @classmethod
    def of(cls, domain: Domain, tables: Sequence[Sizes] = (), law: Law = LAPLACE) -> Draft:
        """Shares by the cells of the tables, more for single columns."""
        roots = [COLUMNS_FIRST * law.root([size]) for size in domain.shape] + [
            law.root(table) for table in tables
        ]
        return cls(domain.names, domain.shape, tuple(tables), law=law).shared(roots)

    @classmethod
    def read(cls, own: Own, domain: Domain, n: int, share: Fraction) -> Draft | None:
        """Of hyperparameters that name every table themselves; None where words stand for tables."""
        parts = items(own.get("measurements", AUTO), domain, n, share)
        given = shares(own.get("weights", AUTO), parts, domain, n, share)
        alone, tables = [LEAST] * len(domain.shape), {}
        for item, weights in zip(parts, given, strict=True):
            if item.word not in ("", EACH):
                return None
            for clique, weight in zip(item.cliques(domain.names), weights, strict=True):
                sizes = dict(item.columns)
                if len(clique) == 1:
                    alone[domain.place(clique[0])] = float(weight / share)
                else:
                    full = zip(domain.names, domain.shape, strict=True)
                    table = tuple(min(sizes[name] or size, size) if name in sizes else 1 for name, size in full)
                    tables[table] = float(weight / share)
        found = cls(domain.names, domain.shape, tuple(tables), law=law_of(share))
        return found.shared([*alone, *tables.values()])

    def under(self, law: Law) -> Draft:
        """The same tables and scores for noise of another law."""
        return replace(self, law=law).shared(law.under(self.law, self.shares))

    @property
    def every(self) -> tuple[Sizes, ...]:
        """All tables, those of single columns first."""
        ones = (1,) * len(self.codes)
        return (*(put(ones, place, size) for place, size in enumerate(self.codes)), *self.tables)

    @property
    def own(self) -> dict[str, str]:
        """As the family reads it; weights in per cent of ε or ρ."""
        columns, tables = len(self.codes), len(self.codes) + len(self.tables)
        shown = [f"{100 * share:.3g}" for share in self.shares]
        alone, mark = ([EACH], ",") if EACH not in self.names else (list(self.names), "; ")
        items = [
            (self.item(table), weight) for table, weight in zip(self.tables, shown[columns:tables], strict=True)
        ]
        items.sort(key=lambda item: "@" in item[0])  # groups are made of what was asked before
        found = {
            "measurements": "; ".join([*alone, *(item for item, _ in items)]),
            "weights": "; ".join([mark.join(shown[:columns]), *(weight for _, weight in items)]),
        }
        if self.scores:
            found["scores"] = "; ".join(map(" ".join, zip(self.scores, shown[tables:], strict=True)))
        return found

    def item(self, table: Sizes) -> str:
        """One table as a measurement."""
        parts = zip(self.names, table, self.codes, strict=True)
        return "*".join(name if size >= codes else f"{name}@{size}" for name, size, codes in parts if size > 1)

    def columns(self, table: Sizes) -> Clique:
        """The columns of a table."""
        return tuple(name for name, size in zip(self.names, table, strict=True) if size > 1)

    def shared(self, weights: Sequence[float]) -> Draft:
        """With shares in these proportions, none less than LEAST."""
        total = sum(weights)
        firm = [max(LEAST, weight / total) for weight in weights]
        return replace(self, shares=tuple(share / sum(firm) for share in firm))

    def with_table(self, table: Sizes) -> Draft:
        """One table more, with the share that its cells deserve beside the others."""
        roots, mine = [self.law.root(other) for other in self.every], self.law.root(table)
        weight = mine * sum(self.shares[: len(roots)]) / (sum(roots) + mine)
        place = len(roots)
        shares = (*self.shares[:place], weight, *self.shares[place:])
        return replace(self, tables=(*self.tables, table)).shared(shares)

    def with_tables(self, tables: Sequence[Sizes]) -> Draft:
        """Several tables more, one after the other."""
        return reduce(Draft.with_table, tables, self)

    def with_score(self, name: str, share: float) -> Draft:
        """A score more, with a share."""
        left = [one * (1 - share) for one in self.shares]
        return replace(self, scores=(*self.scores, name)).shared([*left, share])

    def without_score(self, name: str) -> Draft:
        """A score less."""
        at = len(self.codes) + len(self.tables) + self.scores.index(name)
        scores = tuple(other for other in self.scores if other != name)
        return replace(self, scores=scores).shared((*self.shares[:at], *self.shares[at + 1 :]))

    def without(self, place: int) -> Draft:
        """One table less."""
        at = len(self.codes) + place
        tables = (*self.tables[:place], *self.tables[place + 1 :])
        return replace(self, tables=tables).shared((*self.shares[:at], *self.shares[at + 1 :]))

    def resized(self, place: int, column: int, size: int) -> Draft:
        """Another number of groups of one column in one table; a table of one column is left out."""
        table = put(self.tables[place], column, size)
        if len(self.columns(table)) < 2:
            return self.without(place)
        return replace(self, tables=put(self.tables, place, table))

    def merged(self, one: int, other: int) -> Draft:
        """One table in place of two, each column as fine as in the finer of them."""
        at = len(self.codes)
        both = tuple(map(max, self.tables[one], self.tables[other]))
        shares = put(self.shares, at + one, self.shares[at + one] + self.shares[at + other])
        return replace(self, tables=put(self.tables, one, both), shares=shares).without(other)

    def sensible(self, n: int) -> bool:
        """No table twice, none with more cells than records, not too long to be written."""
        fits = all(prod(table) <= n for table in self.tables) and len(set(self.tables)) == len(self.tables)
        return fits and max(map(len, self.own.values())) <= LONGEST


def put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """The values with another one at a place."""
    return (*values[:place], value, *values[place + 1 :])
