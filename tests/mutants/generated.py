"""Generated mutants: small changes of every file that an auditor reads, a seeded sample of them.

The tests of a mutant are those that reach its function (reach.py), the fastest first, up to some seconds each:
a mutant that survives them is looked at by people. What changes nothing that anybody could see is listed in
equivalent.yaml with the reason, and counted apart.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from random import Random

import yaml
from scipy.stats import beta

from mutants.mutant import PACKAGE, ROOT, source
from mutants.operators import Change, changes
from mutants.reach import Reach, files, mirrored
from mutants.runner import Job, Outcome, run
from mutants.scratch import Scratch

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
FEW, MANY = 3, 40
"""First the tests of a few files; what survives them is tried by those of all files that reach it."""
SPARK = ("_spark_table", "_spark_files", "_common_schema", "_session", "_escaped")
"""Functions of sources/source.py that only Spark's tests run: their mutants are made where Spark is installed
(`.venv-spark/bin/python -m mutants --generated N --only sources/source.py`), and no others there."""
SPARK_TESTS = ("tests/contracts/test_addresses.py", "tests/sources/test_source.py")
LIMITS = "tests/privacy/test_limits.py"
"""What says which limits modules have: no function runs in it, so no record names it."""
BUDGET = 20.0
"""Seconds of tests for one mutant, as they were when reach was recorded; six times as many for survivors."""


@dataclass(frozen=True)
class Generated:
    """A change of one file."""

    file: str
    change: Change

    @property
    def name(self) -> str:
        """File, function, what was there, what is there now."""
        return f"{self.file} {self.change.key}"

    @property
    def on_spark(self) -> bool:
        """Whether only Spark's tests run it."""
        return self.file == "sources/source.py" and self.change.function.partition(".")[0] in SPARK


@cache
def equivalent() -> dict[str, str]:
    """Mutants that change nothing that matters, each with the reason."""
    told = yaml.safe_load(EQUIVALENT.read_text("utf-8")) if EQUIVALENT.exists() else None
    return {name: entry["reason"] for entry in told or () for name in entry["mutants"]}


def everyone(only: str = "") -> list[Generated]:
    """Every generated mutant of the auditor's files."""
    wanted = [file for file in files() if only in file]
    made = (Generated(file, change) for file in wanted for change in changes(source(PACKAGE + file)))
    spark = find_spec("pyspark") is not None
    return [one for one in made if spark == one.on_spark]


def tried(most: int | None, seconds: float, seed: int, scratches: list[Scratch], only: str = "") -> int:
    """Run a sample within a time, and print the score; 1 where something could not be run."""
    every = everyone(only)
    order = Random(seed).sample(every, len(every))
    known, reach, began = equivalent(), Reach.read(), time.monotonic()
    apart = [one for one in order[: most or len(order)] if one.name in known]
    wanted = [one for one in order if one.name not in known]

    def jobs() -> Iterator[Job]:
        for one in islice(wanted, most):
            if time.monotonic() - began > seconds:
                return
            yield job(one, reach, FEW)
            yield from (again.popleft() for _ in range(len(again)))

    count, again = Counter[str](), deque[Job]()
    by_name = {one.name: one for one in wanted}
    for outcome in chain(run(jobs(), scratches), _left(again, scratches)):
        wider = job(by_name[outcome.job.name], reach, MANY)
        if outcome.verdict == "survived" and not set(wider.tests) <= set(outcome.job.tests):
            again.append(wider)
            continue
        count[outcome.verdict] += 1
        print(told(outcome), flush=True)
    print(f"\nGenerated mutants: {score(count)} in {time.monotonic() - began:.0f} s,")
    print(f"of {len(every):,} that can be made; {len(apart)} equivalent ones among those drawn are left out.")
    return int(count["error"] > 0)


def _left(again: deque[Job], scratches: list[Scratch]) -> Iterator[Outcome]:
    """What is still to be tried by more tests when the time is over."""
    yield from run(list(again), scratches)


def job(one: Generated, reach: Reach, most: int) -> Job:
    """A mutant with the tests that reach it, of so many test files."""
    if one.on_spark:
        text = one.change.applied(source(PACKAGE + one.file))
        return Job(one.name, SPARK_TESTS, PACKAGE + one.file, text, cpu=300, options=("-m", "spark"))
    inner = one.change.function.partition(".<locals>")[0]
    tests = reach.tests(one.file, inner, BUDGET if most == FEW else 6 * BUDGET, most)
    mirror = f"{mirrored(one.file)[0]}.py"  # it may have tests that were written after the record
    tests = (LIMITS, *((mirror,) if most == MANY and (ROOT / mirror).is_file() else ()), *tests)
    cpu = 40 + 4 * math.ceil(sum(reach.seconds.get(name, BUDGET) for name in tests))
    text = one.change.applied(source(PACKAGE + one.file))
    return Job(one.name, tests, PACKAGE + one.file, text, cpu)


def told(outcome: Outcome) -> str:
    """One line; survivors stand out."""
    mark = outcome.verdict if outcome.verdict == "killed" else outcome.verdict.upper()
    return f"{mark:9} {outcome.seconds:5.1f} s  {outcome.job.name}  <-  {outcome.by}"


def score(count: Counter[str]) -> str:
    """Killed of all that were born, with its interval of 95 % (Clopper and Pearson).

    Running too long is noticed, and is said apart; what cannot be imported is nobody's mistake for long.
    """
    killed, slow = count["killed"], count["too long"]
    born = killed + slow + count["survived"]
    if not born:
        return "none"
    hit = killed + slow
    low = beta.ppf(0.025, hit, born - hit + 1) if hit else 0.0
    high = beta.ppf(0.975, hit + 1, born - hit) if hit < born else 1.0
    return (
        f"{hit} of {born} noticed ({hit / born:.1%}, 95 % interval {low:.1%} to {high:.1%}), {slow} of them by "
        f"running too long, {count['survived']} survived, {count['stillborn']} could not be imported, "
        f"{count['error']} not run"
    )
