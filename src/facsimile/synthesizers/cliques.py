"""Cliques: which measured ones a junction tree of bounded size can hold, and which pairs a prior adds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from facsimile.synthesizers.interactions import Floats, Measured
from facsimile.synthesizers.junction import junction_tree
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Table


def fitting(
    domain: Domain, forced: Sequence[Clique], answers: Sequence[Measured], total: int, largest: int
) -> list[Measured]:
    """The answers whose cliques a tree of at most `largest` cells can hold beside the forced ones.

    All of them if they fit. Else columns come first, then cliques by what they say; one that does not fit gives
    way to its faces, which wait at the end of the queue.
    """
    if junction_tree(domain, [*forced, *(answer.clique for answer in answers)]).cells <= largest:
        return list(answers)
    queue = deque(sorted(answers, key=lambda a: (len(a.clique) > 1, -said(a.counts, a.scale, total))))
    kept: list[Measured] = []
    cliques, met, refused = list(forced), {answer.clique for answer in answers}, list[set[str]]()
    while queue:
        answer = queue.popleft()
        names = {*answer.clique}
        hopeless = any(other <= names for other in refused)
        if not hopeless and junction_tree(domain, [*cliques, answer.clique]).cells <= largest:
            kept.append(answer)
            cliques.append(answer.clique)
            continue
        refused.append(names)
        for face in (answer.face(name) for name in answer.clique):
            if face.clique not in met:
                met.add(face.clique)
                queue.append(face)
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
