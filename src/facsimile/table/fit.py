"""Maximum-entropy fit: the flattest distribution with given marginals, on a dense domain.

Iterative proportional fitting: in turn, each marginal of the current distribution is scaled to its target.
Among all distributions on the allowed cells whose marginals are the targets, the limit is the one closest
in relative entropy to the start (Csiszár 1975); from a uniform start it has the greatest entropy. Cells
that are not allowed stay at zero.

A target may be noisy. Then it has a slack κ, and the limit minimises

    KL(p ‖ start) + Σ (A p − y)² / (2κ)        in counts, A p the table of the target, y its noisy counts.

Each step still scales one table, from q to the c with c + κ ln(c/q) = c', where c' is what the table was scaled
to the last time (y at first): that is the exact maximum of the dual in the multipliers of this table, which are
(y − c)/κ. c is positive whatever y is, and c = κ ω(c'/κ + ln(q/κ)) with Wright's function ω. κ = 0 is plain
proportional fitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import wrightomega

from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats

Groups = npt.NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Target:
    """Counts that a marginal should have: of groups of codes where `groups` gives some, and not exactly where
    there is a `slack`, of all cells or of each."""

    clique: Clique
    counts: Floats
    groups: tuple[Groups, ...] | None = None
    slack: float | Floats = 0.0


def fit(
    domain: Domain,
    targets: Sequence[tuple[Clique, Floats]],
    allowed: Mask | None = None,
    sweeps: int = 50,
    tolerance: float = 1e-6,
) -> Floats:
    """A distribution shaped like the domain; targets given last are matched best.

    Stops after a sweep in which no marginal was off by more than `tolerance` in total variation. Where the
    targets leave no cell, all is zero.
    """
    start: Floats = np.ones(domain.shape) if allowed is None else allowed.astype(np.float64)
    shares = [Target(clique, target / target.sum()) for clique, target in targets]
    return relaxed(domain, shares, start, 1.0, sweeps, tolerance)


def relaxed(
    domain: Domain,
    targets: Sequence[Target],
    start: Floats,
    total: float,
    sweeps: int = 50,
    tolerance: float = 1e-6,
) -> Floats:
    """Counts that sum to `total`, shaped like the domain, from a start of any mass; see above."""
    p = start * (total / (start.sum() or 1.0))
    tables = [_Table.of(domain, target) for target in targets]
    for _ in range(sweeps):
        worst = max((table.scale(p) for table in tables), default=0.0)
        p *= total / (p.sum() or 1.0)
        if worst < tolerance * total:
            break
    return p


def tabled(domain: Domain, p: Floats, clique: Clique, groups: Sequence[Groups] | None = None) -> Floats:
    """The marginal of counts on some columns, in the order given, each in its groups."""
    ranks = np.argsort(np.argsort([domain.place(name) for name in clique]))
    table = p.sum(axis=_others(domain, clique)).transpose(ranks)
    return grouped(table, groups) if groups is not None else table


def spread(table: npt.NDArray[T], clique: Clique, columns: Clique) -> npt.NDArray[T]:
    """A table of some columns, in the order given, shaped so that it broadcasts over a table of more columns.

    >>> spread(np.ones((2, 5)), ("c", "a"), ("a", "b", "c")).shape
    (5, 1, 2)
    """
    sizes = dict(zip(clique, table.shape, strict=True))
    order = sorted(range(len(clique)), key=lambda place: columns.index(clique[place]))
    return np.transpose(table, order).reshape([sizes.get(name, 1) for name in columns])


def grouped(table: Floats, groups: Sequence[Groups]) -> Floats:
    """A table with the codes of each axis joined into groups.

    >>> grouped(np.array([[1.0, 2.0, 4.0]]), [np.array([0]), np.array([0, 1, 1])]).tolist()
    [[1.0, 6.0]]
    """
    for axis, group in enumerate(groups):
        size = int(group.max()) + 1
        if size < len(group):
            joins = (np.arange(size)[:, None] == group).astype(np.float64)
            table = np.moveaxis(np.tensordot(joins, table, (1, axis)), 0, axis)
    return table


def ratio(one: Floats, other: Floats, least: float = 0.0) -> Floats:
    """one / other, and 0 where the other is not above the least.

    >>> ratio(np.array([1.0, 2.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    shape = np.broadcast_shapes(one.shape, other.shape)
    return np.divide(one, other, out=np.zeros(shape), where=other > least)


@dataclass(eq=False)
class _Table:
    """A target during a fit: `counts` is what it was scaled to the last time."""

    others: tuple[int, ...]
    shape: list[int]
    groups: tuple[Groups, ...] | None
    counts: Floats
    slack: float | Floats

    @classmethod
    def of(cls, domain: Domain, target: Target) -> _Table:
        order = np.argsort([domain.place(name) for name in target.clique])
        groups = None if target.groups is None else tuple(target.groups[place] for place in order)
        shape = [axis.size if axis.name in target.clique else 1 for axis in domain.axes]
        counts = np.transpose(target.counts, order)
        slack = target.slack if isinstance(target.slack, float) else np.transpose(target.slack, order)
        return cls(_others(domain, target.clique), shape, groups, counts, slack)

    def scale(self, p: Floats) -> float:
        """Scale p in place; the distance it was off."""
        found = p.sum(axis=self.others)
        if self.groups is not None:
            found = grouped(found, self.groups)
        self.counts = self._wanted(found)
        factor = ratio(self.counts, found)
        if self.groups is not None:
            factor = factor[np.ix_(*self.groups)]
        p *= factor.reshape(self.shape)
        return 0.5 * float(np.abs(found - self.counts).sum())

    def _wanted(self, found: Floats) -> Floats:
        if isinstance(self.slack, float) and not self.slack:
            return self.counts
        present = found > 0
        logs = np.log(found, out=np.zeros_like(found), where=present)
        omega = wrightomega(self.counts / self.slack + logs - np.log(self.slack))
        return np.where(present, self.slack * omega, self.counts)


def _others(domain: Domain, clique: Clique) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(domain.names) if name not in clique)
