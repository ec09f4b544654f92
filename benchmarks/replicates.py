"""Estimates by replicates, held against originals that are known: how often their intervals cover.

python -m benchmarks.replicates births discharges sample --rehearsals 12

The population is simulated from an example's facts, twenty times as large as an original; each rehearsal has an
original of its own, drawn from it at random. `sample` has the sample of real births (docs/nvss.md) in every
rehearsal, and no population. Each release is replicated, and random questions are asked of all tables. Factors
are calibrated on another draw from the simulated population: the kindest public data for the first two.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from benchmarks.criteria import SAMPLE
from facsimile.analysis.combining import combine
from facsimile.explore.calibration import COUNTS, asked, calibrated
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.release.replicates import Replication
from facsimile.release.run import rehearsed
from facsimile.sources.address import Address
from facsimile.spec.calibration import Kind
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.exact import Floats
from facsimile.table.table import Table

EXAMPLES = Path(__file__).parents[1] / "examples"
SPECIFICATIONS = {
    "births": "births/ours.yaml",
    "discharges": "discharges/first.yaml",
    "sample": "births/ours.yaml",
}
REPLICATES, BOOTSTRAPS, QUESTIONS, LARGER = 20, 20, 480, 20
SEED, PUBLIC_SEED = 20_000, 10_000
HEADS = ("kind", "asked", "no spread", "plain", "corrected", "calibrated", "kappa", "population", "width")


@dataclass(frozen=True)
class Asked:
    """One question: whether intervals cover, and how wide they are beside a bootstrap's of the original."""

    spread: bool
    plain: bool
    corrected: bool
    calibrated: bool
    population: bool
    width: float


@dataclass(frozen=True, eq=False)
class Study:
    """An example and its population."""

    name: str

    @cached_property
    def specification(self) -> Specification:
        return load(EXAMPLES / SPECIFICATIONS[self.name])

    @cached_property
    def population(self) -> Table:
        facts = load_facts((EXAMPLES / SPECIFICATIONS[self.name]).with_name("facts.yaml"))
        return read_public(simulate(facts, LARGER * self.specification.n, SEED), self.specification)

    def drawn(self, seed: int) -> Table:
        """As many records of the population as are declared; no law of counts is kept, unlike in `simulate`."""
        return _drawn(self.population, self.specification.n, np.random.default_rng(seed))

    def original(self, seed: int) -> Table:
        if self.name != "sample":
            return self.drawn(seed)
        return read_public(Address.of(SAMPLE), self.specification)

    def rehearsal(self, seed: int, kappa: dict[Kind, float]) -> dict[Kind, list[Asked]]:
        """The questions of one rehearsal."""
        table, random = self.original(seed), np.random.default_rng(seed)
        spec = self.specification.sized(table.n)
        accepted = next(a for k in range(100) if (a := rehearsed(spec, table, 100 * seed + k)[0]))
        chosen = accepted.configuration.alternatives
        real, whole = recode(spec, table, chosen), recode(spec, self.population, chosen)
        made = list(Replication.of(spec, accepted.configuration, accepted.table).replicates(REPLICATES, seed))
        boots = [_drawn(real, real.n, random) for _ in range(BOOTSTRAPS)]
        first = [whole, real, accepted.table]
        tables = [*first, *(one.table for one in made), *(one.resampled for one in made), *boots]
        found: dict[Kind, list[Asked]] = defaultdict(list)
        for kind, values in asked(tables, QUESTIONS, random):
            scale = real.n / whole.n if kind in COUNTS else 1.0
            found[kind].append(_judged(values, scale, kappa.get(kind, np.inf)))
        return found


def _drawn(table: Table, n: int, random: np.random.Generator) -> Table:
    """Records drawn with replacement."""
    counts = random.multinomial(n, table.counts / table.n)
    return Table(table.domain, table.codes, counts).filter(counts > 0)


def _judged(values: Floats, scale: float, kappa: float) -> Asked:
    head, replicates, resampled, boots = np.split(values, [3, 3 + REPLICATES, 3 + 2 * REPLICATES])
    truth, real, release = head[0] * scale, head[1], head[2]
    near = 1e-9 * max(1.0, abs(real))
    plain = combine(release, replicates, resampled)
    behind = combine(release, replicates, target="population")
    centred = float(np.std(replicates - resampled, ddof=1)) * np.sqrt(1 + 1 / REPLICATES)
    reach = stdtrit(REPLICATES - 1, 0.975) * centred
    bootstrap = float(stdtrit(BOOTSTRAPS - 1, 0.975) * np.std(boots, ddof=1))
    return Asked(
        bool(plain.standard_error > 0),
        bool(plain.low - near <= real <= plain.high + near),
        bool(abs(release - plain.bias - real) <= reach + near),
        bool(abs(release - real) <= kappa * plain.standard_error + near),
        bool(behind.low - near <= truth <= behind.high + near),
        plain.kappa * plain.standard_error / bootstrap if bootstrap else np.nan,
    )


def measure(name: str, rehearsals: int) -> None:
    study, start = Study(name), time.process_time()
    calibration = calibrated(study.specification, study.drawn(PUBLIC_SEED), "another draw")
    kappa = {kind: float(factor) for kind, factor in calibration.kappa.items()}
    found: dict[Kind, list[Asked]] = defaultdict(list)
    for seed in range(1, rehearsals + 1):
        for kind, judged in study.rehearsal(seed, kappa).items():
            found[kind] += judged
    spent = time.process_time() - start
    print(f"\n{name}: {rehearsals} rehearsals, {REPLICATES} replicates each, {spent:.0f} s of CPU\n")
    print("| " + " | ".join(HEADS) + " |\n|---|" + "---:|" * (len(HEADS) - 1))
    for kind, judged in found.items():
        shares = [1 - np.mean([q.spread for q in judged])]
        shares += [np.mean([getattr(q, way) for q in judged]) for way in ("plain", "corrected", "calibrated")]
        cells = [kind, f"{len(judged):,}", *(f"{100 * share:.1f} %" for share in shares)]
        behind = "" if name == "sample" else f"{100 * np.mean([q.population for q in judged]):.1f} %"
        cells += [f"{kappa.get(kind, np.nan):.2f}", behind]
        print("| " + " | ".join([*cells, f"{np.nanmedian([q.width for q in judged]):.2f}"]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicates")
    parser.add_argument("names", nargs="+", choices=SPECIFICATIONS)
    parser.add_argument("--rehearsals", type=int, default=12)
    given = parser.parse_args()
    for name in given.names:
        measure(name, given.rehearsals)


if __name__ == "__main__":
    main()
