"""A small specification with a simulated public table, and a program that explores it and may be killed."""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import yaml

from facsimile.explore.judge import Reading
from facsimile.explore.pool import Local
from facsimile.explore.race import RaceRule
from facsimile.explore.run import explore
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.explore.trials import Job, Trial, run
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.table import Table

N = 2000
SEED = 7
DECLARED: dict[str, Any] = {
    "facsimile": "1",
    "title": "People",
    "unit": "one person",
    "neighbours": "replace-one",
    "records": {"count": str(N), "public_because": "it is printed on the door"},
    "columns": [
        {
            "name": "age",
            "description": "Age in years",
            "bounds": ["0", "89"],
            "alternatives": {"coarse": ["0..89 by 30"], "fine": ["0..89 by 15"]},
            "groups": ["<30", "29<"],
            "outside": "clip",
        },
        {
            "name": "sex",
            "description": "Sex",
            "values": ["M", "F"],
            "numbers": {"M": "0", "F": "1"},
            "alternatives": {"coarse": ["M", "F"]},
            "groups": ["M", "F"],
        },
        {
            "name": "height",
            "description": "Height in centimetres",
            "bounds": ["100", "199"],
            "alternatives": {"coarse": ["100..199 by 20"]},
            "outside": "clip",
        },
    ],
    "constraints": {"policy": "declared"},
    "families": [{"family": "mst", "grid": {"sampling": ["iid", "systematic"]}}, {"family": "privbayes"}],
    "projection": {"algorithm": ["margins"], "min_count": ["2", "5"]},
    "criteria": [
        {"criterion": "marginals-absolute", "threshold": "0.02", "epsilon": "0.5"},
        {"criterion": "marginals-relative", "threshold": "1.5", "epsilon": "0.5"},
        {"criterion": "mean", "of": "height", "by": ["age", "sex"], "threshold": "3", "epsilon": "0.5"},
    ],
    "selection": {"mode": "coin", "gamma": "0.05"},
    "budget": {"total": "60", "generator": "2", "test": "4"},
}
RULE = RaceRule(wanted=0.3, trials=12, audited=0.2, finalists=2, fresh=4, steps=2)
EVERY_CRITERION: tuple[dict[str, Any], ...] = (
    {"criterion": "marginals-absolute", "threshold": "0.05", "epsilon": "0.5"},
    {"criterion": "marginals-relative", "threshold": "1.5", "epsilon": "1"},
    {"criterion": "mean", "of": "height", "by": ["age", "sex"], "threshold": "6", "epsilon": "0.5"},
    {"criterion": "regression-coefficients", "target": "height", "threshold": "20", "epsilon": "2"},
    {"criterion": "regression-mae", "target": "height", "threshold": "8", "epsilon": "1"},
    {
        "criterion": "faithfulness",
        "match": ["sex"],
        "reference": "coarse",
        "threshold": "0.2",
        "epsilon": "0.5",
    },
    {"criterion": "ranges-absolute", "of": ["height"], "by": ["sex"], "threshold": "0.1", "epsilon": "0.5"},
    {"criterion": "total-variation", "ways": "2", "threshold": "0.2", "epsilon": "0.5"},
    {"criterion": "marginals-tail", "ways": "2", "beyond": "0.1", "threshold": "0.1", "epsilon": "0.5"},
    {"criterion": "quantile", "of": "height", "by": ["sex"], "threshold": "0.2", "epsilon": "0.5"},
    {"criterion": "correlation", "of": ["age", "height"], "threshold": "0.3", "epsilon": "0.5"},
    {"criterion": "query", "query": "young", "where": "age < 30", "threshold": "0.1", "epsilon": "0.5"},
)


def declared(**changes: Any) -> dict[str, Any]:
    """The specification's data, some of its keys replaced."""
    return copy.deepcopy(DECLARED) | changes


def specification(**changes: Any) -> Specification:
    """The specification, some of its keys replaced."""
    return validated(declared(**changes))


def paper(**changes: Any) -> Specification:
    """The same in the paper's scheme."""
    given: dict[str, Any] = {
        "scheme": "paper",
        "statistic": "paper",
        "selection": {"mode": "paper"},
        "budget": {"total": "60", "generator": "2"},
    }
    return specification(**(given | changes))


