"""Events: which cells of a released table a condition holds on. Nothing is decided inside a bin.

A condition is written as in a specification. Beside numbers and categories it may name a bin by the label that
the release gives it. A comparison that holds for some values of a bin and not for others has no answer on the
released bins: it is refused, with the nearest comparisons that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import (
    ANY,
    Among,
    Atom,
    Compare,
    Condition,
    Missing,
    atoms,
    fold,
    holds_on_bins,
    parse_condition,
    resolve,
)
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.mistakes import cut, suggestion
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.fit import spread
from facsimile.table.table import Table

MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Event:
    """Some cells of some columns, in the order of the domain; without columns it is all records, or none."""

    columns: Clique
    mask: Mask

    def over(self, columns: Clique) -> Mask:
        """The same cells of more columns, in an order that keeps that of the event's own."""
        return np.asarray(spread(self.mask, self.columns, columns))

    def count(self, table: Table) -> int:
        """How many records of a table lie in it."""
        if not self.columns:
            return table.n if self.mask.all() else 0
        return int(table.marginal(self.columns)[self.mask].sum())

    def reduced(self) -> Event:
        """Without the columns that it does not depend on."""
        columns, mask = list(self.columns), self.mask
        for place in reversed(range(len(columns))):
            first = mask.take([0], axis=place)
            if (mask == first).all():
                mask = first.squeeze(axis=place)
                del columns[place]
        return Event(tuple(columns), mask)


EVERYTHING = Event((), np.array(True))


def both(one: Event, other: Event, domain: Domain) -> Event:
    """Where both hold."""
    columns = joined([one.columns, other.columns], domain)
    return Event(columns, np.array(_whole(one, columns, domain) & _whole(other, columns, domain)))


def without(one: Event, other: Event, domain: Domain) -> Event:
    """Where the first holds and the other does not."""
    return both(one, Event(other.columns, ~other.mask), domain)


def joined(cliques: Iterable[Clique], domain: Domain) -> Clique:
    """The columns of all of them, in the order of the domain; refused where their cells are too many."""
    wanted = {name for clique in cliques for name in clique}
    found = tuple(name for name in domain.names if name in wanted)
    if domain.size(found) > MOST_CELLS:
        raise refusal("E434", problem=f"{', '.join(found)} have too many cells together.")
    return found


def _whole(event: Event, columns: Clique, domain: Domain) -> Mask:
    return np.broadcast_to(event.over(columns), domain.project(columns).shape)


def event_of(text: str | None, domain: Domain) -> Event:
    """The cells that a condition holds on; without one, all records."""
    if text is None:
        return EVERYTHING
    try:
        condition = parse_condition(text)
    except ValueError as error:
        raise refusal("E430", problem=f"{error}") from None
    for atom in atoms(condition):
        if atom.name != ANY:
            axis_of(atom.name, domain)
    return decided(resolve(condition, domain.names), domain)


def axis_of(name: str, domain: Domain) -> Axis:
    """The column of a release; an unknown one is refused with what may be meant."""
    if name not in domain.names:
        raise refusal("E431", column=cut(name), suggestion=suggestion(name, domain.names))
    return domain.axis(name)


def decided(condition: Condition, domain: Domain) -> Event:
    """The cells of a resolved condition."""

    def atom(one: Atom) -> Event:
        if isinstance(one, Compare) and one.other_is_name:
            return _compared(one, domain)
        axis = domain.axis(one.name)
        if isinstance(one, Missing):
            return Event((one.name,), np.array([holds_on_bins(one, {one.name: b}) for b in axis.bins]))
        return Event((one.name,), _among(one, axis) if _listing(one) else _ordered(one, axis))

    def several(join: Callable[[Mask, Mask], Mask]) -> Callable[[Sequence[Event]], Event]:
        def joint(parts: Sequence[Event]) -> Event:
            columns = joined([part.columns for part in parts], domain)
            return Event(columns, np.array(reduce(join, (_whole(part, columns, domain) for part in parts))))

        return joint

    return fold(condition, atom, several(np.logical_and), several(np.logical_or)).reduced()


def _listing(atom: Atom) -> bool:
    return isinstance(atom, Among) or (isinstance(atom, Compare) and atom.sign in ("=", "!="))


