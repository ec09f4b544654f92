"""Measurements as text: what a workload asks, how fine, and with which share of a budget.

    each                          every column by itself, as fine as it is
    parity*birth_weight@6         one table; birth_weight in at most 6 groups of neighbouring codes
    all@3, all                    one table of all columns, each in at most 3 groups, or as many as affordable
    pairs@6, pairs                a table for every pair of columns
    strongest@2                   a table for each of the 2 pairs that depend most, told from the answers so far

Items are separated by `;`. Weights are one for each item, `6; 3; 1`, shared by its tables; or one for each of
its tables, `2,1,1; 3`; or `auto`: what tables deserve by their cells (`base.by_cells`), and `each` counts three
times. They are shares of what is spent, an ε or a ρ. Noise has variances as 1/ε² and 1/ρ, so weights that are
best for an ε are, to the power 3/2, best for a ρ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, prod

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.decimals import parse_decimal
from facsimile.synthesizers.base import by_cells
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints

AUTO, NONE = "auto", "none"
EACH, ALL, PAIRS, STRONGEST = "each", "all", "pairs", "strongest"
# A table is affordable if its cells hold on average this many times the deviation of their noise.
CLEAR = 8
MOST_GROUPS = 64
# Every table is moved to those of its columns, and rare codes are seen in them alone.
COLUMNS_FIRST = 3


@dataclass(frozen=True)
class Item:
    """One item: a word, or columns with at most so many groups each (None: as fine as they are)."""

    word: str
    number: int | None
    columns: tuple[tuple[str, int | None], ...] = ()

    @classmethod
    def of(cls, text: str, domain: Domain) -> Item:
        """Read one item; columns must be the domain's."""
        parts = [_part(part) for part in text.split("*")]
        word, number = parts[0]
        if word in (EACH, ALL, PAIRS, STRONGEST) and word not in domain.names:
            if len(parts) > 1 or (word == STRONGEST and number is None) or (word == EACH and number):
                raise ValueError(f"{text} is not a measurement: see each, all@3, pairs@6, strongest@2")
            return cls(word, number)
        unknown = [name for name, _ in parts if name not in domain.names]
        if unknown or len({name for name, _ in parts}) < len(parts):
            raise ValueError(f"{text} is not a measurement of different columns of the release")
        return cls("", None, tuple(sorted(parts, key=lambda part: domain.place(part[0]))))

    def cliques(self, names: Clique) -> list[Clique]:
        """The columns of each of its tables; those of the strongest pairs are not known yet."""
        if self.word == EACH:
            return [(name,) for name in names]
        if self.word == ALL:
            return [names]
        if self.word in (PAIRS, STRONGEST):
            every: list[Clique] = list(combinations(names, 2))
            return every if self.word == PAIRS else every[: self.number]
        return [tuple(name for name, _ in self.columns)]

    def counts(self, names: Clique) -> set[str]:
        """The columns that its tables count, in two groups or more, whatever was answered before."""
        if self.columns:
            return {name for name, number in self.columns if number != 1}
        pairs = self.word == PAIRS and len(names) < 2
        return set() if self.number == 1 or self.word == STRONGEST or pairs else set(names)

    def fine(self, domain: Domain) -> bool:
        """Whether its tables are as fine as the domain whatever was answered before."""
        if self.word:
            return self.word == EACH
        return all(number is None or number >= domain.axis(name).size for name, number in self.columns)

    def sizes(self, cuts: Mapping[str, BestGroups], cells: float) -> dict[str, int]:
        """The number of groups of each column of a table, if about so many cells are affordable."""
        if self.columns:
            return {name: number or cuts[name].codes for name, number in self.columns}
        if self.word == EACH:
            return {name: cut.codes for name, cut in cuts.items()}
        if self.word == STRONGEST or self.number is None:
            return affordable(cuts, cells)
        return dict.fromkeys(cuts, self.number)

    def cells(self, clique: Clique, domain: Domain, cells: float) -> float:
        """About how many cells a table will have, if so many are affordable."""
        full = {name: domain.axis(name).size for name in clique}
        if self.word == STRONGEST or (self.word in (ALL, PAIRS) and self.number is None):
            least = prod(min(2, size) for size in full.values())
            return min(prod(full.values()), max(least, cells))
        numbers = dict(self.columns) or dict.fromkeys(clique, self.number)
        return prod(min(size, numbers[name] or size) for name, size in full.items())


def _part(text: str) -> tuple[str, int | None]:
    name, at, number = (piece.strip() for piece in text.partition("@"))
    if at and not (number.isdecimal() and int(number) > 0):
        raise ValueError(f"{text.strip()}: after @ comes a number of groups")
    return name, int(number) if at else None


def items(text: str, domain: Domain, n: int, epsilon: Fraction) -> list[Item]:
    """Read a list; `auto` is one that suits the domain.

    One table of all columns where each can have two groups in it; else all pairs.
    """
    if text == AUTO:
        wide = sum(size > 1 for size in domain.shape)
        joint = 2**wide <= most_cells(n, epsilon / 3)
        text = f"each; all; strongest@{ceil(wide / 2)}" if joint and wide > 1 else "each; pairs"
        text = text if wide > 1 else "each"
    return [Item.of(part.strip(), domain) for part in text.split(";")]


def most_cells(n: int, epsilon: Fraction) -> float:
    """n/cells ≥ CLEAR·σ, σ the deviation of the noise of a cell."""
    return float(n / (CLEAR * NoisyMarginals.variance(epsilon) ** 0.5))


