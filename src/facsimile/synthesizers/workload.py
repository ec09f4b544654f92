"""Workload: a list of measurements taken once, and the maximum-entropy distribution they speak for.

The list is a text (`measurements`), so that public data can choose it. One coarse table of many columns says
more about pairs than a table for each pair: k tables share ε, so their variances grow with k²; in the one table
a pair's cells are sums, and variances grow with the cells summed. Groups of codes are made from what was
answered before, so they cost nothing: items are asked in order, `each` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from math import exp, pi, sqrt

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers import graphical
from facsimile.synthesizers.base import Answers, Foreseen, Known, RowModel, Synthesizer, by_law
from facsimile.synthesizers.dense import Dense, possible, smoothed
from facsimile.synthesizers.estimation import SMALLEST_VARIANCE, columns, estimate, strengths
from facsimile.synthesizers.junction import said
from facsimile.synthesizers.leaning import Leaning
from facsimile.synthesizers.measurements import (
    AUTO,
    NONE,
    STRONGEST,
    BestGroups,
    items,
    most_cells,
    score_shares,
    shares,
)
from facsimile.synthesizers.tilt import corrected
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import spread, tabled
from facsimile.table.measurement import Measurement

FELT = 0.35
"""The part of a table's noise that is left after a fit."""


@dataclass(frozen=True)
class Workload(Synthesizer):
    """The text of the measurements and of their weights, `auto` for what suits the domain."""

    leans = True

    measurements: str = AUTO
    weights: str = AUTO
    scores: str = NONE

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:
        """Read the measurements, the weights and the scores; no column may be left to guesses."""
        left = share - sum(score_shares(self.scores, share).values())
        every = items(self.measurements, domain, n, left)
        shares(self.weights, every, domain, n, left)
        counted = set[str]().union(*(item.counts(domain.names) for item in every))
        missing = next((axis.name for axis in domain.axes if axis.size > 1 and axis.name not in counted), None)
        if missing is not None:
            raise ValueError(f"nothing counts {missing}: add `{missing}` or `each` to `measurements`")

    def asks(self) -> tuple[str, ...]:
        """The criteria whose scores it asks for."""
        return tuple(score_shares(self.scores, Fraction(1)))

    def foreseen(self, domain: Domain, n: int, share: Fraction) -> Foreseen:
        """All tables up to those of the strongest pairs; groups are made of what was answered before.

        Columns that are both in a table with groups and in one without are planned twice: which of them a
        table is could depend on what the groups turned out to be.
        """
        left = share - sum(score_shares(self.scores, share).values())
        every = items(self.measurements, domain, n, left)
        known = list(takewhile(lambda item: item.word != STRONGEST, every))
        tables = [(clique, item.fine(domain)) for item in known for clique in item.cliques(domain.names)]
        grouped = {clique for clique, fine in tables if not fine}
        fixed = tuple(clique for clique, _ in tables if clique not in grouped)
        planned = tuple(clique for clique, _ in tables if clique in grouped)
        return Foreseen(fixed, planned, more=len(known) < len(every))

    def holds(self, domain: Domain, known: Known) -> bool:
        """Where the domain is too large to be held, a junction tree must hold the rules."""
        return domain.cells <= DENSE_CELLS or graphical.holds(domain, known.zeros)

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> RowModel:
        """Measure in order, then estimate: densely, or on a junction tree where the domain is too large. Last,
        ask the scores and move to the answers.

        On a tree, tables that name their columns share their groups, those of the first: each is a column more.
        """
        domain, asked = answers.domain, score_shares(self.scores, share)
        share -= sum(asked.values())
        dense = domain.cells <= DENSE_CELLS
        leaning = None if known.prior is None else Leaning.on(known.prior)
        expected = _columns(domain, known, dense, leaning)
        every = items(self.measurements, domain, known.n, share)
        budgets = shares(self.weights, every, domain, known.n, share)
        found: list[Measurement] = []
        known_noise, settled = by_law(share, whole, firm), False
        for item, tables in zip(every, budgets, strict=True):
            cliques = item.cliques(domain.names)
            if item.word or not settled:
                margins = columns(expected, found, known.n, leaning)
                cuts = {name: BestGroups.of(counts, _numbers(domain, name)) for name, counts in margins.items()}
                settled = not dense and len(cliques[0]) > 1
            if item.word == STRONGEST:
                cliques = strongest(found, margins, known.n, len(cliques)) or cliques
                tables = [sum(tables[1:], tables[0]) / len(cliques)] * len(cliques)
            wanted = []
            for clique, part in zip(cliques, tables, strict=True):
                sizes = item.sizes({name: cuts[name] for name in clique}, most_cells(known.n, part))
                wanted.append((clique, part, {name: cuts[name].version(sizes[name]) for name in clique}))
            found += [known_noise(one) for question in batches(wanted) for one in answers.run(question)]
        model: RowModel = (
            Dense(domain, _counts(domain, found, known, leaning))
            if dense
            else graphical.estimate(domain, heard(found, known, share), known.zeros, known.n, known.prior)
        )
        return corrected(model, answers, known, asked, random)


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
    """With the variance of Laplace noise in whole numbers: 2a/(1 − a)², a = exp(−1/b), is less than 2b²."""
    a = exp(-1 / measurement.scale)
    return firm(replace(measurement, variance=2 * a / (1 - a) ** 2))


