"""Decisions: is a candidate accepted? By one noisy number for all criteria, or by one for each.

Discrete Laplace noise Z of ratio a = exp(−ε/K) has P[Z ≤ −t] = a^t/(1+a) for integer t ≥ 0. A margin t keeps
a bad candidate from being accepted by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import assert_never

from facsimile.acceptance.regression import Centring, Fit, refitting
from facsimile.acceptance.statistics import Asked, Candidate
from facsimile.privacy.budget import log_upper
from facsimile.privacy.mechanisms import Answer, NoisyAnswer, NoisyMoments
from facsimile.privacy.queries import ClippedRatio, Query, Unlikeness, WorstExcess
from facsimile.privacy.queries.means import GroupMeans
from facsimile.spec.criteria import Criterion, MarginalsRelative, RegressionCoefficients
from facsimile.spec.release import Selection, Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.differences import smallest_one_way
from facsimile.table.domain import Domain

GRID = 1024
FINE = 1024
LAPLACE = "discrete Laplace"


def luck(selection: Selection) -> Fraction:
    """How likely one test may accept a bad candidate, so that the run releases one with `false_accept` at most.

    Coin γ: the expected number of tests is at most 1/γ, so p/γ ≤ α. Rising coin: P[ever] ≤ p^a, so p ≤ α^(1/a).
    Where nothing halts the search (mode `paper`) no bound on the run exists; α holds for each test.
    """
    alpha = selection.false_accept
    match selection.mode:
        case "coin" | "capped-coin":
            return alpha * selection.gamma
        case "rising-coin":
            return _power_below(alpha, 1 / (selection.a or Fraction(1)))
        case "paper" | "single":
            return alpha
    assert_never(selection.mode)


def margin(luck: Fraction, epsilon: Fraction, units: int) -> int:
    """The smallest t (rounded up) with P[Z ≤ −t] = a^t/(1+a) ≤ luck, where a = exp(−ε/units).

    t = ln(1/(luck·(1+a)))·units/ε; from a ≥ 1 − ε/units the logarithm is never too small.
    """
    smallest = max(Fraction(0), 1 - epsilon / units)
    wanted = 1 / (luck * (1 + smallest))
    return max(0, ceil(log_upper(wanted) * units / epsilon)) if wanted > 1 else 0


def _power_below(base: Fraction, exponent: Fraction) -> Fraction:
    """A rational a little below base^exponent, base in (0, 1)."""
    return Fraction(float(base) ** float(exponent)) * Fraction(999_999, 1_000_000)


@dataclass(frozen=True, eq=False)
class JointTest:
    """One number for all criteria: the worst excess M over a threshold, in units of sensitivity.

    M is negative exactly when every criterion is met. ⌊K·M⌋ has sensitivity K; the candidate is accepted when
    the noisy number is at most −margin.
    """

    asked: tuple[Asked, ...]
    epsilon: Fraction
    luck: Fraction

    @property
    def margin(self) -> int:
        """How far below zero the noisy number must be, in units of 1/K."""
        return margin(self.luck, self.epsilon, GRID)

    def hopeless(self) -> tuple[str, ...]:
        """Criteria that S alone decides: even without an error only lucky noise would accept it."""
        least = Fraction(self.margin, GRID)
        return tuple(a.criterion.name for a in self.asked if a.limit <= least * a.sensitivity)

    def question(self) -> NoisyAnswer:
        """The mechanism to run."""
        parts = tuple((a.query, a.limit) for a in self.asked)
        return NoisyAnswer(WorstExcess(parts), self.epsilon, GRID)

    def accepts(self, answer: Answer) -> bool:
        """Whether the noisy number is low enough."""
        return answer.units <= -self.margin


@dataclass(frozen=True)
class Measured:
    """A criterion measured with noise, and everything needed to judge it."""

    criterion: Criterion
    form: str
    mechanism: str
    value: Fraction | None
    met: bool
    tested_at: Fraction
    sensitivity: Fraction
    scale: Fraction
    grid: int
    units: int
    bounds: tuple[Fraction, Fraction] | None = None
    smallest_group: int | None = None

    @property
    def noise_units(self) -> int:
        """The sensitivity that the noise was drawn for, in units of 1/grid."""
        return max(1, ceil(self.grid * self.sensitivity))


def fine_grid(sensitivity: Fraction) -> int:
    """A grid on which rounding the sensitivity up to whole units costs nothing, or less than a thousandth."""
    if sensitivity.numerator <= 1:
        return sensitivity.denominator
    return ceil(FINE / sensitivity)


def measure(asked: Asked, answers: Answers, epsilon: Fraction) -> Measured:
    """Measure one criterion with its own noise; met when the noisy error is below the value tested at.

    A ratio that was clipped at λ would pass by luck of the noise: it is tested `margin` units below λ, or
    below its threshold where that is smaller.
    """
    return judged(asked, epsilon, answers.run(NoisyAnswer(asked.query, epsilon, fine_grid(asked.sensitivity))))


def judged(asked: Asked, epsilon: Fraction, answer: Answer) -> Measured:
    """What a noisy answer says: a function of public numbers."""
    grid = answer.grid
    question = NoisyAnswer(asked.query, epsilon, grid)
    below = ceil(asked.limit * grid)
    criterion = asked.criterion
    if isinstance(criterion, MarginalsRelative) and asked.form == "paper":
        below = floor(min(asked.limit, criterion.clip) * grid)
        below -= margin(criterion.false_accept, epsilon, question.units) - 1
    return Measured(
        criterion,
        asked.form,
        LAPLACE,
        asked.error(answer.value),
        answer.units < below,
        Fraction(below, grid),
        asked.sensitivity,
        Fraction(question.units, grid) / epsilon,
        grid,
        answer.units,
        getattr(asked.query, "bounds", None),
        _smallest(asked.query),
    )


def _smallest(query: Query) -> int | None:
    """The smallest count of S that the sensitivity depends on, where it does."""
    if isinstance(query, GroupMeans):
        return min(group.size for group in query.groups)
    if isinstance(query, Unlikeness | ClippedRatio):
        return smallest_one_way(query.candidate)
    return None


def refit(
    candidate: Candidate, criterion: RegressionCoefficients, answers: Answers, epsilon: Fraction
) -> tuple[Measured, Fit] | None:
    """The coefficients as the paper measures them: a noisy fit of the original, standardised by the candidate.

    None where the candidate decides: see refitting. The fit is public from then on.
    """
    asked = refitting(candidate.table, criterion.target, epsilon)
    if asked is None:
        return None
    centring, question = asked
    fit = centring.solved(question, answers.run(question), candidate.table.n)
    return compared(candidate, criterion, fit, epsilon), fit


def compared(candidate: Candidate, criterion: RegressionCoefficients, fit: Fit, epsilon: Fraction) -> Measured:
    """What a noisy fit says about the candidate's coefficients: a function of public numbers."""
    table = candidate.table
    own = Fit.of(table, criterion.target)
    question = Centring.by_candidate(table, criterion.target).moments(table.domain, epsilon)
    value = sum(
        (abs(a - b) for a, b in zip(fit.coefficients, own.coefficients if own else (), strict=True)),
        Fraction(0),
    )
    units = question.units
    delta = Fraction(units, question.unit**2 * table.n)
    return Measured(
        criterion,
        "paper",
        "functional mechanism",
        value,
        value < criterion.threshold,
        criterion.threshold,
        delta,
        delta / epsilon,
        question.unit**2 * table.n,
        units,
    )


def fit_question(specification: Specification, target: str, epsilon: Fraction) -> NoisyMoments:
    """What `fit_once` asks, from the specification alone; ValueError where its numbers are too large."""
    return _in_public(specification, target).moments(Domain(specification.finest()), epsilon)


def fit_once(answers: Answers, specification: Specification, target: str, epsilon: Fraction) -> Fit:
    """A regression of the original at the finest refinement, scaled by public constants: paid once."""
    question = fit_question(specification, target, epsilon)
    return _in_public(specification, target).solved(question, answers.run(question), specification.n)


def _in_public(specification: Specification, target: str) -> Centring:
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Centring.in_public(Domain(specification.finest()), target, spreads)


def joint_test(
    candidate: Candidate, criteria: Sequence[Criterion], epsilon: Fraction, luck: Fraction
) -> JointTest | None:
    """The test of a candidate; None where it cannot meet a criterion whatever the original is."""
    found = [candidate.asked(criterion) for criterion in criteria]
    asked = tuple(a for a in found if a is not None)
    return JointTest(asked, epsilon, luck) if len(asked) == len(found) else None
