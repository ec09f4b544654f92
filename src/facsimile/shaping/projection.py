"""Projection: every distinct row occurs at least m times, and the number of records stays.

A row that occurs k < m times is either raised to m or left out; rows that occur m times or more stay as they
are. The three ways differ in which rare rows are kept:

    paper            of the rows that occur k times a random k/m part, for each k by itself
    implementation   the births release as it ran: k = 1, 2, …, m − 1 in turn, a k/(k+1) part of all so far
    margins          one row after the other, whatever keeps one- and two-way tables closest

Records that rounding leaves over are added to kept rows, as the paper's remark has it. A table of fewer than m
records has no such projection: all its records take its most frequent row. No row is ever invented, so a table
without implausible rows stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import get_args

import numpy as np

from facsimile.spec.choices import Algorithm
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Counts, Table

MANY = 4
"""A table with more cells than so many times the rows is numbered by those that occur."""
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


def project(table: Table, min_count: int, algorithm: Algorithm, random: np.random.Generator) -> Table:
    """The table with every distinct row at least `min_count` times, and as many records as before."""
    rare = np.flatnonzero(table.counts < min_count)
    if not len(rare):
        return table
    kept = _CHOICES[algorithm](table, rare, min_count, random)
    counts = table.counts.copy()
    counts[rare] = 0
    counts[kept] = min_count
    return Table.from_rows(table.domain, table.codes, _completed(table, counts, random))


def _completed(table: Table, counts: Counts, random: np.random.Generator) -> Counts:
    """The missing records as copies of kept records; where no row was kept, the most frequent one is."""
    missing = table.n - int(counts.sum())
    if not counts.any():
        counts[np.argmax(table.counts)] = missing
        return counts
    return counts + random.multinomial(missing, counts / counts.sum())


def _paper(table: Table, rare: Ints, m: int, random: np.random.Generator) -> Ints:
    """Each k by itself, so that the records of the rows that occur k times stay as many (statement 5)."""
    kept = [rare[:0]]
    for k in range(1, m):
        rows = rare[table.counts[rare] == k]
        kept.append(random.choice(rows, k * len(rows) // m, replace=False))
    return np.concatenate(kept)


def _implementation(table: Table, rare: Ints, m: int, random: np.random.Generator) -> Ints:
    """A row that occurs k times survives with probability k/(k+1) · … · (m−1)/m = k/m."""
    kept = rare[:0]
    for k in range(1, m):
        joined = np.concatenate([kept, rare[table.counts[rare] == k]])
        kept = random.choice(joined, k * len(joined) // (k + 1), replace=False)
    return kept


def _margins(table: Table, rare: Ints, m: int, random: np.random.Generator) -> Ints:
    """One row of every m rare records in a row of the table's order, chosen to keep the tables close.

    Rare rows are cut, in lexicographic order, into runs of m records: each run keeps one of its rows, so what
    is left out has a kept neighbour. For every cell of every one- and two-way table let D be the records gained
    so far. With all rows of a run left out, keeping one of them adds m to D in its cells, and ΣwD² is lowest
    for the row with the least Σw(2D + m), `each` in the code, where `twice` is 2D. Small cells weigh more:
    w = 1/(records + 1).
    """
    cells, weights = _cells(table, rare)
    occurring = table.counts[rare]
    run = (np.cumsum(occurring) - 1) // m
    starts = np.searchsorted(run, np.arange(int(occurring.sum()) // m + 1))
    twice = np.zeros(int(cells.max()) + 1)
    np.subtract.at(twice, cells[starts[-1] :], 2 * occurring[starts[-1] :, None])
    left_out = m - 2 * _shared(cells, run, occurring)
    kept = np.empty(len(starts) - 1, np.int64)
    ends = starts.tolist()
    for place in random.permutation(len(kept)).tolist():
        rows = slice(ends[place], ends[place + 1])
        mine = cells[rows]
        each = twice[mine] + left_out[rows]
        best = int(np.add.reduce(weights[rows] * each, axis=1).argmin())
        twice[mine] = each + (2 * m * (mine == mine[best]) - m)
        kept[place] = rows.start + best
    return rare[kept]


def _shared(cells: Ints, run: Ints, occurring: Counts) -> Ints:
    """For each cell of each row the records that its run has in it."""
    found = np.repeat(occurring[:, None], cells.shape[1], axis=1)
    for apart in range(1, int(np.bincount(run).max())):
        both = (cells[apart:] == cells[:-apart]) & (run[apart:] == run[:-apart])[:, None]
        found[apart:] += both * occurring[:-apart, None]
        found[:-apart] += both * occurring[apart:, None]
    return found


def _cells(table: Table, rare: Ints) -> tuple[Ints, Floats]:
    """For each rare row its cells in all one- and two-way tables, numbered throughout, and their weights."""
    columns: list[Ints] = []
    weights: list[Floats] = []
    start = 0
    names = table.domain.names
    for clique in [*combinations(names, 1), *combinations(names, 2)]:
        place = np.zeros(table.distinct, np.int64)
        for name in clique:
            place = place * table.domain.axis(name).size + table.column(name)
        if table.domain.size(clique) > MANY * table.distinct:
            place = np.unique(place, return_inverse=True)[1]
        records = np.bincount(place, weights=table.counts)
        columns.append(start + place[rare])
        weights.append(1 / (records[place[rare]] + 1))
        start += len(records)
    return np.column_stack(columns), np.column_stack(weights)


_CHOICES: dict[Algorithm, Callable[[Table, Ints, int, np.random.Generator], Ints]] = {
    "paper": _paper,
    "implementation": _implementation,
    "margins": _margins,
}
