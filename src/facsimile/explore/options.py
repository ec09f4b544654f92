"""Options: every way to spend on a release, with the trials that tell its chance.

An option is a scheme, a generator's epsilon that was tried, an epsilon of the test, of the regression paid
once, a way to select, and the configurations that are drawn from. Its total is what `Plan` charges; its chance
follows from chances.py. What is measured after acceptance costs the same in every option: each criterion gets
the epsilon at which the scale of its noise is a given part of its threshold. Criteria keep their declared
forms; a study in the paper's scheme has options with the declared epsilons too, whose chance is how often its
trials were accepted.

The fresh trials are cut in halves: `chosen` may decide which options are looked at, `stated` decides nothing
here (see curve.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log10

import numpy as np

from facsimile.acceptance.kind import kinds_of
from facsimile.explore.chances import Floats, Rooms, at_least, candidates, interval, released
from facsimile.explore.run import schedules
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial, fit_key
from facsimile.privacy.mechanisms.search import Plan
from facsimile.release.plan import arranged
from facsimile.spec.choices import Scheme
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.release import Selection, Specification
from facsimile.spec.space import Configuration

SCHEMES: tuple[Scheme, ...] = ("paper", "test-then-measure", "train-once")
TESTS = tuple(
    Fraction(text)
    for text in ("0.02", "0.03", "0.05", "0.07", "0.1", "0.14", "0.2", "0.3", "0.4", "0.6", "0.8", "1.2")
)
RISING = tuple(Fraction(k, 10) for k in range(1, 10))
COINS = tuple(Fraction(text) for text in ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5"))
LOUDER = (1, 2)
"""In the paper's scheme criteria are measured in every iteration; how much more noise they may get there."""
CHOOSING = 0.8
Epsilons = tuple[tuple[str, Fraction], ...]
Way = tuple[Scheme, Fraction | None, Fraction | None, Epsilons, Selection]
"""Scheme, test, regression paid once, measured criteria and selection."""


@dataclass(frozen=True, eq=False)
class Option:
    """A way to spend, with the trials that tell its chance."""

    scheme: Scheme
    generator: Fraction
    test: Fraction | None
    once: Fraction | None
    measured: Epsilons
    selection: Selection
    configurations: tuple[Configuration, ...]
    chosen: Floats
    stated: Floats
    seconds: float

    @property
    def plan(self) -> Plan:
        """What it charges."""
        measured = [epsilon for _, epsilon in self.measured]
        return arranged(self.scheme, self.generator, self.test, self.once, measured, self.selection)

    @cached_property
    def total(self) -> Fraction:
        """The total epsilon, rounded up to what a specification writes."""
        return ceil_to(self.plan.total().epsilon, 4)

    @cached_property
    def shared(self) -> int:
        """How many of its configurations at most share a fit: so many of its trials are no better than one."""
        return most_shared(self.configurations)

    @cached_property
    def least(self) -> float:
        """The chance of a release that the choosing trials vouch for."""
        n = len(self.chosen) / self.shared
        if self.scheme == "train-once":
            return at_least(float(released(self.chosen, self.selection).mean()), n, CHOOSING)
        q = at_least(float(self.chosen.mean()), n, CHOOSING)
        return float(released(q, self.selection))

    def chance(self, confidence: float, trials: int | None = None) -> tuple[float, float, float]:
        """The chance of a release by the stating trials, and its bounds: had there been so many like them.

        Where candidates share something (a generator or a regression fitted once), they succeed and fail
        together. With h the concave map from acceptance to release and p the acceptance given what is shared,
        the chance E h(p) lies between E h(pᵢ) of single candidates and h(E pᵢ); the bounds cover both.
        """
        n = (len(self.stated) if trials is None else trials) / self.shared
        q, each = float(self.stated.mean()), float(released(self.stated, self.selection).mean())
        low, high = (float(released(bound, self.selection)) for bound in interval(q, n, confidence))
        if self.scheme == "train-once" or self.once is not None:
            low = min(low, interval(each, n, confidence)[0])
        return each if self.scheme == "train-once" else float(released(q, self.selection)), low, high

    def iterations(self) -> float:
        """The expected number of candidates."""
        return candidates(float(self.stated.mean()), self.selection)


