"""Releases: how often a release comes out, at which total epsilon, and what one candidate costs.

python -m benchmarks.releases --runs 200        rehearsals on the public births, in two processes
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.criteria import BIRTHS, public_births
from benchmarks.registry import Figure, Report, Timing, benchmark
from facsimile.acceptance import exact_errors
from facsimile.privacy.reader import read_public
from facsimile.release import run
from facsimile.release.plan import plan_of
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table

MEASURED = 0.3
PLANS: dict[str, dict[str, Any]] = {
    "1.85, rising coin": {},
    "1.00, one candidate": {"mode": "single", "generator": "0.5", "test": "0.15", "once": "0.15", "post": 0.2},
    "0.90, one candidate": {
        "mode": "single",
        "generator": "0.45",
        "test": "0.15",
        "once": "0.15",
        "post": 0.15,
    },
    "0.80, one candidate": {"mode": "single", "generator": "0.42", "test": "0.15", "once": "0.13", "post": 0.1},
}


@dataclass(frozen=True)
class Outcome:
    """One rehearsal: whether a table came out, whether it meets every criterion exactly, and its candidates."""

    released: bool
    good: bool
    candidates: int
    seconds: float


@cache
def births() -> tuple[Specification, Table]:
    """The specification with the public sample's size and its rules, and the table at its finest."""
    nvss, ours = load(BIRTHS / "nvss.yaml"), load(BIRTHS / "ours.yaml")
    data = public_births(158_500)
    table = recode(nvss, read_public(data, nvss), nvss.alternatives_named("released"))
    return ours.sized(table.n), Table(Domain(ours.finest()), table.codes, table.counts)


def planned(name: str) -> Specification:
    """The births with another budget."""
    spec, _ = births()
    changes = PLANS[name]
    if not changes:
        return spec
    plain = spec.model_dump(mode="json", exclude_none=True)
    plain["selection"] = {"mode": changes["mode"]}
    plain["budget"] = {"total": "2"} | {key: changes[key] for key in ("generator", "test", "once")}
    share = changes["post"] / MEASURED
    for criterion in plain["criteria"]:
        criterion["epsilon"] = f"{float(criterion['epsilon']) * share:.4f}"
    return validated(plain)


def rehearsed(task: tuple[str, int]) -> Outcome:
    """One rehearsal without its bundle."""
    name, seed = task
    spec, table = planned(name), births()[1]
    start = time.process_time()
    accepted, tried = run.rehearsed(spec, table, seed)
    seconds = (time.process_time() - start) / tried
    if accepted is None:
        return Outcome(False, False, tried, seconds)
    real = recode(spec, table, accepted.configuration.alternatives)
    return Outcome(True, all(v.met for v in exact_errors(spec, real, accepted.table)), tried, seconds)


@benchmark(rows=158_500)
def releases(rows: int, folder: Path) -> Report:
    """Twenty rehearsals of each plan; one candidate from fit to test within 1.5 s."""
    return report(20, 1)


def report(runs: int, workers: int) -> Report:
    figures, timings = [], {}
    for name in PLANS:
        tasks = [(name, seed) for seed in range(runs)]
        if workers > 1:
            with ProcessPoolExecutor(workers) as pool:
                found = list(pool.map(rehearsed, tasks))
        else:
            found = [rehearsed(task) for task in tasks]
        total = float(plan_of(planned(name)).total().epsilon)
        seconds = min(o.seconds for o in found)
        timings[name] = Timing(seconds, seconds, 1)
        share = 100 * mean(o.released for o in found)
        bad = 100 * mean(o.released and not o.good for o in found)
        figures += [
            Figure(f"{name}: total epsilon", total),
            Figure(f"{name}: released", share, "%", "≥ 50 %", share >= 50),
            Figure(f"{name}: released and not all met", bad, "%", "≤ 5 %", bad <= 5),
            Figure(f"{name}: candidates", mean(o.candidates for o in found)),
            Figure.at_most(f"{name}: one candidate, CPU", seconds, 1.5, "s"),
        ]
    return Report("releases", births()[1].n, timings, figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    print(report(options.runs, options.workers).text())
