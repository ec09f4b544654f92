"""Simulate: stand-in microdata from published facts alone.

The records follow the maximum-entropy distribution with the given one-way and two-way tables and no
implausible cell. Columns that no table and no rule ties together are independent; where the ties form blocks
that meet in single columns, the distribution is a product over blocks given those columns, so each block is
fitted by itself. Expected counts are rounded systematically, so every table is met closely at any n.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa

from facsimile.errors import refusal
from facsimile.explore.facts import FactColumn, Facts
from facsimile.shaping.constraints import allowed
from facsimile.shaping.sampling import rounded
from facsimile.spec.bins import NumberBin
from facsimile.spec.constraints import connected, names
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.fit import fit

LARGEST_BLOCK = 20_000_000


def simulate(facts: Facts, n: int, seed: int) -> pa.Table:
    """n records with the raw columns of the facts."""
    random = np.random.default_rng(seed)
    codes = simulated_codes(facts, n, random)
    columns = {c.name: _raw(c, codes[c.name], random) for c in facts.columns}
    order = random.permutation(n)
    return pa.table(columns).take(pa.array(order))


def simulated_codes(facts: Facts, n: int, random: np.random.Generator) -> dict[str, Ints]:
    """The bins of n records, column by column."""
    codes: dict[str, Ints] = {}
    for block in _blocks(facts):
        domain = Domain(tuple(c.axis for c in facts.columns if c.name in block))
        if domain.cells > LARGEST_BLOCK:
            raise refusal("E200", problem=f"The tables tie {', '.join(domain.names)} together too closely.")
        p = _fitted(facts, domain)
        _refuse_contradictions(facts, domain, p)
        shared = [name for name in domain.names if name in codes]
        for name, drawn in _sampled(p, domain, shared, codes, n, random).items():
            codes[name] = drawn
    return codes


def _fitted(facts: Facts, domain: Domain) -> Floats:
    """The distribution of one block; one-way tables are matched last."""
    conditions = [c for c in facts.conditions() if set(names(c)) <= set(domain.names)]
    inside = [table for table in facts.tables if set(table.of) <= set(domain.names)]
    inside.sort(key=lambda table: -len(table.of))
    targets = [(table.of, np.array(table.percent, np.float64)) for table in inside]
    return fit(domain, targets, allowed(conditions, domain))


def _refuse_contradictions(facts: Facts, domain: Domain, p: Floats) -> None:
    """Each bin that a one-way table fills can be drawn."""
    wanted = {table.of: np.array(table.percent, np.float64) > 0 for table in facts.tables if len(table.of) == 1}
    for place, axis in enumerate(domain.axes):
        possible = p.any(axis=tuple(other for other in range(p.ndim) if other != place))
        for label in np.array(axis.labels)[wanted[(axis.name,)] & ~possible]:
            raise refusal("E200", problem=f"The tables and rules leave no record for {label} of {axis.name}.")


def _blocks(facts: Facts) -> list[list[str]]:
    """Groups of columns that share at most one column with those before them.

    Ties are the two-way tables and the rules. Two groups with two columns in common are joined until none
    are left; then groups are ordered so that each meets the earlier ones in at most one column.
    """
    ties = [set(t.of) for t in facts.tables] + [set(names(c)) for c in facts.conditions()]
    groups = _joined([tie for tie in ties if len(tie) > 1])
    ordered: list[list[str]] = []
    placed: set[str] = set()
    while groups:
        group = next((g for g in groups if g & placed), groups[0])
        groups.remove(group)
        ordered.append(sorted(group))
        placed |= group
    return ordered + [[c.name] for c in facts.columns if c.name not in placed]


def _joined(ties: list[set[str]]) -> list[set[str]]:
    """Biconnected groups: ties that no single column separates, such as cycles. Lone ties come first."""
    split = [connected([tie - {column} for tie in ties]) for column in sorted(set().union(*ties))]
    groups: dict[tuple[int, ...], list[set[str]]] = {}
    for place, tie in enumerate(ties):
        parts = tuple(next(i for i, part in enumerate(parts) if place in part) for parts in split)
        groups.setdefault(parts, []).append(tie)
    return [set().union(*group) for group in sorted(groups.values(), key=lambda group: len(group) > 1)]


def _sampled(
    p: Floats, domain: Domain, shared: list[str], codes: dict[str, Ints], n: int, random: np.random.Generator
) -> dict[str, Ints]:
    """Codes of a block, given the codes of the column it shares with earlier blocks."""

    def cells(given: Floats, records: int) -> Ints:
        places = np.repeat(np.arange(given.size), rounded(given.ravel(), records, random))
        return np.array(np.unravel_index(random.permutation(places), given.shape))

    if not shared:
        return dict(zip(domain.names, cells(p, n), strict=True))
    place = domain.place(shared[0])
    drawn = np.empty((len(domain.axes), n), np.int64)
    for value, rows in _rows_by_value(codes[shared[0]]):
        drawn[:, rows] = np.insert(cells(np.take(p, value, axis=place), len(rows)), place, value, axis=0)
    return dict(zip(domain.names, drawn, strict=True))


def _rows_by_value(codes: Ints) -> Iterator[tuple[int, Ints]]:
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    yield from zip(values.tolist(), np.split(order, starts[1:]), strict=True)


def _raw(column: FactColumn, codes: Ints, random: np.random.Generator) -> pa.Array:
    """Raw values: a uniform number of the bin, the category's text, the 15th of the month."""
    bins = column.axis.bins
    blank = random.random(len(codes)) < float(column.missing / 100)
    if column.values is not None:
        return pa.array(np.array(column.values, object)[codes], pa.string(), mask=blank)
    if column.year is not None:
        days = np.array([date(column.year, month, 15) for month in range(1, 13)], "datetime64[D]")
        return pa.array(days[codes], pa.date32(), mask=blank)
    numbers = [b for b in bins if isinstance(b, NumberBin)]
    lows = np.array([int(b.low or Fraction(0)) for b in numbers])
    highs = np.array([int(b.high or Fraction(0)) for b in numbers])
    return pa.array(random.integers(lows[codes], highs[codes] + 1), pa.int64(), mask=blank)
