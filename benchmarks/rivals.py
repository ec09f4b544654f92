"""Rivals: our families beside those of mbi, OpenDP and SmartNoise, at one guarantee on the same tables.

    python -m benchmarks.rivals --tables births adult --json found.json      measure, keep what is found

Everything is for replaced records, at ε = 1 with δ = 10⁻⁹ and, where a rival offers it, at pure ε = 1. Rivals
count records added or removed, so each is run with less, by what a replaced record costs it (`Terms`). They
read the same codes of the public domain and draw as many records as there are. Each library has a Python of
its own, named by a variable (`PYTHONS`); without it the rival is left out.

Costs in ρ. A table with Gaussian noise costs Δ²/2σ²: Δ = 1 for a record added, √2 for one replaced, twice the
ρ. A choice by the exponential mechanism costs (2Δ/scale)²/8 with Δ the most that a score moves: an L1
distance of tables moves by 1 and by 2, four times the ρ. So a rival that spends a share s of its ρ' on
choices costs (2 + 2s)·ρ'. An (ε₀, δ₀) of DP-SGD or of votes is (2ε₀, (1 + e^ε₀)δ₀) for a replaced record: one
removed, one added.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.adult import RECORDS
from benchmarks.baselines import MIN_COUNT, Drawn, Rival, RivalError, Spent, criteria_errors, imitated
from benchmarks.criteria import BIRTHS, SAMPLE
from benchmarks.designs import DESIGNS, WITH_DELTA
from benchmarks.registry import Figure, Report, Timing, benchmark
from benchmarks.wide import DESIGNED, DISCHARGES, TRIPLES, prepared, three_way
from benchmarks.workload import MEASUREMENTS, SHARP, WEIGHTS
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import read_public, rehearse
from facsimile.privacy.renyi import epsilon_of, rho_of
from facsimile.shaping.constraints import impossible
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.encoding import recode
from facsimile.table.table import Table

CPU_LIMIT = 900
SEED = 1


@dataclass(frozen=True)
class Guarantee:
    """(ε, δ) for replaced records; δ = 0 is pure."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def name(self) -> str:
        return f"δ = {float(self.delta):.0e}" if self.delta else "pure"


PURE = Guarantee(Fraction(1))
APPROXIMATE = Guarantee(Fraction(1), Fraction(1, 10**9))
GUARANTEES = (PURE, APPROXIMATE)


@dataclass(frozen=True)
class Terms:
    """How a rival is told a guarantee for replaced records.

    `dear`: the ρ of a replaced record over its own ρ, None where it does not count in ρ. `told`: it is told
    an ε that it turns back into that ρ. `doubled`: it takes pure ε, and counts a replaced record as two
    contributions.
    """

    dear: float | None = None
    told: bool = False
    doubled: bool = False

    def spent(self, guarantee: Guarantee) -> Spent | None:
        """The guarantee in its own terms; None where it does not offer it."""
        epsilon, delta = float(guarantee.epsilon), float(guarantee.delta)
        if not delta:
            return Spent(epsilon) if self.doubled else None
        if self.dear is None:
            return Spent(epsilon / 2, delta / (1 + math.exp(epsilon / 2)))
        rho = Fraction(rho_of(guarantee.epsilon, guarantee.delta)) / Fraction(self.dear)
        return Spent(float(epsilon_of(rho, guarantee.delta)) if self.told else epsilon, delta, float(rho))


MBI, OPENDP, SMARTNOISE = PYTHONS = (
    "FACSIMILE_MBI_PYTHON",
    "FACSIMILE_BASELINE_PYTHON",
    "FACSIMILE_SMARTNOISE_PYTHON",
)
RIVALS: dict[Rival, Terms] = {
    Rival("mbi MST", MBI, "with_mbi.py", "MST"): Terms(1),
    Rival("mbi AIM", MBI, "with_mbi.py", "AIM"): Terms(1),
    Rival("OpenDP MST", OPENDP, "with_opendp.py", "MST"): Terms(2 + 2 * 0.05, doubled=True),
    Rival("OpenDP AIM", OPENDP, "with_opendp.py", "AIM"): Terms(2 + 2 * 0.05, doubled=True),
    Rival("SmartNoise MST", SMARTNOISE, "with_smartnoise.py", "MST"): Terms(2 + 2 / 3, told=True),
    Rival("SmartNoise AIM", SMARTNOISE, "with_smartnoise.py", "AIM"): Terms(2 + 2 * 0.1, told=True),
    Rival("SmartNoise DPCTGAN", SMARTNOISE, "with_smartnoise.py", "DPCTGAN"): Terms(),
    Rival("SmartNoise PATECTGAN", SMARTNOISE, "with_smartnoise.py", "PATECTGAN"): Terms(),
}
"""OpenDP spends half on columns and a tenth of the rest on choices; MST a third; AIM a tenth of each round."""


@dataclass(frozen=True, eq=False)
class Original:
    """A table to imitate, what is public about it, and its criteria if it has some."""

    name: str
    real: Table
    known: Known
    specification: Specification | None = None
    min_count: int = 1
    relative: float | None = None
    ours: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)


