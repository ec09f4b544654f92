"""Exploring: trials a second with one worker and with two; the chance that a plan states against rehearsals.

python -m benchmarks exploring                       throughput, on the PrivBayes space of the births paper
python -m benchmarks.exploring SPEC --runs 100       rehearse a planned specification on the public births
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from statistics import mean

from benchmarks.criteria import BIRTHS, SAMPLE
from benchmarks.registry import Figure, Report, Timing, benchmark
from facsimile.acceptance import exact_errors
from facsimile.explore.facts import load_facts
from facsimile.explore.pool import Local
from facsimile.explore.race import RaceRule
from facsimile.explore.run import News, begin, explore
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.release import run
from facsimile.release.writing import save
from facsimile.sources.address import Address
from facsimile.spec.load import load, parse
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table

SECONDS = 75.0
TIMES = 2


def privbayes(folder: Path) -> Path:
    """The PrivBayes part of the births paper's space."""
    source = (BIRTHS / "nvss.yaml").read_text(encoding="utf-8")
    begin_, end = source.index("  - family: mwem"), source.index("projection:\n")
    path = folder / "privbayes.yaml"
    path.write_text(source[:begin_] + "\n" + source[end:], encoding="utf-8")
    assert len(parse(path.read_text(encoding="utf-8"))[0]["families"]) == 2
    return path


def public(folder: Path) -> Path:
    """The public births, or simulated ones."""
    if SAMPLE.exists():
        return SAMPLE
    path = folder / "births.parquet"
    if not path.exists():
        save(simulate(load_facts(BIRTHS / "facts.yaml"), 158_500, 1), path)
    return path


@benchmark(rows=158_500)
def exploring(rows: int, folder: Path) -> Report:
    """Trials a second, one worker and two in turn, each on the same first trials of the race."""
    spec, data = privbayes(folder), Address.of(public(folder))
    rates: dict[int, list[float]] = {1: [], 2: []}
    for round_ in range(TIMES):
        for workers in (1, 2):
            study = begin(spec, data, folder / f"{workers}-{round_}.study", RaceRule(), 1)
            pool = Local(study.setup, workers)
            seen: list[float] = []

            def watch(news: News, seen: list[float] = seen) -> None:
                seen.append(news.done / (time.monotonic() - news.started))

            try:
                explore(study, pool, watch, SECONDS)
            finally:
                pool.close()
            rates[workers].append(seen[-1])
    ratio = max(rates[2]) / max(rates[1])
    return Report(
        "exploring",
        rows,
        {
            f"{workers} workers, a trial": Timing(1 / max(r), workers / max(r), TIMES)
            for workers, r in rates.items()
        },
        [
            Figure("one worker", max(rates[1]), "trials a second"),
            Figure("two workers", max(rates[2]), "trials a second"),
            Figure("ratio", ratio, "", "≥ 1.8", ratio >= 1.8),
        ],
    )


@cache
def planned(spec: Path) -> tuple[Specification, Table]:
    specification = load(spec)
    table = read_public(public(spec.parent), specification)
    return specification.sized(table.n), table


def rehearsed(task: tuple[Path, int]) -> tuple[bool, bool]:
    """Whether a table came out, and whether it meets every criterion exactly."""
    spec, table = planned(task[0])
    accepted, _ = run.rehearsed(spec, table, task[1])
    if accepted is None:
        return False, False
    real = recode(spec, table, accepted.configuration.alternatives)
    return True, all(v.met for v in exact_errors(spec, real, accepted.table))


def main() -> None:
    parser = argparse.ArgumentParser(description="Rehearse a planned release on public births.")
    parser.add_argument("spec", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(rehearsed, [(options.spec, 10_000 + seed) for seed in range(options.runs)]))
    bad = mean(out and not good for out, good in found)
    print(f"released {mean(out for out, _ in found):.3f}, released and not all met {bad:.3f}")


if __name__ == "__main__":
    main()
