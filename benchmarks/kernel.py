"""The privacy kernel: what a mechanism call costs beside its noise, and how fast stand-in data is made."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.registry import Figure, Report, benchmark, interleaved
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy import noise
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import Ledger
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import mode_of
from facsimile.privacy.reader import rehearse
from facsimile.privacy.transcript import Transcript
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.release import Selection
from facsimile.table.domain import Domain
from facsimile.table.table import Table

FACTS = Path(__file__).resolve().parent.parent / "examples" / "births" / "facts.yaml"
ONE = Fraction(1, 1000)


def _table(cells: int, distinct: int) -> Table:
    axes = [
        Axis("a", parse_bins([f"0..{cells - 1}"], ONE * 1000)),
        Axis("b", parse_bins(["0..99"], ONE * 1000)),
    ]
    rows = np.random.default_rng(1).integers(0, [cells, 100], (distinct, 2))
    return Table.from_rows(Domain(tuple(axes)), rows)


@benchmark(rows=10_000)
def mechanism(rows: int, folder: Path) -> Report:
    """A production call of noisy marginals (ledger, sync, transcript) beside OpenDP's sampler alone."""
    table = _table(rows, 20_000)
    question = NoisyMarginals(((("a",), ONE),))
    counts = table.marginal(("a",))
    sampler = noise._laplace(2, ONE)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        ledger = Ledger.at(Path(place) / "ledger")
        ledger.create("benchmark", Fraction(1000))
        with Transcript(Path(place) / "transcript") as transcript:
            curator = Curator.production(rehearse(table), ledger, transcript)
            with curator.search(
                Plan(ONE * 100, ONE, ONE, mode_of(Selection(mode="single"))), "benchmark"
            ) as search:
                inside = search.once()
                tasks = {
                    "OpenDP": lambda: sampler(counts),
                    "in a search": lambda: inside.run(question),
                    "charged alone": lambda: curator.run(question),
                }
                timings = interleaved(tasks, 7)
    shares = {name: timings[name].cpu / timings["OpenDP"].cpu for name in tasks}
    walls = {name: timings[name].wall / timings["OpenDP"].wall for name in tasks}
    figures = [
        Figure.at_most(f"{name}, ratio of {kind}", ratios[name], 1.3)
        for name in ("in a search", "charged alone")
        for kind, ratios in (("CPU", shares), ("wall", walls))
    ]
    return Report("mechanism", rows, timings, figures)


@benchmark(rows=1_000)
def rehearsal(rows: int, folder: Path) -> Report:
    """A rehearsal's call beside NumPy's draws of the same noise, in microseconds a call."""
    table = _table(10, rows)
    question = NoisyMarginals(((("a",), ONE),))
    curator = Curator.rehearsal(rehearse(table), seed=1)
    random = np.random.default_rng(1)
    counts = table.marginal(("a",))

    def plain() -> object:
        return (
            table.marginal(("a",)) + random.geometric(0.1, counts.shape) - random.geometric(0.1, counts.shape)
        )

    calls = {"NumPy": plain, "facsimile": lambda: curator.run(question)}
    timings = interleaved({name: _often(call) for name, call in calls.items()})
    over = (timings["facsimile"].cpu - timings["NumPy"].cpu) * 1e6 / REPEATS
    return Report("rehearsal", rows, timings, [Figure.at_most("over NumPy, CPU a call", over, 50, "µs")])


REPEATS = 2_000


def _often(call: Callable[[], object]) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(REPEATS):
            call()

    return repeated


@benchmark(rows=165_915)
def simulation(rows: int, folder: Path) -> Report:
    """Stand-in births from published facts: time, and the largest deviation of a one-way table."""
    facts = load_facts(FACTS)
    table = simulate(facts, rows, seed=1)
    timings = interleaved({"simulate": lambda: simulate(facts, rows, seed=1)})
    seconds = timings["simulate"].cpu
    worst = 0.0
    for column in facts.columns:
        shares = np.array(next(t.percent for t in facts.tables if t.of == (column.name,)), float)
        values = table.column(column.name)
        if column.year is not None:
            found = [
                int((values.to_numpy().astype("datetime64[M]").astype(int) % 12 == m).sum()) for m in range(12)
            ]
        elif column.values is not None:
            found = [values.to_pylist().count(v) for v in column.values]
        else:
            raw = values.to_numpy()
            ends = [(int(b.low), int(b.high)) for b in column.axis.bins]  # type: ignore[union-attr,arg-type]
            found = [int(((raw >= low) & (raw <= high)).sum()) for low, high in ends]
        worst = max(worst, float(np.abs(100 * np.array(found) / rows - 100 * shares / shares.sum()).max()))
    figures = [
        Figure.at_most("CPU", seconds, 10, "s"),
        Figure.at_most("largest deviation", worst, 0.2, "points"),
    ]
    return Report("simulation", rows, timings, figures)
