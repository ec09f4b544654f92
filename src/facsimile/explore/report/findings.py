"""Findings: what the trials of a study say about configurations, criteria, epsilons and time.

An estimate stands on fresh trials where there are any: no decision looked at them. Otherwise it stands on the
trials of the race, and says so: a configuration that was chosen for its luck looks better than it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from facsimile.acceptance.kind import titles
from facsimile.explore.curve import Curve, curve_of
from facsimile.explore.race import Standing, audited, lower, rank, standing, survives, upper
from facsimile.explore.study import Study, levels
from facsimile.explore.trials import FRESH, Trial
from facsimile.spec.decimals import show_decimal
from facsimile.spec.space import Configuration

ONE_SIDE = 0.975
"""Two one-sided Clopper–Pearson bounds of this confidence make a 95 % interval."""


@dataclass(frozen=True)
class Estimate:
    """Acceptance: how many of the trials were accepted; `fresh` if no decision looked at them."""

    accepted: int
    trials: int
    fresh: bool

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Estimate:
        """From the fresh trials if there are any, else from those of the race."""
        fresh = [trial for trial in trials if trial.number >= FRESH]
        counted = fresh or trials
        return cls(sum(trial.accepted for trial in counted), len(counted), bool(fresh))

    @property
    def share(self) -> float:
        """The share of accepted trials."""
        return self.accepted / self.trials if self.trials else 0.0

    @property
    def low(self) -> float:
        """The lower end of the 95 % Clopper–Pearson interval."""
        return lower(self.accepted, self.trials, ONE_SIDE) if self.trials else 0.0

    @property
    def high(self) -> float:
        """The upper end."""
        return upper(self.accepted, self.trials, ONE_SIDE) if self.trials else 1.0

    @property
    def counted(self) -> str:
        """In which trials."""
        return "fresh" if self.fresh else "race"


@dataclass(frozen=True)
class Tried:
    """One configuration at the study's first epsilon; `seconds` of CPU at all of them.

    `able`: at least one trial made a candidate.
    """

    configuration: Configuration
    standing: Standing
    survives: bool
    able: bool
    estimate: Estimate
    seconds: float
    rank: tuple[float, float]

    @property
    def identifier(self) -> str:
        """The configuration's name."""
        return self.configuration.identifier

    @property
    def order(self) -> tuple[float, float, float, str]:
        """The best assured first: the lower end of its interval, its share, the mean of its worst value."""
        return -self.estimate.low, -self.estimate.share, self.rank[1], self.identifier


class Findings:
    """A study's trials, read once."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.trials = study.trials()
        self.configurations = study.configurations()
        self.levels = [show_decimal(level) for level in levels(self.trials)]
        self._grouped: defaultdict[tuple[str, str], list[Trial]] = defaultdict(list)
        self._spent: defaultdict[str, float] = defaultdict(float)
        for trial in self.trials:
            self._grouped[trial.configuration, trial.generator].append(trial)
            self._spent[trial.configuration] += trial.fit_seconds + trial.seconds

    @cached_property
    def titles(self) -> dict[str, str]:
        """The criteria in words, by their names."""
        return titles(self.study.setup.specification.criteria)

    @property
    def first(self) -> str:
        """The epsilon that every configuration was tried with."""
        return self.levels[0] if self.levels else show_decimal(self.study.declared.budget.generator)

    @property
    def seconds(self) -> float:
        """CPU seconds of all trials."""
        return sum(self._spent.values())

    def of(self, identifier: str, level: str | None = None) -> list[Trial]:
        """The trials of a configuration at one epsilon, by number."""
        return self._grouped.get((identifier, self.first if level is None else level), [])

    @cached_property
    def lines(self) -> tuple[Tried, ...]:
        """Every configuration that was tried at the first epsilon, the best first."""
        return tuple(
            sorted(map(self._tried, filter(self.of, self.configurations)), key=lambda line: line.order)
        )

    def _tried(self, identifier: str) -> Tried:
        trials, rule = self.of(identifier), self.study.rule
        found, able = standing(trials, rule), any(trial.refused is None for trial in trials)
        estimate, seconds = Estimate.of(trials), self._spent[identifier]
        chosen = self.configurations[identifier]
        return Tried(chosen, found, survives(found, rule), able, estimate, seconds, rank(trials))

    @cached_property
    def curve(self) -> Curve:
        """What a total epsilon buys, as `facsimile plan` reads it."""
        return curve_of(self.study)

    @cached_property
    def finalists(self) -> list[Tried]:
        """Those with fresh trials if there are any, else all with a candidate; the best by the race first."""
        able = [line for line in self.lines if line.able]
        among = [line for line in able if line.estimate.fresh] or able
        return sorted(among, key=lambda line: (line.rank, line.identifier))

    @property
    def best(self) -> Tried | None:
        """The first of them: its fresh trials did not choose it, so they estimate its acceptance unbiased."""
        return self.finalists[0] if self.finalists else None

    @property
    def survivors(self) -> list[Tried]:
        """Those that the race did not drop."""
        return [line for line in self.lines if line.survives]

    @property
    def dropped(self) -> list[Tried]:
        """Those that the race dropped."""
        return [line for line in self.lines if line.standing.state == "dropped"]

    @property
    def audited(self) -> list[Tried]:
        """Dropped configurations that ran all their trials all the same."""
        rule, seed = self.study.rule, self.study.setup.seed
        drawn = [line for line in self.dropped if audited(line.identifier, seed, rule)]
        return [
            line for line in drawn if sum(t.number < FRESH for t in self.of(line.identifier)) >= rule.trials
        ]

    @property
    def wrongly_dropped(self) -> list[Tried]:
        """The audited whose share of accepted trials is what is wanted."""
        return [line for line in self.audited if line.estimate.share >= self.study.rule.wanted]

    def chosen(self) -> Trial | None:
        """The trial to look at closely: the best configuration's first accepted fresh one, else its first
        accepted one, else the one whose worst criterion is least far off; None where there is no candidate."""
        return self.preferred(self.best)[0] if self.best else None

    def preferred(self, line: Tried) -> list[Trial]:
        """The trials of a configuration that made a candidate, those to look at first."""
        return sorted((t for t in self.of(line.identifier) if t.refused is None), key=_preference)

    def by_level(self) -> dict[str, list[tuple[str, Estimate]]]:
        """The acceptance at each epsilon of the configurations that were tried at several, the best first."""
        found = {}
        for line in self.lines:
            tried = [(level, self.of(line.identifier, level)) for level in self.levels]
            estimates = [(level, Estimate.of(trials)) for level, trials in tried if trials]
            if len(estimates) > 1:
                found[line.identifier] = estimates
        return found

    def family(self, trial: Trial) -> str:
        """The family of a trial's configuration."""
        return self.configurations[trial.configuration].family

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that were tried."""
        return tuple(sorted({configuration.family for configuration in self.configurations.values()}))


def _preference(trial: Trial) -> tuple[bool, bool, float, int]:
    worst = max((np.inf if r.deciding is None else r.deciding for r in trial.readings), default=np.inf)
    return not trial.accepted, trial.number < FRESH, 0.0 if trial.accepted else worst, trial.number
