"""Traces: 25 releases to be recorded, each with a neighbour at an edge and what is done to it.

Every scheme with every selection mode, every family, pure and with δ, one and more candidates at a time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from facsimile.audit.replay import Trace
from facsimile.audit.tape import Tape
from facsimile.privacy.noise import RehearsalNoise
from facsimile.spec.release import Specification
from frozen import TRANSCRIPT, laid_out, released
from releases import SURE
from replays import CASES, PAPER, family, people

HEADER = ("age", "is_female")
Row = tuple[str, str]
SCHEMES = ("paper", "test-then-measure", "train-once", "measured")
MODES: dict[str, dict[str, str]] = {
    "single": {"mode": "single"},
    "coin": {"mode": "coin", "gamma": "0.05"},
    "capped-coin": {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
    "rising-coin": {"mode": "rising-coin", "a": "0.2"},
    "paper": {"mode": "paper"},
}
REFUSED = ("measured", "paper")
"""A pair that a specification may not have."""
LONELY = ("0", "")
"""The only record whose sex is missing."""


def town() -> list[Row]:
    """400 people."""
    return [(f"{7 * i % 90}", "true" if i % 3 else "false") for i in range(399)] + [LONELY]


NEIGHBOURS: dict[str, tuple[list[Row], list[Row]]] = {
    "a corner": (town(), [("89", "false"), *town()[1:]]),
    "the only one of its code gone": (town(), [*town()[:-1], ("45", "true")]),
    "a group emptied": (
        [(str(max(18, int(age))), sex) for age, sex in town()[:-1]] + [("17", "true")],
        [(str(max(18, int(age))), sex) for age, sex in town()[:-1]] + [("18", "true")],
    ),
    "another record left out": ([*town(), ("130", "true")], [*town(), ("199", "")]),
    "a record that is clamped": (town(), [("89", "false"), *town()[1:]]),
}
CLAMP = {
    "policy": "clamp",
    "raw": [{"never": "age > 80 and sex = M", "source": "a guess", "clamp": {"age": "80"}}],
}


@dataclass(frozen=True)
class Planned:
    """A release, its neighbour, the seed of what is recorded, and how many candidates are tried at a time."""

    changes: dict[str, Any]
    neighbour: str
    seed: int
    workers: int = 1
    fast: bool = field(default=False, compare=False)

    @property
    def specification(self) -> Specification:
        clamp = {"constraints": CLAMP} if self.neighbour == "a record that is clamped" else {}
        return people(**self.changes | clamp)

    @property
    def tables(self) -> tuple[list[Row], list[Row]]:
        return NEIGHBOURS[self.neighbour]

    @property
    def draws_records(self) -> bool:
        """Whether a mean is taken of as many drawn records as the table has: the transcript then differs."""
        means = any(c["criterion"] == "mean" for c in self.changes.get("criteria", ({"criterion": "mean"},)))
        return means and self.changes.get("statistic") == "paper"


def scheme(name: str, mode: str) -> dict[str, Any]:
    test = {} if name in ("paper", "measured") else {"test": "2"}
    return {
        "scheme": name,
        "budget": {"total": "90", "generator": "3", **test},
        "selection": MODES[mode],
        "families": [*family("mst"), *family("workload")],
    }


def planned() -> dict[str, Planned]:
    edges, found = itertools.cycle(NEIGHBOURS), dict[str, Planned]()
    fast = {("paper", "paper"), ("measured", "capped-coin"), ("train-once", "rising-coin")}
    fast |= {("test-then-measure", "single"), ("test-then-measure", "coin")}
    pairs = [pair for pair in itertools.product(SCHEMES, MODES) if pair != REFUSED]
    for seed, (name, mode) in enumerate(pairs):
        quick = (name, mode) in fast
        found[f"{name}, {mode}"] = Planned(scheme(name, mode), next(edges), seed, 1 + seed % 2, quick)
    for seed, name in enumerate(("privbayes", "mwem", "pep", "aim", "dpctgan", "patectgan"), 20):
        found[name] = Planned(CASES[name], "a corner", seed, 1, name == "privbayes")
    return found


TRACES = planned()
"""Twenty-five: those that are `fast` are tried always, all of them by `make test-long`."""
MORE = {
    name: Planned(CASES[name], "the only one of its code gone", seed, 1, "mst" in name)
    for seed, name in enumerate(CASES, 50)
    if "delta" in name
}
MORE |= {
    name: Planned({"families": family(name), "criteria": SURE}, "a corner", 60)
    for name in ("mwem-tables", "pep-tables")
}
"""And those with δ, and the families that are for wide tables."""
HARDLY = [{"criterion": "marginals-absolute", "threshold": "0.001", "epsilon": "0.5"}]
HALT = Planned({"criteria": HARDLY, "selection": {"mode": "coin", "gamma": "0.2"}}, "a corner", 4)
"""A search that finds nothing and halts after some candidates."""
CHANCY = Planned(
    {**PAPER, "criteria": [SURE[0] | {"threshold": "0.1"}], "families": [*family("mst"), *family("workload")]},
    "the only one of its code gone",
    0,
)
"""Draws from several configurations until one passes."""


class Twice:
    """A release that is recorded, and made again in folders of their own."""

    def __init__(self, folder: Path, plan: Planned) -> None:
        self.folder, self.plan, self.runs = folder, plan, 0
        self.first = self.ran(plan.tables[0], Tape(RehearsalNoise(plan.seed)), plan.workers)
        assert self.code() in (0, 6), self.first.outputs["standard error"]

    def again(self, rows: list[Row] | None = None, tracks: Any = None, workers: int = 1) -> Trace:
        """With frozen answers: of the neighbour, unless other rows are given."""
        return self.ran(self.plan.tables[1] if rows is None else rows, self.first.tape.again(tracks), workers)

    def ran(self, rows: list[Row], tape: Tape, workers: int) -> Trace:
        self.runs += 1
        place = laid_out(self.folder / str(self.runs), self.plan.specification, rows, HEADER)
        return released(place, tape, workers)

    def code(self) -> int:
        return int(self.first.outputs["exit code"])


def may_grow(name: str) -> bool:
    """What counts candidates, and is never shown: the transcript, and the list that this test keeps."""
    return name in (TRANSCRIPT, "configurations")
