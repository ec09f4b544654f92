"""Influences: functions of a record whose means decide a criterion, to first order near a public table.

A linear view of a criterion serves twice. A design predicts from it how often the noise of given tables leaves
every criterion met. A generator may ask for the same functions' sums over the original, and move its model to
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.numbers import floats
from facsimile.table.regression import Scaling
from facsimile.table.table import Codes


@dataclass(frozen=True, eq=False)
class Influences:
    """Functions made at a public table P. `of` gives a line for each row of codes, a column for each function.

    With d = mean over S of the functions − their mean over R, both near P, the criterion is met, to first
    order, where low < d < high for each of them and Σ|d| < total.
    """

    of: Callable[[Codes], Floats]
    low: Floats
    high: Floats
    total: float = inf

    @classmethod
    def within(cls, of: Callable[[Codes], Floats], functions: int, limit: float) -> Influences:
        """Each of them closer than a limit."""
        return cls(of, np.full(functions, -limit), np.full(functions, limit))

    @classmethod
    def summed(cls, of: Callable[[Codes], Floats], functions: int, total: float) -> Influences:
        """All of them together closer than a limit."""
        return cls(of, np.full(functions, -inf), np.full(functions, inf), total)


def cells(domain: Domain, clique: Clique, codes: Codes) -> Floats:
    """A function for each cell of some columns: 1 on the records in it."""
    index = np.ravel_multi_index(
        codes[:, [domain.place(name) for name in clique]].T, domain.project(clique).shape
    )
    found: Floats = np.eye(domain.size(clique))[index]
    return found


def numbers(domain: Domain, name: str, codes: Codes) -> Floats:
    """The numbers of a column in rows of codes."""
    found: Floats = floats(domain.axis(name))[codes[:, domain.place(name)]]
    return found


def features(domain: Domain, scaling: Scaling, codes: Codes) -> Floats:
    """A constant and the standardised features, for rows of codes."""
    columns = [np.ones(len(codes))]
    for name, centre, spread in zip(scaling.features, scaling.means, scaling.deviations, strict=True):
        columns.append((numbers(domain, name, codes) - float(centre)) / float(spread))
    return np.column_stack(columns)
