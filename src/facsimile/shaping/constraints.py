"""Constraints on encoded rows: which rows are implausible, which cells are impossible.

A cell is impossible when a constraint's condition holds on its bins: on all their values; or on some, where a
synthetic constraint asks for it (`bins: any`). The reader codes no record into a cell that raw constraints
make impossible (encoding.py proves it), so sensitivities are taken over the other cells. Generators put
nothing into a cell that either kind makes impossible. A synthetic constraint says what is released, not what
is there: records of the original may stand in its cells, so no sensitivity knows of it (`allowed` takes plain
conditions, and those of a specification's synthetic constraints are `Judged`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from facsimile.spec.constraints import Condition, Judged, alternatives, names
from facsimile.table.conditions import Mask, evaluate, implausible
from facsimile.table.domain import Clique, Domain
from facsimile.table.fit import spread
from facsimile.table.table import Table

__all__ = ["allowed", "implausible", "impossible", "plausible", "without", "zeros"]

MOST_CELLS = 1_000_000


def plausible(conditions: Iterable[Judged], table: Table) -> Table:
    """The table without its implausible records."""
    return table.filter(~implausible(conditions, table.domain, table.codes))


def impossible(condition: Judged, domain: Domain) -> tuple[Clique, Mask]:
    """The columns a condition speaks of, and which cells of their joint domain it rules out."""
    clique = tuple(name for name in domain.names if name in names(condition))
    grids = np.indices(domain.project(clique).shape, dtype=np.int64, sparse=True)
    found = evaluate(condition, domain, dict(zip(clique, grids, strict=True)))
    return clique, np.ascontiguousarray(np.broadcast_to(found, domain.project(clique).shape))


def zeros(conditions: Iterable[Judged], domain: Domain) -> tuple[tuple[Clique, Mask], ...]:
    """The same for several conditions, each alternative of an "or" by itself.

    What rules out nothing is left out, and what speaks of more cells than can be listed: filtering finds it.
    """
    parts = [part for condition in conditions for part in alternatives(condition)]
    small = [part for part in parts if domain.size(names(part)) <= MOST_CELLS]
    found = (impossible(part, domain) for part in small)
    return tuple((clique, mask) for clique, mask in found if mask.any())


def allowed(conditions: Iterable[Condition], domain: Domain) -> Mask:
    """Every cell of a domain that no condition rules out, shaped like the domain."""
    return without(domain, (impossible(condition, domain) for condition in conditions))


def without(domain: Domain, zeros: Iterable[tuple[Clique, Mask]]) -> Mask:
    """Every cell but those ruled out, each rule a mask over the joint domain of some columns."""
    found = np.ones(domain.shape, np.bool_)
    for clique, mask in zeros:
        found &= ~spread(mask, clique, domain.names)
    return found
