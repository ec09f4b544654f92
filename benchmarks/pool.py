"""Query pools: what `num_query` changes in MWEM and PEP, beside their variants over whole tables.

    python -m benchmarks.pool --seeds 3

At ε = 4, 100 rounds of 100 updates: on the public births (simulated ones where they are not at hand) and on six
columns of the simulated discharges. Printed are means over seeds: the largest difference of a count in any
table (as `marginals-absolute` has it), the average total variation distance of 2-way tables, the largest
difference of a column's mean in standard deviations, and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import combinations
from statistics import mean

import numpy as np

from benchmarks.families import births, drawn
from benchmarks.wide import prepared
from facsimile.synthesizers.base import Known
from facsimile.table.differences import distance, largest_difference
from facsimile.table.domain import Domain
from facsimile.table.table import Table

COLUMNS = ("age", "sex", "diagnosis", "length_of_stay", "discharge_destination", "cost_weight")
POOLS = ("128", "512", "1024", "4096")
FAMILIES = {
    "mwem of cells": {"queries": "cells"},
    "mwem of ranges": {"queries": "ranges"},
    "pep of pairs": {"marginal": "2"},
    "pep of triples": {"marginal": "3"},
}
ROUNDS = {"num_iterations": "100", "num_inner_updates": "100"}


def few(rows: int = 50_000) -> tuple[Table, Known]:
    """Some columns of the simulated discharges, and the rules that speak of no other."""
    table, known = prepared("discharges", rows)
    zeros = tuple((clique, mask) for clique, mask in known.zeros if set(clique) <= set(COLUMNS))
    return table.project(COLUMNS), Known(table.n, zeros)


def worst_mean(one: Table, other: Table) -> float:
    """The largest difference of a column's mean, in its standard deviations."""

    def moments(table: Table, domain: Domain, name: str) -> tuple[float, float]:
        numbers = np.array([float(x) for x in domain.axis(name).numbers or ()])
        shares = table.marginal((name,)) / table.n
        centre = float(shares @ numbers)
        return centre, float(shares @ (numbers - centre) ** 2) ** 0.5

    gaps = []
    for axis in one.domain.axes:
        if axis.numbers:
            (centre, spread), (found, _) = (moments(table, one.domain, axis.name) for table in (one, other))
            gaps.append(abs(found - centre) / spread)
    return max(gaps)


def measured(table: Table, known: Known, name: str, pool: str | None, seeds: int) -> list[float]:
    """The four figures of a family with a pool, or of its variant over whole tables."""
    family = name.split()[0]
    chosen = {**ROUNDS, **FAMILIES[name], "num_query": pool or POOLS[0]}
    if not pool:
        chosen.pop("queries", None)
    found = []
    for seed in range(seeds):
        begin = time.process_time()
        made = drawn(table, known, family if pool else f"{family}-tables", chosen, Fraction(4), seed)
        took = time.process_time() - begin
        pairs = [distance(table, made, pair) / (2 * table.n) for pair in combinations(table.domain.names, 2)]
        found.append(
            (100 * largest_difference(table, made) / table.n, 100 * mean(pairs), worst_mean(table, made), took)
        )
    return [mean(column) for column in zip(*found, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pool")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("families", nargs="*", default=list(FAMILIES), help="which to measure (default: all)")
    options = parser.parse_args()
    seeds = options.seeds
    _, real, known = births(158_500)
    tables = {"births": (real, known), "discharges": few()}
    print("| family | pool |" + " | ".join(f" {name}" for name in tables) + " |")
    print("| --- " * (2 + len(tables)) + "|")
    for name in options.families:
        for pool in (*POOLS, None) if name != "mwem of ranges" else POOLS:
            cells = []
            for table, public in tables.values():
                largest, pairs, worst, took = measured(table, public, name, pool, seeds)
                cells.append(f"{largest:.2f} %, {pairs:.2f} %, {worst:.3f}, {took:.1f} s")
            print(f"| `{name}` | {pool or 'whole tables'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
