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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb, prod
from typing import Any, Literal, get_args

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import Dependences
from facsimile.privacy.queries.information import Version
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.spec.decimals import parse_decimal
from facsimile.synthesizers.base import Answers, Known, Synthesizer
from facsimile.synthesizers.consistency import Noisy, consistent
from facsimile.synthesizers.network import Network, Node, emptied
from facsimile.table.domain import Domain
from facsimile.table.table import Counts

Parents = tuple[Version, ...]
Family = tuple[str, Parents]
Levels = tuple[tuple[Version, int], ...]
MOST_CANDIDATES = 400
MOST_SETS = 5_000
UNIFORM = "uniform"
Flavour = Literal["theta", "theta-code", "degree"]


@dataclass(frozen=True)
class PrivBayes(Synthesizer):
    """The family with its hyperparameters; `root` None is drawn uniformly."""

    flavour: Flavour = "theta"
    theta: Fraction = Fraction(20)
    degree: int = 2
    epsilon_split: Fraction = Fraction(1, 10)
    root: str | None = None

    def __post_init__(self) -> None:
        if self.flavour not in get_args(Flavour):
            raise ValueError("the flavour is theta, theta-code or degree")
        if self.theta <= 0 or self.degree < 0 or not 0 < self.epsilon_split < 1:
            raise ValueError("theta is positive, degree is not negative, epsilon_split lies between 0 and 1")

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> PrivBayes:
        """From the text of a configuration."""
        parse: dict[str, Callable[[str], Any]] = {
            "flavour": str,
            "theta": parse_decimal,
            "degree": int,
            "epsilon_split": parse_decimal,
            "root": lambda text: None if text == UNIFORM else text,
        }
        return cls(**{name: parse[name](text) for name, text in hyperparameters.items()})

    def check(self, domain: Domain, n: int, epsilon: Fraction) -> None:
        """The root is a column."""
        if self.root is not None and self.root not in domain.names:
            raise ValueError("the root is no column")

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Network:
        """Select the structure, measure its tables, make them consistent."""
        families, left = self._structure(answers, known, epsilon, random)
        tables = _measured(answers, families, left)
        scale = 2 * len(families) / float(left)
        noisy = [
            Noisy(
                (*parents, (name, None)),
                table.astype(np.float64),
                2 * scale**2,
                emptied(known.zeros, answers.domain, (*parents, (name, None))),
            )
            for (name, parents), table in zip(families, tables, strict=True)
        ]
        joints = consistent(noisy, known.n)
        nodes = [Node.of(*family, joint) for family, joint in zip(families, joints, strict=True)]
        return Network(answers.domain, tuple(nodes), known.zeros)

    def most_cells(self, n: int, columns: int, epsilon: Fraction) -> int:
        """How many cells a table may have under a flavour of theta."""
        share = Fraction(1, 2) if self.flavour == "theta-code" else 1 - self.epsilon_split
        return int(n * epsilon * share / (2 * columns * self.theta))

    def _structure(
        self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator
    ) -> tuple[list[Family], Fraction]:
        """Every column with its parents, in the order of the network, and the ε that is left for tables.

        Where there is one candidate only, nothing is asked; its share passes to the later questions.
        """
        domain = answers.domain
        rest = list(domain.names)
        root = self.root or rest[int(random.integers(len(rest)))]
        families: list[Family] = [(root, ())]
        rest.remove(root)
        structure = self.epsilon_split * epsilon
        cells = self.most_cells(known.n, len(domain.names), epsilon)
        spent = Fraction(0)
        while rest:
            levels = [_levels(domain, known, name) for name, _ in families]
            sizes = dict.fromkeys(domain.size([x]) for x in rest)
            parents = {size: self._parents(levels, cells // size, random) for size in sizes}
            candidates = [(x, chosen) for x in rest for chosen in parents[domain.size([x])]]
            if len(candidates) > MOST_CANDIDATES:
                places = random.choice(len(candidates), MOST_CANDIDATES, replace=False)
                candidates = [candidates[i] for i in sorted(places)]
            place = 0
            if len(candidates) > 1:
                share = (structure - spent) / len(rest)
                scores = Dependences(domain, tuple(candidates), known.n)
                place = answers.run(NoisySelection(scores, share))
                spent += share
            families.append(candidates[place])
            rest.remove(candidates[place][0])
        return families, epsilon - spent

    def _parents(self, levels: Sequence[Levels], cells: int, random: np.random.Generator) -> list[Parents]:
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


def maximal(levels: Sequence[Levels], cells: int, random: np.random.Generator) -> list[Parents]:
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


def _greedy(levels: Sequence[Levels], cells: int, order: Sequence[int]) -> Parents:
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


def _measured(answers: Answers, families: Sequence[Family], epsilon: Fraction) -> list[Counts]:
    """Each family's noisy table, the parents' axes first; those without coarser versions in one question."""
    share = epsilon / len(families)
    plain = {f: clique(f) for f in families if all(groups is None for _, groups in f[1])}
    found = answers.run(NoisyMarginals(tuple((c, share) for c in plain.values())))
    tables = []
    for family in families:
        if family in plain:
            tables.append(found[plain[family]])
        else:
            domain, maps = _coarsened(answers.domain, family[1])
            answer = answers.recoded(domain, maps).run(NoisyMarginals(((clique(family), share),)))
            tables.append(answer[clique(family)])
    return tables


def clique(family: Family) -> tuple[str, ...]:
    """The columns of a family, its parents first."""
    return (*(name for name, _ in family[1]), family[0])


def _coarsened(domain: Domain, parents: Parents) -> tuple[Domain, dict[str, tuple[int, ...]]]:
    """The domain with coarser axes for the parents that have them; a group's label is its number."""
    maps = {name: groups for name, groups in parents if groups is not None}
    axes = (_grouped(axis.name, maps[axis.name]) if axis.name in maps else axis for axis in domain.axes)
    return Domain(tuple(axes)), maps


def _grouped(name: str, groups: tuple[int, ...]) -> Axis:
    labels = [str(group) for group in range(max(groups) + 1)]
    return Axis(name, tuple(CategoryBin(label, frozenset([label])) for label in labels))
