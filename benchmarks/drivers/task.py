"""What a driver reads and writes: a task as JSON, codes as CSV; it runs under the Python of a rival.

A driver is started as `python driver.py task.json`. Its table is `source`, one row of codes for each record and
`sizes` codes in each column; it writes as many rows to `target` as it was given and prints its CPU seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """A table to imitate. `delta` and `rho` are 0 for a pure guarantee; all in the rival's own terms."""

    source: str
    target: str
    algorithm: str
    sizes: dict[str, int]
    rows: int
    seed: int
    epsilon: float
    delta: float = 0.0
    rho: float = 0.0

    def codes(self) -> Codes:
        """The records."""
        return np.loadtxt(self.source, np.int64, delimiter=",", skiprows=1, ndmin=2)

    def write(self, codes: npt.ArrayLike) -> None:
        """The synthetic records."""
        head = ",".join(self.sizes)
        np.savetxt(self.target, np.asarray(codes), fmt="%d", delimiter=",", header=head, comments="")


def drive(run: Callable[[Task], Any]) -> None:
    """Run the task that the command names; `run` returns records, in the order of the columns."""
    task = Task(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    begin = time.perf_counter(), time.process_time()
    drawn = run(task)
    took = {"wall": time.perf_counter() - begin[0], "cpu": time.process_time() - begin[1]}
    task.write(drawn)
    print(json.dumps(took))
