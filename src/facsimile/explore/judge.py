"""The judge: the criteria of one candidate on public data, exactly and as a release would test them.

It asks what a release asks, through the same candidate; the public original answers. In schemes with a joint
test `accepted` asks for more than a release does: every criterion is met exactly too. What this leaves out is
luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Asked, Measured
from facsimile.acceptance.kind import Kind, cheapest_first, kinds_of
from facsimile.acceptance.original import Original
from facsimile.acceptance.regression import Fit, fit_once
from facsimile.explore.setup import Setup
from facsimile.privacy.curator import Curator
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe
from facsimile.release.scheme import presentable
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

    def measured_as(self, kind: Kind[Any], measured: Measured | None) -> Reading:
        """With what was measured; what cannot be measured is not met."""
        if measured is None:
            return replace(self, met=False, tested_at=self.threshold)
        value, tested = measured.value, kind.error(measured.tested_at)
        assert tested is not None, "a limit stands for an error"
        noisy = None if value is None else float(value)
        return replace(self, met=measured.met, noisy=noisy, tested_at=float(tested))


@dataclass(frozen=True)
class Noiseless:
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

    @classmethod
    def of(cls, asked: Asked, original: Original, once: Fraction | None) -> Noiseless:
        """What the public original answers."""
        return cls(
            asked.criterion.name,
            float(original.value(asked.query)),
            float(asked.limit),
            float(asked.sensitivity),
            float(original.excess(asked.query, asked.limit)),
            None if once is None else show_decimal(once),
        )


@dataclass(frozen=True)
class Judgement:
    """Whether a candidate is accepted, and why."""

    accepted: bool
    readings: tuple[Reading, ...] = ()
    noiseless: tuple[Noiseless, ...] = ()


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges one candidate. `name` is the trial's: its randomness follows from it.

    `whole`: every criterion is computed; otherwise it ends with the first that is not met. `noiseless`: so is
    what plans start from.
    """

    setup: Setup
    recipe: Recipe
    table: Table
    name: tuple[object, ...]
    whole: bool
    noiseless: bool
    _fits: dict[Fraction, Fit] = field(default_factory=dict)

    @property
    def spec(self) -> Specification:
        """The specification of the table's size."""
        return self.setup.specification

    @cached_property
    def original(self) -> Original:
        """The public table under the configuration's alternatives, with the noise of the trial's tests."""
        real = self.setup.real(self.recipe.configuration)
        others = Curator.rehearsal(rehearse(real), self.setup.draws("refit", *self.name))
        return Original(real, _QuickNoise(self.setup.draws("test", *self.name)), others)

    @cached_property
    def candidate(self) -> Candidate:
        """The candidate as a release asks about it."""
        return Candidate(self.spec, self.table)

    def judgement(self) -> Judgement:
        """Whether the candidate is accepted, and why."""
        if not presentable(self.recipe, self.table):
            return Judgement(False)
        readings: list[Reading] = []
        for reading in self._readings():
            readings.append(reading)
            if not reading.met and not self.whole:
                break
        accepted = len(readings) == len(self.spec.criteria) and all(r.met for r in readings)
        if accepted and self.spec.scheme != "paper":
            accepted = self._with_fit(self.spec.budget.once).passes(self.original)
        return Judgement(accepted, tuple(readings), self._noiseless() if self.noiseless else ())

    def _readings(self) -> Iterator[Reading]:
        """The cheapest first; in the paper's scheme every criterion with its own noise."""
        paper = self.spec.scheme == "paper"
        candidate = self._with_fit(self.spec.budget.once) if paper else self.candidate
        for kind in cheapest_first(self.spec):
            error, threshold = kind.exact(candidate, self.original), float(kind.criterion.threshold)
            met = error is not None and error < threshold
            reading = Reading(kind.criterion.name, error, threshold, met)
            if paper:
                measured, candidate = kind.measure(candidate, self.original)
                reading = reading.measured_as(kind, measured)
            yield reading

    def _noiseless(self) -> tuple[Noiseless, ...]:
        """Every criterion without noise; the gap of predictions once for each epsilon of the regression."""
        found = []
        for kind in kinds_of(self.spec):
            for level in ONCE if kind.needs else (None,):
                asked = self._with_fit(level).ask(kind)
                if asked is None:
                    return ()
                found.append(Noiseless.of(asked, self.original, level))
        return tuple(found)

    def _with_fit(self, epsilon: Fraction | None) -> Candidate:
        """The candidate with a regression of the original, paid once in a release, where one is needed."""
        formula = next((kind.needs for kind in kinds_of(self.spec) if kind.needs), self.spec.once_formula)
        if epsilon is None or formula is None:
            return self.candidate
        if epsilon not in self._fits:
            seed = self.setup.draws("once", show_decimal(epsilon), *self.name)
            answers = Curator.rehearsal(rehearse(self.setup.table), seed)
            self._fits[epsilon] = fit_once(answers, self.spec, formula, epsilon)
        return replace(self.candidate, fit=self._fits[epsilon])


class _QuickNoise(RehearsalNoise):
    """Integers at a fifth of the time: a draw of records without replacement asks for thousands."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._integers = Random(seed)

    def below(self, n: int) -> int:
        return self._integers.randrange(n)
