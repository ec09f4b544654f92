"""Chances: how likely a trial's candidate is accepted under budgets that were never tried.

A trial keeps the exact value, limit and sensitivity of every criterion. The noise of a test has a known law, so
the probability of acceptance follows for any epsilon of the test, without another trial:

    joint test      M = max (value − limit)/Δ;  accepted when ⌊K·M⌋ + Z ≤ −margin,  P[Z = z] ∝ exp(−|z|ε/K)
    one by one      accepted when value + Z < limit for each criterion with its own ε: a product
    by measurement  the same with a margin each, and a joint test for criteria without an ε: a product

From the mean of these chances over trials follow the chance of a release and the expected candidates, as the
selection mode has it (privacy/modes.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, log

import numpy as np
from scipy.special import rel_entr

from facsimile.acceptance.decision import GRID, margin
from facsimile.explore.trials import Trial
from facsimile.table.exact import Floats

WORTH = 0.005


@dataclass(frozen=True, eq=False)
class Distances:
    """The criteria of many trials in arrays: a line for each trial; infinite where a trial fails exactly.

    `slack` is −M of the criterion alone, `below` (limit − value)/Δ, never more than it, `limit` limit/Δ; the
    criterion that compares regressions has one column for each epsilon of the regression, of which `at(once)`
    keeps one.
    """

    criteria: tuple[tuple[str, str | None], ...]
    slack: Floats
    below: Floats
    limit: Floats

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Distances:
        """From the trials of one or more configurations."""
        names = next((tuple((r.criterion, r.once) for r in t.noiseless) for t in trials if t.noiseless), ())
        shape = (len(trials), len(names))
        slack, below, limit = np.full(shape, -np.inf), np.full(shape, -np.inf), np.full(shape, np.inf)
        for place, trial in enumerate(trials):
            if trial.noiseless:
                slack[place] = [-r.excess for r in trial.noiseless]
                below[place] = [(r.limit - r.value) / r.sensitivity for r in trial.noiseless]
                limit[place] = [r.limit / r.sensitivity for r in trial.noiseless]
        return cls(names, slack, below, limit)

    def at(self, once: str | None) -> Distances:
        """With one epsilon of the regression."""
        return self._only([i for i, (_, level) in enumerate(self.criteria) if level is None or level == once])

    def tightened(self, factor: float) -> Distances:
        """With every limit multiplied by a factor: the value stays. The joint test gets no less than this."""
        limit = self.limit * factor
        with np.errstate(invalid="ignore"):
            below = np.where(np.isneginf(self.below), -np.inf, self.below - self.limit + limit)
        return Distances(self.criteria, below, below, limit)

    def onces(self) -> tuple[str | None, ...]:
        """The epsilons of the regression worth their price: each lets more candidates meet every criterion.

        None alone where no criterion needs one.
        """
        kept: list[str | None] = []
        best = -1.0
        for level in [level for _, level in self.criteria if level is not None]:
            share = float((self.at(level).slack.min(axis=1) > 0).mean())
            if share > best + WORTH:
                kept.append(level)
                best = share
        return tuple(kept) or (None,)

    def joint(self, epsilon: Fraction, luck: Fraction) -> Floats:
        """The chance of each trial's candidate in the joint test."""
        if not self.criteria:
            return np.zeros(len(self.slack))
        return _passing(*self._extremes, epsilon, luck)

    def by_measurement(self, epsilons: Sequence[Fraction], test: Fraction | None, luck: Fraction) -> Floats:
        """The chance of each candidate in scheme `measured`; an epsilon of 0 shares the test.

        On the grid of the joint test: that of a criterion is as fine, or each of its steps is one of Δ itself.
        """
        shared = [i for i, epsilon in enumerate(epsilons) if not epsilon]
        found = np.ones(len(self.slack))
        if shared and test is not None:
            found = self._only(shared).joint(test, luck)
        for i, epsilon in enumerate(epsilons):
            if epsilon:
                found = found * _passing(-self.below[:, i], self.limit[:, i], epsilon, luck)
        return found

    def _only(self, kept: Sequence[int]) -> Distances:
        """Some of the columns."""
        names = tuple(self.criteria[i] for i in kept)
        return Distances(names, self.slack[:, kept], self.below[:, kept], self.limit[:, kept])

    @cached_property
    def _extremes(self) -> tuple[Floats, Floats]:
        """M of each trial, infinite where it has none, and its smallest limit."""
        return -self.slack.min(axis=1), self.limit.min(axis=1)

    def one_by_one(self, epsilons: Sequence[float]) -> Floats:
        """The chance of each candidate when every criterion is measured with its own noise."""
        if not self.criteria:
            return np.zeros(len(self.slack))
        failed = np.isinf(self.below).any(axis=1)
        below = np.where(np.isinf(self.below), 0.0, self.below) * np.asarray(epsilons)
        beyond = 0.5 * np.exp(-np.abs(below))
        return np.where(failed, 0.0, np.where(below >= 0, 1 - beyond, beyond).prod(axis=1))


