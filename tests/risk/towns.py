"""Small public tables with a risk that is known."""

from __future__ import annotations

import numpy as np

from facsimile.risk.people import People
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.table import Codes, Table


def domain(*sizes: int) -> Domain:
    """Categories a, b, c … of so many values."""
    names = "abcdefgh"
    return Domain(
        tuple(
            Axis(names[place], tuple(CategoryBin(f"{names[place]}{code}", frozenset()) for code in range(size)))
            for place, size in enumerate(sizes)
        )
    )


def drawn(of: Domain, n: int, seed: int) -> Codes:
    """Records without any structure."""
    random = np.random.default_rng(seed)
    return np.column_stack([random.integers(size, size=n) for size in of.shape])


def town(n: int = 2000, seed: int = 1, sizes: tuple[int, ...] = (12, 11, 10, 9)) -> People:
    """People with values at random: nothing can be known of one from the others."""
    known = domain(*sizes)
    return People.split(Table.from_rows(known, drawn(known, n, seed)), np.random.default_rng(seed))
