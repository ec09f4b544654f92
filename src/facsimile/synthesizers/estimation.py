"""Estimation: from noisy, overlapping measurements to counts over a dense domain.

A measurement is a table of some columns, each perhaps in groups, every cell with independent noise of one
variance. Such noise splits into a total, an effect of each column, and interactions, orthogonal to each other.
So nothing is lost by taking a measurement apart:

1. Columns. All that is said about a column is its own table and its shadow in each larger one (the others
   summed away: variance times the cells summed). The best linear unbiased estimate, the total n being known, is
   weighted least squares with as many unknowns as the column has codes. Neighbouring codes of an ordered column
   help each other (`smoothness`). It is projected on the counts that are not negative and sum to n: cutting
   negative counts off would push rare codes up.
2. Pairs. Each pair of columns in each measurement is moved to the tables of its columns, which is least squares
   again. Higher interactions are left to maximum entropy.
3. The distribution. Proportional fitting from the start, tables of columns exactly and last, tables of pairs
   with a slack for their noise (`table.fit`). The slack is variance/τ: it says how far true tables of this kind
   lie from the start, (true − E)² ≈ τE, and τ is learnt from the table itself. Independent columns have τ = 1,
   the spread of records. What a prior has to say is weighed in `leaning`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from facsimile.spec.bins import NumberBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.consistency import nearest
from facsimile.synthesizers.leaning import Leaning, softness
from facsimile.synthesizers.smoothness import along
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import Target, grouped, ratio, relaxed, tabled
from facsimile.table.measurement import Measurement, told_apart

SMALLEST_VARIANCE = 1e-3
SWEEPS = 40
TOLERANCE = 1e-5
FAINT = 1e-9
# True tables are mostly close to the start and here and there far from it. A slack for the average would blur
# what stands out, so a tenth of it is given.
FIRMNESS = 0.1


@dataclass(frozen=True, eq=False)
class Moved:
    """A shadow on two columns, its counts moved to the tables of the columns, and its τ."""

    shadow: Measurement
    counts: Floats
    tau: float

    @property
    def target(self) -> Target:
        """What the fit shall come close to."""
        slack = FIRMNESS * self.shadow.variance / self.tau
        return Target(self.shadow.columns, self.counts, self.shadow.groups, slack)

    def leaning(self, expected: Floats, records: Floats) -> Target:
        """The same where the start is a prior that has so many records in each cell."""
        slack = self.shadow.variance * softness(self.counts, expected, records, self.noise, FIRMNESS)
        return Target(self.shadow.columns, self.counts, self.shadow.groups, slack)

    @property
    def noise(self) -> float:
        """The variance that is left of a cell's noise after it was moved."""
        rows, columns = self.counts.shape
        return self.shadow.variance * float((1 - 1 / rows) * (1 - 1 / columns))

    @property
    def strength(self) -> float:
        """An estimate of the χ² by which the true table differs from the start."""
        rows, columns = self.counts.shape
        return float((self.tau - 1) * (rows - 1) * (columns - 1))


def estimate(
    domain: Domain, measurements: Sequence[Measurement], n: int, start: Floats, leaning: Leaning | None = None
) -> Floats:
    """Expected counts of n records on the cells where the start has mass.

    `leaning`: on the prior that the start was made of; None if it says nothing about the columns.
    """
    before = {name: tabled(domain, start, (name,)) * (n / start.sum()) for name in domain.names}
    lines = {axis.name: ordered(axis) for axis in domain.axes}
    margins = columns(before, measurements, n, leaning, lines)
    exact = [Target((name,), counts) for name, counts in margins.items()]
    expected = relaxed(domain, exact, start, n, SWEEPS, TOLERANCE)
    known = None if leaning is None else start * (leaning.records / start.sum())
    found = []
    for shadow in shadows(measurements):
        table, *prior = (
            tabled(domain, cells, shadow.columns, shadow.groups)
            for cells in (expected, known)
            if cells is not None
        )
        pair = moved(shadow, margins, table, 1.0)
        found.append(pair.leaning(table, *prior) if prior else pair.target)
    fitted = relaxed(domain, [*found, *exact], expected, n, SWEEPS, TOLERANCE)
    return next((counts for counts in (fitted, expected) if counts.any()), start * (n / start.sum()))


def ordered(axis: Axis) -> list[int]:
    """Its codes that are ranges of numbers: they follow each other."""
    return [code for code, its_bin in enumerate(axis.bins) if isinstance(its_bin, NumberBin)]


def columns(
    before: Mapping[str, Floats],
    measurements: Sequence[Measurement],
    n: int,
    leaning: Leaning | None = None,
    lines: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Floats]:
    """The one-way tables: not negative, nothing where nothing was expected before, each with sum n.

    A code that may occur keeps a trace of mass, so that rules and columns that disagree never leave nothing.
    `lines`: for each column the codes that follow each other; without a prior they are smoothed.
    """
    return {
        name: _column(name, expected, measurements, n, leaning, lines[name] if lines else None)
        for name, expected in before.items()
    }


