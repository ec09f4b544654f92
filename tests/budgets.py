"""Studies with made-up trials for the planner: how far below its limit a criterion lies is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from facsimile.explore.judge import Noiseless, Reading
from facsimile.explore.race import RaceRule
from facsimile.explore.run import level_after, racing
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Trial
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import loads
from facsimile.table.domain import Domain
from facsimile.table.table import Table

SOURCE = """\
# a comment that stays
facsimile: 1
title: People
unit: one person
neighbours: replace-one
records: {count: 1000, public_because: it is printed}
columns:
  - name: age
    description: Age in years
    bounds: [0, 90]
    # two ways to cut
    alternatives:
      coarse: [<18, 18-64, 64<]
      fine: [<18, 18..64 by 47, 64<]
    outside: clip
  - {name: sex, description: Sex, values: [M, F], alternatives: {coarse: [M, F], joined: {all: [M, F]}}}
constraints:
  policy: declared
families:
  - family: mst
  - family: privbayes
    grid: {flavour: [theta], theta: [4, 8], epsilon_split: [0.25]}
# how rare rows go
projection:
  min_count: [2, 3]
criteria:
  - criterion: marginals-absolute  # the strictest
    threshold: 0.1
    epsilon: 0.1
  - {criterion: total-variation, ways: 1, threshold: 0.2, epsilon: 0.3, statistic: sharp}
selection: {mode: coin, gamma: 0.05}
budget:
  total: 5
  generator: 2
  test: 0.1
"""
RULE = RaceRule(steps=1, finalists=2, fresh=40)


def room(name: str, value: float, limit: float, sensitivity: float, once: str | None = None) -> Noiseless:
    """A criterion without noise, its excess as the joint test sees it."""
    return Noiseless(name, value, limit, sensitivity, (value - limit) / sensitivity, once)


def made(
    path: Path,
    source: str = SOURCE,
    rule: RaceRule = RULE,
    good: int = 2,
    weak: int = 0,
    rate: float = 1.0,
    slack: float = 60.0,
    seed: int = 3,
) -> Study:
    """A study whose first `good` configurations pass with a rate, and `weak` ones seldom, at every epsilon.

    A criterion lies `slack` times epsilon below its limit, in units of Δ, or a part of it; as far above where
    the trial fails.
    """
    spec = loads(source)
    domain = Domain(spec.finest())
    table = Table.from_rows(domain, [[0] * len(domain.axes)], [spec.n])
    study = Study.create(path, source, Setup(spec, table, 1), rule, "public.csv")
    configurations = racing(study)[: good + weak]
    random = np.random.default_rng(seed)
    for step in range(rule.steps + 1):
        generator = level_after(spec.budget.generator, step)
        for place, configuration in enumerate(configurations):
            trials = []
            for number in [*range(rule.trials), *range(FRESH, FRESH + rule.fresh)]:
                fine = number < FRESH or bool(random.random() < (rate if place < good else 0.2))
                below = slack * float(generator) * (1 if fine else -1) * random.uniform(0.5, 1)
                readings = tuple(Reading(c.name, 0.5, 1.0, fine) for c in spec.criteria)
                rooms = tuple(room(c.name, 200 - below, 200, 1.0) for c in spec.criteria)
                level = show_decimal(generator)
                trials.append(Trial(configuration.identifier, level, number, fine, readings, rooms, 0.5, 0.25))
            study.add([configuration], trials)
    return study
