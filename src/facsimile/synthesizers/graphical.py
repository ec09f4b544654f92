"""Graphical model: the flattest distribution near noisy marginals, on a domain too large to hold.

The model is a product of functions of a few columns each, held on the bags of a junction tree (`junction`).
Noisy marginals are made consistent (`interactions`), those that the tree cannot hold give way, and
the rest is fitted by messages between the bags (`messages`). Every step is a total function of public input
and noisy answers, and the domain is never formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from facsimile.shaping.sampling import DrawnRecords, Sampling
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import RowModel
from facsimile.synthesizers.estimation import columns
from facsimile.synthesizers.interactions import composed, interactions
from facsimile.synthesizers.junction import JunctionTree, fitting, joining, junction_tree, ordered
from facsimile.synthesizers.leaning import Leaning
from facsimile.synthesizers.messages import Term, fitted, sum_to
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain, Version
from facsimile.table.exact import Floats
from facsimile.table.fit import ratio, spread
from facsimile.table.measurement import Measurement, joined
from facsimile.table.table import Codes, Table

LARGEST_TREE = 2_000_000
# λ of the marginals; the tables of single columns, which all measurements speak of, are matched closely.
FLATNESS, FIRM = 0.03, 1e-3
STAGES = 8
SWEEPS = 15
TOLERANCE = 5e-5
SMALLEST_VARIANCE = 2e-6


class TreeTooLarge(ValueError):
    """The cells that may not occur tie so many columns together that no tree can hold them."""


@dataclass(frozen=True, eq=False)
class Graphical(RowModel):
    """Expected counts of each bag of a junction tree, equal where bags overlap."""

    domain: Domain
    tree: JunctionTree
    counts: tuple[Floats, ...]

    def marginal(self, clique: Clique) -> Floats:
        """The expected counts of any columns, shaped like their domain in the order given."""
        place = self.tree.holding(clique)
        names = ordered(self.tree.domain, clique)
        found = (
            self._summed(names) if place is None else sum_to(self.counts[place], self.tree.bags[place], names)
        )
        return np.transpose(found, [names.index(name) for name in clique])

    def _summed(self, names: Clique) -> Floats:
        """The marginal of columns of several bags: top × Π bag/separator, summed from the leaves upwards."""
        tree, places = self.tree, self.tree.spanning(names)
        waiting: dict[int, list[tuple[Clique, Floats]]] = {}
        for place in reversed(places):
            separator = tree.separators[place] if place != places[0] else ()
            messages = waiting.pop(place, [])
            needed = {*separator, *names}.union(*(columns for columns, _ in messages))
            columns = ordered(tree.domain, {*tree.bags[place]} & needed)
            factor = sum_to(self.counts[place], tree.bags[place], columns)
            if place != places[0]:
                factor = ratio(factor, sum_to(factor, columns, separator, keep=True))
            reached = {*columns}.union(*(below for below, _ in messages))
            left = ordered(tree.domain, reached & {*separator, *names})
            found = _product_sum([(columns, factor), *messages], left)
            waiting.setdefault(tree.parents[place], []).append((left, found))
        ((_, found),) = waiting[tree.parents[places[0]]]
        return found

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        """n records, bag by bag: the new columns of a bag are drawn given those it shares with its parent."""
        full, records = self.tree.domain, DrawnRecords(n, random, sampling)
        codes: dict[str, Codes] = {}
        for bag, separator, counts in zip(self.tree.bags, self.tree.separators, self.counts, strict=True):
            new = tuple(name for name in bag if name not in separator)
            laws = np.transpose(counts, [bag.index(name) for name in separator + new])
            line = np.zeros(n, np.int64)
            for name in separator:
                line = line * full.axis(name).size + codes[name]
            cells = records.draw(laws.reshape(full.size(separator), full.size(new)), line)
            codes |= zip(new, np.unravel_index(cells, full.project(new).shape), strict=True)
        return Table.from_rows(self.domain, np.column_stack([codes[name] for name in self.domain.names]))


def _product_sum(factors: Sequence[tuple[Clique, Floats]], names: Clique) -> Floats:
    """The product of functions of a few columns each, summed to some columns."""
    every = dict.fromkeys(name for clique, _ in factors for name in clique)
    label = {name: place for place, name in enumerate(every)}
    operands: list[Any] = []
    for clique, factor in factors:
        operands += [factor, [label[name] for name in clique]]
    return np.asarray(np.einsum(*operands, [label[name] for name in names], optimize="greedy"))


def holds(domain: Domain, zeros: Sequence[tuple[Clique, Mask]], largest: int = LARGEST_TREE) -> bool:
    """Whether a tree can hold the cells that may not occur: from public rules alone, so before a charge."""
    return junction_tree(domain, [clique for clique, _ in zeros]).cells <= largest


def estimate(
    domain: Domain,
    measurements: Sequence[Measurement],
    zeros: Sequence[tuple[Clique, Mask]],
    total: int,
    prior: Table | None = None,
    *,
    largest: int = LARGEST_TREE,
    sweeps: int = SWEEPS,
) -> Graphical:
    """The model of noisy marginals.

    Without a prior the fit starts from the uniform distribution; with one, from the prior's own junction tree,
    joined by its strongest pairs where nothing was measured. Columns in groups become further columns, which
    follow from the domain's; the model draws without them. Measurements that need a tree of more than `largest`
    cells give way to their faces. `sweeps` bounds the walks of a stage of the fit.
    """
    coarser = {version: f"{version[0]}@{place}" for place, version in enumerate(_coarser(measurements))}
    full, ties = _extended(domain, coarser)
    rules = [*zeros, *ties]
    forced = [clique for clique, _ in rules]
    if not holds(full, rules, largest):
        raise TreeTooLarge("the cells that may not occur tie too many columns together")
    answers = joined(
        _renamed(full, one, coarser)
        for one in measurements
        if all(v[1] is None or v in coarser for v in one.versions)
    )
    kept = fitting(full, forced, answers, total, largest)
    cliques = [*forced, *(answer.columns for answer in kept)]
    known = None if prior is None else _lengthened(full, prior, coarser)
    tree = junction_tree(full, cliques if known is None else [*cliques, *joining(known, cliques)])
    start = _start(tree, rules, known)
    components = interactions(full, answers, total)
    margins = _columns(domain, measurements, total, prior)
    targets: list[tuple[Clique, Floats, float]] = [((name,), counts, FIRM) for name, counts in margins.items()]
    for answer in kept:
        if len(answer.columns) > 1:
            target = composed(full, components, answer.columns)
            targets.append((answer.columns, target, FLATNESS * answer.variance))
    terms: dict[int, list[Term]] = {}
    for clique, target, softness in targets:
        place = _held(tree, clique)
        terms.setdefault(place, []).append(Term(tree.bags[place], clique, target, softness))
    counts = fitted(tree, start, terms, max(total, 1), STAGES, sweeps, TOLERANCE)
    return Graphical(domain, tree, tuple(counts))


def _columns(
    domain: Domain, measurements: Sequence[Measurement], total: int, prior: Table | None
) -> dict[str, Floats]:
    """The one-way tables that all measurements together speak for, of the columns that were measured."""
    n, leaning = max(total, 1), None if prior is None else Leaning.on(prior)
    firm = [replace(one, variance=max(one.variance, SMALLEST_VARIANCE)) for one in measurements]
    before = {}
    for name in dict.fromkeys(name for one in measurements for name in one.columns):
        size = domain.axis(name).size
        before[name] = n * (np.full(size, 1 / size) if leaning is None else leaning.shares[name])
    return columns(before, firm, n, leaning)


def _coarser(measurements: Sequence[Measurement]) -> Iterable[Version]:
    """The columns in groups of tables of several columns, each once; a column's own table tells `_columns`."""
    several = [one for one in measurements if len(one.columns) > 1]
    return dict.fromkeys(v for one in several for v in one.versions if v[1] is not None)


