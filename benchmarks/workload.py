"""The workload family on births: how often all eight criteria are met, and how long one release takes.

    python -m benchmarks.workload --seeds 200        the whole frontier, with and without a public prior

Everything is measured exactly against a public table; the relative error against 1.4, which is the threshold 2
with the paper's margin for noise, and against 2.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.criteria import BIRTHS, SAMPLE
from benchmarks.registry import Figure, Report, Timing, benchmark
from facsimile.acceptance import exact_errors
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import read_public, rehearse
from facsimile.release.recipe import asked_scores
from facsimile.shaping.constraints import impossible
from facsimile.shaping.projection import project
from facsimile.shaping.sampling import rounded
from facsimile.spec.criteria import MarginalsRelative
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.workload import Workload
from facsimile.table.encoding import recode
from facsimile.table.table import Table

OTHER = SAMPLE.with_name("nvss2019_singleton_10k.csv")
MEASUREMENTS = (
    "each; mother_age@3*parity@3*gestation_week@4*birth_sex*birth_weight@6; "
    "gestation_week*birth_weight@16; mother_age*parity"
)
WEIGHTS = "0.5,1.2,2,0.6,0.2,2; 2.6; 1.5; 0.4"
EPSILONS = ("2", "1", "0.7", "0.5", "0.35", "0.25", "0.15")
SEEDS = 20
SHARP, PLAIN = 1.4, 2.0


@dataclass(frozen=True)
class Outcome:
    """One run: each criterion's error, whether all are met with the relative error below 1.4 or 2, and CPU."""

    errors: tuple[float | None, ...]
    sharp: bool
    plain: bool
    cpu: float


@cache
def births() -> tuple[Specification, Table, Table]:
    """The specification, the table to protect and another of the same population; no record is in both."""
    specification = load(BIRTHS / "nvss.yaml")
    released = specification.alternatives_named("released")
    facts = load_facts(BIRTHS / "facts.yaml")
    tables = (
        recode(specification, read_public(data, specification), released)
        for data in (
            SAMPLE if SAMPLE.exists() else simulate(facts, 160_000, seed=1),
            OTHER if OTHER.exists() else simulate(facts, 10_000, seed=2),
        )
    )
    real, other = tables
    return specification, real, other


def shifted(table: Table) -> Table:
    """A prior that is wrong: records reweighted by exp(−0.3·parity), as many as before."""
    parity = np.array([float(number) for number in table.domain.axis("parity").numbers or ()])
    weights = table.counts.astype(np.float64) * np.exp(-0.3 * parity[table.column("parity")])
    return Table.from_rows(table.domain, table.codes, rounded(weights, table.n, np.random.default_rng(0)))


PRIORS: dict[str, Callable[[Table], Table | None]] = {
    "none": lambda other: None,
    "sample": lambda other: other,
    "shifted": shifted,
}


def outcome(workload: Workload, epsilon: str, prior: str, seed: int) -> Outcome:
    """Fit, sample, project to at least two records a row, compare."""
    specification, real, other = births()
    zeros = tuple(impossible(c, real.domain) for c in specification.synthetic_conditions)
    known = Known(real.n, zeros, prior=PRIORS[prior](other), scores=partial(asked_scores, specification))
    curator, random = Curator.rehearsal(rehearse(real), seed), np.random.default_rng(seed)
    start = time.process_time()
    model = workload.fit(curator, known, Fraction(epsilon), random)
    table = project(model.sample(real.n, random), 2, "margins", random)
    cpu = time.process_time() - start
    verdicts = exact_errors(specification, real, table)
    relative = next(i for i, c in enumerate(specification.criteria) if isinstance(c, MarginalsRelative))
    others = all(verdict.met for i, verdict in enumerate(verdicts) if i != relative)
    ratio = verdicts[relative].value
    below = [others and ratio is not None and ratio < limit for limit in (SHARP, PLAIN)]
    return Outcome(tuple(verdict.value for verdict in verdicts), below[0], below[1], cpu)


def outcomes(
    workload: Workload, epsilon: str, prior: str, seeds: Sequence[int], workers: int = 1
) -> list[Outcome]:
    count = len(seeds)
    arguments = ([workload] * count, [epsilon] * count, [prior] * count, seeds)
    if workers == 1:
        return list(map(outcome, *arguments))
    with ProcessPoolExecutor(workers) as executor:
        return list(executor.map(outcome, *arguments))


@benchmark(rows=158_500)
def workload(rows: int, folder: Path) -> Report:
    """The share of runs that meet all eight criteria at ε = 1 and 0.5, and the CPU of one run."""
    found = {e: outcomes(Workload(MEASUREMENTS, WEIGHTS), e, "none", range(SEEDS)) for e in ("1", "0.5")}
    cpu = [run.cpu for runs in found.values() for run in runs]
    figures = [Figure.at_most("fit, sample and project, CPU", min(cpu), 1.5, "s")]
    for (epsilon, runs), target in zip(found.items(), (90, 50), strict=True):
        share = 100 * mean(run.sharp for run in runs)
        figures.append(Figure(f"all eight, ε = {epsilon}", share, "%", f"≥ {target} %", share >= target))
    timing = Timing(float("nan"), min(cpu), len(cpu))
    return Report("workload", births()[1].n, {"fit, sample and project": timing}, figures)


def frontier(seeds: int, workers: int) -> Iterator[str]:
    """A line for each prior and ε: how many runs of all meet the criteria, and the medians of their errors."""
    specification, _, _ = births()
    yield f"{'prior':8} {'ε':>5} {'< 1.4':>6} {'< 2':>6}   medians of " + ", ".join(
        criterion.name for criterion in specification.criteria
    )
    for prior in PRIORS:
        for epsilon in EPSILONS:
            runs = outcomes(Workload(MEASUREMENTS, WEIGHTS), epsilon, prior, range(seeds), workers)
            sharp, plain = (100 * mean(getattr(run, kind) for run in runs) for kind in ("sharp", "plain"))
            errors = np.array([[np.inf if e is None else e for e in run.errors] for run in runs])
            medians = " ".join(f"{median:.4g}" for median in np.median(errors, axis=0))
            yield f"{prior:8} {epsilon:>5} {sharp:5.1f}% {plain:5.1f}%   {medians}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workload")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    for line in frontier(options.seeds, options.workers):
        print(line, flush=True)


if __name__ == "__main__":
    main()
