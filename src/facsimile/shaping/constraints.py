"""Constraints on encoded rows: which rows are implausible, which cells are impossible.

On a bin, `x < 23` holds when every value of the bin satisfies it; a row is implausible when a constraint's
condition holds on its bins. So a cell is impossible only if no plausible record falls into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
import numpy.typing as npt

from facsimile.spec.constraints import Atom, Condition, fold, holds_on_bins, names
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Codes, Table

Mask = npt.NDArray[np.bool_]


def implausible(conditions: Iterable[Condition], domain: Domain, codes: Codes) -> Mask:
    """For each row of codes, whether one of the conditions holds on it."""
    found = np.zeros(len(codes), np.bool_)
    for condition in conditions:
        columns = {name: codes[:, domain.place(name)] for name in names(condition)}
        found |= _evaluate(condition, domain, columns)
    return found


def plausible(conditions: Iterable[Condition], table: Table) -> Table:
    """The table without its implausible records."""
    return table.filter(~implausible(conditions, table.domain, table.codes))


def impossible(condition: Condition, domain: Domain) -> tuple[Clique, Mask]:
    """The columns a condition speaks of, and which cells of their joint domain it rules out."""
    clique = tuple(name for name in domain.names if name in names(condition))
    grids = np.indices(domain.project(clique).shape, dtype=np.int64, sparse=True)
    found = _evaluate(condition, domain, dict(zip(clique, grids, strict=True)))
    return clique, np.ascontiguousarray(np.broadcast_to(found, domain.project(clique).shape))


def allowed(conditions: Iterable[Condition], domain: Domain) -> Mask:
    """Every cell of a domain that no condition rules out, shaped like the domain."""
    found = np.ones(domain.shape, np.bool_)
    for condition in conditions:
        clique, mask = impossible(condition, domain)
        places = [domain.place(name) for name in clique]
        shape = [size if place in places else 1 for place, size in enumerate(domain.shape)]
        found &= ~mask.reshape(shape)
    return found


def _evaluate(condition: Condition, domain: Domain, columns: dict[str, Codes]) -> Mask:
    def atom(a: Atom) -> Mask:
        return _truth(a, domain)[tuple(columns[name] for name in a.names)]

    return fold(condition, atom, lambda ms: reduce(np.logical_and, ms), lambda ms: reduce(np.logical_or, ms))


def _truth(atom: Atom, domain: Domain) -> Mask:
    """The atom's truth for each code (or each pair of codes) of the columns it reads."""
    first, *rest = (domain.axis(name) for name in atom.names)
    if not rest or rest[0].name == first.name:
        single = [holds_on_bins(atom, {first.name: b}) for b in first.bins]
        return np.diag(single) if rest else np.array(single)
    second = rest[0]
    return np.array(
        [[holds_on_bins(atom, {first.name: a, second.name: b}) for b in second.bins] for a in first.bins]
    )
