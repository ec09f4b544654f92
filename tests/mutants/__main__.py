"""Run mutants: see the docstring of the package."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mutants.mutant import Mutant, source
from mutants.runner import Job, Outcome, preload, run
from mutants.scratch import Scratch

WORKERS = 2
HANGING = 20
"""CPU seconds after which what is meant to run for ever is taken to do so."""


def main() -> int:
    """What the command line asks for; 0 where every mutant died."""
    parser = argparse.ArgumentParser(
        prog="python -m mutants", description="Mistakes that some test must notice."
    )
    parser.add_argument("--listed", metavar="WORD", nargs="?", const="", help="only listed mutants, by name")
    parser.add_argument("--generated", metavar="N", type=int, help="only generated mutants, so many; 0: all")
    parser.add_argument("--seconds", type=float, default=240, help="how long generated mutants may take")
    parser.add_argument("--seed", type=int, default=20, help="which generated mutants")
    parser.add_argument("--only", default="", metavar="FILE", help="generated mutants of files with this name")
    parser.add_argument("--honest", metavar="N", type=int, help="the honest build with so many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed of --honest")
    parser.add_argument(
        "--record", metavar="WORDS", nargs="?", const="", help="note anew which test reaches which function"
    )
    parser.add_argument("--table", action="store_true", help="write README.md: which mutant answers which item")
    parser.add_argument("--workers", type=int, default=WORKERS)
    asked = parser.parse_args()
    if asked.table:
        from mutants.items import PAGE, page

        PAGE.write_text(page(), "utf-8")
        return 0
    preload()
    with copies(asked.workers) as scratches:
        if asked.record is not None:
            from mutants.reach import record

            record(scratches, asked.record)
            return 0
        if asked.honest is not None:
            from mutants.honest import honest

            return honest(asked.honest, scratches, asked.first)
        both, failed = asked.listed is None and asked.generated is None, 0
        if both or asked.listed is not None:
            failed += listed(asked.listed or "", scratches)
        if both or asked.generated is not None:
            from mutants.generated import tried

            seconds = float("inf") if asked.generated == 0 else asked.seconds
            failed += tried(asked.generated or None, seconds, asked.seed, scratches, asked.only)
        return int(failed > 0)


@contextmanager
def copies(workers: int) -> Iterator[list[Scratch]]:
    """A scratch copy for each worker."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        yield [Scratch.at(Path(folder) / str(worker)) for worker in range(max(1, workers))]


def listed(word: str, scratches: list[Scratch]) -> int:
    """Run the listed mutants whose name has a word; how many did not die."""
    from mutants.listed import LISTED

    chosen = [mutant for mutant in LISTED if word in mutant.name]
    began = time.monotonic()
    jobs = [job(mutant) for mutant in chosen]
    if not sound(sorted({test for mutant in chosen for test in mutant.tests}), scratches):
        return 1
    ready = time.monotonic() - began
    wanted = {mutant.name: mutant for mutant in chosen}
    left = []
    for number, outcome in enumerate(run(jobs, scratches), 1):
        mutant = wanted[outcome.job.name]
        dead = outcome.verdict == "killed" or (mutant.hangs and outcome.verdict == "too long")
        left += [] if dead else [outcome]
        print(line(number, len(jobs), outcome, dead), flush=True)
    for outcome in left:
        print(f"\n--- {outcome.job.name}: {outcome.verdict} {outcome.by}\n{outcome.said[-1500:]}")
    seconds = time.monotonic() - began
    print(f"\nListed mutants: {len(chosen) - len(left)} of {len(chosen)} killed", end=" ")
    print(f"in {seconds:.0f} s ({computed():.0f} s of CPU), {ready:.0f} s of them for the honest build")
    return len(left)


def computed() -> float:
    """CPU seconds of all runs so far: what a busy machine does not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def job(mutant: Mutant) -> Job:
    """A mutant and its tests; a text that no longer fits ends everything."""
    cpu = HANGING if mutant.hangs else 180
    return Job(mutant.name, mutant.tests, mutant.path, mutant.applied(source(mutant.path)), cpu, mutant.read)


def sound(tests: Sequence[str], scratches: list[Scratch]) -> bool:
    """Whether the honest build passes all tests that are used: a test that fails anyway kills nobody."""
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    jobs = [Job(path, (path,) if path in of else tuple(of), cpu=600) for path, of in files.items()]
    bad = [one for one in run(jobs, scratches) if one.verdict != "survived"]
    for one in bad:
        print(f"The honest build fails: {one.job.name} {one.verdict} {one.by}\n{one.said[-3000:]}")
    return not bad


def line(number: int, total: int, outcome: Outcome, dead: bool) -> str:
    """One line of what is printed."""
    how = outcome.by or outcome.verdict
    mark = "killed  " if dead else outcome.verdict.upper().ljust(8)
    return f"{number:4}/{total} {mark} {outcome.seconds:5.1f} s  {outcome.job.name}  <-  {how}"


if __name__ == "__main__":
    sys.exit(main())
