"""Leaning: how far an estimate follows a prior, a public table of a population like that of the data.

What a prior of m records foretells of n others is off by chance: by s = E + E²d for a cell that E are expected
in, E for the spread of the n records and E²d for that of the prior, d = 1/(its records there). A prior of
another population is farther off. Say (true − E)² ≈ τs for the cells of one table. τ = 1 where chance is all;
each table tells its own τ: its noisy counts y, of noise v, have the likelihood ∏ N(y; E, τs + v).

Belief in τ begins with one half for τ = 1 and the other half spread over larger ones, so that where noise hides
all, the prior counts, and where counts speak, they win. An estimate is E + w(y − E) with w the mean of
τs/(τs + v): the expected error of either side decides, table by table.

Along an ordered column shares change smoothly, so that a small prior knows more of a code than its records
there: ln(share) is taken as a curve whose second differences are small (Student's t, which forgives an open end
or a heap), their size learnt from the prior itself. It is empirical Bayes on public records: it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from facsimile.spec.columns import Axis
from facsimile.table.exact import Floats, Ints
from facsimile.table.fit import grouped
from facsimile.table.table import Table

MULTIPLES: Floats = np.array([2.0**power for power in range(17)])
"""What τ may be."""
BELIEF: Floats = np.array([0.5, *[0.5 / (len(MULTIPLES) - 1)] * (len(MULTIPLES) - 1)])
FREEDOM, ROUNDS, TINY = 3.0, 30, 1e-9
FEWEST, MOST = 5, 300
"""How many codes a column has whose shares are smoothed."""


@dataclass(frozen=True, eq=False)
class Leaning:
    """What a prior says of each column: the share of every code, and its relative variance by chance."""

    records: int
    shares: Mapping[str, Floats]
    doubts: Mapping[str, Floats]

    @classmethod
    def on(cls, prior: Table) -> Leaning:
        """Read a prior column by column."""
        axes = prior.domain.axes
        found = [shared(prior.marginal((axis.name,)).astype(np.float64), axis) for axis in axes]
        parts = (dict(zip(prior.domain.names, part, strict=True)) for part in zip(*found, strict=True))
        return cls(prior.n, *parts)

    def column(
        self, name: str, counts: Floats, variances: Floats, codes: Floats, groups: Ints
    ) -> tuple[Floats, Floats]:
        """Noisy counts of groups of a column's codes, drawn to the prior as far as they let themselves; and
        their variances. `codes`: how many were expected of each."""
        expected = grouped(codes, [groups])
        spread = grouped(codes + codes**2 * self.doubts[name], [groups])
        weight = trusted(counts, expected, spread, variances)
        return expected + weight * (counts - expected), weight * variances


def beliefs(counts: Floats, expected: Floats, spread: Floats, noise: float | Floats) -> Floats:
    """How likely each τ is after a table was seen."""
    axes = tuple(range(1, counts.ndim + 1))
    variance = MULTIPLES.reshape(-1, *[1] * counts.ndim) * np.maximum(spread, TINY) + noise
    likely = -0.5 * (np.log(variance) + (counts - expected) ** 2 / variance).sum(axis=axes)
    found = BELIEF * np.exp(likely - likely.max())
    shares: Floats = found / found.sum()
    return shares


def trusted(counts: Floats, expected: Floats, spread: Floats, noise: Floats) -> Floats:
    """The weight w of each noisy count beside what was expected."""
    multiples = MULTIPLES[:, None] * spread
    shares: Floats = beliefs(counts, expected, spread, noise) @ (multiples / (multiples + noise))
    return shares


def softness(counts: Floats, expected: Floats, records: Floats, noise: float, firmness: float) -> Floats:
    """The slack of a noisy table of two columns, for each unit of its variance: E/(τs), cell by cell.

    `records`: those that the prior has in each cell. Where chance does not explain the table (τ > 1), true
    tables are here and there far from the prior, so that only a part of the slack is given: its firmness.
    """
    spread = expected + expected**2 / np.maximum(records, TINY)
    given = np.array([1.0, *[firmness] * (len(MULTIPLES) - 1)])
    tau = float(beliefs(counts, expected, spread, noise) @ (MULTIPLES / given))
    found: Floats = np.maximum(expected, TINY) / np.maximum(tau * spread, TINY)
    return found


def shared(records: Floats, axis: Axis) -> tuple[Floats, Floats]:
    """The share of every code and its relative variance; half a record is added to each."""
    counts = records + 0.5
    doubts = 1 / counts
    if axis.numbers is not None and FEWEST <= axis.size <= MOST:
        curve, doubts = smooth(np.log(counts), doubts)
        counts = np.exp(curve)
    return counts / counts.sum(), doubts


def smooth(values: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """A curve through noisy values and its variances: EM for second differences that follow Student's t."""
    bends = np.diff(np.eye(len(values)), 2, axis=0)
    size, firm = float(np.mean((bends @ values) ** 2)) + TINY, np.ones(len(bends))
    for _ in range(ROUNDS):
        inverse = np.linalg.inv(np.diag(1 / variances) + bends.T @ ((firm / size)[:, None] * bends))
        curve = inverse @ (values / variances)
        squares = (bends @ curve) ** 2 + ((bends @ inverse) * bends).sum(axis=1)
        firm = (FREEDOM + 1) / (FREEDOM + squares / size)
        size = float(np.mean(firm * squares)) + TINY
    return curve, np.diag(inverse).copy()
