"""Designs for wide tables: which tables to measure so that all tables of k columns come out close on average.

Made on a public stand-in, written as the text of a `workload`. What a design is worth is found by trial: the
workload itself runs on the stand-in, and its mean total variation distance over the tables of k columns is
taken. A table keeps its noise when others come and go (common random numbers), so two designs differ by what
they are, and not by luck. Which table to try next is predicted: the share of records by which the last draw
misses a pair of columns in their groups, less what the noise of measuring it would add.

The search climbs: it adds pairs, drops tables, joins two into one (whose cells tell the sums of both), moves
weights and numbers of groups, and keeps what lowers the distance. Every column has one number of groups in all
its tables, so that the model's tree stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from math import prod, sqrt
from typing import Any
from zlib import crc32

import numpy as np

from facsimile.explore.design.law import LAPLACE, Law, law_of
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Answers, Known
from facsimile.synthesizers.junction import junction_tree
from facsimile.synthesizers.measurements import BestGroups
from facsimile.synthesizers.workload import Workload
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table

MOST_TABLES = 400
MOST_CELLS = 3_000
"""Of a table that is measured."""
MOST_TRIED = 20_000_000
"""Cells of all tables that a draw is held against."""
FEW_CODES, MOST_GROUPS, LOSS = 16, 10, 0.02
"""A column of numbers with more codes is measured in groups: as many as lose this share of its variance, at
first. Codes without an order have no neighbours to be grouped with."""
MOST_TREE = 300_000
"""Cells of the tree of a model: they bound the time of a candidate and its memory."""
ROUNDS = 2
FACTOR = 1.6
LEAST_GAIN = 5e-5
FAILURES = 3
LONGEST = 1000
"""The characters that a specification allows in a hyperparameter."""
FELT = 0.35
"""The share of a table's noise that is left after the fit."""


@dataclass(frozen=True)
class Draft:
    """Tables with their weights, and the number of groups of columns that have some in tables of several."""

    tables: Mapping[Clique, float]
    groups: Mapping[str, int]
    law: Law = LAPLACE

    @property
    def own(self) -> dict[str, str]:
        """As the family reads it."""
        return {"measurements": self.measurements, "weights": self.weights}

    @property
    def measurements(self) -> str:
        """The tables as text, single columns first: groups are cut by them."""
        return "; ".join(self._text(clique) for clique in self._order)

    @property
    def weights(self) -> str:
        """Their weights as text."""
        return "; ".join(f"{self.tables[clique]:.3f}" for clique in self._order)

    @cached_property
    def _order(self) -> list[Clique]:
        return sorted(self.tables, key=lambda clique: len(clique) > 1)

    def _text(self, clique: Clique) -> str:
        cut = {name: f"@{number}" for name, number in self.groups.items() if len(clique) > 1}
        return "*".join(name + cut.get(name, "") for name in clique)

    def cells(self, domain: Domain, clique: Clique) -> int:
        """The cells of a table as it is measured."""
        if len(clique) == 1:
            return domain.size(clique)
        return prod(self.groups.get(name, domain.axis(name).size) for name in clique)

    def tree(self, domain: Domain) -> int:
        """The cells of the tree that a model of a wide domain needs, its columns in their groups."""
        if domain.cells <= DENSE_CELLS:
            return 0
        coarse = Domain(tuple(replace(a, bins=a.bins[: self.groups.get(a.name, a.size)]) for a in domain.axes))
        return junction_tree(coarse, [clique for clique in self.tables if len(clique) > 1]).cells

    def under(self, law: Law) -> Draft:
        """The same tables for noise of another law: their weights as total variation wants them."""
        power = (2 + self.law.power) / (2 + law.power)
        return replace(self, tables={one: weight**power for one, weight in self.tables.items()}, law=law)

    def with_table(self, clique: Clique, weight: float, without: Iterable[Clique] = ()) -> Draft:
        """With one table more, and without some."""
        left = {one: value for one, value in self.tables.items() if one not in without}
        return replace(self, tables={**left, clique: weight + left.get(clique, 0.0)})


class StandIn:
    """Answers on a public table. A table's noise depends on its columns and the seed, and grows with its scale.

    So drafts that share a budget in other ways meet the same luck; a curator's own law (`Coupled`) does not
    give that.
    """

    def __init__(self, table: Table, seed: int) -> None:
        self.domain, self.table, self.seed = table.domain, table, seed

    def run(self, mechanism: Mechanism[Any]) -> Any:
        """Noisy tables, with noise of the law that a release has, drawn by seed."""
        assert isinstance(mechanism, NoisyMarginals)
        found = []
        for clique, share in mechanism.marginals:
            random = np.random.default_rng([self.seed, crc32(repr(clique).encode())])
            counts = self.table.marginal(clique, mechanism.versions)
            variance = mechanism.variance(share)
            noise = np.rint(sqrt(variance) * law_of(share).noise(random, counts.shape)).astype(np.int64)
            found.append(Measurement.of(self.domain, clique, mechanism.versions, counts + noise, variance))
        return tuple(found)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """The same records under other axes."""
        return StandIn(self.table.recode(domain, maps), self.seed)