def firm(measurement: Measurement) -> Measurement:
    """With a variance that is never quite 0; that of Gaussian noise is the same in whole numbers."""
    return replace(measurement, variance=max(SMALLEST_VARIANCE, measurement.variance))


def heard(found: Sequence[Measurement], known: Known, share: Fraction) -> Sequence[Measurement]:
    """What a tree is fitted to: of a ρ, which affords tables that say nothing, those that say something.

    A table of several columns that is no farther from independent columns, in L1, than noise explains, and the
    part of it that a fit would keep (FELT), gives way to the tables of its columns: their sums are noisy counts
    without a bias, and may be all that is known of a column. With a prior, which knows better, none does.
    """
    if not isinstance(share, Rho) or known.prior is not None:
        return found

    def says(one: Measurement) -> bool:
        typical = sqrt(2 / pi * one.variance)
        return said(one.counts, typical, known.n) > FELT * typical * one.counts.size

    def parts(one: Measurement) -> Sequence[Measurement]:
        if len(one.columns) == 1 or says(one):
            return [one]
        return [one.onto((name,)) for name in one.columns]

    return [part for one in found for part in parts(one)]


def strongest(found: Sequence[Measurement], margins: Mapping[str, Floats], n: int, number: int) -> list[Clique]:
    """The pairs that depend most on each other, among those not yet measured as fine as they are."""
    done = {m.columns for m in found if all(groups is None for _, groups in m.versions)}
    known = [(pair, value) for pair, value in strengths(found, margins, n).items() if pair not in done]
    return [pair for pair, _ in sorted(known, key=lambda one: -one[1])[:number]]


def _counts(domain: Domain, found: Sequence[Measurement], known: Known, leaning: Leaning | None) -> Floats:
    """Expected counts: columns that no table and no rule ties together are independent, so each part of the
    domain is estimated by itself."""
    every = np.ones(domain.shape)
    for part, start in _starts(domain, known, leaning, [measurement.columns for measurement in found]):
        inside = [one for one in found if set(one.columns) <= set(part.names)]
        counts = estimate(part, inside, known.n, start, leaning)
        every *= spread(counts / known.n, part.names, domain.names)
    return every * known.n


def _starts(
    domain: Domain, known: Known, leaning: Leaning | None, cliques: Sequence[Clique] = ()
) -> Iterator[tuple[Domain, Floats]]:
    """The parts of the domain that cliques and rules leave, each with where its fit begins: flat, or a prior,
    which ties everything together."""
    if known.prior is not None and leaning is not None:
        yield domain, smoothed(known.prior, leaning.shares, possible(domain, known.zeros))
        return
    for names in tied(domain.names, [*cliques, *(clique for clique, _ in known.zeros)]):
        part = domain.project(names)
        inside = [(clique, mask) for clique, mask in known.zeros if set(clique) <= set(names)]
        yield part, possible(part, inside).astype(np.float64)


def tied(names: Clique, cliques: Sequence[Clique]) -> list[Clique]:
    """The names in parts that no clique joins, each in the order given.

    >>> tied(("a", "b", "c", "d"), [("d", "a"), ("b",)])
    [('a', 'd'), ('b',), ('c',)]
    """
    part = {name: {name} for name in names}
    for clique in cliques:
        joint = set().union(*(part[name] for name in clique))
        part.update(dict.fromkeys(joint, joint))
    return list(dict.fromkeys(tuple(name for name in names if name in part[one]) for one in names))


def _columns(domain: Domain, known: Known, dense: bool, leaning: Leaning | None) -> dict[str, Floats]:
    """The expected one-way tables before anything is measured."""
    if dense:
        starts = _starts(domain, known, leaning)
        tables = {name: tabled(part, start, (name,)) for part, start in starts for name in part.names}
    elif leaning is not None:
        tables = dict(leaning.shares)
    else:
        tables = {axis.name: np.ones(axis.size) for axis in domain.axes}
    return {name: tables[name] * (known.n / float(tables[name].sum())) for name in domain.names}


def _numbers(domain: Domain, name: str) -> list[float]:
    """A column's numbers; its codes where it has none."""
    axis = domain.axis(name)
    return [float(number) for number in axis.numbers or range(axis.size)]
