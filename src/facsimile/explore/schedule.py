"""The schedule: the configurations that race at one generator epsilon, their trials so far and what comes next.

What comes next depends on finished trials only, never on their timing, so a study that was interrupted ends
with the same trials as one that was not.

    race        every configuration until it is dropped, kept or at its last trial; the audited run on, but
                for those without a candidate
    rounds      the survivors up to 8 trials, the best third of them up to 16, the best third of these up to all
    finalists   the best of the last round; they get fresh trials, which no decision looks at
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction

from facsimile.explore.race import RaceRule, Standing, audited, rank, standing, survives
from facsimile.explore.trials import FRESH, Job, Trial, fit_key
from facsimile.spec.decimals import show_decimal
from facsimile.spec.space import Configuration

ROUNDS = (8, 16)
Sharing = tuple[Configuration, ...]


class Schedule:
    """Configurations at one epsilon; those that share a fit are one group."""

    def __init__(
        self,
        configurations: Sequence[Configuration],
        generator: Fraction,
        rule: RaceRule,
        seed: int,
        trials: Iterable[Trial],
    ) -> None:
        self.generator, self.rule, self.seed = generator, rule, seed
        self.members = {c.identifier: c for c in configurations}
        self._trials: dict[str, list[Trial]] = {name: [] for name in self.members}
        self._standings: dict[str, Standing] = {}
        self._raced = dict.fromkeys(self.members, 0)
        self.groups = _grouped(self.members.values(), seed)
        self.add(trials)

    def add(self, trials: Iterable[Trial]) -> None:
        """Take note of finished trials; those of other fields are passed over."""
        level = show_decimal(self.generator)
        for trial in trials:
            if trial.generator == level and trial.configuration in self._trials:
                self._trials[trial.configuration].append(trial)
                self._raced[trial.configuration] += trial.number < FRESH
                self._standings.pop(trial.configuration, None)

    def trials(self, name: str) -> list[Trial]:
        """The finished trials of a configuration."""
        return self._trials[name]

    def standing(self, name: str) -> Standing:
        """Where a configuration stands."""
        if name not in self._standings:
            self._standings[name] = standing(self._trials[name], self.rule)
        return self._standings[name]

    def raced(self, name: str) -> int:
        """The number of its trials that decisions may look at; while it races their numbers have no gap."""
        return self._raced[name]

    def next_in_race(self, group: Sharing) -> Job | None:
        """The group's next job of the race, audits included."""
        return self._next([c for c in group if self._races(c.identifier)])

    def _races(self, name: str) -> bool:
        found = self.standing(name)
        if found.state == "dropped" and audited(name, self.seed, self.rule):
            refused = any(trial.refused is not None for trial in self._trials[name])
            return self.raced(name) < self.rule.trials and not refused
        return found.state == "running"

    def left_in_race(self) -> int:
        """How many trials of the race are still to come, at most."""
        return sum(self.rule.trials - self.raced(name) for name in self.members if self._races(name))

    def until(self, number: int) -> int:
        """How many trials a configuration has after a round."""
        return min(self.rule.trials, ROUNDS[number]) if number < len(ROUNDS) else self.rule.trials

    def _next(self, wanting: Sequence[Configuration]) -> Job | None:
        """The lowest missing number, for all of them that miss it."""
        if not wanting:
            return None
        number = min(self.raced(c.identifier) for c in wanting)
        return Job(tuple(c for c in wanting if self.raced(c.identifier) == number), self.generator, number)

    def survivors(self) -> list[str]:
        """Those that the race did not drop, by name."""
        return sorted(name for name in self.members if survives(self.standing(name), self.rule))

    def entrants(self, number: int) -> list[str]:
        """Who runs in a round: all survivors, then the best third of the round before, finalists at least.

        A later round may only be asked for when the ones before it are over.
        """
        chosen = self.survivors()
        for place in range(number):
            until = self.until(place)
            keep = max(self.rule.finalists, -(-len(chosen) // 3))
            chosen = sorted(chosen, key=lambda name: (self._rank(name, until), name))[:keep]
        return chosen

    def _rank(self, name: str, until: int) -> tuple[float, float]:
        """Its rank by the trials that a round could see."""
        return rank([trial for trial in self._trials[name] if trial.number < until])

    def finalists(self) -> list[str]:
        """The best of the last round."""
        last = self.entrants(len(ROUNDS))
        return sorted(last, key=lambda name: (self._rank(name, self.rule.trials), name))[: self.rule.finalists]

    def in_round(self, number: int) -> list[Job]:
        """The missing trials of a round: they are known beforehand, so they run side by side."""
        return self._missing(self.entrants(number), range(self.until(number)))

    def fresh(self) -> list[Job]:
        """The missing fresh trials of the finalists."""
        return self._missing(self.finalists(), range(FRESH, FRESH + self.rule.fresh))

    def _missing(self, names: Sequence[str], numbers: Iterable[int]) -> list[Job]:
        done = {(name, trial.number) for name in names for trial in self._trials[name]}
        jobs = []
        groups = _grouped([self.members[name] for name in names], self.seed)
        for number in numbers:
            for group in groups:
                missing = tuple(c for c in group if (c.identifier, number) not in done)
                if missing:
                    jobs.append(Job(missing, self.generator, number))
        return jobs


def _grouped(configurations: Iterable[Configuration], seed: int) -> list[Sharing]:
    """Configurations that share a fit, in an order that depends on the seed alone."""
    groups: dict[str, list[Configuration]] = {}
    for configuration in configurations:
        groups.setdefault(fit_key(configuration), []).append(configuration)
    order = sorted(groups, key=lambda key: hashlib.sha256(f"order|{seed}|{key}".encode()).digest())
    return [tuple(sorted(groups[key], key=lambda c: c.identifier)) for key in order]
