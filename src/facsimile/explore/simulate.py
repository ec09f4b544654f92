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
import numpy.typing as npt
import pyarrow as pa

from facsimile.errors import refusal
from facsimile.explore.facts import FactColumn, Facts
from facsimile.shaping.constraints import allowed
from facsimile.shaping.sampling import rounded
from facsimile.spec.bins import NumberBin
from facsimile.spec.constraints import names
from facsimile.table.domain import Domain
from facsimile.table.fit import Floats, fit

LARGEST_BLOCK = 20_000_000
Ints = npt.NDArray[np.int64]


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
    """Biconnected groups: a cycle of ties, or two ties in the same two columns, become one group."""
    groups = [set(tie) for tie in ties]
    changed = True
    while changed:
        changed = False
        for i, group in enumerate(groups):
            rest = groups[:i] + groups[i + 1 :]
            path = _path(group, rest)
            if path:
                groups = [g for g in rest if g not in path] + [set().union(group, *path)]
                changed = True
                break
    return groups


def _path(group: set[str], rest: list[set[str]]) -> list[set[str]]:
    """Other groups by which two columns of this group are tied a second time."""
    for start in sorted(group):
        reached: dict[str, list[set[str]]] = {start: []}
        queue = [start]
        while queue:
            here = queue.pop(0)
            for other in rest:
                if here in other and other not in reached[here]:
                    for name in sorted(other - reached.keys()):
                        reached[name] = [*reached[here], other]
                        if name in group:
                            return reached[name]
                        queue.append(name)
    return []


def _sampled(
    p: Floats, domain: Domain, shared: list[str], codes: dict[str, Ints], n: int, random: np.random.Generator
) -> dict[str, Ints]:
    """Codes of a block, given the codes of the column it shares with earlier blocks."""
    if not shared:
        cells = random.permutation(np.repeat(np.arange(p.size), rounded(p.ravel(), n, random)))
        return dict(zip(domain.names, np.unravel_index(cells, domain.shape), strict=True))
    place = domain.place(shared[0])
    drawn = np.empty((len(domain.axes), n), np.int64)
    for value, rows in _rows_by_value(codes[shared[0]]):
        given = np.take(p, value, axis=place)
        counts = rounded(given.ravel(), len(rows), random)
        cells = random.permutation(np.repeat(np.arange(given.size), counts))
        rest = np.unravel_index(cells, given.shape)
        drawn[:, rows] = np.insert(np.array(rest), place, value, axis=0)
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