@dataclass(frozen=True, eq=False)
class Level:
    """The fresh trials of the finalists at one epsilon of the generator."""

    generator: Fraction
    configurations: dict[str, Configuration]
    trials: dict[str, list[Trial]]


def most_shared(configurations: Iterable[Configuration]) -> int:
    """The most configurations that differ in their projection only."""
    return max(Counter(map(fit_key, configurations)).values())


def levels(study: Study) -> list[Level]:
    """Where a study has fresh trials, the largest epsilon first."""
    found = []
    for schedule in schedules(study, study.trials()):
        names = schedule.finalists()
        fresh = {name: [t for t in schedule.trials(name) if t.number >= FRESH] for name in names}
        ready = {name: trials for name, trials in fresh.items() if len(trials) >= 2}
        if ready:
            found.append(Level(schedule.generator, {name: schedule.members[name] for name in ready}, ready))
    return found


def options(
    spec: Specification, levels: Sequence[Level], keep: float, noise: float, factor: float | None = None
) -> list[Option]:
    """Every way to spend that was tried; with thresholds tighter by a factor only the simplest."""
    return [option for level in levels for option in _at(spec, level, keep, noise, factor)]


def _at(spec: Specification, level: Level, keep: float, noise: float, factor: float | None) -> Iterator[Option]:
    for names in _together(level):
        halves = [[t for name in names for t in level.trials[name][half::2]] for half in (0, 1)]
        for way, chances in _ways(spec, halves, noise, factor):
            parts = [_by_name(level, names, half, place) for place, half in enumerate(chances)]
            kept = tuple(name for name, mine in parts[0].items() if mine.mean() >= keep)
            if not kept:
                continue
            chosen, stated = (_pooled(part, kept) for part in parts)
            configurations = tuple(level.configurations[name] for name in kept)
            seconds = float(np.mean([t.fit_seconds + t.seconds for half in halves for t in half]))
            scheme, test, once, measured, selection = way
            yield Option(
                scheme,
                level.generator,
                test,
                once,
                measured,
                selection,
                configurations,
                chosen,
                stated,
                seconds,
            )


def _ways(
    spec: Specification, halves: Sequence[Sequence[Trial]], noise: float, factor: float | None
) -> Iterator[tuple[Way, list[Floats]]]:
    """Ways to spend, each with the chances of both halves' candidates."""
    if spec.scheme == "paper" and factor is None:
        yield from _as_tried(spec, halves)
    rooms = [Rooms.of(half) for half in halves]
    if not rooms[0].criteria or rooms[0].criteria != rooms[1].criteria:
        return
    if factor is not None:
        rooms = [one.tightened(factor) for one in rooms]
    measured = _measured(spec, rooms[0], noise)
    for once in rooms[0].onces():
        at = [one.at(once) for one in rooms]
        paid = None if once is None else parse_decimal(once)
        for scheme, test, epsilons, selection in _spending(spec, measured, factor is not None):
            if scheme == "paper":
                order = dict(epsilons)
                shares = [float(order[name]) for name, _ in at[0].criteria]
                chances = [one.one_by_one(shares) for one in at]
            else:
                assert test is not None
                chances = [one.joint(test, selection) for one in at]
            yield (scheme, test, paid, _charged(spec, paid, epsilons), selection), chances


def _as_tried(spec: Specification, halves: Sequence[Sequence[Trial]]) -> Iterator[tuple[Way, list[Floats]]]:
    """The paper's scheme with the declared forms and epsilons: a trial was accepted, or it was not."""
    measured = tuple((criterion.name, criterion.epsilon) for criterion in spec.criteria)
    measured = _charged(spec, spec.budget.once, measured)
    for selection in _selections(spec):
        accepted = [np.array([trial.accepted for trial in half], np.float64) for half in halves]
        yield ("paper", None, spec.budget.once, measured, selection), accepted


