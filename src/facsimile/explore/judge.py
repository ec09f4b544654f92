"""The judge: the criteria of one candidate on public data, exactly and as a release would test them.

The same queries, limits, margins and laws of noise as in a release; only the draw of the noise happens here,
because a matching that takes a third of a second is needed with and without noise. In schemes with a joint test
`accepted` asks for more than a release does: every criterion is met exactly too. What this leaves out is luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from random import Random

from facsimile.acceptance.decision import Measured, fine_grid, fit_once, joint_test, judged, luck
from facsimile.acceptance.exact import exact_error
from facsimile.acceptance.regression import Fit
from facsimile.acceptance.statistics import Asked, Candidate
from facsimile.explore.setup import Setup
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Answer, NoisyAnswer
from facsimile.privacy.noise import RehearsalNoise, fitting
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.means import GroupMeans
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe
from facsimile.release.scheme import measured_one, presentable
from facsimile.spec.criteria import (
    ConditionalMean,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.table import Table

ONCE = tuple(Fraction(text) for text in ("0.05", "0.1", "0.15", "0.2", "0.3", "0.5"))
"""Epsilons of the regression paid once that a plan may choose from."""


@dataclass(frozen=True)
class Reading:
    """A criterion's exact error; in the paper's scheme also what was measured with the declared noise.

    `error` is None where it is not defined. `met` is what decides: the noisy value in the paper's scheme, the
    exact one otherwise. `tested_at` is where the noisy value had to lie below.
    """

    criterion: str
    error: float | None
    threshold: float
    met: bool
    noisy: float | None = None
    tested_at: float | None = None

    @property
    def deciding(self) -> float | None:
        """The value that decides over what it is compared with: below 1 is met; None where not defined."""
        value, limit = (self.error, self.threshold) if self.tested_at is None else (self.noisy, self.tested_at)
        return None if value is None or limit <= 0 else value / limit


@dataclass(frozen=True)
class Room:
    """A criterion in its declared form, without noise: what any test of it starts from.

    `excess` is what the joint test sees: how far beyond the limit, each group in units of its own sensitivity;
    negative where the criterion is met. `once` is the epsilon of the regression it compares with, for the
    criterion that needs one.
    """

    criterion: str
    value: float
    limit: float
    sensitivity: float
    excess: float
    once: str | None = None


@dataclass(frozen=True)
class Judgement:
    """Whether a candidate is accepted, and why."""

    accepted: bool
    readings: tuple[Reading, ...] = ()
    rooms: tuple[Room, ...] = ()


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges one candidate. `name` is the trial's: its randomness follows from it.

    `whole`: every criterion is computed; otherwise it ends with the first that is not met. `rooms`: so is what
    plans start from.
    """

    setup: Setup
    recipe: Recipe
    table: Table
    name: tuple[object, ...]
    whole: bool
    rooms: bool
    _values: dict[tuple[str, str, Fraction | None], Fraction] = field(default_factory=dict)
    _fits: dict[Fraction, Fit] = field(default_factory=dict)

    @property
    def spec(self) -> Specification:
        """The specification of the table's size."""
        return self.setup.specification

    @cached_property
    def noise(self) -> RehearsalNoise:
        """The noise of the trial's tests."""
        return _QuickNoise(self.setup.draws("test", *self.name))

    @cached_property
    def real(self) -> Table:
        """The public table under the configuration's alternatives."""
        return self.setup.real(self.recipe.configuration)

    def judgement(self) -> Judgement:
        """Whether the candidate is accepted, and why."""
        if not presentable(self.recipe, self.table):
            return Judgement(False)
        paper = self.spec.scheme == "paper"
        readings = self._measured() if paper else self._exactly()
        complete = len(readings) == len(self.spec.criteria)
        if paper:
            accepted = complete and all(r.met for r in readings)
        else:
            fine = complete and all(r.error is not None and r.error < r.threshold for r in readings)
            accepted = fine and self._passes()
        return Judgement(accepted, readings, self._rooms() if self.rooms else ())

    def _exactly(self) -> tuple[Reading, ...]:
        readings: list[Reading] = []
        for criterion in cheapest_first(self.spec.criteria):
            readings.append(self._exact(criterion))
            if not readings[-1].met and not self.whole:
                break
        return tuple(readings)

    def _exact(self, criterion: Criterion) -> Reading:
        threshold = float(criterion.threshold)
        if isinstance(criterion, Faithfulness):
            asked = Candidate(self.spec, self.table).asked(criterion)
            error = None if asked is None else float(self._value(asked, None))
        else:
            error = exact_error(self.spec, criterion, self.real, self.table)
        return Reading(criterion.name, error, threshold, error is not None and error < threshold)

    def _measured(self) -> tuple[Reading, ...]:
        """As the paper's scheme does: every criterion with its own noise."""
        candidate = Candidate(self.spec, self.table, self._fit(self.spec.budget.once))
        seed = self.setup.draws("refit", *self.name)
        answers = Curator.rehearsal(rehearse(self.real), seed)
        readings: list[Reading] = []
        for criterion in cheapest_first(self.spec.criteria):
            measured: Measured | None
            if isinstance(criterion, RegressionCoefficients) and self.spec.statistic_of(criterion) == "paper":
                measured, candidate = measured_one(candidate, criterion, answers)
            else:
                asked = candidate.asked(criterion)
                measured = None if asked is None else self._noisy(asked)
            readings.append(_with(self._exact(criterion), measured))
            if not readings[-1].met and not self.whole:
                break
        return tuple(readings)

    def _noisy(self, asked: Asked) -> Measured:
        """What NoisyAnswer would say."""
        epsilon = asked.criterion.epsilon
        question = NoisyAnswer(asked.query, epsilon, fine_grid(asked.sensitivity))
        value = self._value(asked, self.spec.budget.once)
        return judged(asked, epsilon, self._answer(value, question))

    def _answer(self, value: Fraction, question: NoisyAnswer) -> Answer:
        exact = fitting([floor(question.grid * value)])
        units = self.noise.laplace(exact, question.units, question.epsilon)
        return Answer(int(units[0]), question.grid)

    def _value(self, asked: Asked, once: Fraction | None) -> Fraction:
        """The query's value on the public table, computed once."""
        level = once if isinstance(asked.criterion, RegressionError) else None
        form = "sharp" if isinstance(asked.criterion, Faithfulness) else asked.form
        key = (asked.criterion.name, form, level)
        if key not in self._values:
            self._values[key] = Fraction(asked.query.value(self.real, self.noise))
        return self._values[key]

    def _excess(self, asked: Asked, once: Fraction | None) -> Fraction:
        """What the joint test sees: groups and sums each in units of their own, others by their value."""
        if isinstance(asked.query, GroupMeans | WorstSum):
            return asked.query.excess(self.real, asked.limit, self.noise)
        return (self._value(asked, once) - asked.limit) / asked.sensitivity

    def _passes(self) -> bool:
        """The joint test of the declared forms at the declared epsilon."""
        spec, once = self.spec, self.spec.budget.once
        candidate = Candidate(spec, self.table, self._fit(once))
        test = joint_test(candidate, spec.criteria, spec.budget.test or Fraction(0), luck(spec.selection))
        if test is None or test.hopeless():
            return False
        worst = max(self._excess(asked, once) for asked in test.asked)
        return test.accepts(self._answer(worst, test.question()))

    def _rooms(self) -> tuple[Room, ...]:
        """Every criterion without noise; the gap of predictions once for each epsilon of the regression."""
        found = []
        for criterion in self.spec.criteria:
            levels: tuple[Fraction | None, ...] = ONCE if isinstance(criterion, RegressionError) else (None,)
            for level in levels:
                asked = Candidate(self.spec, self.table, self._fit(level)).asked(criterion)
                if asked is None:
                    return ()
                found.append(
                    Room(
                        criterion.name,
                        float(self._value(asked, level)),
                        float(asked.limit),
                        float(asked.sensitivity),
                        float(self._excess(asked, level)),
                        None if level is None else show_decimal(level),
                    )
                )
        return tuple(found)

    def _fit(self, epsilon: Fraction | None) -> Fit | None:
        """A regression of the original, paid once in a release; None where no criterion needs one."""
        target = next(
            (c.target for c in self.spec.criteria if isinstance(c, RegressionError)), self.spec.once_target
        )
        if epsilon is None or target is None:
            return None
        if epsilon not in self._fits:
            table = self.setup.table
            seed = self.setup.draws("once", show_decimal(epsilon), *self.name)
            answers = Curator.rehearsal(rehearse(table), seed)
            self._fits[epsilon] = fit_once(answers, self.spec, target, epsilon)
        return self._fits[epsilon]


