"""The criteria, exactly: how long all eight take on births, and whether the number of records matters."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.reading import own_peak
from benchmarks.registry import Figure, Report, benchmark, interleaved
from facsimile.acceptance import exact_errors
from facsimile.acceptance.groups import likeness
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.matching import matched
from facsimile.table.table import Table

ROOT = Path(__file__).resolve().parent.parent
BIRTHS = ROOT / "examples" / "births"
SAMPLE = Path(
    os.environ.get("FACSIMILE_SAMPLE", ROOT.parent / "shared" / "data" / "nvss2019_singleton_160k.csv.gz")
)
LARGE = 63


def public_births(rows: int) -> Path | pa.Table:
    """The public sample where it is at hand, else so many simulated births."""
    return SAMPLE if SAMPLE.exists() else simulate(load_facts(BIRTHS / "facts.yaml"), rows, seed=1)


@benchmark(rows=158_500)
def criteria(rows: int, folder: Path) -> Report:
    """All eight criteria against a resample: the public sample where it is at hand, else simulated births."""
    specification = load(BIRTHS / "nvss.yaml")
    data = public_births(rows)
    finest = read_public(data, specification)
    released = specification.alternatives_named("released")
    fine = {column.name: list(column.alternatives)[-1] for column in specification.columns}
    real, synthetic = pair(specification, finest, released)
    many, copies = (Table(t.domain, t.codes, t.counts * LARGE) for t in (real, synthetic))
    fine_real, fine_synthetic = pair(specification, finest, fine)
    rule = next(c for c in specification.criteria if isinstance(c, Faithfulness))
    like = likeness(specification, rule, real.domain)
    timings = interleaved(
        {
            "all eight": lambda: exact_errors(specification, real, synthetic),
            "faithfulness": lambda: matched(real, synthetic, like),
            f"all eight, {many.n:,} records": lambda: exact_errors(specification, many, copies),
            "all eight, finest alternatives": lambda: exact_errors(specification, fine_real, fine_synthetic),
        }
    )
    eight, alone, large, finer = (t.cpu for t in timings.values())
    figures = [
        Figure.at_most("all eight, CPU", eight, 0.5, "s"),
        Figure.at_most("faithfulness, CPU", alone, 0.3, "s"),
        Figure.at_most("ten million records, ratio", large / eight, 1.5),
        Figure.at_most("finest alternatives, CPU", finer, 2, "s"),
        Figure.at_most("peak memory of all of it", own_peak() / 1e9, 2, "GB"),
    ]
    return Report("criteria", real.n, timings, figures)


def pair(specification: Specification, finest: Table, choice: dict[str, str]) -> tuple[Table, Table]:
    """The table under some alternatives, and an independent resample of it."""
    real = recode(specification, finest, choice)
    counts = np.random.default_rng(0).multinomial(real.n, real.counts / real.n)
    return real, Table.from_rows(real.domain, real.codes, counts)
