"""PrivBayes: a Bayesian network whose structure is selected and whose tables are measured with noise.

Columns join the network one by one, the first drawn uniformly or named. Each selection takes a column and its
parents among the columns before it, by the score of `Dependences`. Then every column's table with its parents
is measured. Of ε, the share `epsilon_split` goes to the selections in equal parts, the rest, ε₂, to the tables.

Three flavours bound the parents. `theta`: a table has at most n·ε₂/(2dθ) cells, so that the mean count of a
cell is at least θ times the scale 2d/ε₂ of its noise. `theta-code`: at most n·ε/(4dθ), as the original code has
it, which takes ε₂ for ε/2 whatever the split; both are the same at a split of 1/2. (The code divides doubles by
one column's size after the other; here the comparison is exact.) `degree`: a column has at most k parents.
Candidates are the maximal sets of parents, to which none can be added and of which none can be refined; a
parent may enter in a coarser version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb, prod
from typing import Literal, get_args

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import Dependences
from facsimile.synthesizers.base import Answers, Known, Synthesizer, by_cells, by_law, some
from facsimile.synthesizers.consistency import consistent
from facsimile.synthesizers.network import Network, Node
from facsimile.table.domain import Domain, Version, Versions, columns_of
from facsimile.table.measurement import Measurement

Dependence = tuple[str, Versions]
Levels = tuple[tuple[Version, int], ...]
MOST_CANDIDATES = 400
MOST_SETS = 5_000
UNIFORM = "uniform"
Flavour = Literal["theta", "theta-code", "degree"]


@dataclass(frozen=True)
class PrivBayes(Synthesizer):
    """The family with its hyperparameters; a root of `uniform` is drawn."""

    flavour: Flavour = "theta"
    theta: Fraction = Fraction(20)
    degree: int = 2
    epsilon_split: Fraction = Fraction(1, 10)
    root: str = UNIFORM

    def __post_init__(self) -> None:
        if self.flavour not in get_args(Flavour):
            raise ValueError("the flavour is theta, theta-code or degree")
        if self.theta <= 0 or self.degree < 0 or not 0 < self.epsilon_split < 1:
            raise ValueError("theta is positive, degree is not negative, epsilon_split lies between 0 and 1")

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:
        """The root is a column."""
        if self.root not in (UNIFORM, *domain.names):
            raise ValueError("the root is no column")

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> Network:
        """Select the structure, measure its tables, make them consistent."""
        families, left = self._structure(answers, known, share, random)
        joints = consistent(_measured(answers, families, left), known.n, known.zeros)
        nodes = [Node.of(*family, joint) for family, joint in zip(families, joints, strict=True)]
        return Network(answers.domain, tuple(nodes), known.zeros)

    def most_cells(self, n: int, columns: int, epsilon: Fraction) -> int:
        """How many cells a table may have under a flavour of theta."""
        share = Fraction(1, 2) if self.flavour == "theta-code" else 1 - self.epsilon_split
        return int(n / (self.theta * NoisyMarginals.scale(epsilon * share / columns)))

    def _structure(
        self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator
    ) -> tuple[list[Dependence], Fraction]:
        """Every column with its parents, in the order of the network, and the ε that is left for tables.

        Where there is one candidate only, nothing is asked; its share passes to the later questions.
        """
        domain = answers.domain
        rest = list(domain.names)
        root = rest[int(random.integers(len(rest)))] if self.root == UNIFORM else self.root
        families: list[Dependence] = [(root, ())]
        rest.remove(root)
        structure = self.epsilon_split * epsilon
        cells = self.most_cells(known.n, len(domain.names), epsilon)
        spent = Fraction(0)
        while rest:
            levels = [_levels(domain, known, name) for name, _ in families]
            sizes = dict.fromkeys(domain.size([x]) for x in rest)
            parents = {size: self._parents(levels, cells // size, random) for size in sizes}
            candidates = [(x, chosen) for x in rest for chosen in parents[domain.size([x])]]
            candidates = some(candidates, MOST_CANDIDATES, random)
            place = 0
            if len(candidates) > 1:
                share = (structure - spent) / len(rest)
                scores = Dependences(domain, tuple(candidates), known.n)
                place = answers.run(NoisySelection(scores, share))
                spent += share
            families.append(candidates[place])
            rest.remove(candidates[place][0])
        return families, epsilon - spent

    def _parents(self, levels: Sequence[Levels], cells: int, random: np.random.Generator) -> list[Versions]:
        useful = [level for level in levels if level[0][1] > 1]
        if self.flavour == "degree":
            size = min(self.degree, len(useful))
            if comb(len(useful), size) > MOST_SETS:
                picks = [
                    sorted(random.choice(len(useful), size, replace=False)) for _ in range(MOST_CANDIDATES)
                ]
                return list(dict.fromkeys(tuple(useful[i][0][0] for i in pick) for pick in picks))
            return [tuple(level[0][0] for level in chosen) for chosen in combinations(useful, size)]
        return maximal(useful, cells, random)


def maximal(levels: Sequence[Levels], cells: int, random: np.random.Generator) -> list[Versions]:
    """The sets of versions of columns with at most `cells` cells to which nothing can be added or refined.

    All of them, or where there are too many to list, some that are found by adding columns in random orders.
    """
    found = list(islice(_fitting(levels, cells), MOST_SETS + 1))
    if len(found) > MOST_SETS:
        orders = (random.permutation(len(levels)).tolist() for _ in range(MOST_CANDIDATES))
        return list(dict.fromkeys(_greedy(levels, cells, order) for order in orders))
    return [tuple(version for version, _ in chosen) for chosen in found if _is_maximal(chosen, levels, cells)]


def _fitting(levels: Sequence[Levels], cells: int) -> Iterator[Levels]:
    """Every set of versions that fits, one version of a column at most."""
    if not levels:
        yield ()
        return
    for version, size in levels[0]:
        if size <= cells:
            yield from (((version, size), *rest) for rest in _fitting(levels[1:], cells // size))
    yield from _fitting(levels[1:], cells)


def _is_maximal(chosen: Levels, levels: Sequence[Levels], cells: int) -> bool:
    total = prod(size for _, size in chosen)
    present = {version[0]: size for version, size in chosen}
    for level in levels:
        now = present.get(level[0][0][0], 1)
        larger = [size for _, size in level if size > now]
        if larger and total // now * min(larger) <= cells:
            return False
    return True


def _greedy(levels: Sequence[Levels], cells: int, order: Sequence[int]) -> Versions:
    """Columns in the order given, each in its finest version that still fits."""
    chosen: dict[int, Version] = {}
    for place in order:
        for version, size in levels[place]:
            if size <= cells:
                chosen[place], cells = version, cells // size
                break
    return tuple(chosen[place] for place in sorted(chosen))


def _levels(domain: Domain, known: Known, name: str) -> Levels:
    """A column's versions, finest first, with their sizes; each is smaller than the one before."""
    levels: list[tuple[Version, int]] = [((name, None), domain.axis(name).size)]
    for groups in known.coarser.get(name, ()):
        if 1 < max(groups) + 1 < levels[-1][1]:
            levels.append(((name, tuple(groups)), max(groups) + 1))
    return tuple(levels)


def _cells(domain: Domain, family: Dependence) -> int:
    """The cells of a column's table with its parents."""
    column, parents = family
    return domain.size([column]) * prod(domain.size([n]) if g is None else max(g) + 1 for n, g in parents)


def _measured(answers: Answers, families: Sequence[Dependence], epsilon: Fraction) -> list[Measurement]:
    """Each column's noisy table, the parents' axes first; those without coarser versions in one question.

    Tables have equal parts of an ε, and of a ρ what their cells deserve.
    """
    sizes = [_cells(answers.domain, family) for family in families]
    weights = by_law(epsilon, [Fraction(1)] * len(families), by_cells(sizes, epsilon))
    shares = {family: epsilon * weight / sum(weights) for family, weight in zip(families, weights, strict=True)}
    asked = {family: ((*columns_of(family[1]), family[0]), shares[family]) for family in families}
    plain = [family for family in families if all(groups is None for _, groups in family[1])]
    found = answers.run(NoisyMarginals(tuple(asked[family] for family in plain)))
    tables = dict(zip(plain, found, strict=True))
    for family in families:
        if family not in tables:
            (tables[family],) = answers.run(NoisyMarginals((asked[family],), family[1]))
    return [tables[family] for family in families]
