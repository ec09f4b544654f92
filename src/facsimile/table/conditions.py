"""Conditions on codes: on which codes of a domain does a condition hold?

On a bin, `x < 23` holds when every value of the bin satisfies it; a row is implausible when a constraint's
condition holds on its bins. A constraint may ask for less (`Possible`): that some record behind the bins
satisfies its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import product

import numpy as np
import numpy.typing as npt

from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Atom, Condition, Judged, Possible, fold, holds, holds_on_bins, names
from facsimile.spec.witnesses import asked, witnesses
from facsimile.table.domain import Domain

Mask = npt.NDArray[np.bool_]


def truth(atom: Atom, domain: Domain) -> Mask:
    """The atom's truth for each code (or each pair of codes) of the columns it reads; not to be written to."""
    return _truth(atom, tuple(domain.axis(name) for name in atom.names))


@lru_cache(maxsize=1024)
def _truth(atom: Atom, axes: tuple[Axis, ...]) -> Mask:
    first, second = axes[0], axes[-1]
    if first.name == second.name:
        single = [holds_on_bins(atom, {first.name: b}) for b in first.bins]
        found = np.diag(single) if len(axes) > 1 else np.array(single)
    else:
        found = np.array(
            [[holds_on_bins(atom, {first.name: a, second.name: b}) for b in second.bins] for a in first.bins]
        )
    found.flags.writeable = False
    return found


def evaluate(condition: Judged, domain: Domain, codes: Mapping[str, npt.NDArray[np.int64]]) -> Mask:
    """Whether the condition holds, elementwise over arrays of codes."""
    if isinstance(condition, Possible):
        return asked(condition.condition, lambda leaf: _possible(leaf, domain, codes), _every, _some)

    def atom(a: Atom) -> Mask:
        return truth(a, domain)[tuple(codes[name] for name in a.names)]

    return fold(condition, atom, _every, _some)


def _every(masks: Sequence[Mask]) -> Mask:
    return reduce(np.logical_and, masks)


def _some(masks: Sequence[Mask]) -> Mask:
    return reduce(np.logical_or, masks)


def _possible(leaf: Condition, domain: Domain, codes: Mapping[str, npt.NDArray[np.int64]]) -> Mask:
    clique = names(leaf)
    return _witnessed(leaf, tuple(map(domain.axis, clique)))[tuple(codes[name] for name in clique)]


@lru_cache(maxsize=256)
def _witnessed(leaf: Condition, axes: tuple[Axis, ...]) -> Mask:
    """For each cell of a leaf's columns, whether one of its witnesses satisfies the leaf."""
    found = witnesses(leaf, axes)
    places = np.indices([len(those) for those in found], sparse=True)
    place = {axis.name: grid for axis, grid in zip(axes, places, strict=True)}
    values = {axis.name: [value for value, _ in those] for axis, those in zip(axes, found, strict=True)}

    def atom(a: Atom) -> Mask:
        clique = tuple(dict.fromkeys(a.names))
        records = (
            dict(zip(clique, record, strict=True)) for record in product(*(values[name] for name in clique))
        )
        held = np.array([holds(a, record) for record in records], np.bool_)
        return held.reshape([len(values[name]) for name in clique])[tuple(place[name] for name in clique)]

    satisfied = fold(leaf, atom, _every, _some)
    cells = np.zeros([axis.size for axis in axes], np.bool_)
    np.logical_or.at(cells, np.ix_(*([code for _, code in those] for those in found)), satisfied)
    return cells


def implausible(conditions: Iterable[Judged], domain: Domain, codes: npt.NDArray[np.int64]) -> Mask:
    """For each row of codes, whether one of the conditions holds on it.

    >>> from facsimile.spec.constraints import parse_condition
    >>> from facsimile.spec.columns import Fraction, parse_bins
    >>> age = Axis("age", parse_bins(["<18", "18-24", "24<"], Fraction(1)))
    >>> implausible([parse_condition("age < 20")], Domain((age,)), np.array([[0], [1], [2]])).tolist()
    [True, False, False]
    """
    found = np.zeros(len(codes), np.bool_)
    for condition in conditions:
        columns = {name: codes[:, domain.place(name)] for name in names(condition)}
        found |= evaluate(condition, domain, columns)
    return found
