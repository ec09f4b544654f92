"""python -m benchmarks [name …]: measure and report. A missed target is reported, it fails nothing."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import benchmarks.baselines
import benchmarks.criteria
import benchmarks.exploring
import benchmarks.families
import benchmarks.kernel
import benchmarks.noise
import benchmarks.reading
import benchmarks.releases
import benchmarks.rivals
import benchmarks.sampling
import benchmarks.wide
import benchmarks.workload  # noqa: F401 (they enter their benchmarks)
from benchmarks.registry import BENCHMARKS


def main() -> None:
    names = "\n".join(f"  {b.name:10} {b.about} ({b.rows:,} rows)" for b in BENCHMARKS.values())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"benchmarks:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="which to run (default: all)")
    parser.add_argument("--rows", type=int, help="rows to generate instead of each benchmark's own number")
    parser.add_argument("--folder", type=Path, help="keep and reuse the generated files here")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        reports = []
        for name in options.names or BENCHMARKS:
            report = BENCHMARKS[name].measure(options.rows or BENCHMARKS[name].rows, folder.resolve())
            reports.append(report.json())
            if not options.json:
                print(report.text(), flush=True)
    if options.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
