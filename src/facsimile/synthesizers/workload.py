"""Workload: a list of measurements taken once, and the maximum-entropy distribution they speak for.

The list is a text (`measurements`), so that public data can choose it. One coarse table of many columns says
more about pairs than a table for each pair: k tables share ε, so their variances grow with k²; in the one table
a pair's cells are sums, and variances grow with the cells summed. Groups of codes are made from what was
answered before, so they cost nothing: items are asked in order, `each` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers import graphical
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer
from facsimile.synthesizers.dense import Dense, possible, smoothed
from facsimile.synthesizers.estimation import SMALLEST_VARIANCE, columns, estimate, strengths
from facsimile.synthesizers.leaning import Leaning
from facsimile.synthesizers.measurements import AUTO, STRONGEST, BestGroups, items, most_cells, shares
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import tabled
from facsimile.table.measurement import Measurement


@dataclass(frozen=True)
class Workload(Synthesizer):
    """The text of the measurements and of their weights, `auto` for what suits the domain."""

    leans = True

    measurements: str = AUTO
    weights: str = AUTO

    def check(self, domain: Domain, n: int, epsilon: Fraction) -> None:
        """Read the measurements and the weights."""
        shares(self.weights, items(self.measurements, domain, n, epsilon), domain, n, epsilon)

    def holds(self, domain: Domain, known: Known) -> bool:
        """Where the domain is too large to be held, a junction tree must hold the rules."""
        return domain.cells <= DENSE_CELLS or graphical.holds(domain, known.zeros)

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> RowModel:
        """Measure in order, then estimate: densely, or on a junction tree where the domain is too large."""
        domain = answers.domain
        dense = domain.cells <= DENSE_CELLS
        leaning = None if known.prior is None else Leaning.on(known.prior)
        start = _start(domain, known, leaning) if dense else None
        expected = _columns(domain, known, start, leaning)
        every = items(self.measurements, domain, known.n, epsilon)
        budgets = shares(self.weights, every, domain, known.n, epsilon)
        found: list[Measurement] = []
        for item, tables in zip(every, budgets, strict=True):
            margins = columns(expected, found, known.n, leaning)
            cuts = {name: BestGroups.of(counts, _numbers(domain, name)) for name, counts in margins.items()}
            cliques = item.cliques(domain.names)
            if item.word == STRONGEST:
                cliques = strongest(found, margins, known.n, len(cliques)) or cliques
                tables = [sum(tables, Fraction(0)) / len(cliques)] * len(cliques)
            wanted = []
            for clique, share in zip(cliques, tables, strict=True):
                sizes = item.sizes({name: cuts[name] for name in clique}, most_cells(known.n, share))
                wanted.append((clique, share, {name: cuts[name].version(sizes[name]) for name in clique}))
            found += [whole(one) for question in batches(wanted) for one in answers.run(question)]
        if start is not None:
            return Dense(domain, estimate(domain, found, known.n, start, leaning))
        return graphical.estimate(domain, found, known.zeros, known.n, known.prior)


Wanted = tuple[Clique, Fraction, Mapping[str, tuple[int, ...] | None]]
"""A table to be measured: its columns, its ε, and the version of each column."""


def batches(wanted: Sequence[Wanted]) -> list[NoisyMarginals]:
    """Tables that agree on the groups of the columns they share are asked together."""
    found: list[tuple[dict[str, tuple[int, ...] | None], dict[Clique, Fraction]]] = []
    for clique, share, mine in wanted:
        for versions, batch in found:
            if clique not in batch and all(versions.get(name, group) == group for name, group in mine.items()):
                break
        else:
            found.append((versions := {}, batch := {}))
        versions.update(mine)
        batch[clique] = share
    return [NoisyMarginals(tuple(batch.items()), tuple(versions.items())) for versions, batch in found]


def whole(measurement: Measurement) -> Measurement:
    """With the variance of noise in whole numbers, 2a/(1 − a)² with a = exp(−1/b), which is less than 2b²."""
    a = exp(-1 / measurement.scale)
    return replace(measurement, variance=max(SMALLEST_VARIANCE, 2 * a / (1 - a) ** 2))


def strongest(found: Sequence[Measurement], margins: Mapping[str, Floats], n: int, number: int) -> list[Clique]:
    """The pairs that depend most on each other, among those not yet measured as fine as they are."""
    done = {m.columns for m in found if all(groups is None for _, groups in m.versions)}
    known = [(pair, value) for pair, value in strengths(found, margins, n).items() if pair not in done]
    return [pair for pair, _ in sorted(known, key=lambda one: -one[1])[:number]]


def _start(domain: Domain, known: Known, leaning: Leaning | None) -> Floats:
    allowed = possible(domain, known.zeros)
    if known.prior is None or leaning is None:
        return allowed.astype(np.float64)
    return smoothed(known.prior, leaning.shares, allowed)


def _columns(domain: Domain, known: Known, start: Floats | None, leaning: Leaning | None) -> dict[str, Floats]:
    """The expected one-way tables before anything is measured."""
    if start is not None:
        tables = {name: tabled(domain, start, (name,)) for name in domain.names}
    elif leaning is not None:
        tables = dict(leaning.shares)
    else:
        tables = {axis.name: np.ones(axis.size) for axis in domain.axes}
    return {name: table * (known.n / float(table.sum())) for name, table in tables.items()}


def _numbers(domain: Domain, name: str) -> list[float]:
    """A column's numbers; its codes where it has none."""
    axis = domain.axis(name)
    return [float(number) for number in axis.numbers or range(axis.size)]
