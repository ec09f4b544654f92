"""Attainable thresholds: what a criterion can reach, what a workload is predicted to reach, and what it costs.

fresh       two samples of the public table's size, drawn from it with replacement, are this far apart or closer
            in nine of ten pairs: a release can hardly be expected to be closer than that
predicted   nine of ten candidates of the specification's own workload come this close, as design predicts
            it without making any; where that workload says `auto` it is not told
saved       the generator's epsilon that a threshold half as large again would save. Noise is as 1/ε around
            a bias, or with δ as 1/√ρ(ε, δ), so the epsilon at which nine of ten candidates meet all criteria
            follows from one prediction
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from facsimile.acceptance.candidate import exact_errors
from facsimile.acceptance.kind import kind_of
from facsimile.explore.design import listed, searched
from facsimile.explore.design.draft import Draft
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.design.structures import Found
from facsimile.spec.criteria import Criterion
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.exact import Floats
from facsimile.table.table import Table

PAIRS, NINE = 10, 0.9
RELAXED = Fraction(3, 2)
LADDER = 2.0 ** (np.arange(-32, 33) / 8)
"""Epsilons that are looked at, beside the declared one."""


@dataclass(frozen=True)
class Attainable:
    """One criterion: nine of ten errors are at most `fresh` and `predicted`; None where that is not known.

    `needed` is the generator's epsilon for all criteria, `relaxed` with a threshold of `wider` for this one.
    """

    criterion: str
    threshold: float
    fresh: float | None
    predicted: float | None
    wider: float
    needed: float | None
    relaxed: float | None

    @property
    def saved(self) -> float:
        """What the wider threshold saves of the generator's epsilon."""
        return 0.0 if self.needed is None or self.relaxed is None else self.needed - self.relaxed


@dataclass(frozen=True, eq=False)
class Outlook:
    """What one look at a public table tells, whatever the thresholds: it is under the first alternatives.

    `reached`: what nine of ten pairs of samples keep; `ratios`: for each criterion with a prediction the worst
    errors beside its limit, a line for each rung of the ladder.
    """

    specification: Specification
    reached: dict[str, float | None]
    ratios: dict[str, Floats]

    @classmethod
    def of(cls, specification: Specification, table: Table, seed: int = 0) -> Outlook:
        """Of a public table at the finest refinement."""
        spec = specification.sized(table.n)
        real, epsilon = recode(spec, table, spec.first), spec.budget.generator
        reached = dict(zip([c.name for c in spec.criteria], apart(spec, real, seed), strict=True))
        found = foreseen(spec, real, epsilon)
        ratios = {} if found is None else _ratios(found, Rehearsals(spec, real, spec.first, epsilon))
        return cls(spec, reached, ratios)

    def predicted(self, criterion: Criterion) -> float | None:
        """The error that nine of ten candidates keep; None where that is not known."""
        known = self.ratios.get(criterion.name)
        return None if known is None else _error(criterion, float(np.quantile(known[LADDER == 1][0], NINE)))

    def needed(self, thresholds: Mapping[str, Fraction]) -> float | None:
        """The generator's epsilon at which nine of ten candidates meet all, some with other thresholds."""
        given = {c.name: c for c in self.specification.criteria if c.name in thresholds}
        room = {name: _from_zero(c, thresholds[name]) / _from_zero(c, c.threshold) for name, c in given.items()}
        return _needed(self.ratios, room, self.specification.budget.generator)

    def line(self, criterion: Criterion) -> Attainable:
        """What is told of one criterion."""
        name, wider = criterion.name, RELAXED * criterion.threshold
        return Attainable(
            name,
            float(criterion.threshold),
            self.reached[name],
            self.predicted(criterion),
            float(wider),
            self.needed({}),
            self.needed({name: wider}) if name in self.ratios else None,
        )


def attainable(specification: Specification, table: Table, seed: int = 0) -> tuple[Attainable, ...]:
    """Of each criterion, on a public table at the finest refinement, under the first alternatives."""
    found = Outlook.of(specification, table, seed)
    return tuple(map(found.line, found.specification.criteria))


def foreseen(specification: Specification, real: Table, epsilon: Fraction) -> Found | None:
    """The prediction of the specification's own workload; None where it has none that can be read."""
    rehearsals = Rehearsals(specification, real, specification.first, epsilon)
    own = [Draft.read(texts, real.domain, real.n, rehearsals.budget) for texts in listed(specification)]
    draft = next((one for one in own if one is not None), None)
    structures = None if draft is None else searched(rehearsals, True, 0, lambda _: None)
    if draft is None or structures is None:
        return None
    bias, prediction = structures.fitted(draft), structures.predicted(draft)
    return None if bias is None else Found(draft, 0.0, prediction, bias)


def apart(specification: Specification, real: Table, seed: int, pairs: int = PAIRS) -> list[float | None]:
    """For each criterion the error that nine of ten pairs of samples keep; None where more have none at all."""
    random = np.random.default_rng(seed)
    samples = [random.multinomial(real.n, real.counts / real.n, size=2) for _ in range(pairs)]
    tables = ([Table.from_rows(real.domain, real.codes, counts) for counts in pair] for pair in samples)
    errors = [[verdict.value for verdict in exact_errors(specification, *pair)] for pair in tables]
    every = np.array([[np.inf if e is None else e for e in line] for line in errors])
    kept = np.sort(every, axis=0)[round(NINE * pairs) - 1]
    return [float(value) if np.isfinite(value) else None for value in kept]


def _ratios(found: Found, rehearsals: Rehearsals) -> dict[str, Floats]:
    """For each criterion the worst error beside its limit: a line for each rung of the ladder."""
    criteria, budget = found.prediction.criteria, rehearsals.budget
    noise = found.prediction.errors(found.spent(budget), np.zeros_like(found.bias))
    rungs = []
    for times in LADDER:
        rung = replace(rehearsals, epsilon=rehearsals.epsilon * Fraction(times)).budget
        quieter = found.prediction.law.quieter(budget, rung)
        rungs.append(criteria.worst(noise / quieter + found.bias[:, None]))
    lines = np.array(rungs)
    return {name: lines[:, place] for place, name in enumerate(criteria.names)}


def _needed(ratios: dict[str, Floats], room: dict[str, float], epsilon: Fraction) -> float | None:
    """The smallest epsilon of the ladder at which nine of ten candidates meet all, with more room for some."""
    if not ratios:
        return None
    worst = np.max([lines / room.get(name, 1.0) for name, lines in ratios.items()], axis=0)
    enough = np.flatnonzero((worst < 1).mean(axis=1) >= NINE)
    return float(epsilon) * float(LADDER[enough[0]]) if len(enough) else None


def _from_zero(criterion: Criterion, threshold: Fraction) -> float:
    return kind_of(criterion, "sharp").from_zero(float(threshold))


def _error(criterion: Criterion, ratio: float) -> float | None:
    """The error that stands so many times its limit from none at all."""
    kind = kind_of(criterion, "sharp")
    found = kind.error(Fraction(ratio) * kind.limit)
    return None if found is None else float(found)


def costliest(lines: Sequence[Attainable]) -> Attainable | None:
    """The criterion whose wider threshold saves most."""
    return max(lines, key=lambda line: line.saved, default=None)
