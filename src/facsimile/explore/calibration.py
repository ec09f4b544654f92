"""Calibration on public data: how far intervals by replicates must reach to cover as often as they say.

Where the original P is public, the error of a release is known. So a few rehearsals of the release are made on
P, each is replicated, and random questions of every kind are asked of all tables. κ of a kind is the
0.95-quantile of |T(S) − T(P)|/s, s the standard error by replicates (analysis/combining.py). Where data of the
same kind behave like P, T(S) ± κs holds for 95 % of such questions; for a single one it says nothing certain.

Questions without a spread (s = 0) are left out: no factor makes an interval of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from facsimile.analysis.combining import combine
from facsimile.errors import refusal
from facsimile.release.replicates import REPLICATES, Replication, seed_of
from facsimile.release.run import rehearsed
from facsimile.spec.calibration import Calibration, Kind
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.exact import Floats
from facsimile.table.numbers import floats
from facsimile.table.table import Table

REHEARSALS, ASKED, TRIPLES, GROUPS = 6, 480, 24, 12
"""How many rehearsals, and of each: questions of a kind, triples of columns and groups that they are about."""
LEVEL, FEWEST = 0.95, 100
SMALLEST_GROUP, SMALLEST_FIT = 30, 300
ATTEMPTS = 20
COUNTS: tuple[Kind, ...] = ("one-way", "two-way", "three-way")
Question = tuple[Kind, Floats]
"""A kind, and the answer on each table."""


def calibrated(
    specification: Specification,
    table: Table,
    data: str,
    seed: int = 1,
    prior: Table | None = None,
    watch: Callable[[int, int], None] = lambda done, every: None,
) -> Calibration:
    """The factors that a public table shows, at the finest refinement; `data` is what it is called."""
    spec = specification.sized(table.n)
    ratios: dict[Kind, list[float]] = defaultdict(list)
    for place in range(REHEARSALS):
        watch(place, REHEARSALS)
        for kind, ratio in _ratios(spec, table, seed_of(seed, place), prior):
            ratios[kind].append(ratio)
    found = {kind: _factor(values) for kind, values in ratios.items() if len(values) >= FEWEST}
    if not found:
        raise refusal("E605")
    return Calibration(data=data, replicates=REPLICATES, kappa=found)


def asked(tables: Sequence[Table], each: int, random: np.random.Generator) -> Iterator[Question]:
    """Random questions, about so many of each kind, answered on every table.

    Counts of one to three conditions; mean, median and a share of a column among the records that others
    describe; slopes of regressions among the records of a group. A condition is a bin, or bins side by side.
    """
    domain = tables[0].domain
    numbered = [axis.name for axis in domain.axes if axis.numbers is not None]
    for _ in range(TRIPLES):
        clique = sorted(random.permutation(domain.names)[:3].tolist(), key=lambda name: name not in numbered)
        counted = np.stack([table.marginal(tuple(clique)) for table in tables]).astype(np.float64)
        for _ in range(each // TRIPLES):
            yield from _of_triple(domain.project(clique), counted, random)
    if len(numbered) > 1:
        yield from _slopes(tables, numbered, each, random)


def _ratios(spec: Specification, table: Table, seed: int, prior: Table | None) -> Iterator[tuple[Kind, float]]:
    """Errors over standard errors in one rehearsal."""
    accepted = next((a for k in range(ATTEMPTS) if (a := rehearsed(spec, table, seed + k, prior)[0])), None)
    if accepted is None:
        raise refusal("E605")
    real = recode(spec, table, accepted.configuration.alternatives)
    made = list(
        Replication.of(spec, accepted.configuration, accepted.table, prior).replicates(REPLICATES, seed)
    )
    tables = [real, accepted.table, *(one.table for one in made), *(one.resampled for one in made)]
    for kind, values in asked(tables, ASKED, np.random.default_rng(seed)):
        own, release, replicates, resampled = np.split(values, [1, 2, 2 + len(made)])
        error = combine(release[0], replicates, resampled).standard_error
        if error > 0:
            yield kind, abs(float(release[0] - own[0])) / float(error)


def _factor(ratios: Sequence[float]) -> Fraction:
    """The quantile, to two digits after the point, rounded up."""
    return Fraction(int(np.ceil(np.quantile(ratios, LEVEL) * 100)) or 1, 100)


def _of_triple(domain: Domain, counted: Floats, random: np.random.Generator) -> Iterator[Question]:
    """Questions about up to three columns, from their counts: tables first, then a place for each column."""
    masks = [_condition(size, random) for size in domain.shape]
    for ways in range(1, len(masks) + 1):
        if not all(mask.all() for mask in masks[:ways]):
            kept = [mask if i < ways else np.ones(len(mask)) for i, mask in enumerate(masks)]
            yield COUNTS[ways - 1], _within(counted, kept)
    spread = _within(counted, [m if random.random() < 0.5 else np.ones(len(m)) for m in masks[1:]])
    sizes = spread.sum(axis=1)
    if sizes.min() < SMALLEST_GROUP:
        return
    if not masks[0].all():
        yield "proportions", spread @ masks[0] / sizes
    if domain.axes[0].numbers is not None:
        numbers = floats(domain.axes[0])
        yield "means", spread @ numbers / sizes
        order = np.argsort(numbers, kind="stable")
        half = np.argmax(2 * np.cumsum(spread[:, order], axis=1) >= sizes[:, None], axis=1)
        yield "medians", numbers[order][half]


def _within(counted: Floats, masks: Sequence[Floats]) -> Floats:
    """The records that meet the conditions of the last columns."""
    for mask in reversed(masks):
        counted = counted @ mask
    return counted


def _condition(size: int, random: np.random.Generator) -> Floats:
    """One bin, or bins side by side."""
    first, last = sorted(random.integers(0, size, 2)) if random.random() < 0.5 else [random.integers(size)] * 2
    mask = np.zeros(size)
    mask[first : last + 1] = 1
    return mask


def _slopes(
    tables: Sequence[Table], names: Sequence[str], each: int, random: np.random.Generator
) -> Iterator[Question]:
    """Slopes of one column on one to three others, among all records and in groups."""
    groups = [_moments(tables, names, i > 0, random) for i in range(GROUPS)]
    asked = 0
    for i in count():
        if asked >= each or i >= each:
            return
        moments = groups[random.integers(GROUPS)]
        if moments[:, 0, 0].min() < SMALLEST_FIT:
            continue
        target, *others = (random.permutation(len(names))[: random.integers(2, 5)] + 1).tolist()
        rows = [0, *others]
        square, side = moments[:, rows][:, :, rows], moments[:, rows][:, :, [target]]
        if np.linalg.matrix_rank(square, hermitian=True).min() < len(rows):
            continue
        for slope in np.linalg.solve(square, side)[:, 1:, 0].T:
            asked += 1
            yield "coefficients", slope


def _moments(
    tables: Sequence[Table], names: Sequence[str], grouped: bool, random: np.random.Generator
) -> Floats:
    """Sums of products of a constant and the columns' standardised numbers, for each table; among the records
    that meet a condition on some column, if they are grouped."""
    domain = tables[0].domain
    group = domain.axes[random.integers(len(domain.axes))]
    mask = _condition(group.size, random) if grouped else np.ones(group.size)
    found = []
    for table in tables:
        weights = table.counts * mask[table.column(group.name)]
        columns = [_standardised(floats(domain.axis(name)))[table.column(name)] for name in names]
        x = np.column_stack([np.ones(table.distinct), *columns])
        found.append(x.T @ (x * weights[:, None]))
    return np.stack(found)


def _standardised(numbers: Floats) -> Floats:
    found: Floats = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    return found