@dataclass(eq=False)
class Trial:
    """What a draft is worth on a stand-in, at a budget that is scaled to the stand-in's number of records."""

    table: Table
    known: Known
    budget: Fraction
    ways: int = 3
    seed: int = 0
    found: dict[tuple[str, str], float] = field(default_factory=dict)

    @cached_property
    def tables(self) -> dict[Clique, Floats]:
        """The shares of tables of k columns: all, or some at random."""
        every = list(combinations(self.table.domain.names, min(self.ways, len(self.table.domain.names))))
        order = np.random.default_rng(self.seed).permutation(len(every))[:MOST_TABLES]
        room = np.cumsum([self.table.domain.size(every[place]) for place in order]) <= MOST_TRIED
        return {every[place]: self.table.marginal(every[place]) / self.table.n for place in order[room]}

    @property
    def law(self) -> Law:
        """That of the noise."""
        return law_of(self.budget)

    def draw(self, draft: Draft) -> Table:
        """A table of the draft's own model."""
        family = Workload(draft.measurements, draft.weights)
        random = np.random.default_rng(self.seed)
        model = family.fit(StandIn(self.table, self.seed), self.known, self.budget, random)
        return model.sample(self.table.n, random)

    def value(self, draft: Draft) -> float:
        """The mean total variation distance; 1 where the draft is too long to be written, or the tree too large
        to be held."""
        key = draft.measurements, draft.weights
        if key not in self.found:
            held = max(map(len, key)) <= LONGEST and draft.tree(self.table.domain) <= MOST_TREE
            self.found[key] = self.distance(self.draw(draft)) if held else 1.0
        return self.found[key]

    def distance(self, drawn: Table) -> float:
        """Of a drawn table."""
        gaps = [np.abs(drawn.marginal(c) / drawn.n - share).sum() / 2 for c, share in self.tables.items()]
        return float(np.mean(gaps))

    def climbed(self, draft: Draft, steps: Callable[[Trial, Draft], Iterator[Step]]) -> Draft:
        """The draft after all steps that lower the distance, each tried once."""
        for step in steps(self, draft):
            tried = step(draft)
            if tried is not None and self.value(tried) < self.value(draft) - LEAST_GAIN:
                draft = tried
        return draft


Step = Callable[[Draft], Draft | None]


def designed(
    table: Table,
    known: Known,
    budget: Fraction,
    *,
    ways: int = 3,
    seed: int = 0,
    rounds: int = ROUNDS,
    begin: Draft | None = None,
) -> Draft:
    """The design for n = `known.n` records and a budget, ε or ρ, made on a public table of the same columns.

    Distances stay the same when noise falls with the number of records, so the stand-in may have another size.
    A round has noise of its own, so that what was luck in one is undone in the next. `begin`: a draft for this
    budget's law; else every column by itself.
    """
    scaled, law = replace(known, n=table.n), law_of(budget)
    share = law.scaled(budget, Fraction(known.n, table.n))
    names = table.domain.names
    alone: dict[Clique, float] = {(name,): _weight(table.domain.axis(name).size, law) for name in names}
    draft = begin or Draft(alone, _groups(table), law)
    for place in range(rounds):
        trial = Trial(table, scaled, share, ways, seed + place)
        draft = _added(trial, draft)
        for steps in (_dropping, _joining, _weighing, _regrouping):
            draft = trial.climbed(draft, steps)
    return draft


def _weight(cells: int, law: Law) -> float:
    """Noise of tables in total variation is ∝ cells/ε or cells/√ρ; its sum is least for ε ∝ √cells, and for
    ρ ∝ cells^(2/3) = √cells^(4/3)."""
    return float(max(0.5, sqrt(cells / 50)) ** (4 / (2 + law.power)))


def _groups(table: Table) -> dict[str, int]:
    """The numbers of groups to begin with."""
    found = {}
    for axis in table.domain.axes:
        if axis.size > FEW_CODES and axis.numbers is not None:
            lost = _cut(table, axis.name).lost[:MOST_GROUPS]
            enough = [number for number, loss in enumerate(lost, 1) if loss <= LOSS]
            found[axis.name] = max(2, min([*enough, MOST_GROUPS]))
    return found


def _cut(table: Table, name: str) -> BestGroups:
    """The groups of a column, as the stand-in's own counts cut them."""
    axis = table.domain.axis(name)
    numbers = [float(number) for number in axis.numbers or range(axis.size)]
    return BestGroups.of(table.marginal((name,)).astype(np.float64), numbers)


