"""Intervals: what a number of the original is known to lie between, and what follows for numbers made of it.

A claim is an interval with the rule that gives it. Claims that hold together are intersected. Taking the
narrowest of several after they were seen is not valid: each would have its own chance to miss, and the one that
misses looks as narrow as any. So levels are shared before:

Theorem.  Let the claims about a question, and their levels α₁, …, α_k, be fixed by the specification, the
  configuration and the question (and α_i, where the noise of claim i is drawn after it, by the released table).
  If claim i misses with probability at most α_i, their intersection misses with at most Σα_i.
Proof.    The intersection misses only if one of them does.  QED
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf

import numpy as np

from facsimile.table.exact import Floats

HAIR = 1e-6
"""Integers are rounded outwards by more than a float of this size is off."""


@dataclass(frozen=True)
class Interval:
    """From low to high, both included; it holds nothing where low exceeds high."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.high - self.low

    def meet(self, other: Interval) -> Interval:
        """What lies in both."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def whole(self) -> Interval:
        """The integers in it, floats a hair off included.

        >>> Interval(1.2, 7.9999999).whole()
        Interval(low=2, high=8)
        """
        return Interval(ceil(self.low - HAIR), floor(self.high + HAIR))

    def over(self, divisor: float) -> Interval:
        """Both ends divided by a positive number."""
        return Interval(self.low / divisor, self.high / divisor)


ANYTHING = Interval(-inf, inf)
SHARE = Interval(0.0, 1.0)


@dataclass(frozen=True)
class Claim:
    """An interval, the rule that gives it, and why."""

    rule: str
    why: str
    interval: Interval


def intersected(claims: Iterable[Claim], limits: Interval) -> tuple[Interval, tuple[Claim, ...]]:
    """What all claims say, within limits that hold for certain; and the claims that decide an end.

    Where claims contradict each other one of them misses, nobody knows which: everything between their ends.
    """
    every = list(claims)
    found = limits
    for claim in every:
        found = found.meet(claim.interval)
    if found.low > found.high:
        ends = [c.interval for c in every]
        widest = Interval(min(e.low for e in ends), max(e.high for e in ends))
        return widest.meet(limits), tuple(every)
    binding = [
        c
        for c in every
        if c.interval.low >= found.low > limits.low or c.interval.high <= found.high < limits.high
    ]
    return found, tuple(binding)


def ratio(part: Interval, rest: Interval, whole: Interval) -> Interval:
    """a/b with b = a + c, from intervals of a, c and b that are not negative.

    Theorem.  a/b lies between a₋/min(b⁺, a₋ + c⁺) and a⁺/max(b₋, a⁺ + c₋); [0, 1] where that is 0/0.
    Proof.    a/b ≥ a₋/b⁺ and a/(a + c) rises in a and falls in c; the same from above.  QED
    """
    low_b, high_b = min(whole.high, part.low + rest.high), max(whole.low, part.high + rest.low)
    low = part.low / low_b if low_b > 0 else 0.0
    high = part.high / high_b if high_b > 0 else 1.0
    return Interval(max(0.0, min(1.0, low)), min(1.0, max(0.0, high)))


def mean(numbers: Sequence[float], counts: Sequence[Interval]) -> Interval:
    """Σ xⱼrⱼ/Σ rⱼ over all rⱼ between their ends, not all of them 0.

    Theorem.  The largest value has rⱼ at its upper end where xⱼ is above some threshold and at its lower end
      below it; the smallest the other way round.
    Proof.    The mean rises in rⱼ where xⱼ exceeds it and falls where xⱼ is less, so at a maximum each rⱼ is at
      the end that its side of the maximum tells.  QED
    """
    order = np.argsort(np.asarray(numbers, np.float64), kind="stable")
    x = np.asarray(numbers, np.float64)[order]
    low = np.array([max(0.0, counts[j].low) for j in order])
    high = np.array([max(0.0, counts[j].high) for j in order])
    return Interval(-_largest(-x[::-1], low[::-1], high[::-1]), _largest(x, low, high))


def _largest(x: Floats, low: Floats, high: Floats) -> float:
    """The largest mean, numbers ascending."""
    best = -inf
    for first in range(len(x) + 1):
        counts = np.concatenate([low[:first], high[first:]])
        if counts.sum() > 0:
            best = max(best, float(counts @ x / counts.sum()))
    return best if best > -inf else float(x.max())