FAMILIES: dict[str, tuple[str, Mapping[str, str]]] = {name: (name, {}) for name in ("aim", "mst", "privbayes")}
BY_HAND = {"workload, by hand": ("workload", {"measurements": MEASUREMENTS, "weights": WEIGHTS})}
TABLES = ("births", "simulated births", "discharges", "wide", "adult")
ROWS = {"births": 158_500, "simulated births": 158_500, "discharges": 50_000, "wide": 100_000, "adult": RECORDS}


@cache
def original(name: str) -> Original:
    """One of TABLES; the births are the public sample, where it is at hand."""
    if name in ("births", "simulated births"):
        return _births(name)
    real, known = prepared(name, ROWS[name])
    designed = {DESIGNED: ("workload", DESIGNS[name])} if name in DESIGNS else {"workload": ("workload", {})}
    ours = {**designed, **FAMILIES}
    if name == "discharges":
        return Original(name, real, known, load(DISCHARGES / "release.yaml"), ours=ours)
    return Original(name, real, known, ours=ours)


def _births(name: str) -> Original:
    if name == "births" and not SAMPLE.exists():
        raise RivalError("the public sample of births is not at hand")
    specification = load(BIRTHS / "nvss.yaml")
    data = SAMPLE if name == "births" else simulate(load_facts(BIRTHS / "facts.yaml"), ROWS[name], seed=SEED)
    real = recode(specification, read_public(data, specification), specification.alternatives_named("released"))
    zeros = tuple(impossible(condition, real.domain) for condition in specification.synthetic_conditions)
    known = Known(real.n, zeros)
    return Original(name, real, known, specification, MIN_COUNT, SHARP, {**BY_HAND, **FAMILIES})


@dataclass(frozen=True)
class Found:
    """A generator on a table: distances in per cent, criteria met, CPU; or why there is nothing."""

    table: str
    generator: str
    guarantee: str
    seed: int
    distance: float | None = None
    independent: float | None = None
    met: int | None = None
    criteria: int | None = None
    missed: tuple[str, ...] = ()
    cpu: float | None = None
    wall: float | None = None
    records: int | None = None
    failed: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        return (self.table, self.generator, self.guarantee, self.seed)


def fitted(
    synthesizer: Synthesizer, answers: Answers, known: Known, guarantee: Guarantee, random: np.random.Generator
) -> RowModel:
    """One of our families at a guarantee. The only place that knows how a family is told δ."""
    share = rho_of(guarantee.epsilon, guarantee.delta) if guarantee.delta else guarantee.epsilon
    if guarantee.delta and synthesizer.law == "delta":
        return synthesizer.fit(answers, replace(known, delta=guarantee.delta), guarantee.epsilon, random)
    return synthesizer.fit(answers, known, share, random)


def own(table: Original, name: str, guarantee: Guarantee, seed: int) -> Drawn:
    """One of our families, in this process."""
    family, hyperparameters = table.ours[name]
    if guarantee.delta and name == DESIGNED:
        hyperparameters = WITH_DELTA[table.name]
    answers = Curator.rehearsal(rehearse(table.real), seed, MemoryLedger())
    random = np.random.default_rng(seed)
    begin = time.perf_counter(), time.process_time()
    model = fitted(SYNTHESIZERS[family].of(hyperparameters), answers, table.known, guarantee, random)
    drawn = model.sample(table.real.n, random)
    took = Timing(time.perf_counter() - begin[0], time.process_time() - begin[1], 1)
    return Drawn(name, drawn, model.sample(table.real.n, random, "iid"), took)


def others(
    table: Original, rival: Rival, guarantee: Guarantee, seed: int, folder: Path, limit: int = CPU_LIMIT
) -> Drawn:
    """A rival, in a process of its own."""
    spent = RIVALS[rival].spent(guarantee)
    if spent is None:
        raise RivalError("it offers no pure ε")
    return imitated(rival, table.real, folder, spent, seed, limit)


def judged(table: Original, name: str, guarantee: Guarantee, seed: int, run: Callable[[], Drawn]) -> Found:
    """What a run gives, beside the original."""
    try:
        drawn = run()
    except RivalError as error:
        return Found(table.name, name, guarantee.name, seed, failed=str(error))
    errors = {}
    if table.specification is not None:
        errors = criteria_errors(table.specification, table.real, drawn.table, table.min_count, table.relative)
    missed = tuple(criterion for criterion, (error, limit) in errors.items() if not error < limit)
    return Found(
        table.name,
        name,
        guarantee.name,
        seed,
        distance=100 * three_way(table.real, drawn.table, TRIPLES),
        independent=100 * three_way(table.real, drawn.independent, TRIPLES),
        met=len(errors) - len(missed) if errors else None,
        criteria=len(errors) or None,
        missed=missed,
        cpu=drawn.timing.cpu,
        wall=drawn.timing.wall,
        records=drawn.table.n,
    )


