"""MWEM: multiplicative weights, led by the counting queries that the model answers worst.

The pool holds `cells`, single cells of tables of one to three columns; or `ranges`, as in SmartNoise, whose
MWEM the births paper used: a range of codes of every column, each between two codes drawn uniformly.

An update multiplies what lies in the box by e^{(y − a)/(2n)}, y the measured and a the model's answer, and
scales all counts to n again (Hardt, Ligett and McSherry 2012). As the births paper says it, the result of a
round updates the model `num_inner_updates` times; SmartNoise goes through all earlier results each time, too,
which takes T/2 times as many updates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Literal, get_args

import numpy as np

from facsimile.synthesizers.pooled import Floats, Heard, Pooled, cells
from facsimile.table.boxes import Boxes

Queries = Literal["cells", "ranges"]
WAYS = 3
STEEPEST = 300.0


@dataclass(frozen=True)
class MWEM(Pooled):
    """Cells or ranges, learnt by multiplicative weights."""

    queries: Queries = "cells"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.queries not in get_args(Queries):
            raise ValueError("queries are cells or ranges")

    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """Distinct cells; or between two uniform codes on every column, where the same box may come twice."""
        if self.queries == "cells":
            return cells(shape, range(1, WAYS + 1), self.num_query, random)
        ends = random.integers(0, shape, (2, self.num_query, len(shape)))
        return Boxes(shape, ends.min(axis=0), ends.max(axis=0) + 1)

    def learn(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """The newest answer, cut to 0 … n: all updates change the weight of one box, which is one number."""
        box, n = counts[pool.slices(newest)], float(counts.sum())
        inside, answer, power = float(box.sum()), min(max(heard[newest][-1], 0), n), 0.0
        for _ in range(self.num_inner_updates):
            weight = exp(power)
            found = n * inside * weight / (n - inside + inside * weight)
            power = min(max(power + (answer - found) / (2 * n), -STEEPEST), STEEPEST)
        box *= exp(power)