def _passing(excess: Floats, limit: Floats, epsilon: Fraction, luck: Fraction) -> Floats:
    """The chance that ⌊K·excess⌋ + Z ≤ −margin; none where only luck would pass even what has no error."""
    step, units = _margin(luck, epsilon), np.floor(GRID * excess)
    hopeless = (limit <= step / GRID) | ~np.isfinite(units)
    return np.where(hopeless, 0.0, at_most(-step - units, float(epsilon) / GRID))


@lru_cache(maxsize=4096)
def _margin(luck: Fraction, epsilon: Fraction) -> int:
    """The margin of the joint test, computed once for each way to select."""
    return margin(luck, epsilon, GRID)


def at_most(k: Floats, rate: float) -> Floats:
    """P[Z ≤ k] for discrete Laplace noise of ratio a = e^−rate: 1 − a^(k+1)/(1+a), or a^−k/(1+a) below 0.

    >>> at_most(np.array([-1.0, 0.0]), log(2)).round(4).tolist()
    [0.3333, 0.6667]
    """
    a = exp(-rate)
    with np.errstate(over="ignore"):
        above = 1 - np.exp(-rate * (np.maximum(k, 0) + 1)) / (1 + a)
        below = np.exp(rate * np.minimum(k, 0)) / (1 + a)
    found: Floats = np.where(k >= 0, above, below)
    return found


def interval(mean: float, n: float, confidence: float) -> tuple[float, float]:
    """Bounds on the expected mean of n independent values in [0, 1] (Chernoff's, by relative entropy).

    Theorem.  Each bound fails with probability at most (1 − confidence)/2.
    Proof.    For independent values in [0, 1] with mean μ, P[x̄ ≥ x] ≤ exp(−n·KL(x‖μ)) for x > μ, and likewise
      below (Hoeffding 1963, theorem 1). The bounds are the μ with n·KL(x̄‖μ) = log(2/(1 − confidence)).  QED
    Corollary.  So it is for a sum of independent values in [0, rᵢ], Σrᵢ = 1, with n = 1/max rᵢ: values that
      depend on each other count as one, and configurations may have different numbers of trials.
    Proof.    Let ρᵢ = n·rᵢ ≤ 1. By convexity of exp, log E exp(s·n·Xᵢ) ≤ f(ρᵢ) = log(1 + pᵢ(e^(sρᵢ) − 1)) with
      pᵢ = E Xᵢ/rᵢ. f is convex with f(0) = 0, so f(ρᵢ) ≤ ρᵢ·f(1), and by concavity of log the sum is at most
      Σρᵢ·log(1 + μ(e^s − 1)) with Σρᵢ = n: the bound for n values in [0, 1].  QED
    """
    return at_least(mean, n, confidence), 1 - at_least(1 - mean, n, confidence)


def at_least(mean: float, n: float, confidence: float) -> float:
    """The lower one of the two bounds."""
    from scipy.optimize import brentq  # slow to import, and seldom needed

    mean = min(1.0, max(0.0, mean))
    if mean == 0.0 or not n:
        return 0.0
    allowed = log(2 / (1 - confidence)) / n
    return float(brentq(lambda m: min(1e9, rel_entr(mean, m) + rel_entr(1 - mean, 1 - m)) - allowed, 0.0, mean))
