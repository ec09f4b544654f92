"""Workload: a list of measurements taken once, and the maximum-entropy distribution they speak for.

The list is a text (`measurements`), so that public data can choose it. One coarse table of many columns says
more about pairs than a table for each pair: k tables share ε, so their variances grow with k²; in the one table
a pair's cells are sums, and variances grow with the cells summed. Groups of codes are made from what was
answered before, so they cost nothing: items are asked in order, `each` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers import graphical
from facsimile.synthesizers.base import Answers, Known, Model, Synthesizer
from facsimile.synthesizers.dense import LARGEST, Dense, possible, smoothed
from facsimile.synthesizers.estimation import SMALLEST_VARIANCE, Measurement, columns, estimate, strengths
from facsimile.synthesizers.measurements import AUTO, STRONGEST, Cuts, items, most_cells, shares
from facsimile.table.domain import Clique, Domain
from facsimile.table.fit import Floats, Groups, tabled


@dataclass(frozen=True)
class Workload(Synthesizer):
    """The text of the measurements and of their weights, `auto` for what suits the domain."""

    measurements: str = AUTO
    weights: str = AUTO

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> Workload:
        """From the text of a configuration."""
        return cls(**hyperparameters)

    def check(self, domain: Domain, n: int, epsilon: Fraction) -> None:
        """Read the measurements and the weights."""
        shares(self.weights, items(self.measurements, domain, n, epsilon), domain, n, epsilon)

    def holds(self, domain: Domain, known: Known) -> bool:
        """Where the domain is too large to be held, a junction tree must hold the rules."""
        return domain.cells <= LARGEST or graphical.holds(domain, known.zeros)

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Model:
        """Measure in order, then estimate: densely, or on a junction tree where the domain is too large."""
        domain = answers.domain
        dense = domain.cells <= LARGEST
        start = _start(domain, known) if dense else None
        expected = _columns(domain, known, start)
        every = items(self.measurements, domain, known.n, epsilon)
        budgets = shares(self.weights, every, domain, known.n, epsilon)
        found: list[Measurement] = []
        for item, tables in zip(every, budgets, strict=True):
            margins = columns(expected, found, known.n, _records(known))
            cuts = {name: Cuts.of(counts, _numbers(domain, name)) for name, counts in margins.items()}
            cliques = item.cliques(domain.names)
            if item.word == STRONGEST:
                cliques = strongest(found, margins, known.n, len(cliques)) or cliques
                tables = [sum(tables, Fraction(0)) / len(cliques)] * len(cliques)
            wanted = []
            for clique, share in zip(cliques, tables, strict=True):
                sizes = item.sizes({name: cuts[name] for name in clique}, most_cells(known.n, share))
                groups = tuple(cuts[name].groups(sizes[name]) for name in clique)
                wanted.append(Wanted(clique, groups, share))
            found += [answer for batch in batches(wanted) for answer in measured(answers, batch)]
        if start is not None:
            return Dense(domain, estimate(domain, found, known.n, start, _records(known)))
        return _on_a_tree(domain, known, found)


@dataclass(frozen=True, eq=False)
class Wanted:
    """A table to be measured: its columns, the group of each of their codes, its ε."""

    columns: Clique
    groups: tuple[Groups, ...]
    epsilon: Fraction


def batches(wanted: Sequence[Wanted]) -> list[list[Wanted]]:
    """Tables that agree on the groups of the columns they share are asked together, in one recoding."""
    found: list[tuple[dict[str, Groups], list[Wanted]]] = []
    for table in wanted:
        mine = dict(zip(table.columns, table.groups, strict=True))
        for groups, batch in found:
            if all(np.array_equal(groups.get(name, group), group) for name, group in mine.items()) and all(
                other.columns != table.columns for other in batch
            ):
                groups.update(mine)
                batch.append(table)
                break
        else:
            found.append((mine, [table]))
    return [batch for _, batch in found]


def measured(answers: Answers, batch: Sequence[Wanted]) -> list[Measurement]:
    """Noisy tables of columns in groups."""
    axes = {axis.name: axis for axis in answers.domain.axes}
    maps = {}
    for name, group in (pair for table in batch for pair in zip(table.columns, table.groups, strict=True)):
        if int(group.max()) + 1 < len(group):
            maps[name] = group.tolist()
            bins = (CategoryBin(str(g), frozenset([str(g)])) for g in range(int(group.max()) + 1))
            axes[name] = Axis(name, tuple(bins))
    asked = answers.recoded(Domain(tuple(axes.values())), maps) if maps else answers
    counts = asked.run(NoisyMarginals(tuple((table.columns, table.epsilon) for table in batch)))
    return [
        Measurement(t.columns, t.groups, counts[t.columns].astype(np.float64), variance(t.epsilon))
        for t in batch
    ]


def variance(epsilon: Fraction) -> float:
    """Of discrete Laplace noise with a = exp(−ε/2): 2a/(1 − a)²."""
    a = exp(-float(epsilon) / 2)
    return max(SMALLEST_VARIANCE, 2 * a / (1 - a) ** 2)


def strongest(found: Sequence[Measurement], margins: Mapping[str, Floats], n: int, number: int) -> list[Clique]:
    """The pairs that depend most on each other, among those not yet measured as fine as they are."""
    done = {m.columns for m in found if all(len(g) == g.max() + 1 for g in m.groups)}
    known = [(pair, value) for pair, value in strengths(found, margins, n).items() if pair not in done]
    return [pair for pair, _ in sorted(known, key=lambda one: -one[1])[:number]]


def _start(domain: Domain, known: Known) -> Floats:
    allowed = possible(domain, known.zeros)
    return allowed.astype(np.float64) if known.prior is None else smoothed(known.prior, allowed)


def _columns(domain: Domain, known: Known, start: Floats | None) -> dict[str, Floats]:
    """The expected one-way tables before anything is measured."""
    if start is not None:
        tables = {name: tabled(domain, start, (name,)) for name in domain.names}
    elif known.prior is not None:
        tables = {name: known.prior.marginal((name,)).astype(np.float64) + 0.5 for name in domain.names}
    else:
        tables = {axis.name: np.ones(axis.size) for axis in domain.axes}
    return {name: table * (known.n / float(table.sum())) for name, table in tables.items()}


def _numbers(domain: Domain, name: str) -> list[float]:
    """A column's numbers; its codes where it has none."""
    axis = domain.axis(name)
    return [float(number) for number in axis.numbers or range(axis.size)]


def _records(known: Known) -> int:
    return known.prior.n if known.prior is not None else 0


def _on_a_tree(domain: Domain, known: Known, found: Sequence[Measurement]) -> Model:
    """The same answers for a model that never forms the domain: groups become columns of their own."""
    coarser: dict[str, graphical.Coarser] = {}
    answers = []
    for measurement in found:
        names = []
        for name, group in zip(measurement.columns, measurement.groups, strict=True):
            alias = name
            if group.max() + 1 < len(group):
                version = graphical.Coarser(name, tuple(group.tolist()))
                alias = next((a for a, v in coarser.items() if v == version), f"{name}@{len(coarser)}")
                coarser[alias] = version
            names.append(alias)
        answers.append((tuple(names), measurement.counts, (measurement.variance / 2) ** 0.5))
    return graphical.estimate(domain, answers, known.zeros, known.n, known.prior, coarser=coarser)
