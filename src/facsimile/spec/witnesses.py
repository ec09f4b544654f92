"""Witnesses: a few values of each bin that decide whether some record behind the bins satisfies a condition.

A record is behind a row if each of its values lies in the row's bin: on the column's grid, with no other ends
than the bin's own; a missing one behind a missing code. One record must satisfy all of the condition:
`a < 5 and a > 10` holds for none, though each half holds for some value of `0-20`.

Theorem. `asked` is true of a row exactly if some record behind it satisfies the condition, where `leaf` tells
whether witnesses of the leaf's columns do.

Proof. Some record satisfies an `or` exactly if some record satisfies a part. The records behind a row are all
combinations of its bins' values; so of parts that share no column, records that satisfy one each make up one
that satisfies all. What is left is a leaf. In a leaf, take k numbers that are compared with each other, even
through others. Cut their common grid where a bin of one of them begins or ends and at the constants that they
are compared with: moved inside a stretch, a value stays in its bin and on its side of every constant. A record
has at most k different values in a stretch. Moved, in their order, to the first k of the stretch (the last k,
where it has no first; all of it, where it has fewer), they compare with each other as before. So some record
satisfies the leaf exactly if one made of witnesses does. Of categories all values are witnesses.  ∎

>>> from facsimile.spec.bins import parse_bins
>>> from facsimile.spec.constraints import parse_condition
>>> age = Axis("age", parse_bins(["<18", "18-19", "20-24"], Fraction(1)))
>>> [f"{value} in {age.labels[code]}" for value, code in witnesses(parse_condition("age < 23"), [age])[0]]
['17 in <18', '18 in 18-19', '20 in 20-24', '23 in 20-24', '24 in 20-24']
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, prod
from typing import TypeVar

from facsimile.spec.bins import CategoryBin, NumberBin
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Condition, Every, Some, atoms, connected, names

T = TypeVar("T")
Witness = tuple[Fraction | str | None, int]


def asked(
    condition: Condition,
    leaf: Callable[[Condition], T],
    every: Callable[[Sequence[T]], T],
    some: Callable[[Sequence[T]], T],
) -> T:
    """Read a condition leaf by leaf: an `or` by its parts, an `and` by those that share no column."""
    if isinstance(condition, Some):
        return some([asked(part, leaf, every, some) for part in condition.parts])
    parts = _apart(condition)
    return leaf(condition) if len(parts) == 1 else every([asked(part, leaf, every, some) for part in parts])


def _apart(condition: Condition) -> list[Condition]:
    """The parts of an `and`, those together that share a column, even through others."""
    if not isinstance(condition, Every):
        return [condition]
    found = [
        [condition.parts[i] for i in places] for places in connected([{*names(p)} for p in condition.parts])
    ]
    return [parts[0] if len(parts) == 1 else Every(tuple(parts)) for parts in found]


def cases(condition: Condition, axes: Mapping[str, Axis]) -> int:
    """How many combinations of witnesses the largest leaf has."""

    def leaf(part: Condition) -> int:
        return prod(len(found) for found in witnesses(part, [axes[name] for name in names(part)]))

    return asked(condition, leaf, _most, _most)


def _most(numbers: Sequence[int]) -> int:
    return max(numbers)


def witnesses(leaf: Condition, axes: Sequence[Axis]) -> list[list[Witness]]:
    """For each column of a leaf its witnesses, each with the code of its bin, in the order of codes."""
    compared = [{*atom.names} for atom in atoms(leaf)]
    linked = [set().union(*(compared[i] for i in places)) for places in connected(compared)]
    return [
        [*_of(axis, _points(leaf, [a for a in axes if a.name in names_]))]
        for axis in axes
        for names_ in linked
        if axis.name in names_
    ]


def _of(axis: Axis, points: Sequence[int]) -> Iterator[Witness]:
    for code, b in enumerate(axis.bins):
        if isinstance(b, CategoryBin):
            yield from ((value, code) for value in sorted(b.values))
        elif isinstance(b, NumberBin):
            start = 0 if b.low is None else bisect_left(points, b.low / axis.step)
            end = len(points) if b.high is None else bisect_right(points, b.high / axis.step)
            yield from ((point * axis.step, code) for point in points[start:end])
        else:
            yield None, code


def _points(leaf: Condition, linked: Sequence[Axis]) -> list[int]:
    """The first values of every stretch, as many as there are linked columns, in units of their grid."""
    step, most = linked[0].step, len(linked)
    cuts = set[int]()
    for axis in linked:
        for b in axis.bins:
            if isinstance(b, NumberBin):
                cuts |= {int(end / step) + after for after, end in enumerate(b.span) if end is not None}
    for atom in atoms(leaf):
        if atom.name in [axis.name for axis in linked]:
            cuts |= {cut for number in atom.numbers for cut in (ceil(number / step), floor(number / step) + 1)}
    ordered = sorted(cuts or {0})
    found = [*range(ordered[0] - most, ordered[0])]
    for low, high in pairwise([*ordered, ordered[-1] + most]):
        found += range(low, min(low + most, high))
    return found