def _compared(atom: Compare, domain: Domain) -> Event:
    """Two columns: each pair of bins must have one answer."""
    one, other = (axis_of(name, domain) for name in atom.names)
    if one.name == other.name:
        raise refusal("E430", problem=f"{one.name} is compared with itself")
    found = np.zeros((one.size, other.size), np.bool_)
    for i, a in enumerate(one.bins):
        for j, b in enumerate(other.bins):
            bins = {one.name: a, other.name: b}
            found[i, j] = holds_on_bins(atom, bins)
            present = not isinstance(a, MissingBin) and not isinstance(b, MissingBin)
            if present and not found[i, j] and not holds_on_bins(atom.negated(), bins):
                step = f"Compare each with a number; the bins {a.label} and {b.label} overlap."
                raise refusal("E433", asked=str(atom), name=a.label, column=one.name, suggestion=step)
    columns = joined([(one.name,), (other.name,)], domain)
    return Event(columns, found if columns == (one.name, other.name) else found.T)


def _among(atom: Compare | Among, axis: Axis) -> Mask:
    """Labels of bins, numbers and categories that are listed; a bin is in or out, or cut."""
    listed = [constant for constant in atom.constants if not _known(constant, axis)]
    if listed:
        raise _unknown(axis, listed[0])
    wanted = atom.among if isinstance(atom, Among) else atom.sign == "="
    found = []
    for b in axis.bins:
        inside = _inside(b, atom.constants)
        if inside is None:
            raise _cut(atom, b, axis)
        found.append(inside if wanted else not inside and not isinstance(b, MissingBin))
    return np.array(found, np.bool_)


def _known(constant: Fraction | str, axis: Axis) -> bool:
    """Whether a constant is a label, a category, or a number where the column has some."""
    text = _text(constant)
    if text in axis.labels or any(isinstance(b, CategoryBin) and text in b.values for b in axis.bins):
        return True
    return _numeric(axis) and _number(constant) is not None


def _inside(b: Bin, constants: Sequence[Fraction | str]) -> bool | None:
    """Whether a bin is named or listed as a whole (True), not at all (False), or in part (None)."""
    texts = {_text(constant) for constant in constants}
    if b.label in texts and not (isinstance(b, NumberBin) and _single(b)):
        return True
    if isinstance(b, MissingBin):
        return False
    if isinstance(b, CategoryBin):
        inside = b.values & texts
        return None if inside and inside != b.values else bool(inside)
    numbers = [n for n in map(_number, constants) if n is not None and b.contains(n)]
    return (True if _single(b) else None) if numbers else False


def _single(b: NumberBin) -> bool:
    return b.low is not None and b.low == b.high


def _ordered(atom: Atom, axis: Axis) -> Mask:
    """Below or above a number: a bin is on one side, or cut."""
    assert isinstance(atom, Compare)
    number = _number(atom.other)
    if not _numeric(axis):
        raise refusal("E434", problem=f"{axis.name} holds categories, which have no order here.")
    if number is None:
        raise _unknown(axis, atom.other)
    plain = Compare(atom.name, atom.sign, number)
    found = []
    for b in axis.bins:
        holds = holds_on_bins(plain, {axis.name: b})
        if not holds and isinstance(b, NumberBin) and not holds_on_bins(plain.negated(), {axis.name: b}):
            raise _cut(atom, b, axis)
        found.append(holds)
    return np.array(found, np.bool_)


def _cut(atom: Atom, b: Bin, axis: Axis) -> FacsimileError:
    """A comparison that cuts through a bin, with the nearest edges where one does not."""
    if isinstance(b, NumberBin) and not _listing(atom):
        upwards = isinstance(atom, Compare) and atom.sign.startswith(">")
        first, last = (">=", ">") if upwards else ("<", "<=")
        before = [] if b.low is None else [f"{axis.name} {first} {show_decimal(b.low)}"]
        after = [] if b.high is None else [f"{axis.name} {last} {show_decimal(b.high)}"]
        edges = " or ".join([*before, *after]) or f"{axis.name} = '{b.label}'"
    else:
        edges = f"{axis.name} = '{b.label}'"
    return refusal("E433", asked=str(atom), name=b.label, column=axis.name, suggestion=f"Ask {edges}.")


def _unknown(axis: Axis, constant: Fraction | str) -> FacsimileError:
    known: Collection[str] = axis.labels
    return refusal(
        "E432", column=axis.name, given=cut(_text(constant)), suggestion=suggestion(_text(constant), known)
    )


def _numeric(axis: Axis) -> bool:
    return any(isinstance(b, NumberBin) for b in axis.bins)


def _number(constant: Fraction | str) -> Fraction | None:
    if isinstance(constant, Fraction):
        return constant
    with suppress(ValueError):
        return parse_decimal(constant)
    return None


def _text(constant: Fraction | str) -> str:
    return constant if isinstance(constant, str) else show_decimal(constant)


def cells(event: Event, domain: Domain) -> int:
    """How many cells the event's columns have."""
    return prod(domain.axis(name).size for name in event.columns)
