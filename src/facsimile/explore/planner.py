"""The planner: the smallest total epsilon at which a release comes out often enough, from fresh trials.

Every option is a scheme, a generator's epsilon that was tried, an epsilon of the test, of the regression paid
once, a way to select, and the configurations that are drawn from. Its total is what `Plan` charges; its chance
follows from chances.py. What is measured after acceptance costs the same in every option: each criterion gets
the epsilon at which the scale of its noise is a given part of its threshold.

Honesty.  Half of the fresh trials choose: an option must reach the wanted chance by its lower bound. The other
  half has no part in the choice and states the chance, so its interval is not flattered by the choice. Where
  candidates share something (a generator or a regression fitted once), they succeed and fail together. With h
  the concave map from acceptance to release and p the acceptance given what is shared, the chance E h(p) lies
  between E h(pᵢ) of single candidates and h(E pᵢ); the interval covers both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log10

import numpy as np

from facsimile.errors import refusal
from facsimile.explore.chances import Floats, Rooms, at_least, candidates, interval, released
from facsimile.explore.explore import fields
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial
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
BOUNDED: tuple[Scheme, ...] = ("test-then-measure", "train-once")
"""The schemes that keep `selection.false_accept`; the paper's bounds no table that misses a criterion."""
CHOOSING, STATING = 0.8, 0.95
TIGHTER = tuple(1 - 0.05 * k for k in range(20))


@dataclass(frozen=True, eq=False)
class Option:
    """A way to spend, with the trials that tell its chance."""

    scheme: Scheme
    generator: Fraction
    test: Fraction | None
    once: Fraction | None
    measured: tuple[tuple[str, Fraction], ...]
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
    def least(self) -> float:
        """The chance of a release that the choosing trials vouch for."""
        if self.scheme == "train-once":
            return at_least(released(self.chosen, self.selection), CHOOSING)
        return float(released(at_least(self.chosen, CHOOSING), self.selection))

    def chance(self) -> tuple[float, float, float]:
        """The chance of a release and its bounds, by trials that had no part in the choice."""
        q, each = float(self.stated.mean()), released(self.stated, self.selection)
        low, high = (float(released(bound, self.selection)) for bound in interval(self.stated, STATING))
        if self.scheme == "train-once" or self.once is not None:
            low = min(low, interval(each, STATING)[0])
        middle = float(each.mean()) if self.scheme == "train-once" else float(released(q, self.selection))
        return middle, low, high

    def iterations(self) -> float:
        """The expected number of candidates."""
        return candidates(float(self.stated.mean()), self.selection)


@dataclass(frozen=True)
class Point:
    """A place on the curve: what a total buys in a scheme."""

    scheme: str
    total: Fraction
    release: float
    low: float
    high: float
    generator: Fraction
    mode: str


@dataclass(frozen=True, eq=False)
class Planned:
    """The plan, the curve, and what some other total would buy: a likelier release, or tighter thresholds."""

    option: Option
    accept: float
    curve: tuple[Point, ...]
    other: Fraction
    bought: Point | None
    tighter: float | None


@dataclass(frozen=True, eq=False)
class Level:
    """The fresh trials of the finalists at one epsilon of the generator."""

    generator: Fraction
    configurations: dict[str, Configuration]
    trials: dict[str, list[Trial]]


def levels(study: Study) -> list[Level]:
    """Where a study has fresh trials, the largest epsilon first."""
    found = []
    for field in fields(study, study.trials()):
        names = field.finalists()
        fresh = {name: [t for t in field.trials(name) if t.number >= FRESH] for name in names}
        ready = {name: trials for name, trials in fresh.items() if len(trials) >= 2}
        if ready:
            found.append(Level(field.generator, {name: field.members[name] for name in ready}, ready))
    return found


def plan(
    study: Study,
    accept: float,
    keep: float = 0.1,
    noise: float = 0.1,
    schemes: Sequence[Scheme] = BOUNDED,
    other: Fraction | None = None,
) -> Planned:
    """The cheapest option with the wanted chance of a release, among some schemes.

    `other`: the total to compare with, the declared one unless given.
    """
    found = levels(study)
    if not found:
        raise refusal("E415", problem="no configuration has fresh trials.")
    spec = study.ground.specification
    options = [option for level in found for option in _options(spec, level, keep, noise)]
    enough = [option for option in options if option.scheme in schemes and option.least >= accept]
    if not enough:
        raise refusal("E415", problem=f"no budget that was tried releases with probability {accept:g}.")
    best = min(enough, key=lambda option: (option.total, -option.least))
    total = spec.budget.total if other is None else other
    bought = _bought([option for option in options if option.scheme in schemes], total)
    tighter = _tightest(spec, found, keep, noise, accept, total)
    return Planned(best, accept, _curve(options), total, bought, tighter)


def curve(study: Study, keep: float = 0.1, noise: float = 0.1) -> tuple[Point, ...]:
    """For each scheme the totals at which the chance of a release grows."""
    spec = study.ground.specification
    return _curve([option for level in levels(study) for option in _options(spec, level, keep, noise)])


