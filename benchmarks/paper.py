"""The births paper's release, to the letter: rehearsals on the public births beside what the paper published.

python -m benchmarks.paper --runs 60            examples/births/narrowed.yaml, in two processes
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from statistics import mean, median

from benchmarks.criteria import BIRTHS, SAMPLE, public_births
from facsimile.acceptance import exact_errors
from facsimile.acceptance.candidate import Verdict
from facsimile.privacy.reader import read_public
from facsimile.release import run
from facsimile.release.plan import plan_of
from facsimile.spec.load import load, parse, validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table

PUBLISHED = {
    "marginals-absolute": 0.0044,
    "marginals-relative": 1.284,
    "mean-parity": -0.014,
    "mean-birth_weight": 28.634,
    "mean-gestation_week": 0.062,
    "regression-coefficients": 27.185,
    "regression-mae": 0.351,
    "faithfulness": 0.03876,
}
"""The results of the paper's table 2, on the registry."""


@dataclass(frozen=True)
class Rehearsed:
    """One rehearsal until success: candidates tried, errors as measured and exactly, and the configuration."""

    candidates: int
    measured: tuple[float, ...]
    exact: tuple[Verdict, ...]
    configuration: str

    @property
    def missed(self) -> tuple[str, ...]:
        """The criteria that the accepted table misses exactly."""
        return tuple(verdict.name for verdict in self.exact if not verdict.met)


@cache
def births(once: bool) -> tuple[Specification, Table]:
    """The paper's narrowed specification, sized to the public births; and those at their finest."""
    plain, _ = parse((BIRTHS / "narrowed.yaml").read_bytes())
    if once:
        plain["budget"] |= {"once": "0.43"}
    spec = validated(plain)
    data = public_births(158_500)
    rows = load(BIRTHS / "nvss.yaml")
    sized = spec.sized(rows.n)
    return sized, read_public(data, sized)


def rehearse(task: tuple[bool, int]) -> Rehearsed:
    """One rehearsal without its bundle."""
    once, seed = task
    spec, table = births(once)
    accepted, tried = run.rehearsed(spec, table, seed)
    assert accepted is not None, "the paper's search ends with a success"
    real = recode(spec, table, accepted.configuration.alternatives)
    measured = tuple(float(m.value) for m in accepted.measured if m.value is not None)
    exact = tuple(exact_errors(spec, real, accepted.table))
    return Rehearsed(tried, measured, exact, accepted.configuration.identifier)


def report(found: list[Rehearsed], once: bool) -> str:
    """The rehearsals as a table, and how many were tried, missed and how different they were."""
    spec, table = births(once)
    total = float(plan_of(spec).total().epsilon)
    tried = [one.candidates for one in found]
    data = SAMPLE.name if SAMPLE.exists() else "births simulated from published facts"
    lines = [f"{len(found)} rehearsals on {data}: {table.n:,} records, total epsilon {total:g}"]
    lines.append(
        f"candidates: mean {mean(tried):.2f}, median {median(tried):g}, most {max(tried)}; "
        f"accepted {len(found) / sum(tried):.1%} of {sum(tried)}"
    )
    lines.append(f"different configurations: {len({one.configuration for one in found})} of {spec.space.size}")
    lines.append("| criterion | threshold | paper | measured | exactly | worst | missed exactly |")
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for place, criterion in enumerate(spec.criteria):
        measured = [one.measured[place] for one in found]
        exact = [one.exact[place].value for one in found]
        known = [value for value in exact if value is not None]
        cells = [
            f"{float(criterion.threshold):g}",
            f"{PUBLISHED[criterion.name]:g}",
            f"{median(measured):.4g} ({min(measured):.4g} to {max(measured):.4g})",
            f"{median(known):.4g}",
            f"{max(known):.4g}",
            f"{sum(criterion.name in one.missed for one in found)} of {len(found)}",
        ]
        lines.append(f"| {criterion.name} | {' | '.join(cells)} |")
    missed = sum(bool(one.missed) for one in found)
    lines.append(f"tables that miss a criterion exactly: {missed} of {len(found)}")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--once", action="store_true", help="pay the regression once")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        tasks = [(options.once, seed) for seed in range(options.runs)]
        print(report(list(pool.map(rehearse, tasks)), options.once))