def ours(table: Original, guarantees: Iterable[Guarantee], seeds: Sequence[int]) -> Iterator[Found]:
    """All our families."""
    for guarantee in guarantees:
        for name in table.ours:
            for seed in seeds:
                yield judged(table, name, guarantee, seed, partial(own, table, name, guarantee, seed))


def theirs(
    table: Original,
    guarantees: Iterable[Guarantee],
    seeds: Sequence[int],
    folder: Path,
    limit: int = CPU_LIMIT,
    names: Sequence[str] = (),
) -> Iterator[Found]:
    """All rivals that are there and offer the guarantee; no further seed of one that failed."""
    for guarantee in guarantees:
        for rival, terms in RIVALS.items():
            if not rival.found or terms.spent(guarantee) is None or (names and rival.name not in names):
                continue
            for seed in seeds:
                run = partial(others, table, rival, guarantee, seed, folder, limit)
                found = judged(table, rival.name, guarantee, seed, run)
                yield found
                if found.failed:
                    break


@benchmark(rows=sum(ROWS.values()))
def rivals(rows: int, folder: Path) -> Report:
    """Ours and mbi's, OpenDP's, SmartNoise's generators at ε = 1, pure and with δ = 1e-9, on five tables."""
    for variable in PYTHONS:
        if not os.environ.get(variable):
            print(f"rivals: {variable} names no Python; its generators are left out", file=sys.stderr)
    found: list[Found] = []
    for name in TABLES:
        try:
            table = original(name)
        except RivalError as error:
            print(f"rivals: {name}: {error}", file=sys.stderr)
            continue
        found += ours(table, GUARANTEES, [SEED])
        found += theirs(table, GUARANTEES, [SEED], folder)
    timings = {_title(one): Timing(one.wall or 0.0, one.cpu or 0.0, 1) for one in found if not one.failed}
    return Report("rivals", rows, timings, [figure for one in found for figure in _figures(one)])


def _title(found: Found) -> str:
    return f"{found.table}, {found.guarantee}, {found.generator}"


def _figures(found: Found) -> Iterator[Figure]:
    if found.failed:
        print(f"rivals: {_title(found)}: {found.failed}", file=sys.stderr)
        return
    yield Figure(f"{_title(found)}, distance of 3-way tables", found.distance or 0.0, "%")
    if found.met is not None:
        yield Figure(f"{_title(found)}, criteria met", found.met, "", f"of {found.criteria}")


def table_of(found: Sequence[Found]) -> str:
    """A table in Markdown for each guarantee: 3-way distance, criteria met and CPU, means over seeds."""
    lines = []
    for guarantee in GUARANTEES:
        here = [one for one in found if one.guarantee == guarantee.name]
        tables = [name for name in TABLES if any(one.table == name for one in here)]
        lines += [
            "",
            f"| ε = 1, {guarantee.name} | " + " | ".join(tables) + " |",
            "| --- |" + " --- |" * len(tables),
        ]
        for name in dict.fromkeys(one.generator for one in here):
            cells = [_cell([o for o in here if (o.generator, o.table) == (name, t)]) for t in tables]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines[1:])


def _cell(runs: Sequence[Found]) -> str:
    done = [run for run in runs if not run.failed]
    if not done:
        return runs[0].failed if runs else "–"
    distance, cpu = (mean(getattr(run, name) for run in done) for name in ("distance", "cpu"))
    met = [run.met for run in done if run.met is not None]
    criteria = f", {mean(met):.3g} of {done[0].criteria}" if met else ""
    return f"{distance:.2f} %{criteria}, {cpu:.3g} s"


def kept(path: Path) -> list[Found]:
    """What was found before."""
    if not path.exists():
        return []
    return [Found(**{**one, "missed": tuple(one["missed"])}) for one in json.loads(path.read_text("utf-8"))]


def keep(path: Path, found: Found) -> None:
    """Write it down at once; a newer run takes the place of an older one."""
    every = {one.key: one for one in (*kept(path), found)}
    text = json.dumps([asdict(one) for one in every.values()], indent=1, ensure_ascii=False)
    part = path.with_name(f"part-{path.name}")
    part.write_text(text, encoding="utf-8")
    part.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals")
    parser.add_argument("--tables", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--ours", action="store_true", help="our families only")
    parser.add_argument("--rivals", nargs="*", help="these rivals only, by name")
    parser.add_argument("--guarantees", nargs="*", default=["pure", "approximate"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int, default=CPU_LIMIT, help="seconds of CPU of a rival")
    parser.add_argument("--json", type=Path, help="keep what is found here, and print the table of all of it")
    options = parser.parse_args()
    guarantees = [{"pure": PURE, "approximate": APPROXIMATE}[name] for name in options.guarantees]
    seeds = range(SEED, SEED + options.seeds)
    every: list[Found] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            table = original(name)
            runs = (
                ours(table, guarantees, seeds)
                if options.ours
                else theirs(table, guarantees, seeds, Path(folder), options.limit, options.rivals or ())
            )
            for found in runs:
                print(found, flush=True)
                every.append(found)
                if options.json:
                    keep(options.json, found)
    print(table_of(kept(options.json) if options.json else every))


if __name__ == "__main__":
    main()
