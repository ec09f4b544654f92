"""The benchmarks by name, what they measure with, and how they report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROUNDS = 3


@dataclass(frozen=True)
class Figure:
    """One measured figure, with its target if it has one."""

    name: str
    value: float
    unit: str = ""
    target: str = ""
    met: bool | None = None

    @classmethod
    def at_most(cls, name: str, value: float, limit: float, unit: str = "") -> Figure:
        return cls(name, value, unit, f"≤ {_shown(limit, unit)}", value <= limit)


@dataclass(frozen=True)
class Timing:
    """The best wall and CPU seconds over the rounds."""

    wall: float = float("inf")
    cpu: float = float("inf")
    rounds: int = 0

    def better(self, wall: float, cpu: float) -> Timing:
        return Timing(min(self.wall, wall), min(self.cpu, cpu), self.rounds + 1)


@dataclass(frozen=True)
class Report:
    """What a benchmark found."""

    name: str
    rows: int
    timings: Mapping[str, Timing]
    figures: list[Figure] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        rounds = max(timing.rounds for timing in self.timings.values())
        lines = [f"{self.name}: {self.rows:,} rows, best of {rounds}"]
        lines += _aligned(
            ["", "wall", "CPU"],
            [[name, f"{t.wall:.2f} s", f"{t.cpu:.2f} s"] for name, t in self.timings.items()],
        )
        verdicts = {True: "met", False: "MISSED", None: ""}
        lines += _aligned(
            ["", "measured", "target", ""],
            [[f.name, _shown(f.value, f.unit), f.target, verdicts[f.met]] for f in self.figures],
        )
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: measures with files in a folder."""

    name: str
    rows: int
    about: str
    measure: Callable[[int, Path], Report]


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(rows: int) -> Callable[[Callable[[int, Path], Report]], Callable[[int, Path], Report]]:
    """Enter a function under its name; its docstring says what it measures."""

    def enter(measure: Callable[[int, Path], Report]) -> Callable[[int, Path], Report]:
        about = (measure.__doc__ or "").partition("\n")[0]
        BENCHMARKS[measure.__name__] = Benchmark(measure.__name__, rows, about, measure)
        return measure

    return enter


def interleaved(tasks: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, Timing]:
    """Time the tasks in turn, several rounds, so that a busy moment of the machine meets all of them."""
    timings = dict.fromkeys(tasks, Timing())
    for _ in range(rounds):
        for name, task in tasks.items():
            wall, cpu = time.perf_counter(), time.process_time()
            task()
            timings[name] = timings[name].better(time.perf_counter() - wall, time.process_time() - cpu)
    return timings


def _shown(value: float, unit: str = "") -> str:
    number = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
    return f"{number} {unit}".strip()


def _aligned(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table: the first cell to the left, the others to the right."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    padded = [[cell.rjust(w) for cell in column] for column, w in zip(columns, widths, strict=True)]
    padded[0] = [cell.ljust(widths[0]) for cell in columns[0]]
    return [("  " + "  ".join(line)).rstrip() for line in zip(*padded, strict=True)]
