"""Decisions: is a candidate accepted? By one noisy number for all criteria, or by one for each.

Discrete Laplace noise Z of ratio a = exp(−ε/K) has P[Z ≤ −t] = a^t/(1+a) for integer t ≥ 0. A margin t keeps
a bad candidate from being accepted by luck.

In scheme `measured` both kinds of numbers decide: each criterion with an epsilon by one of its own
(`Asked.guarded`), all others by one joint test.

Theorem.  Let every noisy number have a margin for the same `luck`. An index accepts a candidate that misses a
  criterion with probability at most luck: the largest of the levels, not their sum.
Proof.    Fix the candidate S, the regression paid once, and the records that a definition draws; the noise of
  the numbers is drawn afterwards, for them alone, and is independent of all these. The exact values are now
  fixed. If S misses a criterion, take one that it misses and the number that speaks of it. S is accepted only
  if this number passes too, and it does so with probability at most luck: by `guarded`, or, in a joint test,
  because M ≥ 0 makes ⌊K·M⌋ ≥ 0, so that passing means Z ≤ −t. What holds given S holds.  QED
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from facsimile.privacy.budget import log_upper
from facsimile.privacy.mechanisms import Answer, NoisyAnswer
from facsimile.privacy.queries import Query, WorstExcess
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import Criterion

if TYPE_CHECKING:
    from facsimile.acceptance.kind import Kind

GRID = 1024
FINE = 1024
LAPLACE, SHARED, FUNCTIONAL = "discrete Laplace", "one discrete Laplace for several", "functional mechanism"


def margin(luck: Fraction, epsilon: Fraction, units: int) -> int:
    """The smallest t (rounded up) with P[Z ≤ −t] = a^t/(1+a) ≤ luck, where a = exp(−ε/units).

    t = ln(1/(luck·(1+a)))·units/ε; from a ≥ 1 − ε/units the logarithm is never too small.
    """
    smallest = max(Fraction(0), 1 - epsilon / units)
    wanted = 1 / (luck * (1 + smallest))
    return max(0, ceil(log_upper(wanted) * units / epsilon)) if wanted > 1 else 0


@dataclass(frozen=True)
class Measured:
    """A criterion measured with noise, and everything needed to judge it.

    units/grid is the noisy answer. Without a `sensitivity` it is no value plus noise, but the distance from a
    noisy fit. Where the number is shared it is that of the joint test, and there is no `value`; the criterion's
    parts have sensitivities from `finest` on.
    """

    criterion: Criterion
    form: Statistic
    mechanism: str
    value: Fraction | None
    met: bool
    tested_at: Fraction
    sensitivity: Fraction | None
    grid: int
    units: int
    bounds: tuple[Fraction, Fraction] | None = None
    smallest_group: int | None = None
    finest: Fraction | None = None

    @property
    def noise_units(self) -> int:
        """The sensitivity that the noise was drawn for, in units of 1/grid; that of a joint test is 1."""
        return self.grid if self.mechanism == SHARED else max(1, ceil(self.grid * (self.sensitivity or 0)))


@dataclass(frozen=True, eq=False)
class Asked:
    """A criterion as a query: met when the query's value is below `limit`.

    A noisy value by itself is compared with `tested_at`: the limit, or less where luck has a margin.
    """

    kind: Kind[Any]
    query: Query
    limit: Fraction
    tested_at: Fraction

    @property
    def criterion(self) -> Criterion:
        """What it asks about."""
        found: Criterion = self.kind.criterion
        return found

    @cached_property
    def sensitivity(self) -> Fraction:
        """Δ of the query."""
        return self.query.sensitivity()

    def guarded(self, luck: Fraction) -> Asked:
        """With a margin t of its own noise: a noisy answer ẽ passes if ẽ ≤ ⌊K·T⌋ − t, T the limit.

        Theorem.  Where the value E is at least T, it passes with probability at most luck.
        Proof.    e = ⌊K·E⌋ ≥ ⌊K·T⌋ [A]. ẽ = e + Z passes only if Z ≤ −t, and t is the margin of the noise that
          is drawn, of ratio a = exp(−ε/⌈KΔ⌉) [B]. In integers ẽ ≤ ⌊K·T⌋ − t is ẽ/K < (⌊K·T⌋ − t + 1)/K.  QED
        """
        question = self.question()
        t = margin(luck, question.epsilon, question.units)  # [B]
        last = floor(question.grid * self.limit) - t  # [A]
        return replace(self, tested_at=Fraction(last + 1, question.grid))

    def question(self, epsilon: Fraction | None = None) -> NoisyAnswer:
        """The criterion by itself, at its own epsilon or at another."""
        return NoisyAnswer(self.query, epsilon or self.criterion.epsilon, fine_grid(self.sensitivity))

    def measured(self, answer: Answer) -> Measured:
        """What a noisy answer says, a function of public numbers: met when it is below the value tested at."""
        return Measured(
            self.criterion,
            self.kind.form,
            LAPLACE,
            self.kind.error(answer.value),
            answer.value < self.tested_at,
            self.tested_at,
            self.sensitivity,
            answer.grid,
            answer.units,
            getattr(self.query, "bounds", None),
            self.kind.smallest(self.query),
        )

    def told_by(self, test: JointTest, answer: Answer) -> Measured:
        """What the one noisy number of a joint test says of it: no value, but whether it passed."""
        finest = min(step for step in self.query.steps(self.limit) if step or not self.sensitivity)
        found = replace(self.measured(answer), mechanism=SHARED, value=None, met=test.accepts(answer))
        return replace(found, tested_at=self.limit, finest=finest)


def fine_grid(sensitivity: Fraction) -> int:
    """A grid on which rounding the sensitivity up to whole units costs nothing, or less than a thousandth."""
    if sensitivity.numerator <= 1:
        return sensitivity.denominator
    return ceil(FINE / sensitivity)


@dataclass(frozen=True, eq=False)
class JointTest:
    """One number for several criteria: the worst excess M over a threshold, in units of sensitivity.

    M is negative exactly when each of them is met. ⌊K·M⌋ has sensitivity K; the candidate is accepted when
    the noisy number is at most −margin.
    """

    asked: tuple[Asked, ...]
    epsilon: Fraction
    luck: Fraction

    @cached_property
    def margin(self) -> int:
        """How far below zero the noisy number must be, in units of 1/K."""
        return margin(self.luck, self.epsilon, GRID)

    def hopeless(self) -> tuple[str, ...]:
        """Criteria that S alone decides: even without an error only lucky noise would accept it."""
        return tuple(a.criterion.name for a in self.asked if a.limit * GRID <= self.margin * a.sensitivity)

    def question(self) -> NoisyAnswer:
        """The mechanism to run."""
        parts = tuple((a.query, a.limit) for a in self.asked)
        return NoisyAnswer(WorstExcess(parts), self.epsilon, GRID)

    def accepts(self, answer: Answer) -> bool:
        """Whether the noisy number is low enough."""
        return answer.units <= -self.margin
