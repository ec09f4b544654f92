"""Decisions: is a candidate accepted? By one noisy number for all criteria, or by one for each.

Discrete Laplace noise Z of ratio a = exp(−ε/K) has P[Z ≤ −t] = a^t/(1+a) for integer t ≥ 0. A margin t keeps
a bad candidate from being accepted by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import assert_never

from facsimile.acceptance.regression import Centring, Fit, noise_of, refitting
from facsimile.acceptance.statistics import Asked, Candidate
from facsimile.privacy.budget import log_upper
from facsimile.privacy.mechanisms import Answer, NoisyAnswer, NoisyMoments
from facsimile.privacy.queries import ClippedRatio, Query, Unlikeness, WorstExcess
from facsimile.privacy.queries.means import GroupMeans
from facsimile.spec.criteria import Criterion, RegressionCoefficients
from facsimile.spec.release import Selection, Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.differences import smallest_one_way
from facsimile.table.domain import Domain

GRID = 1024
FINE = 1024
LAPLACE, FUNCTIONAL = "discrete Laplace", "functional mechanism"
FIT_GRID = 2**20


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
    """A criterion measured with noise, and everything needed to judge it.

    units/grid is the noisy answer. Without a `sensitivity` it is no value plus noise, but the distance from a
    noisy fit.
    """

    criterion: Criterion
    form: str
    mechanism: str
    value: Fraction | None
    met: bool
    tested_at: Fraction
    sensitivity: Fraction | None
    grid: int
    units: int
    bounds: tuple[Fraction, Fraction] | None = None
    smallest_group: int | None = None

    @property
    def noise_units(self) -> int:
        """The sensitivity that the noise was drawn for, in units of 1/grid."""
        return max(1, ceil(self.grid * (self.sensitivity or 0)))


def fine_grid(sensitivity: Fraction) -> int:
    """A grid on which rounding the sensitivity up to whole units costs nothing, or less than a thousandth."""
    if sensitivity.numerator <= 1:
        return sensitivity.denominator
    return ceil(FINE / sensitivity)


def measure(asked: Asked, answers: Answers, epsilon: Fraction) -> Measured:
    """Measure one criterion with its own noise; met when the noisy error is below the value tested at."""
    return judged(asked, epsilon, answers.run(NoisyAnswer(asked.query, epsilon, fine_grid(asked.sensitivity))))


def judged(asked: Asked, epsilon: Fraction, answer: Answer) -> Measured:
    """What a noisy answer says: a function of public numbers."""
    return Measured(
        asked.criterion,
        asked.form,
        LAPLACE,
        asked.error(answer.value),
        answer.value < asked.tested_at,
        asked.tested_at,
        asked.sensitivity,
        answer.grid,
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
    candidate: Candidate, criterion: RegressionCoefficients, answers: Answers
) -> tuple[Measured, Fit] | None:
    """The coefficients as the paper measures them: a noisy fit of the original, standardised by the candidate.

    Where it was paid once, that fit is the one, and nothing is asked: it is public, and so is its distance from
    the candidate. It took the numbers of each column's first alternative; a candidate under another has other
    numbers, and what that changes is part of the distance. None where the candidate decides: see refitting. The
    fit is public from then on.
    """
    table = candidate.table
    if candidate.specification.shares_once(criterion):
        fit = candidate.fit
        return (
            None
            if fit is None or Fit.of(table, criterion.target) is None
            else _against(candidate, criterion, fit)
        )
    asked = refitting(table, criterion.target, criterion.epsilon)
    if asked is None:
        return None
    centring, question = asked
    return _against(candidate, criterion, centring.solved(question, answers.run(question), table.n))


def _against(candidate: Candidate, criterion: RegressionCoefficients, fit: Fit) -> tuple[Measured, Fit]:
    return compared(candidate, criterion, fit), fit


def compared(candidate: Candidate, criterion: RegressionCoefficients, fit: Fit) -> Measured:
    """What a noisy fit says about the candidate's coefficients: a function of public numbers."""
    own = Fit.of(candidate.table, criterion.target)
    if own is None:
        raise ValueError("the candidate's coefficients are not determined")
    pairs = zip(fit.standardised(own.scaling).coefficients, own.coefficients, strict=True)
    value = sum((abs(a - b) for a, b in pairs), Fraction(0))
    units = value * FIT_GRID
    assert units.denominator == 1, "coefficients lie on the grid"
    met, threshold = value < criterion.threshold, criterion.threshold
    return Measured(criterion, "paper", FUNCTIONAL, value, met, threshold, None, FIT_GRID, units.numerator)


def fit_spread(candidate: Candidate, criterion: RegressionCoefficients) -> float:
    """How far noise alone moves the coefficients, on average: simulated with the candidate's own moments."""
    spec, table = candidate.specification, candidate.table
    if spec.shares_once(criterion):
        question = fit_question(spec, criterion.target, criterion.epsilon)
        return in_public(spec, criterion.target).distance(table, noise_of(question, table.n))
    centring = Centring.by_candidate(table, criterion.target)
    return centring.distance(table, noise_of(centring.moments(table.domain, criterion.epsilon), table.n))


def fit_question(specification: Specification, target: str, epsilon: Fraction) -> NoisyMoments:
    """What `fit_once` asks, from the specification alone; ValueError where its numbers are too large."""
    return in_public(specification, target).moments(_first(specification), epsilon)


def fit_once(answers: Answers, specification: Specification, target: str, epsilon: Fraction) -> Fit:
    """A regression of the original under the first alternatives, scaled by public constants: paid once."""
    question = fit_question(specification, target, epsilon)
    recoded = answers.recoded(_first(specification), specification.recodings(specification.first))
    answer = recoded.run(question)
    return in_public(specification, target).solved(question, answer, specification.n)


def in_public(specification: Specification, target: str) -> Centring:
    """How the regression paid once is scaled: by what planning knows."""
    spreads = {name: (s.mean, s.deviation) for name, s in specification.planning.numbers.items()}
    return Centring.in_public(_first(specification), target, spreads)


def _first(specification: Specification) -> Domain:
    """The first choice of alternatives that a release may have."""
    return Domain(specification.axes(specification.first))


def joint_test(
    candidate: Candidate, criteria: Sequence[Criterion], epsilon: Fraction, luck: Fraction
) -> JointTest | None:
    """The test of a candidate; None where it cannot meet a criterion whatever the original is."""
    found = [candidate.asked(criterion) for criterion in criteria]
    asked = tuple(a for a in found if a is not None)
    return JointTest(asked, epsilon, luck) if len(asked) == len(found) else None
