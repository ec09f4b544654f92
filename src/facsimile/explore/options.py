"""Options: every way to spend on a release, with the trials that tell its chance.

An option is a scheme, a generator's epsilon that was tried or lies between two that were (between.py), an
epsilon of the test, of the regression paid once, a way to select, and the configurations that are drawn from.
Its total is what `Plan` charges; its chance follows from chances.py. What is measured after acceptance costs
the same in every option: each criterion gets the epsilon at which the scale of its noise is a given part of its
threshold. Criteria keep their declared forms; a study in the paper's scheme has options with the declared
epsilons too, whose chance is how often its trials were accepted. In scheme `measured` nothing follows
acceptance: criteria share one number, or each has the epsilon that its room asks for (`_splits`).

The fresh trials are cut in halves: `chosen` may decide which options are looked at, `stated` decides nothing
here (see curve.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import ceil, floor, log, log10

import numpy as np

from facsimile.acceptance.kind import kinds_of
from facsimile.explore.between import Level, filled
from facsimile.explore.chances import Distances, at_least, interval
from facsimile.explore.run import schedules
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial, fit_key
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import MODES, Mode, mode_of
from facsimile.release.plan import arranged
from facsimile.spec.choices import SchemeName
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.families import family_of
from facsimile.spec.release import Selection, Specification
from facsimile.spec.space import Configuration
from facsimile.table.exact import Floats

BOUNDED: tuple[SchemeName, ...] = ("test-then-measure", "train-once", "measured")
"""The schemes that keep `selection.false_accept`; the paper's bounds no table that misses a criterion."""
SCHEMES: tuple[SchemeName, ...] = ("paper", *BOUNDED)
TESTS = tuple(
    Fraction(text)
    for text in ("0.02", "0.03", "0.05", "0.07", "0.1", "0.14", "0.2", "0.3", "0.4", "0.6", "0.8", "1.2")
)
LOUDER = (1, 2)
"""In the paper's scheme criteria are measured in every iteration; how much more noise they may get there."""
CHOOSING = 0.8
LOSSES = (0.02, 0.05, 0.1, 0.2, 0.35)
"""How often noise may reject what it should not, in scheme `measured` with an epsilon for each criterion."""
ROOMS = (0.5, 0.2)
"""Which of the candidates that meet all criteria tells the room of each: the middle one, a worse one."""
VALUED = "measured, with values"
VARIANTS = (*SCHEMES, VALUED)
"""What a plan compares: the schemes, and the last one with a value for each criterion."""
Epsilons = tuple[tuple[str, Fraction], ...]
Way = tuple[SchemeName, Fraction | None, Fraction | None, Epsilons, Selection]
"""Scheme, test, regression paid once, measured criteria and selection."""


@dataclass(frozen=True, eq=False)
class Option:
    """A way to spend, with the trials that tell its chance."""

    scheme: SchemeName
    test: Fraction | None
    once: Fraction | None
    measured: Epsilons
    selection: Selection
    generator: Fraction
    configurations: tuple[Configuration, ...]
    chosen: Floats
    stated: Floats
    seconds: float
    predicted: bool = False
    """Whether its epsilon of the generator lies between those that were tried."""
    declared: tuple[Fraction, bool] = (Fraction(0), False)
    """The δ, and whether a family has an (ε, δ) of its own."""

    @property
    def delta(self) -> Fraction:
        """The δ that the specification declares."""
        return self.declared[0]

    @property
    def mode(self) -> Mode:
        """The selection at work."""
        return _mode(self.selection)

    @property
    def plan(self) -> Plan:
        """What it charges."""
        measured = [epsilon for _, epsilon in self.measured]
        return arranged(self.scheme, self.generator, self.test, self.once, measured, self.mode, *self.declared)

    @property
    def valued(self) -> bool:
        """Whether every criterion is published with a value, and not only with a bound."""
        return self.scheme != "measured" or self.test is None

    @property
    def variant(self) -> str:
        """Its scheme, and whether criteria share their number: what a plan compares."""
        return VALUED if self.scheme == "measured" and self.valued else self.scheme

    @cached_property
    def total(self) -> Fraction:
        """The total epsilon, rounded up to what a specification writes."""
        return _total(self.plan)

    @cached_property
    def shared(self) -> int:
        """How many of its configurations at most share a fit: so many of its trials are no better than one."""
        return max(Counter(map(fit_key, self.configurations)).values())

    @cached_property
    def seen(self) -> float:
        """The chance of a release among the choosing trials: never below what they vouch for."""
        if self.scheme == "train-once":
            return float(self.mode.released(self.chosen).mean())
        return self._released(float(self.chosen.mean()))

    @cached_property
    def least(self) -> float:
        """The chance of a release that the choosing trials vouch for."""
        n = len(self.chosen) / self.shared
        if self.scheme == "train-once":
            return at_least(self.seen, n, CHOOSING)
        return self._released(at_least(float(self.chosen.mean()), n, CHOOSING))

    def chance(self, confidence: float, trials: int | None = None) -> tuple[float, float, float]:
        """The chance of a release by the stating trials, and its bounds: had there been so many like them.

        Where candidates share something (a generator or a regression fitted once), they succeed and fail
        together. With h the concave map from acceptance to release and p the acceptance given what is shared,
        the chance E h(p) lies between E h(pᵢ) of single candidates and h(E pᵢ); the bounds cover both.
        """
        n = (len(self.stated) if trials is None else trials) / self.shared
        q, each = float(self.stated.mean()), float(self.mode.released(self.stated).mean())
        low, high = map(self._released, interval(q, n, confidence))
        if self.scheme == "train-once" or self.once is not None:
            low = min(low, interval(each, n, confidence)[0])
        return each if self.scheme == "train-once" else self._released(q), low, high

    def _released(self, q: float) -> float:
        return float(self.mode.released(q))

    def iterations(self) -> float:
        """The expected number of candidates."""
        return float(self.mode.tried(float(self.stated.mean())))