def records(n: int = N, seed: int = SEED) -> dict[str, npt.NDArray[np.int64]]:
    """Simulated people: adults are taller, men are taller."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(0, 90, n), random.integers(0, 2, n)
    height = 130 + np.minimum(age, 30) - 8 * sex + random.normal(0, 12, n)
    return {"age": age, "sex": sex, "height": np.clip(height, 100, 199).astype(np.int64)}


def public_table(spec: Specification, n: int = N, seed: int = SEED) -> Table:
    """The simulated people at the finest refinement of the declared alternatives."""
    people = records(n, seed)
    codes = [people["age"] // 15, people["sex"], (people["height"] - 100) // 20]
    return Table.from_rows(Domain(spec.finest()), np.column_stack(codes))


def setup(spec: Specification | None = None, n: int = N, seed: int = SEED) -> Setup:
    """The setup of a study of simulated people."""
    spec = (spec or specification()).sized(n)
    return Setup(spec, public_table(spec, n), seed)


def configurations(spec: Specification) -> list[Configuration]:
    """Every configuration."""
    space = spec.space.pure()
    return [space.configuration(place) for place in range(space.size)]


def write_files(folder: Path, n: int = N, **changes: Any) -> tuple[Path, Path]:
    """The specification and the public file."""
    people = records(n)
    sexes = np.array(["M", "F"])[people["sex"]]
    lines = [f"{a},{s},{h}" for a, s, h in zip(people["age"], sexes, people["height"], strict=True)]
    data, spec = folder / "people.csv", folder / "people.yaml"
    data.write_text("\n".join(["age,sex,height", *lines]) + "\n")
    spec.write_text(yaml.safe_dump(declared(**changes), sort_keys=False))
    return spec, data


def new_study(path: Path, rule: RaceRule = RULE, spec: Specification | None = None) -> Study:
    """A study of simulated people."""
    found = setup(spec)
    return Study.create(path, yaml.safe_dump(DECLARED, sort_keys=False), found, rule, "people.csv")


class Here:
    """A pool that runs each job at once in this process."""

    lost: tuple[type[BaseException], ...] = (CancelledError,)

    def __init__(self, setup: Setup, room: int = 1) -> None:
        self._setup, self._room = setup, room

    def slots(self) -> int:
        """As many as it was told."""
        return self._room

    def submit(self, job: Job) -> Future[list[Trial]]:
        """Already done."""
        future: Future[list[Trial]] = Future()
        future.set_result(run(self._setup, job))
        return future

    def stranded(self) -> bool:
        """Never."""
        return False

    def close(self) -> None:
        """Nothing to let go."""


@dataclass(frozen=True)
class World:
    """Made-up trials that follow from their names, as real ones do: no fit, no table.

    A configuration is accepted with a chance of its own; one in ten is refused at some number.
    """

    seed: int
    chances: tuple[float, ...] = (0.0, 0.05, 0.2, 0.5, 0.9, 1.0)

    def run(self, job: Job) -> list[Trial]:
        """The trials of a job."""
        return [self.trial(*name) for name in job.names()]

    def trial(self, configuration: str, generator: str, number: int) -> Trial:
        """One trial, the same whenever it is asked for."""
        own = Random(f"{self.seed}|{configuration}|{generator}")
        chance, breaks = own.choice(self.chances), own.randrange(10) == 0
        drawn = Random(f"{self.seed}|{configuration}|{generator}|{number}")
        if breaks and number >= own.randrange(8):
            return Trial(configuration, generator, number, False, (), (), 0.0, 0.0, "E160")
        value = drawn.random() * (1 if drawn.random() < chance else 3)
        reading = Reading("mean", value, 1.0, value < 1)
        return Trial(configuration, generator, number, value < 1, (reading,), (), 0.0, 0.0)


def timeless(trials: Iterable[Trial]) -> list[Trial]:
    """Trials in the order of their names, without the time they took."""
    return sorted(
        (replace(trial, fit_seconds=0.0, seconds=0.0) for trial in trials), key=lambda trial: trial.name
    )


def patiently(reached: Callable[[], bool], seconds: float) -> bool:
    """Whether something happens in time."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def serve() -> None:
    """Explore on demand, each time in a process group of its own that may be killed.

    `run PATH METHOD WORKERS` answers with a process id, `wait` with how that process ended. METHOD is how
    workers are started: `fork` is quick, since everything is imported here once.
    """
    child = 0
    for line in sys.stdin:
        command, *given = line.split()
        if command == "run":
            child = os.fork()
            if not child:
                os.setpgid(0, 0)
                _explore(Path(given[0]), given[1], int(given[2]))
            with contextlib.suppress(PermissionError):
                os.setpgid(child, child)
            print(child, flush=True)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _explore(path: Path, method: str, workers: int) -> NoReturn:
    """Begin or resume a study."""
    context = multiprocessing.get_context(method)
    multiprocessing.get_context = lambda method=None: context  # type: ignore[assignment]
    study = Study.open(path) if path.exists() else new_study(path)
    pool = Local(study.setup, workers)
    explore(study, pool)
    pool.close()
    os._exit(0)


if __name__ == "__main__":
    serve()