def _added(trial: Trial, draft: Draft) -> Draft:
    """Pairs are added, the most promising first: as many as share no column, then fewer where that fails."""
    value, most, failures, tried = trial.value(draft), len(trial.table.domain.names) // 2, 0, set[Clique]()
    while failures < FAILURES:
        chosen = _promising(trial, draft, most, tried)
        if not chosen:
            break
        wider = draft
        for pair in chosen:
            wider = wider.with_table(pair, _weight(draft.cells(trial.table.domain, pair), trial.law))
        if trial.value(wider) < value - LEAST_GAIN:
            draft, value, failures = wider, trial.value(wider), 0
        elif most > 1:
            most = max(1, most // 2)
        else:
            tried.update(chosen)
            failures += 1
    return draft


def _promising(trial: Trial, draft: Draft, most: int, tried: set[Clique]) -> list[Clique]:
    """Pairs that a draw misses by most, beyond the noise; no two share a column, none is half as good."""
    domain, drawn = trial.table.domain, trial.draw(draft)
    total, gains = sum(draft.tables.values()), dict[Clique, float]()
    cuts = {name: _cut(trial.table, name).version(number) for name, number in draft.groups.items()}
    for pair in combinations(domain.names, 2):
        cells = draft.cells(domain, pair)
        if cells <= MOST_CELLS and pair not in tried and not any({*pair} <= {*one} for one in draft.tables):
            versions = tuple((name, cuts[name]) for name in pair if name in cuts)
            gap = np.abs(trial.table.marginal(pair, versions) - drawn.marginal(pair, versions)).sum() / 2
            weight = _weight(cells, trial.law)
            fewer = ((total + weight) / weight) ** (trial.law.power / 2)
            noise = cells * float(NoisyMarginals.scale(trial.budget)) * fewer / 2
            gains[pair] = float(gap) - FELT * noise
    chosen: list[Clique] = []
    for good in sorted(gains, key=lambda clique: -gains[clique]):
        if len(chosen) == most or gains[good] < gains[(chosen or [good])[0]] / 2:
            break
        wider = draft.with_table(good, 1.0)
        if not any({*good} & {*one} for one in chosen) and wider.tree(domain) <= MOST_TREE:
            chosen, draft = [*chosen, good], wider
    return chosen


def _dropping(trial: Trial, draft: Draft) -> Iterator[Step]:
    """Without one table, small ones first."""
    for clique in sorted(draft.tables, key=lambda clique: draft.cells(trial.table.domain, clique)):
        yield partial(_without, clique)


def _without(clique: Clique, draft: Draft) -> Draft | None:
    """None where a column would no longer be measured as fine as it is."""
    left = {one: weight for one, weight in draft.tables.items() if one != clique}
    fine = {name for one in left for name in one if len(one) == 1 or name not in draft.groups}
    return replace(draft, tables=left) if all(fine.issuperset(one) for one in draft.tables) else None


def _joining(trial: Trial, draft: Draft) -> Iterator[Step]:
    """Two tables that share a column as one, those that grow least first."""
    domain = trial.table.domain
    found = []
    for one, other in combinations([clique for clique in draft.tables if len(clique) > 1], 2):
        union = tuple(sorted({*one, *other}, key=domain.place))
        cells = draft.cells(domain, union)
        if {*one} & {*other} and cells <= MOST_CELLS:
            found.append((cells / (draft.cells(domain, one) + draft.cells(domain, other)), one, other, union))
    for _, one, other, union in sorted(found)[: 2 * len(draft.tables)]:
        yield partial(_joined, one, other, union)


def _joined(one: Clique, other: Clique, union: Clique, draft: Draft) -> Draft | None:
    """With the weights of all tables that the union holds; None where one of the two is no longer there."""
    if one not in draft.tables or other not in draft.tables:
        return None
    inside = [clique for clique in draft.tables if len(clique) > 1 and {*clique} <= {*union}]
    return draft.with_table(union, sum(draft.tables[clique] for clique in inside), inside)


def _weighing(trial: Trial, draft: Draft) -> Iterator[Step]:
    """More or less weight for each table."""
    for clique in draft.tables:
        for factor in (FACTOR, 1 / FACTOR):
            yield partial(_weighed, clique, factor ** (2 // trial.law.power))


def _weighed(clique: Clique, factor: float, draft: Draft) -> Draft:
    return draft.with_table(clique, factor * draft.tables[clique], [clique])


def _regrouping(trial: Trial, draft: Draft) -> Iterator[Step]:
    """More or fewer groups for each column that has some."""
    for name in draft.groups:
        for factor in (FACTOR, 1 / FACTOR):
            yield partial(_regrouped, name, factor, trial.table.domain.axis(name).size)


def _regrouped(name: str, factor: float, codes: int, draft: Draft) -> Draft:
    number = min(codes, max(2, round(draft.groups[name] * factor)))
    return replace(draft, groups={**draft.groups, name: number})
