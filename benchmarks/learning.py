"""Learning a workload: how many candidates meet all criteria with what was learned, with `auto`, and by hand.

    python -m benchmarks.learning --seconds 900 --seeds 40
    python -m benchmarks.learning --discharges --seconds 300 --seeds 8

Learned on the public births (simulated ones where they are not at hand), then also judged on simulated births,
another population, to see what was only true of the table it was learned on. All seeds are fresh.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import mean

from benchmarks.criteria import BIRTHS, ROOT
from benchmarks.registry import Figure, Report, Timing, benchmark
from benchmarks.releases import births
from benchmarks.workload import MEASUREMENTS, WEIGHTS
from facsimile.explore.facts import load_facts
from facsimile.explore.learning import UNLEARNT, Learned, learn
from facsimile.explore.learning.draft import Texts
from facsimile.explore.learning.slack import Rehearsals, badness
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table

DISCHARGES = ROOT / "examples" / "discharges"
FIRST = 10**9
Public = tuple[Specification, Table]


def simulated(example: Path, name: str, n: int, seed: int) -> Public:
    """Stand-in records of an example, for one of its specifications."""
    specification = load(example / name)
    table = read_public(simulate(load_facts(example / "facts.yaml"), n, seed), specification)
    return specification.sized(table.n), table


def judged(public: Public, epsilon: Fraction, texts: Texts, seeds: int) -> tuple[float, float]:
    """The share of candidates that meet every criterion exactly, and the mean slack."""
    specification, table = public
    choice = specification.alternatives_named("")
    rehearsals = Rehearsals(specification, recode(specification, table, choice), choice, epsilon)
    runs = [rehearsals.overshoots(texts, FIRST + seed) for seed in range(seeds)]
    return 100 * mean(max(run) < 0 for run in runs), -mean(badness(run) for run in runs)


def learned(
    public: Public, epsilon: Fraction, seconds: float, tell: Callable[[str], None]
) -> tuple[Learned, float]:
    start = time.process_time()
    found = learn(*public, epsilon, seconds=seconds, progress=tell)
    return found, time.process_time() - start


@benchmark(rows=158_500)
def learning(rows: int, folder: Path) -> Report:
    """Five minutes of learning on births: the share of candidates that meet all eight criteria at ε = 0.5."""
    return report(300, 20, Fraction(1, 2), lambda _: None)


def report(seconds: float, seeds: int, epsilon: Fraction, tell: Callable[[str], None]) -> Report:
    public = births()
    found, cpu = learned(public, epsilon, seconds, tell)
    tell(found.block())
    mine, hand = (found.measurements, found.weights), (MEASUREMENTS, WEIGHTS)
    figures = [Figure("candidates made", found.evaluations)]
    figures += [Figure("fresh seeds: slack", found.slack), Figure("fresh seeds: slack of auto", found.before)]
    for place, population in (
        ("learned on", public),
        ("simulated", simulated(BIRTHS, "ours.yaml", 158_500, 7)),
    ):
        for name, texts in (("learned", mine), ("auto", UNLEARNT), ("by hand", hand)):
            share, slack = judged(population, epsilon, texts, seeds)
            figures.append(Figure(f"{place}, {name}: all met", share, "%"))
            figures.append(Figure(f"{place}, {name}: slack", slack))
    return Report("learning", public[1].n, {"learning": Timing(seconds, cpu, 1)}, figures)


def wide(seconds: float, seeds: int, epsilon: Fraction, tell: Callable[[str], None]) -> Report:
    public = simulated(DISCHARGES, "release.yaml", 50_000, 1)
    found, cpu = learned(public, epsilon, seconds, tell)
    tell(found.block())
    figures = [Figure("candidates made", found.evaluations)]
    for name, texts in (("learned", (found.measurements, found.weights)), ("auto", UNLEARNT)):
        share, slack = judged(public, epsilon, texts, seeds)
        figures += [Figure(f"{name}: all met", share, "%"), Figure(f"{name}: slack", slack)]
    return Report("learning", public[1].n, {"learning": Timing(seconds, cpu, 1)}, figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--epsilon", type=Fraction)
    parser.add_argument("--discharges", action="store_true")
    options = parser.parse_args()
    run, usual = (wide, Fraction(1)) if options.discharges else (report, Fraction(1, 2))
    found = run(options.seconds, options.seeds, options.epsilon or usual, lambda text: print(text, flush=True))
    print(found.text())
