"""Survivors: the configurations that the births paper's rule keeps, and how likely one of them is accepted.

The rule: keep every configuration that was accepted in at least a tenth of its trials on public data, and draw
uniformly among them; scheme, forms and budget stay as they are declared.

Which are kept follows from the trials of the race. How likely a candidate is accepted is stated by fresh
trials, which had no part in that, where every survivor has some (`explore --finalists`); otherwise by all
trials, and then it is flattered: who was lucky is kept.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from facsimile.errors import refusal
from facsimile.explore.chances import interval
from facsimile.explore.race import lower, upper
from facsimile.explore.run import schedules
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial, fit_key
from facsimile.privacy.modes import Mode, mode_of
from facsimile.spec.space import Configuration

KEPT = 0.1
STATED = 0.95


@dataclass(frozen=True)
class Survivor:
    """A configuration with the trials that kept it, and those that state its acceptance: often the same."""

    configuration: Configuration
    accepted: int
    trials: int
    stating: tuple[int, int]

    @property
    def share(self) -> float:
        """The acceptance that is stated."""
        return self.stating[0] / self.stating[1]

    @property
    def span(self) -> tuple[float, float]:
        """Its interval: Clopper and Pearson, 95 %."""
        beyond = 1 - (1 - STATED) / 2
        return lower(*self.stating, beyond), upper(*self.stating, beyond)


@dataclass(frozen=True)
class Survivors:
    """What the rule keeps. `raced`: how many were looked at; `running`: how many have not ended their race.

    `fresh`: whether the stating trials had no part in the choice. `mode`: how the search goes on; None
    where all candidates are of one model, and succeed and fail together.
    """

    kept: tuple[Survivor, ...]
    raced: int
    running: int
    fresh: bool
    mode: Mode | None

    @cached_property
    def acceptance(self) -> float:
        """How likely a candidate is accepted, its configuration drawn uniformly."""
        return sum(survivor.share for survivor in self.kept) / len(self.kept)

    @cached_property
    def span(self) -> tuple[float, float]:
        """Its interval (chances.interval): trials that share a fit count as one."""
        weights: dict[str, float] = defaultdict(float)
        for survivor in self.kept:
            weights[fit_key(survivor.configuration)] += 1 / (len(self.kept) * survivor.stating[1])
        return interval(self.acceptance, 1 / max(weights.values()), STATED)

    @property
    def expected(self) -> float | None:
        """The expected number of candidates."""
        return None if self.mode is None else float(self.mode.tried(self.acceptance))


def survivors(study: Study, keep: float = KEPT) -> Survivors:
    """The configurations that the paper's rule keeps at the declared epsilon; refused where there is none."""
    if keep < study.rule.wanted:
        problem = f"The study raced for an acceptance of {study.rule.wanted:g}: --keep may not be below it."
        raise refusal("E001", problem=problem, command="facsimile plan")
    schedule = next(schedules(study, study.trials()))
    ended = [name for name in schedule.members if schedule.standing(name).state != "running"]
    counts = {name: _counted([t for t in schedule.trials(name) if t.number < FRESH]) for name in ended}
    names = [name for name in ended if counts[name][0] / counts[name][1] >= keep]
    if not names:
        raise refusal("E419", wish=f"{keep:.0%}", problem=_best(counts))
    fresh = {name: _counted([t for t in schedule.trials(name) if t.number >= FRESH]) for name in names}
    told = all(trials for _, trials in fresh.values())
    stating = fresh if told else {name: _counted(schedule.trials(name)) for name in names}
    kept = [Survivor(schedule.members[name], *counts[name], stating[name]) for name in names]
    kept.sort(key=lambda survivor: (-survivor.share, survivor.configuration.identifier))
    running = len(schedule.members) - len(ended)
    mode = None if study.declared.scheme == "train-once" else mode_of(study.declared.selection)
    return Survivors(tuple(kept), len(schedule.members), running, told, mode)


def _counted(trials: list[Trial]) -> tuple[int, int]:
    return sum(trial.accepted for trial in trials), len(trials)


def _best(counts: dict[str, tuple[int, int]]) -> str:
    """The best of those that ended their race, in words."""
    if not counts:
        return "none has ended its race"
    name = max(counts, key=lambda name: (counts[name][0] / counts[name][1], name))
    accepted, trials = counts[name]
    return f"the best, {name}, was accepted in {accepted} of {trials}"
