"""Matching: how many records of one table find a partner of their own in the other.

Partners agree on some columns; of the others at most one differs, and there by at most `within` reference
bins. Equal records are taken together: a maximum flow between distinct rows with counts is a maximum matching
of records. Rows are written as one integer, so that a step in a column is an addition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from facsimile.table.domain import LARGEST_INDEX
from facsimile.table.exact import Ints
from facsimile.table.table import Counts, Table

MOST_FLOW = 2**31 - 1
EXACT = -1


@dataclass(frozen=True)
class Likeness:
    """When two records may be partners.

    `match`: columns that must be equal. `steps`: for each other column the reference bin of each code, or
    EXACT for a code that has to be equal. `within`: how many reference bins one column may be off.
    """

    match: tuple[str, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    within: int


def matched(one: Table, other: Table, likeness: Likeness) -> int:
    """The size of a maximum matching between the records of two tables over one domain."""
    if max(one.n, other.n) > MOST_FLOW:
        raise ValueError("a matching takes fewer than 2^31 records")
    digits = [_digits(likeness, name) for name in one.domain.names if name not in likeness.match]
    strides = np.cumprod([1, *(size for _, size in digits)]).tolist()
    left, supply = _keyed(one, likeness, digits)
    right, demand = _keyed(other, likeness, digits)
    i, j = _partners(left, right, strides[:-1], likeness.within)
    return sum(
        _flow(*part) for part in _strata(left // strides[-1], right // strides[-1], supply, demand, i, j)
    )


def _digits(likeness: Likeness, name: str) -> tuple[Ints, int]:
    """The digit of each code of a column, and the digit's base.

    Reference bins are neighbours; codes that must be equal stand further apart than any step, and the base
    leaves room so that a step never carries into the next column.

    >>> _digits(Likeness((), (("parity", (0, 1, EXACT)),), 1), "parity")
    (array([0, 1, 7]), 9)
    """
    reference = dict(likeness.steps)[name]
    gap = likeness.within + 1
    apart = max(reference) + gap
    digits = np.array([r if r != EXACT else apart + gap * code for code, r in enumerate(reference)])
    return digits, int(digits.max()) + gap


def _keyed(table: Table, likeness: Likeness, digits: list[tuple[Ints, int]]) -> tuple[Ints, Counts]:
    """Distinct rows as integers, exact columns in front, with their counts."""
    loose = [name for name in table.domain.names if name not in likeness.match]
    bases = [table.domain.axis(name).size for name in likeness.match] + [base for _, base in digits]
    if prod(bases) > LARGEST_INDEX:
        raise ValueError("the columns of a matching have too many values together")
    key = np.zeros(table.distinct, np.int64)
    for name in likeness.match:
        key = key * table.domain.axis(name).size + table.column(name)
    for (digit, base), name in reversed(list(zip(digits, loose, strict=True))):
        key = key * base + digit[table.column(name)]
    keys, place = np.unique(key, return_inverse=True)
    return keys, np.bincount(place, weights=table.counts).astype(np.int64)


def _partners(left: Ints, right: Ints, strides: list[int], within: int) -> tuple[Ints, Ints]:
    """Pairs of rows that are equal or one step apart in one column.

    >>> [found.tolist() for found in _partners(np.array([0, 10, 30]), np.array([1, 10]), [1], 1)]
    [[1, 0], [1, 0]]
    """
    shifts = [0] + [sign * step * s for s in strides for step in range(1, within + 1) for sign in (1, -1)]
    starts: list[Ints] = []
    ends: list[Ints] = []
    for shift in shifts if len(right) else []:
        place = np.searchsorted(right, left + shift)
        found = right[np.minimum(place, len(right) - 1)] == left + shift
        starts.append(np.flatnonzero(found))
        ends.append(place[found])
    return (np.concatenate(starts), np.concatenate(ends)) if starts else (left[:0], left[:0])


Part = tuple[Counts, Counts, Ints, Ints]


def _strata(a: Ints, b: Ints, supply: Counts, demand: Counts, i: Ints, j: Ints) -> Iterator[Part]:
    """The rows and pairs of each combination of the exact columns; partners never lie in two of them."""
    order = np.argsort(a[i], kind="stable")
    i, j = i[order], j[order]
    for stratum in np.unique(a[i]):
        rows = slice(*np.searchsorted(a, [stratum, stratum + 1]))
        others = slice(*np.searchsorted(b, [stratum, stratum + 1]))
        pairs = slice(*np.searchsorted(a[i], [stratum, stratum + 1]))
        yield supply[rows], demand[others], i[pairs] - rows.start, j[pairs] - others.start


def _flow(supply: Counts, demand: Counts, i: Ints, j: Ints) -> int:
    """The maximum flow from rows to rows along the pairs.

    >>> _flow(np.array([2, 1]), np.array([1, 1]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    2
    """
    n, m = len(supply), len(demand)
    source, sink = n + m, n + m + 1
    tails = np.concatenate([np.full(n, source), i, n + np.arange(m)])
    heads = np.concatenate([np.arange(n), n + j, np.full(m, sink)])
    limits = np.concatenate([supply, np.minimum(supply[i], demand[j]), demand]).astype(np.int32)
    graph = csr_array(coo_array((limits, (tails, heads)), shape=(n + m + 2, n + m + 2)))
    return int(maximum_flow(graph, source, sink).flow_value)
