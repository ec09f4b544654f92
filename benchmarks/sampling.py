"""Systematic against independent draws: the mean distance of tables of one, two and three columns.

Every model is sampled both ways, with the same seeds, and held against the original and against its own law.
The law of a wide model is not at hand, so many independent draws stand for it. Intervals are of the mean
difference over the pairs of draws.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from benchmarks.registry import Figure, Report, Timing, benchmark
from benchmarks.wide import prepared
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.reader import rehearse
from facsimile.shaping.sampling import Sampling
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Known, RowModel
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Table

Floats = npt.NDArray[np.float64]
WAYS: tuple[Sampling, Sampling] = ("iid", "systematic")
MOST = 60
"""So many tables of two and of three columns are looked at, drawn once from all."""
LAW = 400_000
"""Independent draws that stand for a model's law."""
MODELS: Mapping[str, tuple[int, int]] = {"mst": (20, 1), "privbayes": (20, 1), "workload": (4, 20)}
"""How many models of each family, and how often each is sampled."""

# Columns of a made-up census: its number of codes, what it depends on, and how closely (small is close).
CENSUS: Mapping[str, tuple[int, tuple[str, ...], float]] = {
    "age": (15, (), 4.0),
    "education": (16, ("age",), 0.4),
    "schooling": (16, ("education",), 0.01),
    "sex": (2, (), 4.0),
    "marital": (7, ("age", "sex"), 0.3),
    "relationship": (6, ("marital", "sex"), 0.1),
    "origin": (5, (), 0.6),
    "country": (12, ("origin",), 0.15),
    "sector": (8, ("education",), 0.3),
    "occupation": (14, ("education", "sex"), 0.25),
    "hours": (10, ("occupation",), 0.4),
    "gains": (6, ("education",), 0.15),
    "losses": (5, ("age",), 0.15),
    "income": (2, ("occupation", "relationship"), 0.5),
}


def census(rows: int, seed: int = 1) -> Table:
    """Records of a network of categories; the laws given the parents are drawn from Dirichlet laws."""
    random = np.random.default_rng(seed)
    codes: dict[str, npt.NDArray[np.int64]] = {}
    for name, (size, parents, closeness) in CENSUS.items():
        line = np.zeros(rows, np.int64)
        for parent in parents:
            line = line * CENSUS[parent][0] + codes[parent]
        shape = (int(line.max()) + 1, size)
        law = random.gamma(closeness, size=shape) + 1e-9
        steps = np.cumsum(law, axis=1) / law.sum(axis=1, keepdims=True)
        codes[name] = (random.random(rows)[:, None] > steps[line, :-1]).sum(axis=1)
    return _table(codes, {name: size for name, (size, _, _) in CENSUS.items()})


def survey(rows: int, seed: int = 1, items: int = 24, factors: int = 4) -> Table:
    """Answers from 1 to 5 that a few hidden opinions decide; one in twelve leaves out the last questions."""
    random = np.random.default_rng(seed)
    opinions = random.normal(size=(rows, factors)) @ random.normal(0, 0.4, (factors, factors))
    loadings = random.normal(0, 0.5, (factors, items))
    loadings[np.arange(items) % factors, np.arange(items)] += 1.2
    latent = opinions @ loadings + random.normal(size=(rows, items))
    cuts = np.sort(random.normal(0, 1.2, (items, 4)), axis=1)
    codes = {f"q{i:02}": np.searchsorted(cuts[i], latent[:, i]) for i in range(items)}
    refuses = random.random(rows) < 1 / 12
    for name in list(codes)[-6:]:
        codes[name] = np.where(refuses, 5, codes[name])
    return _table(codes, {name: int(column.max()) + 1 for name, column in codes.items()})


def _table(codes: Mapping[str, npt.NDArray[np.int64]], sizes: Mapping[str, int]) -> Table:
    axes = (Axis(name, parse_bins([f"0..{sizes[name] - 1}"], Fraction(1))) for name in codes)
    return Table.from_rows(Domain(tuple(axes)), np.column_stack(list(codes.values())))


def original(name: str, rows: int) -> tuple[Table, Known]:
    """A table by name and what is public about it."""
    if name == "discharges":
        return prepared(name, rows)
    table = {"census": census, "survey": survey}[name](rows)
    return table, Known(table.n)