def _renamed(full: Domain, measurement: Measurement, coarser: Mapping[Version, str]) -> Measurement:
    """The same counts, of columns of the full domain in its order; their noise is never quite 0."""
    names = tuple(coarser.get(version, version[0]) for version in measurement.versions)
    variance = max(measurement.variance, SMALLEST_VARIANCE)
    return Measurement.fine(names, measurement.counts, variance).onto(ordered(full, names))


def _extended(domain: Domain, coarser: Mapping[Version, str]) -> tuple[Domain, list[tuple[Clique, Mask]]]:
    """The domain with its coarser columns, and the pairs of codes that contradict each other."""
    axes = list(domain.axes)
    ties: list[tuple[Clique, Mask]] = []
    for (column, codes), name in coarser.items():
        groups = np.array(codes)
        axes.append(Axis(name, domain.axis(column).bins[: groups.max() + 1]))
        ties.append(((column, name), groups[:, None] != np.arange(groups.max() + 1)))
    return Domain(tuple(axes)), ties


def _lengthened(full: Domain, prior: Table, coarser: Iterable[Version]) -> Table:
    """The prior with its coarser columns."""
    added = [np.array(groups)[prior.column(column)] for column, groups in coarser]
    return Table.from_rows(full, np.column_stack([prior.codes, *added]), prior.counts)


def _held(tree: JunctionTree, clique: Clique) -> int:
    place = tree.holding(clique)
    assert place is not None
    return place


def _start(tree: JunctionTree, zeros: Sequence[tuple[Clique, Mask]], prior: Table | None) -> list[Floats]:
    """Factors of the bags whose product the fit begins with: uniform or the prior's, on allowed cells."""
    if prior is None:
        counts = [np.ones(tree.domain.project(bag).shape) for bag in tree.bags]
    else:
        counts = [
            ratio(joint, sum_to(joint, bag, separator, keep=True))
            for joint, bag, separator in zip(_smoothed(tree, prior), tree.bags, tree.separators, strict=True)
        ]
    for clique, mask in zeros:
        place = _held(tree, clique)
        counts[place] = counts[place] * ~spread(mask, clique, tree.bags[place])
    return counts


def _smoothed(tree: JunctionTree, prior: Table) -> list[Floats]:
    """The prior's bags mixed with independent columns, in the share of rows that occur once in a bag.

    That share estimates the chance that another record of the prior's population is new (Good and Turing).
    """
    shares = {}
    for name in tree.domain.names:
        counts = prior.marginal((name,)) + 1.0
        shares[name] = counts / counts.sum()
    tables = [prior.marginal(bag) / max(prior.n, 1) for bag in tree.bags]
    new = max(float(((table * prior.n).round() == 1).sum()) for table in tables) / max(prior.n, 1)
    share = min(max(new, 0.01), 0.5)
    bags = []
    for bag, table in zip(tree.bags, tables, strict=True):
        product = np.ones((1,) * len(bag))
        for name in bag:
            product = product * spread(shares[name], (name,), bag)
        bags.append((1 - share) * table + share * product)
    return bags
