"""The race: which configurations can still reach the wanted acceptance, told from their own trials alone.

A configuration is dropped as soon as, after its t-th trial,

    successes   the Clopper–Pearson upper bound on its acceptance is below what is wanted (29 failures in a row
                rule out 10 % at 95 %), or
    values      t ≥ 3 and for one criterion the lower tolerance bound on log(value/threshold) is above 0.

and kept as soon as the Clopper–Pearson lower bound is at least what is wanted. After the last trial it stays
undecided, and counts by its share of successes.

Tolerance.  Suppose x = log(value/threshold) of a criterion is normal over trials. An accepted trial has x < 0,
  up to lucky noise of probability `luck` where one joint test decides. An acceptance of at least w therefore
  means that the (w − luck)-quantile of x is below 0. From t trials with mean x̄ and deviation s, x̄ − k·s is
  below that quantile with the stated confidence when k = T(t−1, z√t; confidence)/√t, T the quantile of the
  noncentral t and z = Φ⁻¹(1 − (w − luck)). So if x̄ − k·s > 0, the wanted acceptance is ruled out. A value
  beyond ten times its threshold, or not defined, counts as ten times: only what lies near the threshold can
  speak for acceptance. A trial that ended before it came to a criterion was not accepted, so the trials that
  did come to it suffice: P[accepted] ≤ P[x < 0 | read] + luck.

Looking after every trial and at every criterion, and a distribution that is not normal, make the rule less sure
than its confidence. Therefore a random `audited` share of the dropped runs all its trials all the same: the
study reports how many of them reach the wanted share.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Literal

from scipy.special import betaincinv, nctdtrit, ndtri

from facsimile.explore.trials import FRESH, Trial

LARGEST = math.log(10)
LEAST_TRIALS = 3
RaceState = Literal["running", "kept", "dropped", "undecided"]


@dataclass(frozen=True)
class RaceRule:
    """How a race is run.

    `wanted`: the acceptance to reach. `trials`: how many at most. `confidence`: of the bounds on acceptance;
    `tolerance`: of the bound on values. `audited`: the share of the dropped that runs on. `finalists`: how many
    of the survivors get `fresh` further trials and go on to the next lower epsilon; `steps`: how many times the
    generator's epsilon is lowered, each time by a factor of √2. `most`: how many configurations race; a larger
    space is sampled. `luck`: how likely a joint test accepts a bad candidate.
    """

    wanted: float = 0.10
    trials: int = 40
    confidence: float = 0.95
    tolerance: float = 0.99
    audited: float = 0.02
    finalists: int = 4
    fresh: int = 100
    steps: int = 8
    most: int = 5000
    luck: float = 0.0


@dataclass(frozen=True)
class Standing:
    """Where a configuration stands, after how many trials that was decided, and by which criterion."""

    state: RaceState
    after: int
    successes: int
    by: str | None = None


@lru_cache(maxsize=4096)
def upper(successes: int, trials: int, confidence: float) -> float:
    """The Clopper–Pearson upper bound.

    >>> upper(0, 28, 0.95) > 0.10 > upper(0, 29, 0.95)
    True
    """
    if successes >= trials:
        return 1.0
    return float(betaincinv(successes + 1, trials - successes, confidence))


@lru_cache(maxsize=4096)
def lower(successes: int, trials: int, confidence: float) -> float:
    """The Clopper–Pearson lower bound."""
    return float(betaincinv(successes, trials - successes + 1, 1 - confidence)) if successes else 0.0


@lru_cache(maxsize=4096)
def tolerance_factor(trials: int, share: float, confidence: float) -> float:
    """k with P[x̄ − k·s ≤ the share-quantile of a normal distribution] = confidence.

    >>> round(tolerance_factor(3, 0.10, 0.99), 2)
    14.0
    """
    shift = float(ndtri(1 - share)) * math.sqrt(trials)
    return float(nctdtrit(trials - 1, shift, confidence)) / math.sqrt(trials)


def standing(trials: Sequence[Trial], rule: RaceRule) -> Standing:
    """The first decision that the trials of one configuration allow, in the order of their numbers."""
    successes = 0
    raced = sorted((t for t in trials if t.number < FRESH), key=lambda t: t.number)[: rule.trials]
    values: dict[str, list[float]] = {}
    for count, trial in enumerate(raced, 1):
        successes += trial.accepted
        if trial.refused is not None:
            return Standing("dropped", count, successes, trial.refused)
        for reading in trial.readings:
            values.setdefault(reading.criterion, []).append(_log(reading.deciding))
        if upper(successes, count, rule.confidence) < rule.wanted:
            return Standing("dropped", count, successes)
        if lower(successes, count, rule.confidence) >= rule.wanted:
            return Standing("kept", count, successes)
        if not successes:
            for criterion, found in values.items():
                if ruled_out(found, rule):
                    return Standing("dropped", count, successes, criterion)
    if len(raced) < rule.trials:
        return Standing("running", len(raced), successes)
    return Standing("undecided", len(raced), successes)


def _log(ratio: float | None) -> float:
    """log(value/threshold), between a millionth and ten times the threshold."""
    return LARGEST if ratio is None else min(LARGEST, math.log(max(ratio, 1e-6)))


def ruled_out(values: Sequence[float], rule: RaceRule) -> bool:
    """Whether the tolerance bound lies above 0."""
    share = rule.wanted - rule.luck
    if len(values) < LEAST_TRIALS or share <= 0:
        return False
    middle = fmean(values)
    spread = math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))
    return middle - tolerance_factor(len(values), share, rule.tolerance) * spread > 0


def audited(identifier: str, seed: int, rule: RaceRule) -> bool:
    """Whether a configuration runs on although it was dropped: a coin that depends on its name and the seed."""
    drawn = hashlib.sha256(f"audit|{seed}|{identifier}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") < rule.audited * 2**64


def survives(found: Standing, rule: RaceRule) -> bool:
    """Whether it was kept, or stayed undecided with a share of successes that is what is wanted."""
    if found.state == "undecided":
        return found.successes >= rule.wanted * found.after
    return found.state == "kept"


def rank(trials: Sequence[Trial]) -> tuple[float, float]:
    """The better, the smaller: expected successes after a uniform prior, then the mean of the worst value."""
    raced = [t for t in trials if t.number < FRESH]
    successes = sum(t.accepted for t in raced)
    worst = [max((_log(r.deciding) for r in t.readings), default=LARGEST) for t in raced]
    return -(successes + 1) / (len(raced) + 2), fmean(worst) if worst else LARGEST
