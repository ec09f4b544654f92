"""Wide tables: families on domains that no computer can hold, a process each, so that memory is its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.adult import RECORDS, adult
from benchmarks.designs import DESIGNS
from benchmarks.reading import own_peak
from benchmarks.registry import Figure, Report, Timing, benchmark
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import read_public, rehearse
from facsimile.shaping.constraints import impossible
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.load import load
from facsimile.synthesizers.base import Known, Synthesizer
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.domain import Clique, Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table

ROOT = Path(__file__).resolve().parent.parent
DISCHARGES = ROOT / "examples" / "discharges"
FAMILIES: dict[str, dict[str, str]] = {
    "workload": {},
    "mst": {},
    "aim": {},
    "privbayes": {},
    "mwem-tables": {"num_iterations": "30"},
    "pep-tables": {"num_iterations": "30", "marginal": "2"},
}
DESIGNED = "workload, designed"
MEMORY = 4.0
SEED = 1
TRIPLES = 400


@benchmark(rows=100_000)
def wide(rows: int, folder: Path) -> Report:
    """Families at ε = 1 on 20 simulated columns of 10 values: distance of 3-way tables, CPU, memory."""
    return _report("wide", rows)


@benchmark(rows=50_000)
def discharges(rows: int, folder: Path) -> Report:
    """Families at ε = 1 on the example of hospital discharges: distance of 3-way tables, CPU, memory."""
    return _report("discharges", rows)


@benchmark(rows=RECORDS)
def adult_like(rows: int, folder: Path) -> Report:
    """Families at ε = 1 on an Adult-like table of 14 columns: distance of 3-way tables, CPU, memory."""
    return _report("adult", rows)


def dependent(rows: int, columns: int = 20, values: int = 10) -> Table:
    """Records of normal variables in a network of two parents each, cut at random into values."""
    random = np.random.default_rng(SEED)
    latent = np.empty((rows, columns))
    for place in range(columns):
        parents = random.choice(place, size=min(place, 2), replace=False)
        weights = random.uniform(0.4, 0.7, len(parents)) * random.choice([-1, 1], len(parents))
        own = max(0.2, 1 - float(weights @ weights)) ** 0.5
        latent[:, place] = latent[:, parents] @ weights + own * random.normal(size=rows)
    cuts = np.sort(random.normal(size=(columns, values - 1)), axis=1)
    codes = [
        np.searchsorted(cuts[place], latent[:, place] / latent[:, place].std()) for place in range(columns)
    ]
    bins = parse_bins([f"0..{values - 1}"], Fraction(1))
    domain = Domain(tuple(Axis(f"c{place:02}", bins) for place in range(columns)))
    return Table.from_rows(domain, np.column_stack(codes))


def prepared(name: str, rows: int) -> tuple[Table, Known]:
    """The table and what is public about it."""
    if name == "wide":
        table = dependent(rows)
        return table, Known(table.n)
    if name == "adult":
        return adult(rows), Known(rows)
    return simulated(rows, SEED)


def simulated(rows: int, seed: int) -> tuple[Table, Known]:
    """Simulated discharges and their rules."""
    specification = load(DISCHARGES / "release.yaml")
    finest = read_public(simulate(load_facts(DISCHARGES / "facts.yaml"), rows, seed=seed), specification)
    table = recode(specification, finest, specification.alternatives_named("standard"))
    zeros = tuple(impossible(condition, table.domain) for condition in specification.synthetic_conditions)
    return table, Known(table.n, zeros)


def three_way(one: Table, other: Table, most: int | None = None) -> float:
    """The mean total variation distance of the tables of three columns: all of them, or some at random."""
    triples: list[Clique] = list(combinations(one.domain.names, 3))
    if most is not None and len(triples) > most:
        chosen = np.random.default_rng(SEED).choice(len(triples), most, replace=False)
        triples = [triples[place] for place in chosen]
    gaps = [
        np.abs(one.marginal(clique) / one.n - other.marginal(clique) / other.n).sum() / 2 for clique in triples
    ]
    return float(np.mean(gaps))


def measure(name: str, rows: int, family: str) -> dict[str, float]:
    """One family on one table, in this process."""
    table, known = prepared(name, rows)
    curator = Curator.rehearsal(rehearse(table), SEED, MemoryLedger())
    random = np.random.default_rng(SEED)
    begin = time.perf_counter(), time.process_time()
    chosen = SYNTHESIZERS["workload"].of(DESIGNS[name]) if family == DESIGNED else _default(family)
    model = chosen.fit(curator, known, Fraction(1), random)
    drawn = model.sample(table.n, random)
    wall, cpu = time.perf_counter() - begin[0], time.process_time() - begin[1]
    peak = own_peak() / 1e9
    broken = sum(int(drawn.marginal(clique)[mask].sum()) for clique, mask in known.zeros)
    return {
        "wall": wall,
        "cpu": cpu,
        "peak": peak,
        "distance": three_way(table, drawn, TRIPLES),
        "missing": float(abs(drawn.n - table.n)),
        "broken": float(broken),
    }


def _default(family: str) -> Synthesizer:
    return SYNTHESIZERS[family].of(FAMILIES[family])


def _report(name: str, rows: int) -> Report:
    timings: dict[str, Timing] = {}
    figures: list[Figure] = []
    for family, found in _measured(name, rows):
        timings[family] = Timing(found["wall"], found["cpu"], 1)
        figures += [
            Figure(f"{family}, distance of 3-way tables", 100 * found["distance"], "%"),
            Figure.at_most(f"{family}, peak memory", found["peak"], MEMORY, "GB"),
            Figure.at_most(f"{family}, records missing or ruled out", found["missing"] + found["broken"], 0),
        ]
    return Report(name, rows, timings or {"no family runs": Timing(0.0, 0.0)}, figures)


def _measured(name: str, rows: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Each family in a process of its own; one that fails is reported and left out."""
    for family in (*FAMILIES, *([DESIGNED] if name in DESIGNS else [])):
        code = f"import json, benchmarks.wide as w; print(json.dumps(w.measure({name!r}, {rows}, {family!r})))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"{name}: {family} fails: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        else:
            yield family, json.loads(done.stdout.splitlines()[-1])
