"""Trials: one configuration × one generator epsilon × one seed → criteria, accepted or not, CPU time.

A trial is named by its configuration's identifier, its epsilon and its number; its randomness follows from
that name and the study's seed, so it can be repeated anywhere. What trials share is done once: the table is
read once, recoded once for each transformation, a marginal of it is counted once, and one fit serves all
projections.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from facsimile.errors import FacsimileError
from facsimile.explore.judge import Judge, Noiseless, Reading
from facsimile.explore.setup import Setup
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.spec.decimals import show_decimal
from facsimile.spec.space import Configuration
from facsimile.table.table import Table

FAILED = "E700"
FRESH = 1000
"""Trials from this number on serve estimates only: no decision of a race looks at them."""


@dataclass(frozen=True)
class Trial:
    """What one trial found.

    `readings`: cheapest first; a trial of the race stops at the first that is not met, but for the first trial
    of a configuration. `noiseless`: of fresh trials. `refused`: the code of an error that left no candidate.
    """

    configuration: str
    generator: str
    number: int
    accepted: bool
    readings: tuple[Reading, ...]
    noiseless: tuple[Noiseless, ...]
    fit_seconds: float
    seconds: float
    refused: str | None = None

    @property
    def name(self) -> tuple[str, str, int]:
        """Configuration, epsilon and number: what is never tried twice."""
        return self.configuration, self.generator, self.number


@dataclass(frozen=True)
class Job:
    """One fit, and the configurations that use it: they differ in their projection only."""

    configurations: tuple[Configuration, ...]
    generator: Fraction
    number: int

    def names(self) -> Iterator[tuple[str, str, int]]:
        """The names of its trials."""
        for configuration in self.configurations:
            yield configuration.identifier, show_decimal(self.generator), self.number


def fit_key(configuration: Configuration) -> str:
    """A name for everything of a configuration but its projection."""
    return configuration.fit_name


def run(setup: Setup, job: Job) -> list[Trial]:
    """Fit once, then project and judge for each of the job's configurations."""
    start = time.thread_time()
    names = list(job.names())
    try:
        drawn = _drawn(setup, job)
    except Exception as error:
        fitted = (time.thread_time() - start) / len(names)
        return [_failed(name, error, fitted, 0.0) for name in names]
    fitted = (time.thread_time() - start) / len(names)
    found = []
    for configuration, name in zip(job.configurations, names, strict=True):
        start = time.thread_time()
        recipe = setup.recipe(configuration)
        fresh = job.number >= FRESH
        try:
            table = recipe.projected(drawn, setup.draws("project", *name))
            said = Judge(setup, recipe, table, name, fresh or not job.number, fresh).judgement()
        except Exception as error:
            found.append(_failed(name, error, fitted, time.thread_time() - start))
            continue
        spent = time.thread_time() - start
        found.append(Trial(*name, said.accepted, said.readings, said.noiseless, fitted, spent))
    return found


def _failed(name: tuple[str, str, int], error: Exception, fitted: float, spent: float) -> Trial:
    """One configuration that fails does not end the others' race; that memory ran out says nothing of it."""
    if isinstance(error, MemoryError):
        raise error
    code = error.code if isinstance(error, FacsimileError) else FAILED
    return Trial(*name, False, (), (), fitted, spent, code)


def candidate_of(setup: Setup, configuration: Configuration, generator: Fraction, number: int) -> Table:
    """The very table of a trial, made again."""
    job = Job((configuration,), generator, number)
    recipe = setup.recipe(configuration)
    return recipe.projected(_drawn(setup, job), setup.draws("project", *next(job.names())))


def _drawn(setup: Setup, job: Job) -> Table:
    """Fit and sample, with randomness that the projection has no part in."""
    recipe = setup.recipe(job.configurations[0])
    key = (fit_key(recipe.configuration), show_decimal(job.generator), job.number)
    real = setup.real(recipe.configuration)
    answers = Curator.rehearsal(rehearse(real), setup.draws("fit", *key))
    return recipe.sampled(answers, job.generator, setup.draws("sample", *key))
