"""Replays: a release made again from its transcript, in a process with another hash seed.

python replays.py FOLDER    replays every case that lies in FOLDER, and prints what came out
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.noise import LARGEST, Integers, Noise, SystemNoise
from facsimile.privacy.reader import read
from facsimile.privacy.transcript import INDEX, RecordedNoise, Transcript
from facsimile.release import run
from facsimile.release.journal import Journal
from facsimile.release.plan import plan_of
from facsimile.release.writing import digest
from facsimile.spec.release import Specification
from releases import SURE, specification
from specs import SMALL

Frame = tuple[int, str, Integers]


def frames(path: Path) -> Iterator[Frame]:
    """The frames of a transcript: index, call and what was drawn."""
    rest = path.read_bytes()
    while rest:
        line, _, rest = rest.partition(b"\n")
        header = json.loads(line)
        raw, rest = rest[: header["bytes"]], rest[header["bytes"] :]
        assert rest[:1] == b"\n"
        if header["call"] != "padding":
            yield header["index"], header["call"], np.frombuffer(raw, np.int64).reshape(header["shape"])
        rest = rest[1:]


class Replay:
    """Noise that draws what a transcript holds, index by index; nothing else may be asked."""

    def __init__(self, path: Path) -> None:
        self.left: dict[int, deque[tuple[str, Integers]]] = defaultdict(deque)
        self.asked = set[int]()
        for index, call, drawn in frames(path):
            if call != "charge":
                self.left[index].append((call, drawn))

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        return np.asarray(values + self._drawn("laplace"), np.int64)

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        return self._number("argmax")

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        return np.asarray(values + self._drawn("gaussian"), np.int64)

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        return self._number("gumbel")

    def coin(self, probability: Fraction) -> bool:
        return bool(self._number("coin"))

    def below(self, n: int) -> int:
        return self._number("below")

    def used(self) -> bool:
        """Whether every index that drew anything drew all of its own."""
        return not any(self.left[index] for index in self.asked)

    def _drawn(self, call: str) -> Integers:
        self.asked.add(INDEX.get())
        held, drawn = self.left[INDEX.get()].popleft()
        assert held == call, f"{call} is asked where {held} was drawn"
        return drawn

    def _number(self, call: str) -> int:
        return sum(int(word) * LARGEST**i for i, word in enumerate(self._drawn(call)))


def people(**changes: Any) -> Specification:
    """The small specification with two more columns, read from the same field."""
    tens = {"name": "decade", "description": "Tens of years", "source": "age", "bounds": ["0", "89"]}
    halves = tens | {"name": "half", "alternatives": {"two": ["0..89 by 45"]}, "groups": ["0-44", "45-89"]}
    columns = [*SMALL["columns"], tens | {"alternatives": {"tens": ["0..89 by 10"]}}, halves]
    return specification(columns=columns, **changes)


def family(name: str, **grid: str) -> list[dict[str, Any]]:
    return [{"family": name, "grid": {key: [value] for key, value in grid.items()}}]


PAPER: dict[str, Any] = {
    "scheme": "paper",
    "statistic": "paper",
    "budget": {"total": "30", "generator": "3"},
    "selection": {"mode": "paper"},
}
HARD: list[dict[str, Any]] = [
    {"criterion": "mean", "of": "decade", "by": ["half"], "threshold": "60", "epsilon": "0.5"},
    {"criterion": "marginals-absolute", "threshold": "0.05", "epsilon": "0.5"},
]
DELTA = {"total": "30", "generator": "3", "test": "2", "delta": "0.000001"}
CASES: dict[str, dict[str, Any]] = {
    "privbayes": {
        **PAPER,
        "families": family("privbayes", flavour="theta", theta="4", sampling="iid"),
        "criteria": HARD,
    },
    "mwem": {
        **PAPER,
        "families": family("mwem", num_query="40", num_iterations="20", num_inner_updates="5"),
        "criteria": [HARD[1] | {"threshold": "0.6"}],
    },
    "pep": {
        "families": family("pep", num_query="40", num_iterations="20", num_inner_updates="5", marginal="2"),
        "criteria": [HARD[1] | {"threshold": "0.6"}],
        "projection": {"algorithm": ["implementation"], "min_count": ["4"]},
        "selection": {"mode": "rising-coin", "a": "0.2"},
    },
    "mst": {"families": family("mst", sampling="systematic"), "scheme": "train-once"},
    "aim": {"families": family("aim"), "projection": {"algorithm": ["margins"], "min_count": ["3", "5"]}},
    "workload": {
        "families": [*family("workload", sampling="iid"), *family("workload"), *family("privbayes")],
        "selection": {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
    },
    "mst with delta": {"families": family("mst"), "budget": DELTA},
    "aim with delta": {"families": family("aim"), "budget": DELTA, "selection": {"mode": "single"}},
    "privbayes with delta": {
        **PAPER,
        "budget": {"total": "30", "generator": "3", "delta": "0.000001"},
        "selection": {"mode": "coin", "gamma": "0.05"},
        "families": family("privbayes", flavour="theta", theta="4"),
    },
    "workload with delta": {"families": family("workload"), "budget": DELTA, "scheme": "train-once"},
    "dpctgan": {"families": family("dpctgan", epochs="1", batch_size="60"), "budget": DELTA, "criteria": SURE},
    "patectgan": {
        "families": family("patectgan", epochs="2", batch_size="20"),
        "budget": DELTA,
        "criteria": SURE,
    },
}


def made(case: str, folder: Path, noise: Callable[[Transcript], Noise], out: str, workers: int = 1) -> str:
    """The search of a case and what is measured after it, by the steps of a release; all of it as one hash."""
    spec = people(**CASES[case])
    sealed = read(folder / "people.csv", spec)
    with Transcript(folder / f"{case}.{out}") as record:
        curator = Curator(sealed, MemoryLedger(), noise(record))
        with curator.search(plan_of(spec), "replay") as search:
            journal = Journal(spec, folder / f"{case}.{out}.journal", record)
            found = run.searched(spec, search, lambda _: run.words(search), journal, workers).accepted
            if found is None:
                return "halted"
    parts = [
        digest(found.table).hex(),
        found.configuration,
        [(m.units, m.grid) for m in found.measured],
        found.fit,
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def drawn(case: str, folder: Path, workers: int) -> str:
    return made(case, folder, lambda record: RecordedNoise(SystemNoise(), record), "first", workers)


def replayed(case: str, folder: Path) -> str:
    replay = Replay(folder / f"{case}.first")
    found = made(case, folder, lambda _: replay, "again")
    assert replay.used()
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(json.dumps({case: replayed(case, place) for case in CASES}))
