"""Cells: a distribution over all allowed rows of a dense domain, changed marginal by marginal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from facsimile.synthesizers.base import Known
from facsimile.synthesizers.dense import Dense, possible
from facsimile.table.domain import Clique, Domain
from facsimile.table.fit import Floats, spread, tabled
from facsimile.table.table import Counts

NOTHING = 1e-100


class Cells:
    """Expected counts of n records, at first the same in every cell that is not ruled out."""

    def __init__(self, domain: Domain, known: Known) -> None:
        self.domain, self.n = domain, known.n
        allowed = possible(domain, known.zeros)
        self.counts: Floats = allowed * (known.n / allowed.sum())

    def marginal(self, clique: Clique) -> Floats:
        """The expected counts of some columns, in the order given."""
        return tabled(self.domain, self.counts, clique)

    def rounded(self, clique: Clique) -> Counts:
        """The expected counts as integers, as scores want them."""
        return np.rint(self.marginal(clique)).astype(np.int64)

    def scale(self, clique: Clique, factor: Floats) -> None:
        """Multiply the cells of a marginal; all counts together stay n."""
        self.counts *= spread(self.domain, factor, clique)
        self.counts *= self.n / self.counts.sum()

    def match(self, targets: Sequence[tuple[Clique, Floats]], sweeps: int, tolerance: float) -> None:
        """Iterative proportional fitting from where the cells are; targets are consistent and not negative."""
        for _ in range(sweeps):
            worst = 0.0
            for clique, target in targets:
                found = self.marginal(clique)
                worst = max(worst, float(np.abs(found - target).sum()))
                self.scale(clique, ratio(target, found))
            if worst < 2 * tolerance * self.n:
                return

    def model(self) -> Dense:
        """The distribution as it is now."""
        return Dense(self.domain, self.counts.copy())


def ratio(target: Floats, found: Floats) -> Floats:
    """What takes one table of counts to another; 0 where there is next to nothing to scale."""
    factor: Floats = np.divide(target, found, out=np.zeros_like(found), where=found > NOTHING)
    return factor
