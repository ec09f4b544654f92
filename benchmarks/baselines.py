"""Baselines: our generators beside OpenDP's MST and AIM, at the same pure ε on the same births.

OpenDP's generators need packages that facsimile does not (`pip install "opendp[mbi]"`): install them apart and
name that Python in FACSIMILE_BASELINE_PYTHON, else they are left out. A replaced record is one removed and one
added, so they run with two contributions. Their number of records is noisy and they may draw nulls: such rows
and implausible ones are dropped and the rest is brought to n at random. Then all tables are projected alike.

They draw with method="sample". The default of mbi 1.1.0, "round", does not shuffle the records that share a
parent's value, so columns that are independent given it come out in lockstep: such a table is far from its own
model (3-way distances of 33 % for MST), which says nothing about the generators. Since "sample" is independent
draws, ours are measured under independent draws too.

Ours are means over several seeds; theirs take minutes and run once. The relative error is held against 1.4, as
in `benchmarks.workload`, whose measurements and weights the workload has here.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.registry import Figure, Report, Timing, benchmark
from benchmarks.wide import three_way
from benchmarks.workload import MEASUREMENTS, SHARP, WEIGHTS, births
from facsimile.acceptance import exact_errors
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import rehearse
from facsimile.shaping.constraints import impossible, plausible
from facsimile.shaping.projection import project
from facsimile.spec.criteria import MarginalsRelative
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.differences import difference
from facsimile.table.table import Table

PYTHON = "FACSIMILE_BASELINE_PYTHON"
EPSILON = Fraction(1)
OURS: dict[str, dict[str, str]] = {
    "workload": {"measurements": MEASUREMENTS, "weights": WEIGHTS},
    "mst": {},
    "aim": {},
    "privbayes": {},
}
MIN_COUNT = 2
SEEDS = range(1, 6)
Floats = npt.NDArray[np.float64]

DRIVERS = Path(__file__).resolve().parent / "drivers"
CPU_LIMIT = 3600
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Rival:
    """A generator of another library: the variable that names a Python with it, our driver, its algorithm."""

    name: str
    python: str
    driver: str
    algorithm: str

    @property
    def found(self) -> str | None:
        """The Python, if there is one."""
        return os.environ.get(self.python) or None


@dataclass(frozen=True)
class Spent:
    """A guarantee in a rival's own terms: pure where δ and ρ are 0."""

    epsilon: float
    delta: float = 0.0
    rho: float = 0.0


class RivalError(Exception):
    """A rival did not give a table; its message says why."""


THEIRS = [Rival(f"OpenDP {algorithm}", PYTHON, "with_opendp.py", algorithm) for algorithm in ("MST", "AIM")]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A synthetic table as a generator gave it, one of independent draws from it, and what that took."""

    name: str
    table: Table
    independent: Table
    timing: Timing


@benchmark(rows=158_500)
def baselines(rows: int, folder: Path) -> Report:
    """Births at pure ε = 1: our generators and OpenDP's, by 3-way tables, pMSE and the eight criteria."""
    specification, real, _ = births()
    timings: dict[str, Timing] = {}
    figures: list[Figure] = []
    for runs in (*_ours(specification, real), *_theirs(real, folder)):
        name = runs[0].name
        timings[name] = reduce(lambda best, run: best.better(run.timing.wall, run.timing.cpu), runs, Timing())
        figures += _figures(name, [_quality(specification, real, run) for run in runs])
    return Report("baselines", real.n, timings, figures)


def _ours(specification: Specification, real: Table) -> Iterator[list[Drawn]]:
    zeros = tuple(impossible(condition, real.domain) for condition in specification.synthetic_conditions)
    for family in OURS:
        yield [_run(family, real, Known(real.n, zeros), seed) for seed in SEEDS]


def _run(family: str, real: Table, known: Known, seed: int) -> Drawn:
    curator = Curator.rehearsal(rehearse(real), seed, MemoryLedger())
    random = np.random.default_rng(seed)
    begin = time.perf_counter(), time.process_time()
    model = SYNTHESIZERS[family].of(OURS[family]).fit(curator, known, EPSILON, random)
    table = model.sample(real.n, random)
    took = Timing(time.perf_counter() - begin[0], time.process_time() - begin[1], 1)
    return Drawn(family, table, model.sample(real.n, random, "iid"), took)


def _theirs(real: Table, folder: Path) -> Iterator[list[Drawn]]:
    for rival in THEIRS:
        try:
            yield [imitated(rival, real, folder, Spent(float(EPSILON)), SEEDS[0])]
        except RivalError as error:
            print(f"baselines: {rival.name} is left out: {error}", file=sys.stderr)


def imitated(rival: Rival, real: Table, folder: Path, spent: Spent, seed: int, limit: int = CPU_LIMIT) -> Drawn:
    """The rival's table, made by a process of its own with one thread and so many seconds of CPU at most."""
    if not rival.found:
        raise RivalError(f"{rival.python} names no Python that has it")
    source, target, order = (folder / f"rival-{name}" for name in ("real.csv", "drawn.csv", "task.json"))
    names, shape = real.domain.names, real.domain.shape
    np.savetxt(source, real.records(), fmt="%d", delimiter=",", header=",".join(names), comments="")
    task = {
        "source": str(source),
        "target": str(target),
        "algorithm": rival.algorithm,
        "sizes": dict(zip(names, shape, strict=True)),
        "rows": real.n,
        "seed": seed,
        **asdict(spent),
    }
    order.write_text(json.dumps(task), encoding="utf-8")
    took = _driven([rival.found, str(DRIVERS / rival.driver), str(order)], limit)
    table = Table.from_rows(real.domain, np.loadtxt(target, np.int64, delimiter=",", skiprows=1, ndmin=2))
    return Drawn(rival.name, table, table, took)


