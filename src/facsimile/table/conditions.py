"""Conditions on codes: on which codes of a domain does a condition hold?

On a bin, `x < 23` holds when every value of the bin satisfies it; a row is implausible when a constraint's
condition holds on its bins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt

from facsimile.spec.constraints import Atom, Condition, fold, holds_on_bins, names
from facsimile.table.domain import Domain

Mask = npt.NDArray[np.bool_]


def truth(atom: Atom, domain: Domain) -> Mask:
    """The atom's truth for each code (or each pair of codes) of the columns it reads."""
    first, *rest = (domain.axis(name) for name in atom.names)
    if not rest or rest[0].name == first.name:
        single = [holds_on_bins(atom, {first.name: b}) for b in first.bins]
        return np.diag(single) if rest else np.array(single)
    second = rest[0]
    return np.array(
        [[holds_on_bins(atom, {first.name: a, second.name: b}) for b in second.bins] for a in first.bins]
    )


def evaluate(condition: Condition, domain: Domain, codes: Mapping[str, npt.NDArray[np.int64]]) -> Mask:
    """Whether the condition holds, elementwise over arrays of codes."""

    def atom(a: Atom) -> Mask:
        return truth(a, domain)[tuple(codes[name] for name in a.names)]

    return fold(condition, atom, lambda ms: reduce(np.logical_and, ms), lambda ms: reduce(np.logical_or, ms))


def implausible(conditions: Iterable[Condition], domain: Domain, codes: npt.NDArray[np.int64]) -> Mask:
    """For each row of codes, whether one of the conditions holds on it."""
    found = np.zeros(len(codes), np.bool_)
    for condition in conditions:
        columns = {name: codes[:, domain.place(name)] for name in names(condition)}
        found |= evaluate(condition, domain, columns)
    return found
