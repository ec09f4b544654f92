"""Counts: how many records fall into a set of cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries.base import Query
from facsimile.table.domain import Clique
from facsimile.table.table import Table


@dataclass(frozen=True)
class CellCount(Query):
    """The records in some cells of a marginal.

    Theorem.  Δ = 1.
    Proof.    A replaced record leaves the cells, enters them, or does neither; the count moves by at most 1.
      QED
    """

    clique: Clique
    cells: frozenset[tuple[int, ...]]

    def value(self, table: Table, noise: Noise) -> int:
        """The number of records."""
        marginal = table.marginal(self.clique)
        return sum(int(marginal[cell]) for cell in self.cells)

    def sensitivity(self) -> Fraction:
        """One."""
        return Fraction(1)