@lru_cache(maxsize=1 << 10)
def _mode(selection: Selection) -> Mode:
    """The selection at work; many options select alike."""
    return mode_of(selection)


@lru_cache(maxsize=1 << 16)
def _total(plan: Plan) -> Fraction:
    """What a specification writes; many options charge the same."""
    return Fraction(ceil(plan.total().epsilon * 10**4), 10**4)


def levels(study: Study) -> list[Level]:
    """Where a study has fresh trials, the largest epsilon first, and what they foretell half way between."""
    found = []
    for schedule in schedules(study, study.trials()):
        names = schedule.finalists()
        fresh = {name: [t for t in schedule.trials(name) if t.number >= FRESH] for name in names}
        ready = {name: trials for name, trials in fresh.items() if len(trials) >= 2}
        if ready:
            found.append(Level(schedule.generator, {name: schedule.members[name] for name in ready}, ready))
    return filled(found)


def options(
    spec: Specification, levels: Sequence[Level], keep: float, noise: float, factor: float | None = None
) -> list[Option]:
    """Every way to spend; with thresholds tighter by a factor only the simplest, where it was tried."""
    known = [level for level in levels if factor is None or not level.predicted]
    return [option for level in known for option in _at(spec, level, keep, noise, factor)]


def _at(spec: Specification, level: Level, keep: float, noise: float, factor: float | None) -> Iterator[Option]:
    for names in _together(level):
        halves = [[t for name in names for t in level.trials[name][half::2]] for half in (0, 1)]
        seconds = float(np.mean([t.fit_seconds + t.seconds for half in halves for t in half]))
        places = [_places(level, names, half) for half in (0, 1)]
        for way, chances in _ways(spec, halves, noise, factor, not level.predicted):
            kept = tuple(name for name in names if chances[0][places[0][name]].mean() >= keep)
            if not kept or not (way[0] == "train-once" or _mode(way[-1]).proved(spec.budget.delta)):
                continue
            chosen, stated = (_pooled(half, place, kept) for half, place in zip(chances, places, strict=True))
            configurations = tuple(level.configurations[name] for name in kept)
            own = any(family_of(one.family).law == "delta" for one in configurations)
            declared = spec.budget.delta, own
            yield Option(
                *way, level.generator, configurations, chosen, stated, seconds, level.predicted, declared
            )


def _ways(
    spec: Specification,
    halves: Sequence[Sequence[Trial]],
    noise: float,
    factor: float | None,
    tried: bool,
) -> Iterator[tuple[Way, list[Floats]]]:
    """Ways to spend, each with the chances of both halves' candidates."""
    selections = _selections(spec)
    if spec.scheme == "paper" and factor is None and tried:  # as declared: a trial was accepted, or it was not
        declared = _charged(spec, spec.budget.once, tuple((c.name, c.epsilon) for c in spec.criteria))
        accepted = [np.array([trial.accepted for trial in half], np.float64) for half in halves]
        yield from ((("paper", None, spec.budget.once, declared, one), accepted) for one in selections)
    distances = [Distances.of(half) for half in halves]
    if not distances[0].criteria or distances[0].criteria != distances[1].criteria:
        return
    if factor is not None:
        distances = [one.tightened(factor) for one in distances]
    measured = _measured(spec, distances[0], noise)
    for once in distances[0].onces():
        at = [one.at(once) for one in distances]
        paid = None if once is None else parse_decimal(once)
        tested = _charged(spec, paid, measured)
        if factor is not None:
            luck = _mode(selections[0]).luck
            for test, scheme in product(TESTS[2:8:2], _tested(spec, repeats=False)):
                chances = [one.joint(test, luck) for one in at]
                yield (scheme, test, paid, _after(scheme, tested), selections[0]), chances
            continue
        for selection in selections:
            mode = _mode(selection)
            luck = mode.luck
            for louder in LOUDER if _one_by_one(spec) else ():
                noisier = {name: round_up(float(epsilon) / louder) for name, epsilon in measured}
                chances = [one.one_by_one([float(noisier[name]) for name, _ in one.criteria]) for one in at]
                yield ("paper", None, paid, _charged(spec, paid, tuple(noisier.items())), selection), chances
            for test in TESTS if mode.halting else ():
                chances = [one.joint(test, luck) for one in at]
                for scheme in _tested(spec, mode.repeats):
                    yield (scheme, test, paid, _after(scheme, tested), selection), chances
            for split in _splits(at[0], luck) if mode.halting and _measurable(spec) else ():
                chances = [
                    one.by_measurement([split[name] for name, _ in one.criteria], None, luck) for one in at
                ]
                yield ("measured", None, paid, tuple(split.items()), selection), chances


