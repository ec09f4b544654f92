"""Dense model: a number for every cell of a domain of up to about ten million cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from facsimile.shaping.constraints import without
from facsimile.shaping.sampling import Sampling, independent, systematic
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Known, RowModel
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import fit, ratio, spread, tabled
from facsimile.table.table import Counts, Table

NOTHING = 1e-100
LEAST = 0.01
"""Of what independent columns would have in a cell: so much stays, whatever a smoothed prior says."""


@dataclass(frozen=True, eq=False)
class Dense(RowModel):
    """Mass on every cell, shaped like the domain; it need not sum to one."""

    domain: Domain
    mass: Floats

    def marginal(self, clique: Clique) -> Floats:
        """The mass of every cell of some columns."""
        return tabled(self.domain, self.mass, clique)

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        drawn = (independent if sampling == "iid" else systematic)(self.mass, n, random).ravel()
        cells = np.flatnonzero(drawn)
        codes = np.stack(np.unravel_index(cells, self.domain.shape), axis=1)
        return Table.from_rows(self.domain, codes.astype(np.int64), drawn[cells])


class Expected:
    """Expected counts of n records, at first the same in every cell that is not ruled out."""

    def __init__(self, domain: Domain, known: Known) -> None:
        self.domain, self.n = domain, known.n
        allowed = possible(domain, known.zeros)
        self.counts: Floats = allowed * (known.n / allowed.sum())

    def marginal(self, clique: Clique) -> Floats:
        """The expected counts of some columns, in the order given."""
        return tabled(self.domain, self.counts, clique)

    def scale(self, clique: Clique, factor: Floats) -> None:
        """Multiply the cells of a marginal; all counts together stay n. What would leave no cell at all, as
        noisy marginals may that contradict each other, changes nothing."""
        scaled = self.counts * spread(factor, clique, self.domain.names)
        total = float(scaled.sum())
        if total > 0:
            self.counts = scaled * (self.n / total)

    def match(self, targets: Sequence[tuple[Clique, Floats]], sweeps: int, tolerance: float) -> None:
        """Iterative proportional fitting from where the cells are; targets are consistent and not negative."""
        for _ in range(sweeps):
            worst = 0.0
            for clique, target in targets:
                found = self.marginal(clique)
                worst = max(worst, float(np.abs(found - target).sum()))
                self.scale(clique, ratio(target, found, NOTHING))
            if worst < 2 * tolerance * self.n:
                return

    def model(self) -> Dense:
        """The distribution as it is now."""
        return Dense(self.domain, self.counts.copy())


def rounded(counts: Floats) -> Counts:
    """Expected counts as integers, as scores want them."""
    return np.rint(counts).astype(np.int64)


def possible(domain: Domain, zeros: Sequence[tuple[Clique, Mask]]) -> Mask:
    """The cells that no rule excludes; where the rules leave none, all of them."""
    found = without(domain, zeros)
    return found if found.any() else ~found


def smoothed(prior: Table, shares: Mapping[str, Floats], allowed: Mask) -> Floats:
    """A public table as a distribution with mass on every allowed cell.

    Maximum entropy with these shares of every column's codes and with the prior's two-way tables, each drawn to
    its independent form E by as much of its χ² as chance explains (James and Stein): E + (1 − df/χ²)₊ (O − E).
    What two ordered columns have in common by a straight line is one degree of freedom that carries most
    regressions, so it is drawn by itself.
    """
    domain = prior.domain
    targets: list[tuple[Clique, Floats]] = []
    for pair in combinations(domain.names, 2):
        seen = prior.marginal(pair) / max(1, prior.n)
        product = np.outer(seen.sum(axis=1), seen.sum(axis=0))
        line = np.outer(*(_scores(domain.axis(name), seen.sum(axis=1 - i)) for i, name in enumerate(pair)))
        straight = product * line * float((seen * line).sum())
        freedom = (seen.shape[0] - 1) * (seen.shape[1] - 1) + 0.5
        parts = (straight, 1.0), (seen - product - straight, freedom - bool(line.any()))
        found = np.outer(shares[pair[0]], shares[pair[1]])
        for part, chance in parts:
            excess = np.divide(part**2, product, out=np.zeros_like(product), where=product > 0)
            chi = prior.n * float(excess.sum())
            found = found + (max(0.0, 1 - chance / chi) if chi else 0.0) * part
        targets.append((pair, np.maximum(found, LEAST * product)))
    targets += [((name,), share) for name, share in shares.items()]
    return fit(domain, targets, allowed, sweeps=20, tolerance=1e-4)


def _scores(axis: Axis, shares: Floats) -> Floats:
    """An ordered column's numbers with mean 0 and variance 1 under its shares; 0 where it has no order."""
    if axis.numbers is None and axis.size > 2:
        return np.zeros(axis.size)
    numbers = np.array([float(number) for number in axis.numbers or range(axis.size)])
    centred = numbers - numbers @ shares
    return centred / (float(centred**2 @ shares) ** 0.5 or 1.0)