class _QuickNoise(RehearsalNoise):
    """Integers at a fifth of the time: a draw of records without replacement asks for thousands."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._integers = Random(seed)

    def below(self, n: int) -> int:
        """See Noise."""
        return self._integers.randrange(n)


def _with(reading: Reading, measured: Measured | None) -> Reading:
    """The reading with what was measured; what cannot be measured is not met."""
    if measured is None:
        return replace(reading, met=False, tested_at=reading.threshold)
    value = None if measured.value is None else float(measured.value)
    tested = measured.tested_at
    if isinstance(measured.criterion, MarginalsRelative) and measured.form == "sharp":
        tested = 1 / (1 - tested)  # a likeness is told as a ratio, as its error is
    return replace(reading, met=measured.met, noisy=value, tested_at=float(tested))


def cheapest_first(criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criteria in the order of what they cost to compute; coefficients before the error that needs them."""
    return sorted(criteria, key=_expense)


def _expense(criterion: Criterion) -> int:
    """What a criterion costs; means in the paper's form draw records, and seldom fail."""
    if isinstance(criterion, Faithfulness):
        return 4
    if isinstance(criterion, RegressionError):
        return 3
    if isinstance(criterion, ConditionalMean):
        return 2
    return 1 if isinstance(criterion, MarginalsAbsolute | RegressionCoefficients) else 0
