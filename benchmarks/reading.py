"""Reading: from raw records to the count table, against a plain GROUP BY of the same engine."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb

from benchmarks import births
from benchmarks.registry import Figure, Report, benchmark, interleaved
from facsimile.privacy.reader import read_public
from facsimile.spec.load import load
from facsimile.table.table import Table

SPECIFICATION = Path(__file__).parents[1] / "examples" / "births" / "nvss.yaml"
OURS = "read_public, raw rows"


@benchmark(rows=100_000_000)
def parquet(rows: int, folder: Path) -> Report:
    """Raw Parquet rows read, against DuckDB's GROUP BY of the same rows already binned."""
    specification = load(SPECIFICATION)
    raw = births.raw(rows, folder, "parquet")
    binned = births.binned(raw)
    baseline = "DuckDB GROUP BY, binned rows"
    timings = interleaved(
        {
            baseline: partial(_run, f"SELECT *, count(*) FROM '{binned}' GROUP BY ALL"),
            OURS: partial(read_public, raw, specification),
        }
    )
    ours, theirs = timings[OURS], timings[baseline]
    figures = [
        Figure.at_most("CPU ratio", ours.cpu / theirs.cpu, 3.5),
        Figure.at_most("wall ratio", ours.wall / theirs.wall, 3.5),
        Figure.at_most("peak memory of the reading", _peak(raw), 4.0, "GB"),
        *_counts(read_public(raw, specification), births.plausible(raw)),
    ]
    return Report("parquet", rows, timings, figures)


@benchmark(rows=5_000_000)
def csv(rows: int, folder: Path) -> Report:
    """Raw CSV rows read, against DuckDB's read_csv and GROUP BY of raw and of simply binned values."""
    specification = load(SPECIFICATION)
    raw = births.raw(rows, folder, "csv")
    first, second = "DuckDB read_csv, GROUP BY raw values", "DuckDB read_csv, GROUP BY binned values"
    timings = interleaved(
        {
            first: partial(_run, f"SELECT {births.RAW}, count(*) FROM read_csv('{raw}') GROUP BY ALL"),
            second: partial(_run, f"SELECT {births.BINNED}, count(*) FROM read_csv('{raw}') GROUP BY ALL"),
            OURS: partial(read_public, raw, specification),
        }
    )
    ours = timings[OURS]
    figures = [
        Figure.at_most("CPU ratio to raw values", ours.cpu / timings[first].cpu, 2.0),
        Figure.at_most("wall ratio to raw values", ours.wall / timings[first].wall, 2.0),
        Figure("CPU ratio to binned values", ours.cpu / timings[second].cpu),
        Figure("wall ratio to binned values", ours.wall / timings[second].wall),
        Figure("peak memory of the reading", _peak(raw), "GB"),
        *_counts(read_public(raw, specification), births.plausible(raw)),
    ]
    return Report("csv", rows, timings, figures)


def _run(query: str) -> None:
    """A query to its end, with the engine's own settings and the whole result as an Arrow table."""
    with duckdb.connect() as connection:
        connection.sql(query).to_arrow_table()


def _counts(table: Table, plausible: int) -> list[Figure]:
    return [
        Figure("distinct rows", table.distinct),
        Figure("records", table.n, "", f"= {plausible:,}", table.n == plausible),
    ]


def _peak(path: Path) -> float:
    """The peak memory, in GB, of a process that does nothing but read."""
    command = [sys.executable, "-m", "benchmarks.reading", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=SPECIFICATION.parents[2])
    return int(done.stdout) / 1e9


def own_peak() -> int:
    """Peak resident bytes. Linux's getrusage counts the parent of a started process too; VmHWM does not."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].removesuffix("kB")) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    read_public(Path(sys.argv[1]), load(SPECIFICATION))
    print(own_peak())
