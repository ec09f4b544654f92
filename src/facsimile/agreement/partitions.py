"""Partitions: what became of bins, in words: joined, split, an edge moved, a label changed.

Bins of two partitions that share values belong together; what is said is said of such a group of bins.

>>> from fractions import Fraction
>>> from facsimile.spec.bins import parse_bins
>>> one, other = (parse_bins(bins, Fraction(1)) for bins in (["1", "2-6", "7-10", "10<"], ["1", "2-6", "6<"]))
>>> regrouped(one, other)
['7-10 and 10< joined as 6<']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from facsimile.spec.bins import Bin, CategoryBin, NumberBin
from facsimile.spec.decimals import show_decimal
from facsimile.spec.mistakes import listed

MOST_SAID = 8


def regrouped(old: Sequence[Bin], new: Sequence[Bin]) -> list[str]:
    """What became of the bins of one partition in another; nothing where both hold the same under one label."""
    said = [words for group in _groups(old, new) if (words := _said(*group))]
    if not said and [b.label for b in old] != [b.label for b in new]:
        said = [f"bins in another order: {_listed(new)}"]
    return said[:MOST_SAID] + ([f"and {len(said) - MOST_SAID} more changes"] if len(said) > MOST_SAID else [])


def _groups(old: Sequence[Bin], new: Sequence[Bin]) -> Iterator[tuple[list[Bin], list[Bin]]]:
    """The bins of both sides that share values, with each other or through others."""
    left = list(new)
    for group in _joined(old, new):
        found = [b for b in left if any(_share(b, other) for other in group)]
        left = [b for b in left if b not in found]
        yield group, found
    yield from (([], [b]) for b in left)


def _joined(old: Sequence[Bin], new: Sequence[Bin]) -> list[list[Bin]]:
    """Old bins in groups: two are in one where a new bin shares values with both."""
    groups = [[b] for b in old]
    for b in new:
        touched = [group for group in groups if any(_share(b, other) for other in group)]
        if len(touched) > 1:
            at = groups.index(touched[0])
            groups = [group for group in groups if group not in touched]
            groups.insert(at, [other for group in touched for other in group])
    return groups


def _share(one: Bin, other: Bin) -> bool:
    """Whether two bins have a value in common."""
    if isinstance(one, NumberBin) and isinstance(other, NumberBin):
        return one.reaches(other) and other.reaches(one)
    if isinstance(one, CategoryBin) and isinstance(other, CategoryBin):
        return not one.values.isdisjoint(other.values)
    return False


def _said(old: list[Bin], new: list[Bin]) -> str:
    """What became of some bins, in words; nothing where they are the same."""
    same = _content(old) == _content(new)
    if not old:
        return f"{_listed(new)} added"
    if not new:
        return f"{_listed(old)} removed"
    if len(old) == len(new) == 1:
        return _relabelled(old[0], new[0])
    if len(new) == 1 and same:
        return f"{_listed(old)} joined as {new[0].label}"
    if len(old) == 1 and same:
        return f"{old[0].label} split into {_listed(new)}"
    if len(old) == len(new) == 2 and same and isinstance(old[0], NumberBin):
        return f"the edge between {_listed(old)} moved: {_described(new)}"
    return f"{_described(old)} became {_described(new)}"


def _relabelled(old: Bin, new: Bin) -> str:
    """One bin that became another."""
    if isinstance(old, CategoryBin) and isinstance(new, CategoryBin) and old.values != new.values:
        more, less = sorted(new.values - old.values), sorted(old.values - new.values)
        said = [f"{listed(more)} added"] * bool(more) + [f"{listed(less)} removed"] * bool(less)
        return f"{_renamed(old, new)}: {' and '.join(said)}"
    if _content([old]) != _content([new]):
        return f"{_described([old])} → {_described([new])}"
    return f"label {_renamed(old, new)}" if old.label != new.label else ""


def _renamed(old: Bin, new: Bin) -> str:
    return new.label if old.label == new.label else f"{old.label} → {new.label}"


def _content(bins: Sequence[Bin]) -> object:
    """What bins hold together: their values, or where the first begins and the last ends."""
    if bins and isinstance(bins[0], NumberBin) and isinstance(bins[-1], NumberBin):
        return bins[0].low, bins[-1].high
    return frozenset(value for b in bins if isinstance(b, CategoryBin) for value in b.values)


def _span(b: Bin) -> str:
    """What a bin holds, as people write it."""
    if isinstance(b, CategoryBin):
        return listed(sorted(b.values))
    if not isinstance(b, NumberBin):
        return b.label
    low, high = (None if end is None else show_decimal(end) for end in b.span)
    if low is None or high is None:
        return f"{low}≤" if low is not None else f"≤{high}" if high is not None else "everything"
    return low if low == high else f"{low}-{high}"


def _described(bins: Sequence[Bin]) -> str:
    """Labels with what they hold, where they do not say it themselves."""
    return _in_a_row([b.label if _says(b) else f"{b.label} ({_span(b)})" for b in bins])


def _says(b: Bin) -> bool:
    """Whether a label says what the bin holds."""
    if isinstance(b, NumberBin):
        return b.label == _span(b) or "<" in b.label or "≤" in b.label
    return not isinstance(b, CategoryBin) or b.values == {b.label}


def _listed(bins: Sequence[Bin]) -> str:
    return _in_a_row([b.label for b in bins])


def _in_a_row(words: list[str]) -> str:
    """Words as people list them: the last after `and`."""
    *first, last = words
    return f"{listed(first)} and {last}" if first else last