def _together(level: Level) -> list[tuple[str, ...]]:
    """All finalists, and those of each choice of columns and projection: some go better without the others."""
    groups: dict[str, list[str]] = {}
    for name, c in level.configurations.items():
        groups.setdefault(repr((sorted(c.alternatives.items()), sorted(c.projection.items()))), []).append(name)
    return list(dict.fromkeys([tuple(level.configurations), *map(tuple, groups.values())]))


def _by_name(level: Level, names: Sequence[str], chances: Floats, half: int) -> dict[str, Floats]:
    """The chances of each configuration's trials of one half."""
    ends = np.cumsum([len(level.trials[name][half::2]) for name in names])
    return dict(zip(names, np.split(chances, ends[:-1]), strict=True))


def _pooled(parts: Mapping[str, Floats], kept: Sequence[str]) -> Floats:
    """The chances of the kept configurations, each with the same weight: a draw is uniform."""
    least = min(len(parts[name]) for name in kept)
    return np.concatenate([parts[name][:least] for name in kept])


def _measured(spec: Specification, rooms: Rooms, noise: float) -> Epsilons:
    """For each criterion the epsilon at which Δ/ε is `noise` times its limit, for nine trials of ten.

    Coefficients in the paper's form have noise of another kind, and keep the declared one.
    """
    found: dict[str, Fraction] = {}
    for place, (name, _) in enumerate(rooms.criteria):
        limits = rooms.limit[:, place]
        least = float(np.quantile(limits[np.isfinite(limits)], 0.1))
        found[name] = max(found.get(name, Fraction(0)), round_up(1 / (noise * least)))
    kept = {kind.criterion.name: kind.criterion.epsilon for kind in kinds_of(spec) if kind.leaves}
    return tuple({**found, **kept}.items())


def shared_with(spec: Specification, once: Fraction | None) -> set[str]:
    """The criteria that a regression paid once at this epsilon serves: they cost nothing more."""
    planned = spec.model_copy(update={"budget": spec.budget.model_copy(update={"once": once})})
    return {criterion.name for criterion in spec.criteria if planned.shares_once(criterion)}


def _charged(spec: Specification, once: Fraction | None, measured: Epsilons) -> Epsilons:
    free = shared_with(spec, once)
    return tuple((name, epsilon) for name, epsilon in measured if name not in free)


def _one_by_one(spec: Specification) -> bool:
    """Whether the paper's scheme compares every criterion's value and Laplace noise with its limit alone."""
    return all(kind.alone for kind in kinds_of(spec))


def _selections(spec: Specification) -> list[Selection]:
    """Ways to select: one candidate, rising coins, coins, until success."""
    alpha = spec.selection.false_accept
    single = Selection(mode="single", false_accept=alpha)
    rising = [Selection(mode="rising-coin", a=a, false_accept=alpha) for a in RISING]
    coins = [Selection(mode="coin", gamma=gamma, false_accept=alpha) for gamma in COINS]
    return [single, *rising, *coins, Selection(mode="paper", false_accept=alpha)]


def _spending(
    spec: Specification, measured: Epsilons, simple: bool
) -> Iterator[tuple[Scheme, Fraction | None, Epsilons, Selection]]:
    selections = _selections(spec)
    if simple:
        for test in TESTS[2:8:2]:
            yield "test-then-measure", test, measured, selections[0]
        return
    for selection in selections:
        for louder in LOUDER if _one_by_one(spec) else ():
            yield "paper", None, tuple((name, round_up(float(e) / louder)) for name, e in measured), selection
        if selection.mode != "paper":
            for test in TESTS:
                yield "test-then-measure", test, measured, selection
                if selection.mode != "single":
                    yield "train-once", test, measured, selection


def round_up(value: float, digits: int = 2) -> Fraction:
    """A decimal of two digits, not below the value.

    >>> str(round_up(0.02317))
    '3/125'
    """
    place = digits - 1 - floor(log10(value))
    return Fraction(ceil(value * 10**place - 1e-9)) / Fraction(10) ** place


def ceil_to(value: Fraction, digits: int) -> Fraction:
    """Rounded up to so many digits after the point."""
    return Fraction(ceil(value * 10**digits), 10**digits)