def _column(
    name: str,
    expected: Floats,
    measurements: Sequence[Measurement],
    n: int,
    leaning: Leaning | None,
    line: Sequence[int] | None,
) -> Floats:
    """One of them. Codes that nothing tells apart are estimated as one, whose variance is known, and then share
    its mass: as they were expected to, or as their neighbours on the line say."""
    shadows = [one.onto((name,)) for one in measurements if name in one.columns]
    codes = told_apart(len(expected), [shadow.groups[0] for shadow in shadows])
    first = np.unique(codes, return_index=True)[1]
    merged = [replace(one, groups=(one.groups[0][first],)) for one in shadows]
    counts, variances = column(name, len(first), merged, n)
    shape = expected
    if leaning is not None:
        counts, variances = leaning.column(name, counts, variances, expected, codes)
    elif line is not None:
        along_it = np.array([code for code in line if expected[code] > 0], np.int64)
        shape = (counts / np.bincount(codes))[codes]
        spread = (variances / np.bincount(codes))[codes]
        known = _precision(name, len(expected), shadows, n)
        shape[along_it], spread[along_it] = along(along_it, *known, shape, spread)
        counts, variances = grouped(shape, [codes]), grouped(spread, [codes])
        shape = np.maximum(shape, FAINT * n) * (expected > 0)
    variances = np.maximum(variances, SMALLEST_VARIANCE)
    found = nearest(counts, n, variances, grouped(expected, [codes]) > 0, FAINT * n)
    return found[codes] * ratio(shape, grouped(shape, [codes])[codes])


def strengths(
    measurements: Sequence[Measurement], margins: Mapping[str, Floats], n: int
) -> dict[Clique, float]:
    """How far each pair of columns is from independent: the largest estimate of its χ²."""
    found: dict[Clique, float] = {}
    for shadow in shadows(measurements):
        rows, columns = _sides(shadow, margins)
        pair = moved(shadow, margins, np.outer(rows, columns) / n, 1.0)
        found[shadow.columns] = max(found.get(shadow.columns, 0.0), pair.strength)
    return found


def column(name: str, size: int, measurements: Sequence[Measurement], n: int) -> tuple[Floats, Floats]:
    """The best linear unbiased estimate of a column's table and its variances, the total being n.

    Codes that no measurement tells apart share what is known of them equally, up to rounding: see `columns`.
    """
    precision, weighted = _precision(name, size, measurements, n)
    faint = 1e-9 * (precision.max() or 1.0)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = precision + faint * np.eye(size)
    system[size, size] = 0
    inverse = np.linalg.inv(system)
    counts = inverse[:size] @ np.append(weighted + faint * n / size, n)
    return counts, np.maximum(np.diag(inverse)[:size], SMALLEST_VARIANCE)


def _precision(name: str, size: int, measurements: Sequence[Measurement], n: int) -> tuple[Floats, Floats]:
    """The precision Q of all that is said about a column's counts, and Q·counts."""
    precision, weighted = np.zeros((size, size)), np.zeros(size)
    for measurement in measurements:
        if name in measurement.columns:
            shadow = measurement.onto((name,))
            (group,), counts = shadow.groups, shadow.counts
            centred = counts + (n - counts.sum()) / len(counts)
            joins = (np.arange(len(counts))[:, None] == group) / shadow.variance**0.5
            precision += joins.T @ joins
            weighted += joins.T @ (centred / shadow.variance**0.5)
    return precision, weighted


def moved(shadow: Measurement, margins: Mapping[str, Floats], expected: Floats, least_tau: float) -> Moved:
    """A shadow on two columns, moved to the tables of its columns."""
    rows, columns = _sides(shadow, margins)
    counts = shadow.counts + ((rows - shadow.counts.sum(axis=1)) / len(columns))[:, None]
    counts += (columns - counts.sum(axis=0)) / len(rows)
    noise = shadow.variance * (1 - 1 / len(rows)) * (1 - 1 / len(columns))
    return Moved(shadow, counts, _tau(counts, expected, noise, least_tau))


def shadows(measurements: Sequence[Measurement]) -> Iterator[Measurement]:
    """Every pair of columns of every measurement."""
    for measurement in measurements:
        for pair in combinations(measurement.columns, 2):
            shadow = measurement.onto(pair)
            if min(shadow.counts.shape) > 1:
                yield shadow


def _sides(shadow: Measurement, margins: Mapping[str, Floats]) -> Iterator[Floats]:
    for name, group in zip(shadow.columns, shadow.groups, strict=True):
        yield np.bincount(group, margins[name]).astype(np.float64)


def _tau(counts: Floats, expected: Floats, noise: float | Floats, least: float, rounds: int = 5) -> float:
    """τ with E(counts − expected)² = τ·expected + noise, by moments weighted with their own precision."""
    tau, excess = least, (counts - expected) ** 2 - noise
    for _ in range(rounds):
        weight = expected / (tau * expected + noise) ** 2
        tau = max(least, float((weight * excess).sum() / ((weight * expected).sum() or 1.0)))
    return tau
