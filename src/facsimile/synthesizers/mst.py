"""MST: a tree of pairs. It measures every column, then the pairs of a tree that say most beyond that.

A third of an ε goes to the columns, a tenth to the selection of the d − 1 edges, the rest to the pairs of the
tree, evenly. Of a ρ it is a sixth, a twentieth, and the rest to pairs as their cells deserve. An edge scores by
its L1 distance from independent columns, less the L1 error that its measurement would have: a large pair
that says little brings more noise than it explains. Pairs and columns are made consistent, and the tree is a
network: a root, and every other column given one parent. So it works on tables of any width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.synthesizers.base import Answers, Foreseen, Known, Synthesizer, by_cells, by_law
from facsimile.synthesizers.consistency import consistent
from facsimile.synthesizers.dense import rounded
from facsimile.synthesizers.network import Network, Node
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement

COLUMNS, EDGES = Fraction(1, 3), Fraction(1, 10)
COLUMNS_RHO, EDGES_RHO = Fraction(1, 6), Fraction(1, 20)


@dataclass(frozen=True)
class MST(Synthesizer):
    """It has no hyperparameters."""

    def foreseen(self, domain: Domain, n: int, share: Fraction) -> Foreseen:
        """Columns come first; pairs and more are chosen."""
        return Foreseen(tuple((name,) for name in domain.names))

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> Network:
        """Columns, edges, pairs; with one column all of ε is for it."""
        singles = [(name,) for name in answers.domain.names]
        if len(singles) == 1:
            return _network(answers.domain, known, answers.run(NoisyMarginals.evenly(singles, share)), [])
        first, second = by_law(share, (COLUMNS, EDGES), (COLUMNS_RHO, EDGES_RHO))
        measured = answers.run(NoisyMarginals.evenly(singles, first * share))
        columns = dict(zip(answers.domain.names, consistent(measured, known.n, known.zeros), strict=True))
        noise = NoisyMarginals.scale(share * (1 - first - second) / (len(singles) - 1))
        tree, spent = _tree(answers, known, columns, second * share, noise)
        measured += answers.run(_pairs(answers.domain, tree, share - first * share - spent))
        return _network(answers.domain, known, measured, tree)


def _pairs(domain: Domain, tree: Sequence[Clique], share: Fraction) -> NoisyMarginals:
    """The pairs of a tree: evenly for an ε, as their cells deserve for a ρ."""
    if not isinstance(share, Rho):
        return NoisyMarginals.evenly(tree, share)
    weights = by_cells([domain.size(pair) for pair in tree], share)
    return NoisyMarginals(
        tuple((pair, share * w / sum(weights)) for pair, w in zip(tree, weights, strict=True))
    )


def _tree(
    answers: Answers, known: Known, columns: Mapping[str, Floats], epsilon: Fraction, noise: Fraction
) -> tuple[list[Clique], Fraction]:
    """Kruskal's algorithm with noisy choices, and what it cost: a choice from one edge only is free.

    `noise` is the scale that a pair's cells are expected to have.
    """
    tree: list[Clique] = []
    group = {name: name for name in columns}
    products = {
        pair: rounded(np.outer(columns[pair[0]], columns[pair[1]]) / known.n)
        for pair in combinations(columns, 2)
    }
    spent = Fraction(0)
    for left in range(len(columns) - 1, 0, -1):
        edges = [pair for pair in products if group[pair[0]] != group[pair[1]]]
        place = 0
        if len(edges) > 1:
            share = (epsilon - spent) / left
            biases = tuple(noise * products[pair].size for pair in edges)
            scores = MarginalDistances(tuple((pair, products[pair]) for pair in edges), biases=biases)
            place = answers.run(NoisySelection(scores, share))
            spent += share
        one, other = edges[place]
        tree.append((one, other))
        group = {name: group[one] if label == group[other] else label for name, label in group.items()}
    return tree, spent


def _network(domain: Domain, known: Known, measured: Sequence[Measurement], tree: Sequence[Clique]) -> Network:
    """The tree from its first column outwards."""
    joints = consistent(measured, known.n, known.zeros)
    tables = {one.columns: joint for one, joint in zip(measured, joints, strict=True)}
    root = domain.names[0]
    nodes = [Node.of(root, (), tables[(root,)])]
    reached, left = {root}, list(tree)
    while left:
        edge = next(edge for edge in left if reached & set(edge))
        left.remove(edge)
        parent, column = edge if edge[0] in reached else edge[::-1]
        nodes.append(Node.of(column, ((parent, None),), tables[edge] if edge[0] == parent else tables[edge].T))
        reached.add(column)
    return Network(domain, tuple(nodes), known.zeros)