TABLES = {"discharges": 50_000, "census": 32_000, "survey": 20_000}


def fitted(table: Table, known: Known, family: str, seed: int, epsilon: Fraction = Fraction(1)) -> RowModel:
    """A model of a family with its default hyperparameters."""
    curator = Curator.rehearsal(rehearse(table), seed, MemoryLedger())
    return SYNTHESIZERS[family].of({}).fit(curator, known, epsilon, np.random.default_rng(seed))


def cliques(domain: Domain, most: int = MOST) -> dict[int, list[Clique]]:
    """Tables of one, two and three columns; of the last some drawn at random, the same every time."""
    found: dict[int, list[Clique]] = {k: list(combinations(domain.names, k)) for k in (1, 2, 3)}
    random = np.random.default_rng(0)
    for k, every in found.items():
        chosen = random.permutation(len(every))[:most]
        found[k] = [every[place] for place in sorted(chosen)]
    return found


def shares(table: Table, of: Sequence[Clique]) -> list[Floats]:
    """The tables of some columns, as shares of all records."""
    return [table.marginal(clique) / table.n for clique in of]


def distance(one: Sequence[Floats], other: Sequence[Floats]) -> float:
    """The mean total variation distance of tables."""
    return float(np.mean([np.abs(a - b).sum() / 2 for a, b in zip(one, other, strict=True)]))


@dataclass(frozen=True)
class Gap:
    """Mean distances in percent, and the difference of the second to the first with its 95 % interval."""

    columns: int
    target: str
    iid: float
    systematic: float
    half_width: float

    @property
    def difference(self) -> float:
        return self.systematic - self.iid


def gaps(table: Table, models: Sequence[RowModel], draws: int, law: int = LAW) -> list[Gap]:
    """Both ways of sampling each model, held against the table and against the model's own law."""
    chosen = cliques(table.domain)
    real = {k: shares(table, of) for k, of in chosen.items()}
    found: dict[tuple[int, str, Sampling], list[float]] = {}
    for number, model in enumerate(models):
        many = model.sample(law, np.random.default_rng([number, draws]), "iid")
        targets = {"original": real, "own law": {k: shares(many, of) for k, of in chosen.items()}}
        for way in WAYS:
            drawn = [model.sample(table.n, np.random.default_rng([number, d]), way) for d in range(draws)]
            for k, of in chosen.items():
                tables = [shares(one, of) for one in drawn]
                for target, held in targets.items():
                    found.setdefault((k, target, way), []).extend(
                        100 * distance(one, held[k]) for one in tables
                    )
    return [_gap(k, target, found[k, target, "iid"], found[k, target, "systematic"]) for k, target, _ in found]


def _gap(columns: int, target: str, iid: Sequence[float], systematic: Sequence[float]) -> Gap:
    count = len(iid)
    spread = float(np.std(np.subtract(systematic, iid), ddof=1)) / sqrt(count)
    half_width = float(student.ppf(0.975, count - 1)) * spread
    return Gap(columns, target, float(np.mean(iid)), float(np.mean(systematic)), half_width)


@benchmark(rows=50_000)
def sampling(rows: int, folder: Path) -> Report:
    """Systematic against independent draws at ε = 1: distances of tables on three wide tables, and CPU."""
    timings: dict[str, Timing] = {}
    figures: list[Figure] = []
    for name, size in TABLES.items():
        table, known = original(name, size * rows // max(TABLES.values()))
        for family, (count, draws) in MODELS.items():
            models = [fitted(table, known, family, seed) for seed in range(count)]
            begin = time.perf_counter(), time.process_time()
            models[0].sample(table.n, np.random.default_rng(0))
            wall, cpu = time.perf_counter() - begin[0], time.process_time() - begin[1]
            timings[f"{name}, {family}: sample"] = Timing(wall, cpu, 1)
            figures += [
                Figure(
                    f"{name}, {family}, {g.columns} columns to {g.target}: {g.iid:.3f} % iid, difference "
                    f"± {g.half_width:.3f}",
                    g.difference,
                    "%",
                    "< 0",
                    g.difference + g.half_width < 0,
                )
                for g in dict.fromkeys(gaps(table, models, draws))
            ]
    return Report("sampling", rows, timings, figures)
