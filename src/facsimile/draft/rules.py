"""Rules that a public file never breaks, though many records would if its columns were independent.

Nothing of it is knowledge: whoever knows the data confirms a rule with a source, or leaves it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from facsimile.spec.bins import Bin, CategoryBin, NumberBin
from facsimile.spec.constraints import Among, Atom, Compare, Every, parse_condition
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Table

EXPECTED = 20
"""Records that would break a rule if two columns were independent: none at all is then no chance."""
MOST, MOST_OF_A_COLUMN = 12, 3


@dataclass(frozen=True)
class Rule:
    """A condition that no public record meets, and how many would by chance."""

    never: str
    expected: float
    names: tuple[str, str]


def unbroken(table: Table) -> list[Rule]:
    """The best rules about two columns each; no column has more than a few."""
    found = [rule for pair in combinations(table.domain.names, 2) for rule in _of(table, *pair)]
    used: Counter[str] = Counter()
    chosen: list[Rule] = []
    for rule in sorted(found, key=lambda one: (-one.expected, one.never)):
        if len(chosen) < MOST and all(used[name] < MOST_OF_A_COLUMN for name in rule.names):
            chosen.append(rule)
            used.update(rule.names)
    return chosen


def _of(table: Table, one: str, other: str) -> Iterator[Rule]:
    """The best rule of a pair of columns."""
    counts, bins = table.marginal((one, other)), table.domain.axis(other).bins
    sides = [list(_sides(name, table.domain.axis(name).bins)) for name in (one, other)]
    best: tuple[float, Atom, Atom] | None = None
    margins = counts.sum(axis=1), counts.sum(axis=0)
    for atom, rows in sides[0]:
        inside = counts[rows].sum(axis=0)
        records = float(margins[0][rows].sum())
        for opposite, expected in _empty(other, sides[1], bins, inside, margins[1]):
            likely = expected * records / table.n
            if likely >= EXPECTED and (best is None or likely > best[0]):
                best = likely, atom, opposite
    if best is not None:
        never = str(Every((best[1], best[2])))
        if _readable(never):
            yield Rule(never, best[0], (one, other))


def _readable(never: str) -> bool:
    """Whether a condition is read as it was meant; labels with quotes of both kinds are not."""
    try:
        return str(parse_condition(never)) == never
    except ValueError:
        return False


Side = tuple[Atom, Ints]
"""What is said of a column, and the codes of the bins it holds for."""


def _sides(name: str, bins: tuple[Bin, ...]) -> Iterator[Side]:
    """One category; or numbers from the first bin or up to the last."""
    for place, b in enumerate(bins):
        if isinstance(b, CategoryBin):
            yield _among(name, [b], bins), np.array([place])
        elif isinstance(b, NumberBin) and b.low is not None and place:
            last = sum(isinstance(one, NumberBin) for one in bins)
            yield Compare(name, "<", b.low), np.arange(place)
            yield Compare(name, ">=", b.low), np.arange(place, last)


def _empty(
    name: str, sides: list[Side], bins: tuple[Bin, ...], inside: Ints, margin: Ints
) -> Iterator[tuple[Atom, float]]:
    """What holds for no record inside: several categories together, or a side of the numbers."""
    categories = [(place, b) for place, b in enumerate(bins) if isinstance(b, CategoryBin)]
    if categories:
        free = [(place, b) for place, b in categories if not inside[place] and margin[place]]
        if free:
            yield _among(name, [b for _, b in free], bins), float(sum(margin[place] for place, _ in free))
        return
    weights: Floats = margin.astype(float)
    for atom, places in sides:
        if not inside[places].any():
            yield atom, float(weights[places].sum())


def _among(name: str, bins: list[CategoryBin], every: tuple[Bin, ...]) -> Atom:
    """Some categories; of more than half of them, that it is none of the others."""
    chosen = {value for b in bins for value in b.values}
    others = {value for b in every if isinstance(b, CategoryBin) for value in b.values} - chosen
    few, among = (chosen, True) if len(chosen) <= len(others) or not others else (others, False)
    values = tuple(sorted(few))
    if len(values) == 1:
        return Compare(name, "=" if among else "!=", values[0])
    return Among(name, values, among)
