"""Between: what trials at two epsilons of the generator say about one between them.

Trials are made on a ladder of epsilons, a factor √2 apart; a plan may take one half way too. There a chance is
predicted, and corrected by the trials that were made. Noise alone makes errors as 1/ε; what a model
cannot express and the sampling of records are not mended by any ε. So the errors of a criterion are taken as
ε^(−k), with the k between 0 and 1 that leads from the median at the rung above to the one at the rung below. A
trial at ε₁ then foretells one at ε by its errors times (ε₁/ε)^k. Both rungs have their say, the nearer one
more, and at a rung itself nothing is left of the other. Errors never grow with ε, so neither do chances fall,
but for the luck of trials.

A study has trials of every criterion, so this holds for criteria that have no linear view and for families that
no formula predicts. It has no guarantee: a plan says where it was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor, log, sqrt
from statistics import median

from facsimile.explore.judge import Noiseless
from facsimile.explore.run import two_digits
from facsimile.explore.trials import Trial
from facsimile.spec.space import Configuration

Powers = Mapping[tuple[str, str | None], float]
"""k of each criterion: by its name, and by the epsilon of the regression that it compares with."""


@dataclass(frozen=True, eq=False)
class Level:
    """The fresh trials of the finalists at one epsilon of the generator: `predicted`, or made."""

    generator: Fraction
    configurations: dict[str, Configuration]
    trials: dict[str, list[Trial]]
    predicted: bool = False


def filled(levels: Sequence[Level]) -> list[Level]:
    """The levels, the largest epsilon first, with a predicted one between any two that share configurations."""
    found = list(levels[:1])
    for above, below in pairwise(levels):
        found += [*_between(above, below), below]
    return found


def _between(above: Level, below: Level) -> Iterator[Level]:
    known = [name for name in below.configurations if name in above.configurations]
    generator = two_digits(sqrt(above.generator * below.generator))
    if known and below.generator < generator < above.generator:
        trials = {name: _mixed(above, below, name, generator) for name in known}
        yield Level(generator, {name: below.configurations[name] for name in known}, trials, predicted=True)


def _powers(above: Level, below: Level, name: str) -> Powers:
    high, low = _medians(above.trials[name]), _medians(below.trials[name])
    step = log(above.generator / below.generator)
    return {
        key: min(1.0, max(0.0, log(low[key] / high[key]) / step)) if low[key] > 0 and high[key] > 0 else 1.0
        for key in high.keys() & low.keys()
    }


def _medians(trials: Sequence[Trial]) -> dict[tuple[str, str | None], float]:
    found: dict[tuple[str, str | None], list[float]] = {}
    for reading in (reading for trial in trials for reading in trial.noiseless):
        found.setdefault((reading.criterion, reading.once), []).append(reading.value)
    return {key: median(values) for key, values in found.items()}


def _mixed(above: Level, below: Level, name: str, generator: Fraction) -> list[Trial]:
    """As many trials as both rungs have, the nearer one's more often; both halves (options.py) mix alike."""
    powers = _powers(above, below, name)
    nearness = log(generator / below.generator) / log(above.generator / below.generator)
    mixed = []
    for place, trials in enumerate(zip(above.trials[name], below.trials[name], strict=False)):
        pair = place // 2
        lower = floor(nearness * (pair + 1)) == floor(nearness * pair)
        rung = below if lower else above
        mixed.append(foretold(trials[lower], float(rung.generator / generator), powers))
    return mixed


def foretold(trial: Trial, ratio: float, powers: Powers) -> Trial:
    """The trial as it would be at another epsilon, the tried one over it being this ratio."""
    readings = (
        _multiplied(reading, ratio ** powers.get((reading.criterion, reading.once), 1.0))
        for reading in trial.noiseless
    )
    return replace(trial, noiseless=tuple(readings))


def _multiplied(reading: Noiseless, factor: float) -> Noiseless:
    """Its value times a factor; its excess as far from the limit as before, in the same units.

    >>> _multiplied(Noiseless("a", 2.0, 3.0, 0.5, -2.0), 0.5)
    Noiseless(criterion='a', value=1.0, limit=3.0, sensitivity=0.5, excess=-4.0, once=None)
    """
    value, gap = factor * reading.value, reading.value - reading.limit
    unit = gap / reading.excess if gap * reading.excess > 0 else reading.sensitivity
    return replace(reading, value=value, excess=(value - reading.limit) / unit)