def _together(level: Level) -> list[tuple[str, ...]]:
    """All finalists, and those of each choice of columns and projection: some go better without the others."""
    groups: dict[str, list[str]] = {}
    for name, c in level.configurations.items():
        groups.setdefault(repr((sorted(c.alternatives.items()), sorted(c.projection.items()))), []).append(name)
    return list(dict.fromkeys([tuple(level.configurations), *map(tuple, groups.values())]))


def _places(level: Level, names: Sequence[str], half: int) -> dict[str, slice]:
    """Where the trials of each configuration stand among those of one half."""
    ends = list(accumulate((len(level.trials[name][half::2]) for name in names), initial=0))
    return {name: slice(*ends[place : place + 2]) for place, name in enumerate(names)}


def _pooled(chances: Floats, places: Mapping[str, slice], kept: Sequence[str]) -> Floats:
    """The chances of the kept configurations, each with the same weight: a draw is uniform."""
    mine = [chances[places[name]] for name in kept]
    least = min(map(len, mine))
    return np.concatenate([part[:least] for part in mine])


def _measured(spec: Specification, distances: Distances, noise: float) -> Epsilons:
    """For each criterion the epsilon at which Δ/ε is `noise` times its limit, for nine trials of ten.

    Coefficients in the paper's form have noise of another kind, and keep the declared one.
    """
    found: dict[str, Fraction] = {}
    for place, (name, _) in enumerate(distances.criteria):
        limits = distances.limit[:, place]
        least = float(np.quantile(limits[np.isfinite(limits)], 0.1))
        found[name] = max(found.get(name, Fraction(0)), round_up(1 / (noise * least)))
    kept = {kind.criterion.name: kind.criterion.epsilon for kind in kinds_of(spec) if kind.leaves}
    return tuple({**found, **kept}.items())


def _tested(spec: Specification, repeats: bool) -> list[SchemeName]:
    """The schemes with a joint test; one fit for all candidates helps where there may be several."""
    kept = {"train-once": repeats, "measured": _measurable(spec)}
    return [scheme for scheme in BOUNDED if kept.get(scheme, True)]


def _after(scheme: SchemeName, tested: Epsilons) -> Epsilons:
    """What is measured beside the joint test: nothing where that test is all there is."""
    return () if scheme == "measured" else tested


def _measurable(spec: Specification) -> bool:
    """Whether scheme `measured` can test every criterion: by a value plus noise."""
    return not any(kind.leaves for kind in kinds_of(spec))


def _splits(distances: Distances, luck: Fraction) -> Iterator[dict[str, Fraction]]:
    """Epsilons for each criterion's own number, in scheme `measured`: a few that cost least for what they lose.

    A criterion has room r = (limit − value)/Δ. With noise of scale 1/ε it passes its margin with a loss of
    about ½·exp(m − εr), m = ln(1/(2·luck)). To lose L in all at the least Σε, the losses are as 1/r (Lagrange):
    ε = (m + x)/r with exp(−x) = 2L·(1/r)/Σ(1/r), and x at least 0. So cheap criteria get little.
    """
    met = distances.below[(distances.slack > 0).all(axis=1)]
    m = max(0.0, -log(2 * float(luck)))
    for place, loss in product(ROOMS if len(met) else (), LOSSES):
        room = np.quantile(met, place, axis=0)
        x = np.maximum(0.0, -np.log(2 * loss / room / (1 / room).sum()))
        yield {
            name: round_up(float(e)) for (name, _), e in zip(distances.criteria, (m + x) / room, strict=True)
        }


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
    """Ways to select: what the modes offer, one candidate first."""
    common = {"false_accept": spec.selection.false_accept}
    every = [{"mode": name, **given} for name, kind in MODES.items() for given in kind.offered]
    return [Selection.model_validate(given | common) for given in every]


def round_up(value: float, digits: int = 2) -> Fraction:
    """A decimal of two digits, not below the value.

    >>> str(round_up(0.02317))
    '3/125'
    """
    place = digits - 1 - floor(log10(value))
    return Fraction(ceil(value * 10**place - 1e-9)) / Fraction(10) ** place