def shares(text: str, every: Sequence[Item], domain: Domain, n: int, epsilon: Fraction) -> list[list[Fraction]]:
    """For each item the ε of each of its tables; they sum to ε."""
    roots = [_roots(item, domain, n, epsilon / len(every)) for item in every]
    parts = text.split(";")
    if text != AUTO and len(parts) != len(every):
        raise ValueError(f"there is one weight for each of the {len(every)} measurements, or `auto`")
    weights = roots if text == AUTO else [_weights(*pair) for pair in zip(parts, roots, strict=True)]
    total = sum((weight for item in weights for weight in item), Fraction(0))
    if not total > 0 or any(weight <= 0 for item in weights for weight in item):
        raise ValueError("weights are positive")
    return [[epsilon * weight / total for weight in item] for item in weights]


def score_shares(text: str, epsilon: Fraction) -> dict[str, Fraction]:
    """The ε of each criterion whose scores are asked, written `NAME PERCENT; NAME PERCENT`, or `none`.

    >>> score_shares("mean-age 10; query-old 2.5", Fraction(2))
    {'mean-age': Fraction(1, 5), 'query-old': Fraction(1, 20)}
    """
    found: dict[str, Fraction] = {}
    for part in text.split(";") if text != NONE else ():
        name, _, number = part.strip().rpartition(" ")
        if not name or name in found or (share := parse_decimal(number) / 100) <= 0:
            raise ValueError(
                f"{part.strip()!r} is not the name of another criterion and its per cent of epsilon"
            )
        found[name] = share * epsilon
    if sum(found.values()) >= epsilon:
        raise ValueError("scores leave nothing for tables")
    return found


def _roots(item: Item, domain: Domain, n: int, share: Fraction) -> list[Fraction]:
    """What each table deserves by its cells; more for columns by themselves."""
    cells = most_cells(n, share)
    found = [item.cells(clique, domain, cells) for clique in item.cliques(domain.names)]
    factor = COLUMNS_FIRST if item.word == EACH else 1
    return [factor * weight for weight in by_cells(found, share)]


def _weights(text: str, roots: list[Fraction]) -> list[Fraction]:
    given = [parse_decimal(part.strip()) for part in text.split(",")]
    if len(given) == 1:
        return [given[0] * root / sum(roots) for root in roots]
    if len(given) != len(roots):
        raise ValueError(f"{text.strip()} is not one weight and not {len(roots)}")
    return given


@dataclass(frozen=True, eq=False)
class BestGroups:
    """The best groups of neighbouring codes of a column, for every number of groups up to `MOST_GROUPS`.

    They are found when they are first asked for. The best last group of the codes up
    to j starts at the i with the least loss(up to i) + loss(i to j), so the groups are exactly the best.
    """

    counts: Floats
    numbers: Sequence[float]

    @classmethod
    def of(cls, counts: Floats, numbers: Sequence[float]) -> BestGroups:
        """Of a column with these counts, its codes standing for these numbers."""
        return cls(counts, numbers)

    @property
    def codes(self) -> int:
        """The number of codes."""
        return len(self.counts)

    @property
    def lost(self) -> tuple[float, ...]:
        """The share of the variance that each number of groups loses."""
        return self._best[0]

    @cached_property
    def _best(self) -> tuple[tuple[float, ...], tuple[Ints, ...]]:
        counts, codes = self.counts, self.codes
        mass = np.concatenate([[0], np.cumsum(np.maximum(counts, 1e-9 * (1 + counts.max())))])
        values = np.asarray(self.numbers) - np.mean(self.numbers)
        first = np.concatenate([[0], np.cumsum(np.diff(mass) * values)])
        second = np.concatenate([[0], np.cumsum(np.diff(mass) * values**2)])
        i, j = np.triu_indices(codes + 1, 1)
        within = np.full((codes + 1, codes + 1), np.inf)
        within[i, j] = np.maximum(0, second[j] - second[i] - (first[j] - first[i]) ** 2 / (mass[j] - mass[i]))
        loss, lost, starts = within[0], [float(within[0, -1])], []
        for _ in range(min(codes, MOST_GROUPS) - 1):
            choices = loss[:, None] + within
            starts.append(np.argmin(choices, axis=0))
            loss = choices.min(axis=0)
            lost.append(float(loss[-1]))
        return tuple(value / (lost[0] or 1.0) for value in lost), tuple(starts)

    def groups(self, size: int) -> Ints:
        """The group of each code, for at most so many groups.

        >>> BestGroups.of(np.array([9.0, 9.0, 5.0, 9.0, 9.0]), [0, 1, 5, 9, 10]).groups(3).tolist()
        [0, 0, 1, 2, 2]
        """
        if size >= self.codes:
            return np.arange(self.codes)
        edges = [self.codes]
        for start in reversed(self._best[1][: size - 1]):
            edges.append(int(start[edges[-1]]))
        return np.searchsorted(np.sort(edges[1:]), np.arange(self.codes), side="right").astype(np.int64)

    def version(self, size: int) -> tuple[int, ...] | None:
        """The same as a version of the column: None where every code has a group of its own."""
        return tuple(self.groups(size).tolist()) if size < self.codes else None


def affordable(cuts: Mapping[str, BestGroups], cells: float) -> dict[str, int]:
    """Numbers of groups with a product up to about `cells`: at least two each, then where most is lost."""
    sizes = {name: min(2, cut.codes) for name, cut in cuts.items()}
    while True:
        room = [
            name
            for name, size in sizes.items()
            if size < len(cuts[name].lost) and prod(sizes.values()) // size * (size + 1) <= cells
        ]
        if not room:
            break
        sizes[max(room, key=lambda name: cuts[name].lost[sizes[name] - 1])] += 1
    return sizes
