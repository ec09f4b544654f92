"""Worst sums: how far sums over records are from where the candidate says they should be.

A record contributes an integer that depends on its cell and on public numbers only. Ranges, quantiles,
correlations and named queries are all of this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries.base import Query
from facsimile.table.domain import Clique
from facsimile.table.table import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sums:
    """Some sums over one marginal: a line of `terms` for each, shaped like the marginal; where each should be;
    and what makes one of its units."""

    clique: Clique
    terms: Ints
    centres: tuple[int, ...]
    units: tuple[Fraction, ...]

    def errors(self, table: Table) -> list[Fraction]:
        """How far each sum lies above its centre."""
        sums = self.terms.reshape(len(self.terms), -1) @ table.marginal(self.clique).ravel()
        return [
            (int(s) - centre) / unit for s, centre, unit in zip(sums, self.centres, self.units, strict=True)
        ]

    def ranges(self) -> list[Fraction]:
        """How far one record can move each: its largest term minus its smallest."""
        flat = self.terms.reshape(len(self.terms), -1)
        return [(int(t.max()) - int(t.min())) / unit for t, unit in zip(flat, self.units, strict=True)]


@dataclass(frozen=True, eq=False)
class WorstSum(Query):
    """max over sums of (Σ_R t − centre)/unit, and at least 0.

    Theorem.  Δ = max over sums of (max t − min t)/unit.
    Proof.    A replacement takes one term out of each sum and puts another in, so a sum moves by at most the
      range of its terms over the public domain [A]; a maximum moves no more than its terms.  QED
    """

    parts: tuple[Sums, ...]

    def value(self, table: Table, noise: Noise) -> Fraction:
        """The worst of them."""
        return max(Fraction(0), *(error for part in self.parts for error in part.errors(table)))

    def sensitivity(self) -> Fraction:
        """The largest range."""
        return max(move for part in self.parts for move in part.ranges())  # [A]

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        """Each sum in units of its own sensitivity; one that no record can move is where the candidate is."""
        moved = (
            (error - threshold) / move
            for part in self.parts
            for error, move in zip(part.errors(table), part.ranges(), strict=True)
            if move
        )
        return max(moved, default=-threshold)