def _curve(options: Sequence[Option]) -> tuple[Point, ...]:
    """Chosen by the choosing trials, stated by the others."""
    points = []
    for scheme in SCHEMES:
        reached = 0.0
        mine = [(option.total, option.least, option) for option in options if option.scheme == scheme]
        for total, least, option in sorted(mine, key=lambda one: (one[0], -one[1])):
            if least > reached + 0.005:
                reached = least
                points.append(_point(option, total))
    return tuple(points)


def _point(option: Option, total: Fraction) -> Point:
    chance, low, high = option.chance()
    return Point(option.scheme, total, chance, low, high, option.generator, option.selection.mode)


def _bought(options: Sequence[Option], total: Fraction) -> Point | None:
    """The best chance within a total."""
    within = [option for option in options if option.total <= total]
    if not within:
        return None
    best = max(within, key=lambda option: (option.least, -option.total))
    return _point(best, best.total)


def _tightest(
    spec: Specification, found: Sequence[Level], keep: float, noise: float, accept: float, total: Fraction
) -> float | None:
    """The smallest factor on every threshold that a total would still meet often enough."""
    best = None
    for factor in TIGHTER:
        options = [o for level in found for o in _options(spec, level, keep, noise, factor) if o.total <= total]
        if not any(option.least >= accept for option in options):
            return best
        best = factor
    return best


def _options(
    spec: Specification, level: Level, keep: float, noise: float, factor: float | None = None
) -> Iterator[Option]:
    """Every way to spend at one epsilon of the generator; with tighter thresholds only the simplest."""
    for names in _together(level):
        halves = [[t for name in names for t in level.trials[name][half::2]] for half in (0, 1)]
        rooms = [Rooms.of(half) for half in halves]
        if not rooms[0].criteria or rooms[0].criteria != rooms[1].criteria:
            continue
        if factor is not None:
            rooms = [one.tightened(factor) for one in rooms]
        measured = _measured(rooms[0], noise)
        seconds = float(np.concatenate([one.seconds for one in rooms]).mean())
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
                parts = [_by_name(level, names, half, place) for place, half in enumerate(chances)]
                kept = tuple(name for name, mine in parts[0].items() if mine.mean() >= keep)
                if not kept:
                    continue
                chosen, stated = (_pooled(part, kept) for part in parts)
                yield Option(
                    scheme,
                    level.generator,
                    test,
                    paid,
                    epsilons,
                    selection,
                    tuple(level.configurations[name] for name in kept),
                    chosen,
                    stated,
                    seconds,
                )


def _together(level: Level) -> list[tuple[str, ...]]:
    """Configurations with the same columns and projection: what a specification can hold together."""
    groups: dict[str, list[str]] = {}
    for name, c in level.configurations.items():
        groups.setdefault(repr((sorted(c.alternatives.items()), sorted(c.projection.items()))), []).append(name)
    return [tuple(group) for group in groups.values()]


def _by_name(level: Level, names: Sequence[str], chances: Floats, half: int) -> dict[str, Floats]:
    """The chances of each configuration's trials of one half."""
    ends = np.cumsum([len(level.trials[name][half::2]) for name in names])
    return dict(zip(names, np.split(chances, ends[:-1]), strict=True))


def _pooled(parts: Mapping[str, Floats], kept: Sequence[str]) -> Floats:
    """The chances of the kept configurations, each with the same weight: a draw is uniform."""
    least = min(len(parts[name]) for name in kept)
    return np.concatenate([parts[name][:least] for name in kept])


def _measured(rooms: Rooms, noise: float) -> tuple[tuple[str, Fraction], ...]:
    """For each criterion the epsilon at which Δ/ε is `noise` times its limit, for nine trials of ten."""
    found: dict[str, Fraction] = {}
    for place, (name, _) in enumerate(rooms.criteria):
        limits = rooms.limit[:, place]
        least = float(np.quantile(limits[np.isfinite(limits)], 0.1))
        found[name] = max(found.get(name, Fraction(0)), round_up(1 / (noise * least)))
    return tuple(found.items())


def _spending(
    spec: Specification, measured: tuple[tuple[str, Fraction], ...], simple: bool
) -> Iterator[tuple[Scheme, Fraction | None, tuple[tuple[str, Fraction], ...], Selection]]:
    alpha = spec.selection.false_accept
    single = Selection(mode="single", false_accept=alpha)
    if simple:
        for test in TESTS[2:8:2]:
            yield "test-then-measure", test, measured, single
        return
    rising = [Selection(mode="rising-coin", a=a, false_accept=alpha) for a in RISING]
    coins = [Selection(mode="coin", gamma=gamma, false_accept=alpha) for gamma in COINS]
    forever = Selection(mode="paper", false_accept=alpha)
    for selection in (single, *rising, *coins, forever):
        for louder in LOUDER:
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
