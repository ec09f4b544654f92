"""Junction tree: groups of columns ("bags") that hold given cliques, arranged so that sums stay local.

Columns that share a clique are neighbours. Columns are eliminated one at a time: the neighbours of an
eliminated column become neighbours of each other, and the column with its neighbours is a bag. Every clique
lies inside a bag. The bags, joined by a maximal spanning tree over the number of shared columns, have the
running intersection property: the columns a bag shares with all earlier bags lie in its parent. So a product
of functions of the bags is summed by messages between neighbours, at the cost of the bags alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table


@dataclass(frozen=True)
class JunctionTree:
    """Bags, each after its parent; the first is the root. Columns of a bag are in the domain's order."""

    domain: Domain
    bags: tuple[Clique, ...]
    parents: tuple[int, ...]

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """What each bag shares with its parent; nothing for the root and where a group of columns begins."""
        return tuple(
            tuple(name for name in bag if parent >= 0 and name in self.bags[parent])
            for bag, parent in zip(self.bags, self.parents, strict=True)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The bags below each bag."""
        places = range(len(self.bags))
        return tuple(tuple(p for p in places if self.parents[p] == place) for place in places)

    @cached_property
    def cells(self) -> int:
        """The cells of all bags together."""
        return sum(self.domain.size(bag) for bag in self.bags)

    def holding(self, clique: Iterable[str]) -> int | None:
        """The smallest bag that holds a clique, if any does."""
        wanted = set(clique)
        found = [place for place, bag in enumerate(self.bags) if wanted <= set(bag)]
        return min(found, key=lambda place: self.domain.size(self.bags[place]), default=None)

    @cached_property
    def walk(self) -> tuple[int, ...]:
        """Neighbouring bags, one after the other, from the root through all of them and back."""
        steps: list[int] = [0]
        waiting = [iter(self.children[0])]
        while waiting:
            below = next(waiting[-1], None)
            if below is None:
                waiting.pop()
                if waiting:
                    steps.append(self.parents[steps[-1]])
            else:
                steps.append(below)
                waiting.append(iter(self.children[below]))
        return tuple(steps)

    def spanning(self, clique: Iterable[str]) -> tuple[int, ...]:
        """The bags of the smallest part of the tree that holds each column of a clique, parents first."""
        kept = set(range(len(self.bags)))
        wanted = set(clique)
        for place in reversed(range(len(self.bags))):
            leaf = not any(child in kept for child in self.children[place])
            if leaf and place and not wanted & (set(self.bags[place]) - set(self.separators[place])):
                kept.remove(place)
        top = 0
        while True:
            below = [child for child in self.children[top] if child in kept]
            if len(below) != 1 or not wanted & set(self.bags[top]) <= set(self.separators[below[0]]):
                return tuple(sorted(kept))
            kept.remove(top)
            top = below[0]


def ordered(domain: Domain, names: Iterable[str]) -> Clique:
    """Columns in the domain's order."""
    return tuple(sorted(names, key=domain.place))


def junction_tree(domain: Domain, cliques: Iterable[Clique]) -> JunctionTree:
    """A tree whose bags hold every clique and every column."""
    bags = _maximal(domain, _eliminated(domain, cliques))
    order, parents = [0], [-1]
    links = {place: (len({*bags[place]} & {*bags[0]}), 0) for place in range(1, len(bags))}
    while links:
        place = max(links, key=lambda p: (links[p][0], -p))
        parents.append(links.pop(place)[1])
        order.append(place)
        for other, (shared, _) in links.items():
            common = len({*bags[other]} & {*bags[place]})
            if common > shared:
                links[other] = (common, len(order) - 1)
    return JunctionTree(domain, tuple(bags[place] for place in order), tuple(parents))


def _eliminated(domain: Domain, cliques: Iterable[Clique]) -> Iterator[frozenset[str]]:
    """A bag for each column: the column whose bag has the fewest cells is eliminated next."""
    near: dict[str, set[str]] = {name: {name} for name in domain.names}
    for clique in cliques:
        for name in clique:
            near[name] |= set(clique)
    cells = {name: domain.size(near[name]) for name in near}
    while near:
        name = min(near, key=lambda n: cells[n])
        bag = near.pop(name)
        yield frozenset(bag)
        for other in bag - {name}:
            near[other] = (near[other] | bag) - {name}
            cells[other] = domain.size(near[other])


def _maximal(domain: Domain, bags: Iterable[frozenset[str]]) -> list[Clique]:
    """Bags that lie in no other, in the order of their columns."""
    kept: list[frozenset[str]] = []
    for bag in sorted(bags, key=len, reverse=True):
        if not any(bag <= other for other in kept):
            kept.append(bag)
    cliques = [ordered(domain, bag) for bag in kept]
    return sorted(cliques, key=lambda clique: [domain.place(name) for name in clique])


def fitting(
    domain: Domain, forced: Sequence[Clique], answers: Sequence[Measurement], total: int, largest: int
) -> list[Measurement]:
    """The answers whose cliques a tree of at most `largest` cells can hold beside the forced ones.

    All of them if they fit. Else columns come first, then cliques by what they say; one that does not fit gives
    way to its faces, which wait at the end of the queue.
    """
    if junction_tree(domain, [*forced, *(answer.columns for answer in answers)]).cells <= largest:
        return list(answers)
    queue = deque(sorted(answers, key=lambda a: (len(a.columns) > 1, -said(a.counts, a.scale, total))))
    kept: list[Measurement] = []
    cliques, met, refused = list(forced), {answer.columns for answer in answers}, list[set[str]]()
    while queue:
        answer = queue.popleft()
        names = {*answer.columns}
        hopeless = any(other <= names for other in refused)
        if not hopeless and junction_tree(domain, [*cliques, answer.columns]).cells <= largest:
            kept.append(answer)
            cliques.append(answer.columns)
            continue
        refused.append(names)
        for face in reversed(list(combinations(answer.columns, len(names) - 1))):
            if face not in met:
                met.add(face)
                queue.append(answer.onto(face))
    return kept


def said(counts: Floats, scale: float, total: int) -> float:
    """How far counts are from independent columns in L1, less what noise adds on average.

    >>> said(np.array([[4.0, 0.0], [0.0, 4.0]]), 0.0, 8)
    8.0
    """
    product = np.full((1,) * counts.ndim, float(total))
    for place in range(counts.ndim):
        others = tuple(other for other in range(counts.ndim) if other != place)
        share = np.maximum(counts.sum(axis=others, keepdims=True), 0)
        product = product * share / (share.sum() or 1.0)
    return float(np.abs(counts - product).sum()) - scale * counts.size


def joining(prior: Table, cliques: Iterable[Clique]) -> list[Clique]:
    """Pairs that join columns which no clique ties together, the most dependent ones in the prior first."""
    group = {name: {name} for name in prior.domain.names}

    def join(names: Clique) -> None:
        together = set[str]().union(*(group[name] for name in names))
        group.update(dict.fromkeys(together, together))

    for clique in cliques:
        join(clique)
    pairs = [(a, b) for a, b in combinations(prior.domain.names, 2) if b not in group[a]]
    strength = {pair: said(prior.marginal(pair).astype(np.float64), 0.0, prior.n) for pair in pairs}
    chosen: list[Clique] = []
    for pair in sorted(pairs, key=lambda pair: -strength[pair]):
        if pair[1] not in group[pair[0]]:
            chosen.append(pair)
            join(pair)
    return chosen
