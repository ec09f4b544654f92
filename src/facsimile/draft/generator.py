"""The generator of a draft: which tables it measures, with which shares, and at which epsilon trials pass.

Tables are chosen on public records: the pairs that criteria speak of, then those that depend most on each
other, then in rounds those that a fit without noise misses most. Trials are those that `explore` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from facsimile.draft.ties import Pair, Ties
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.setup import Setup
from facsimile.explore.trials import Job, Trial, run
from facsimile.spec.criteria import ConditionalMean, MarginalsAbsolute, TotalVariationDistance
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.table import Table

LADDER = tuple(Fraction(text) for text in ("0.5", "1", "2", "4"))
TRIALS = 3
ROUNDS = 5
LONGEST = 980
"""Characters of a hyperparameter."""
HEAVY, NAMED = 3.0, 1.5
"""How much more a pair gets that a criterion speaks of, and a column of such a pair."""
ENOUGH = 0.4
"""A pair is measured if a fit without it is off by this part of a threshold."""
MOST_PAIRS = 2
"""Pairs for each column, at most."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Workload:
    """The pairs that are measured beside every column; `named` are those that criteria speak of."""

    names: tuple[str, ...]
    sizes: Mapping[str, int]
    named: tuple[Pair, ...]
    pairs: tuple[Pair, ...]

    @property
    def measurements(self) -> str:
        """As a specification writes them."""
        return "; ".join(["each", *(f"{a}*{b}" for a, b in self.pairs)])

    @property
    def weights(self) -> str:
        """Shares as the cube root of the cells, which serves all alike; more for what criteria speak of."""
        spoken = {name for pair in self.named for name in pair}
        columns = [self.sizes[name] ** (1 / 3) * (NAMED if name in spoken else 1) for name in self.names]
        tables = [
            (self.sizes[a] * self.sizes[b]) ** (1 / 3) * (HEAVY if (a, b) in self.named else 1)
            for a, b in self.pairs
        ]
        return "; ".join([", ".join(f"{weight:.1f}" for weight in columns), *(f"{w:.1f}" for w in tables)])

    @property
    def own(self) -> dict[str, str]:
        """The hyperparameters."""
        return {"measurements": self.measurements, "weights": self.weights}

    def fits(self) -> bool:
        """Whether a specification may write it."""
        return max(map(len, self.own.values())) <= LONGEST

    def with_(self, more: Sequence[Pair]) -> Workload:
        """With as many further pairs as a specification can hold."""
        found = self
        for pair in more:
            if pair in found.pairs or len(found.pairs) >= MOST_PAIRS * len(self.names):
                continue
            longer = Workload(self.names, self.sizes, self.named, (*found.pairs, pair))
            if not longer.fits():
                break
            found = longer
        return found


def workload(specification: Specification, ties: Ties, tell: Tell) -> Workload:
    """The tables to measure, chosen on the public table without noise."""
    table = ties.table
    names = table.domain.names
    named = tuple(dict.fromkeys(_named(specification, names)))
    start = Workload(names, {axis.name: axis.size for axis in table.domain.axes}, named, ())
    strongest = [pair for pair, strength in ties.strengths.items() if strength > 0]
    found = start.with_(named).with_(strongest[: max(1, len(names) // 2)])
    if len(names) < 3:
        return found
    rehearsals = Rehearsals(specification, table, specification.first, LADDER[-1])
    for round_ in range(ROUNDS):
        tell(f"choosing tables: round {round_ + 1}")
        made = rehearsals.candidate(found.own, None)
        missed = [] if made is None else list(_missed(specification, table, made))
        longer = found.with_(missed[: max(2, len(names) // 3)])
        if longer == found:
            break
        found = longer
    return found


def _named(specification: Specification, names: Sequence[str]) -> Iterator[Pair]:
    """The pairs that means are conditioned on, in the order of the columns."""
    for criterion in specification.criteria_of(ConditionalMean):
        for other in criterion.by:
            if isinstance(other, str):
                first, second = sorted((criterion.of, other), key=list(names).index)
                yield first, second


def _missed(specification: Specification, real: Table, made: Table) -> Iterator[Pair]:
    """The pairs that a candidate is off at by more than a part of a threshold, the worst first.

    Of the distance of a whole table, what chance alone brings (Σ √(2p/πn)/2 over its cells) does not count.
    """
    single = [float(c.threshold) for c in specification.criteria_of(MarginalsAbsolute)]
    whole = [float(c.threshold) for c in specification.criteria_of(TotalVariationDistance)]
    found: dict[Pair, float] = {}
    for pair in combinations(real.domain.names, 2):
        shares, others = real.marginal(pair) / real.n, made.marginal(pair) / real.n
        gaps, chance = np.abs(shares - others), np.sqrt(2 * others / (np.pi * real.n)).sum() / 2
        ratios = [gaps.max() / limit for limit in single]
        ratios += [(gaps.sum() / 2 - chance) / limit / 2 for limit in whole]
        found[pair] = float(max(ratios, default=0.0))
    yield from (pair for pair in sorted(found, key=lambda one: -found[one]) if found[pair] > ENOUGH)


@dataclass(frozen=True)
class Tried:
    """What trials at one epsilon of the generator found; `errors` are the worst of each criterion."""

    generator: Fraction
    accepted: int
    of: int
    errors: Mapping[str, float]

    @property
    def passed(self) -> bool:
        """Whether every trial was accepted."""
        return self.accepted == self.of


def climbed(specification: Specification, table: Table, seed: int, tell: Tell, start: int = 0) -> Tried:
    """The smallest rung at which all trials are accepted, or the last."""
    setup = Setup(specification.sized(table.n), table, seed)
    for generator in LADDER[start:]:
        tell(f"trying candidates at a generator epsilon of {show_decimal(generator)}")
        found = _tried(setup, generator)
        if found.passed:
            break
    return found


def _tried(setup: Setup, generator: Fraction) -> Tried:
    """Some trials, no more than tell that one is not accepted."""
    configuration = setup.specification.drawable.configuration(0)
    trials: list[Trial] = []
    for number in range(TRIALS):
        trials += run(setup, Job((configuration,), generator, number))
        if not trials[-1].accepted:
            break
    errors: dict[str, float] = {}
    for reading in (reading for trial in trials for reading in trial.readings):
        if reading.error is not None:
            errors[reading.criterion] = max(errors.get(reading.criterion, 0.0), reading.error)
    return Tried(generator, sum(trial.accepted for trial in trials), len(trials), errors)