def _driven(command: Sequence[str], limit: int) -> Timing:
    """Wall and CPU seconds of a process and its children, its start included."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | ONE_THREAD
    begin, before = time.perf_counter(), _children()
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10)),
    ) as process:
        said, _ = process.communicate()
    cpu = _children() - before
    if process.returncode == -signal.SIGXCPU:
        raise RivalError(f"not done after {limit} s of CPU")
    if process.returncode:
        raise RivalError(f"it fails: {(said.strip().splitlines() or [str(process.returncode)])[-1]}")
    return Timing(time.perf_counter() - begin, cpu, 1)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Quality:
    """Distances of a raw table and of one of independent draws, and the criteria as it would be released."""

    three_way: tuple[float, float]
    propensity: tuple[float, float]
    errors: dict[str, tuple[float, float]]
    """Each criterion's error and threshold."""

    @property
    def met(self) -> int:
        """How many criteria are met."""
        return sum(error < threshold for error, threshold in self.errors.values())


def _quality(specification: Specification, real: Table, drawn: Drawn) -> Quality:
    tables = (drawn.table, drawn.independent)
    distances, propensities = ([f(real, t) for t in tables] for f in (three_way, propensity_error))
    errors = criteria_errors(specification, real, drawn.table, MIN_COUNT, SHARP)
    return Quality((distances[0], distances[1]), (propensities[0], propensities[1]), errors)


def criteria_errors(
    specification: Specification, real: Table, raw: Table, min_count: int, relative: float | None = None
) -> dict[str, tuple[float, float]]:
    """Each criterion's error and threshold for a table that is shaped as a release would be.

    Implausible records are dropped, the rest is brought to n, every row has at least `min_count` records. The
    relative error is held against a threshold of its own, if there is one.
    """
    random = np.random.default_rng(0)
    kept = _sized(plausible(specification.synthetic_conditions, raw), real.n, random)
    shaped = project(kept, min_count, "margins", random) if min_count > 1 else kept
    errors = {}
    for criterion, verdict in zip(
        specification.criteria, exact_errors(specification, real, shaped), strict=True
    ):
        threshold = float(verdict.threshold)
        if relative is not None and isinstance(criterion, MarginalsRelative):
            threshold = relative
        errors[verdict.name] = (float("inf") if verdict.value is None else verdict.value, threshold)
    return errors


def _figures(name: str, runs: Sequence[Quality]) -> list[Figure]:
    """Means over the runs."""
    figures = []
    for place, draws in enumerate(("", ", independent draws")):
        distance = 100 * mean(run.three_way[place] for run in runs)
        figures.append(Figure(f"{name}, distance of 3-way tables{draws}", distance, "%"))
        propensity = 1e4 * mean(run.propensity[place] for run in runs)
        figures.append(Figure(f"{name}, pMSE{draws}", propensity, "e-4"))
    count = len(runs[0].errors)
    all_met = 100 * mean(run.met == count for run in runs)
    figures.append(Figure(f"{name}, criteria met", mean(run.met for run in runs), "", f"of {count}"))
    figures.append(Figure(f"{name}, runs that meet all", all_met, "%"))
    for criterion, (_, threshold) in runs[0].errors.items():
        error = mean(run.errors[criterion][0] for run in runs)
        figures.append(Figure(f"{name}, {criterion}", error, "", f"< {threshold:g}", error < threshold))
    return figures


def _sized(table: Table, n: int, random: np.random.Generator) -> Table:
    """The table with n records: some left out, or some repeated, at random."""
    if table.n >= n:
        counts = random.multivariate_hypergeometric(table.counts, n, method="marginals")
    else:
        counts = table.counts + random.multinomial(n - table.n, table.counts / table.n)
    return Table.from_rows(table.domain, table.codes, counts)


def propensity_error(real: Table, synthetic: Table, ridge: float = 1.0) -> float:
    """pMSE: how well a logistic regression tells the two tables apart, the mean of (p − ½)², both weighing ½.

    Its features are all values of every column and of every pair of columns. 0: not at all; ¼: wholly.
    """
    codes, signed = difference(real, synthetic)
    label = signed > 0
    weight = np.where(label, 0.5 / real.n, 0.5 / synthetic.n) * np.abs(signed)
    features = _features(real, codes)
    penalty = ridge / (real.n + synthetic.n)

    def loss(w: Floats) -> tuple[float, Floats]:
        score = features @ w
        p = 1 / (1 + np.exp(-score))
        value = float(weight @ (np.logaddexp(0, score) - label * score)) + penalty / 2 * float(w @ w)
        return value, features.T @ (weight * (p - label)) + penalty * w

    found = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    p = 1 / (1 + np.exp(-(features @ found.x)))
    return float(weight @ (p - 0.5) ** 2)


def _features(table: Table, codes: npt.NDArray[np.int64]) -> csr_matrix:
    """A column of 0 and 1 for each value of each column and each pair."""
    places, offset = [], 0
    names, shape = table.domain.names, table.domain.shape
    for clique in (*((i,) for i in range(len(names))), *combinations(range(len(names)), 2)):
        index = np.zeros(len(codes), np.int64)
        for place in clique:
            index = index * shape[place] + codes[:, place]
        places.append(index + offset)
        offset += int(np.prod([shape[place] for place in clique]))
    columns = np.column_stack(places)
    rows = np.repeat(np.arange(len(codes)), columns.shape[1])
    return csr_matrix((np.ones(columns.size), (rows, columns.ravel())), shape=(len(codes), offset))
