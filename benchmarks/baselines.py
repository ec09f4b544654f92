"""Baselines: our generators beside OpenDP's MST and AIM, at the same pure ε on the same births.

OpenDP's generators need packages that facsimile does not (`pip install "opendp[mbi]"`): install them apart and
name that Python in FACSIMILE_BASELINE_PYTHON, else they are left out. A replaced record is one removed and one
added, so they run with two contributions. Their number of records is noisy and they may draw nulls: such rows
and implausible ones are dropped and the rest is brought to n at random. Then all tables are projected alike.

They draw with method="sample". The default of mbi 1.1.0, "round", does not shuffle the records that share a
parent's value, so columns that are independent given it come out in lockstep: such a table is far from its own
model (3-way distances of 33 % for MST), which says nothing about the generators. Since "sample" is independent
draws, ours are measured under independent draws too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.criteria import BIRTHS, SAMPLE
from benchmarks.registry import Figure, Report, Timing, benchmark
from benchmarks.wide import three_way
from facsimile.acceptance import exact_errors
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import read_public, rehearse
from facsimile.shaping.constraints import impossible, plausible
from facsimile.shaping.projection import project
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Known
from facsimile.table.differences import difference
from facsimile.table.encoding import recode
from facsimile.table.table import Table

PYTHON = "FACSIMILE_BASELINE_PYTHON"
EPSILON = Fraction(1)
OURS = ("workload", "mst", "aim", "privbayes")
THEIRS = ("MST", "AIM")
MIN_COUNT = 2
SEED = 1
Floats = npt.NDArray[np.float64]

_THEIR_RUN = """
import json, sys, time
import opendp.prelude as dp
import polars as pl
dp.enable_features("contrib")
source, target, family, epsilon, sizes = sys.argv[1:6]
begin = time.perf_counter(), time.process_time()
loss, unit = dp.loss_of(epsilon=float(epsilon)), dp.unit_of(contributions=2)
context = dp.Context.compositor(data=pl.scan_csv(source), privacy_unit=unit, privacy_loss=loss)
keys = {name: list(range(size)) for name, size in json.loads(sizes).items()}
query = context.query(epsilon=float(epsilon)).contingency_table(keys=keys, algorithm=getattr(dp.mbi, family)())
drawn = query.release().synthesize(method="sample")
wall, cpu = time.perf_counter() - begin[0], time.process_time() - begin[1]
drawn.select(list(keys)).drop_nulls().write_csv(target)
print(json.dumps({"wall": wall, "cpu": cpu}))
"""


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
    specification = load(BIRTHS / "nvss.yaml")
    data = SAMPLE if SAMPLE.exists() else simulate(load_facts(BIRTHS / "facts.yaml"), rows, seed=SEED)
    real = recode(specification, read_public(data, specification), specification.alternatives_named("released"))
    timings: dict[str, Timing] = {}
    figures: list[Figure] = []
    for drawn in (*_ours(specification, real), *_theirs(real, folder)):
        timings[drawn.name] = drawn.timing
        figures += _figures(specification, real, drawn)
    return Report("baselines", real.n, timings or {"no generator runs": Timing(0.0, 0.0)}, figures)


def _ours(specification: Specification, real: Table) -> Iterator[Drawn]:
    from facsimile.synthesizers.registry import SYNTHESIZERS

    zeros = tuple(impossible(condition, real.domain) for condition in specification.synthetic_conditions())
    for family in (name for name in OURS if name in SYNTHESIZERS):
        curator = Curator.rehearsal(rehearse(real), real.domain, SEED, MemoryLedger())
        random = np.random.default_rng(SEED)
        begin = time.perf_counter(), time.process_time()
        model = SYNTHESIZERS[family].of({}).fit(curator, Known(real.n, zeros), EPSILON, random)
        table = model.sample(real.n, random)
        took = Timing(time.perf_counter() - begin[0], time.process_time() - begin[1], 1)
        yield Drawn(family, table, model.sample(real.n, random, "iid"), took)


def _theirs(real: Table, folder: Path) -> Iterator[Drawn]:
    python = os.environ.get(PYTHON)
    if not python:
        print(
            f"baselines: {PYTHON} names no Python with opendp[mbi]; its generators are left out",
            file=sys.stderr,
        )
        return
    source = folder / "baseline-real.csv"
    head = ",".join(real.domain.names)
    np.savetxt(source, real.records(), fmt="%d", delimiter=",", header=head, comments="")
    sizes = json.dumps(dict(zip(real.domain.names, real.domain.shape, strict=True)))
    for family in THEIRS:
        target = folder / f"baseline-{family}.csv"
        command = [python, "-c", _THEIR_RUN, str(source), str(target), family, str(float(EPSILON)), sizes]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(
                f"baselines: OpenDP's {family} fails: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr
            )
            continue
        took = json.loads(done.stdout.splitlines()[-1])
        rows = np.loadtxt(target, np.int64, delimiter=",", skiprows=1, ndmin=2)
        table = Table.from_rows(real.domain, rows)
        yield Drawn(f"OpenDP {family}", table, table, Timing(took["wall"], took["cpu"], 1))


def _figures(specification: Specification, real: Table, drawn: Drawn) -> list[Figure]:
    """The raw table's distances, and the criteria of the table as it would be released."""
    random = np.random.default_rng(SEED)
    kept = plausible(specification.synthetic_conditions(), drawn.table)
    shaped = project(_sized(kept, real.n, random), MIN_COUNT, "margins", random)
    verdicts = exact_errors(specification, real, shaped)
    failed = [verdict.name for verdict in verdicts if not verdict.met]
    return [
        Figure(f"{drawn.name}, distance of 3-way tables", 100 * three_way(real, drawn.table), "%"),
        Figure(f"{drawn.name}, the same, independent draws", 100 * three_way(real, drawn.independent), "%"),
        Figure(f"{drawn.name}, pMSE", 1e4 * propensity_error(real, drawn.table), "e-4"),
        Figure(
            f"{drawn.name}, pMSE, independent draws", 1e4 * propensity_error(real, drawn.independent), "e-4"
        ),
        Figure(
            f"{drawn.name}, criteria met", len(verdicts) - len(failed), "", f"= {len(verdicts)}", not failed
        ),
        *(
            Figure(
                f"{drawn.name}, {v.name}", float("nan") if v.value is None else v.value, "", f"< {v.threshold}"
            )
            for v in verdicts
        ),
    ]


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
