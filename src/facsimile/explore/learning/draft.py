"""A draft: the measurements and weights of a workload to be, in numbers that a search can change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, prod
from typing import Any

from facsimile.synthesizers.measurements import COLUMNS_FIRST, EACH
from facsimile.table.domain import Clique

LONGEST = 1000
"""The characters that a specification allows in a hyperparameter."""
Texts = tuple[str, str]
"""Measurements and weights as a specification writes them."""
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Draft:
    """A workload to be: the weight of each column by itself, and tables with their weights.

    A table is the number of groups of each column of the domain, 1 where the column is not in it.
    """

    names: Clique
    codes: Sizes
    each: tuple[float, ...]
    tables: tuple[Sizes, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def texts(self) -> Texts:
        """Measurements and weights as the family reads them; weights in per cent of ε."""
        share = 100 / (sum(self.each) + sum(self.weights))
        alone, mark = ([EACH], ",") if EACH not in self.names else (list(self.names), "; ")
        each = mark.join(_shown(weight * share) for weight in self.each)
        items = [*alone, *(self.item(table) for table in self.tables)]
        return "; ".join(items), "; ".join([each, *(_shown(weight * share) for weight in self.weights)])

    def item(self, table: Sizes) -> str:
        """One table as a measurement."""
        parts = zip(self.names, table, self.codes, strict=True)
        return "*".join(name if size >= codes else f"{name}@{size}" for name, size, codes in parts if size > 1)

    def columns(self, table: Sizes) -> Clique:
        """The columns of a table."""
        return tuple(name for name, size in zip(self.names, table, strict=True) if size > 1)

    def with_table(self, table: Sizes) -> Draft:
        """One table more, with the weight that its cells deserve beside the others: ε ∝ cells^(1/3)."""
        roots = [COLUMNS_FIRST * root([codes]) for codes in self.codes] + [root(t) for t in self.tables]
        unit = (sum(self.each) + sum(self.weights)) / sum(roots)
        return replace(self, tables=(*self.tables, table), weights=(*self.weights, unit * root(table)))

    def with_tables(self, tables: Iterable[Sizes]) -> Draft:
        """Several tables more, one after the other."""
        return reduce(Draft.with_table, tables, self)

    def without_table(self, place: int) -> Draft:
        """One table less."""
        kept = [i for i in range(len(self.tables)) if i != place]
        tables, weights = tuple(self.tables[i] for i in kept), tuple(self.weights[i] for i in kept)
        return replace(self, tables=tables, weights=weights)

    def with_size(self, place: int, column: int, size: int) -> Draft:
        """Another number of groups of one column in one table; a table of one column is left out."""
        table = put(self.tables[place], column, size)
        if len(self.columns(table)) < 2:
            return self.without_table(place)
        return replace(self, tables=put(self.tables, place, table))

    def makes_sense(self, n: int) -> bool:
        """No table twice, none with more cells than records, no weight below a hundredth of a per cent."""
        share = 100 / (sum(self.each) + sum(self.weights))
        fits = all(prod(table) <= n for table in self.tables) and len(set(self.tables)) == len(self.tables)
        return fits and min(*self.each, *self.weights, inf) * share >= 0.01 and len(self.texts[0]) <= LONGEST


def root(table: Sequence[int]) -> float:
    """cells^(1/3)."""
    return float(prod(table) ** (1 / 3))


def _shown(weight: float) -> str:
    return f"{weight:.3g}"


def put(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    """The values with another one at a place."""
    return (*values[:place], value, *values[place + 1 :])
