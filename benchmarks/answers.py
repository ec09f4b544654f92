"""Answers: how often intervals hold the original's figure, and how wide they are beside others.

    python -m benchmarks.answers --births 300 --discharges 100

Each rehearsal is a whole release of the same simulated records, with noise of its own. A pool of random
questions of each kind is drawn once; every rehearsal is asked `--each` of them, in turn, so that all are asked
about equally often; a table, all cells at once, by every third.
`covered` counts intervals that hold the truth, of those that were given; a search that
releases nothing misses nothing. `beside`: the mean width of the same questions where the bundle has no noisy
tables, and of the usual 95 % interval of a bootstrap of the original, which speaks of sampling and protects
nobody (for counts, shares and means it is ±1.96 standard errors in closed form; for quantiles, of ranks).
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np

from facsimile.analysis.answers import Analyst, Found
from facsimile.analysis.basis import Basis
from facsimile.analysis.events import Event, both
from facsimile.analysis.questions import Crossing
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.reader import read_public
from facsimile.release.reporting import Release
from facsimile.release.run import rehearsed
from facsimile.spec.bins import NumberBin
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.numbers import floats
from facsimile.table.table import Table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
POOL, EACH, Z = 500, 4, 1.96
Ask = Callable[[Analyst], Found]


@dataclass(frozen=True)
class Asked:
    """A question as a function of an analyst, its true figure, and the width of a bootstrap's interval."""

    ask: Callable[[Analyst], list[Found]]
    truth: tuple[float | None, ...]
    bootstrap: float | None


@dataclass
class Tally:
    """What became of the questions of one kind."""

    asked: int = 0
    given: int = 0
    covered: int = 0
    widths: float = 0.0
    without: float = 0.0
    compared: int = 0
    bootstrap: float = 0.0

    def line(self, name: str) -> str:
        share = self.covered / self.given if self.given else float("nan")
        mean = [x / max(1, self.compared) for x in (self.widths, self.without, self.bootstrap)]
        widths = "".join(f"{x:14,.4g}" for x in mean)
        return f"{name:12}{self.asked:8,}{self.given / max(1, self.asked):9.1%}{share:10.2%}{widths}"


def pool(kind: str, real: Table, spec: Specification, random: np.random.Generator, number: int) -> list[Asked]:
    """Random questions of a kind, with their truth."""
    truth = Analyst(Basis(spec, real, ()))
    return [KINDS[kind](real, truth, random) for _ in range(number if kind != "tables" else 40)]


def _event(domain: Domain, columns: list[str], random: np.random.Generator, cell: bool = False) -> Event:
    """A random range or set of bins in each of some columns, never all of them."""
    found = Event((), np.array(True))
    for name in columns:
        axis = domain.axis(name)
        size, mask = axis.size, np.zeros(axis.size, np.bool_)
        if cell or size == 2:
            mask[random.integers(size)] = True
        elif isinstance(axis.bins[0], NumberBin):
            first, last = np.sort(random.choice(size + 1, 2, replace=False))
            mask[first:last] = True
        else:
            mask[random.choice(size, random.integers(1, size), replace=False)] = True
        found = both(found, Event((name,), mask), domain)
    return found


def _columns(domain: Domain, random: np.random.Generator, number: int, numeric: bool = False) -> list[str]:
    names = [name for name in domain.names if not numeric or domain.axis(name).numbers is not None]
    return [str(name) for name in random.choice(names, number, replace=False)]


def _count(real: Table, event: Event) -> Asked:
    count, n = event.count(real), real.n
    width = 2 * Z * sqrt(count * (1 - count / n))
    return Asked(lambda analyst: [analyst.counted(event)], (count,), width)


def cells(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    return _count(
        real, _event(real.domain, _columns(real.domain, random, int(random.integers(1, 3))), random, True)
    )


def ranges(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    return _count(real, _event(real.domain, _columns(real.domain, random, int(random.integers(1, 3))), random))


def threes(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    return _count(real, _event(real.domain, _columns(real.domain, random, 3), random))


def shares(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    one, other = _columns(real.domain, random, 2)
    event, given = _event(real.domain, [one], random), _event(real.domain, [other], random)
    value, size = truth.share(event, given).value, given.count(real)
    width = None if value is None else 2 * Z * sqrt(value * (1 - value) / size)
    return Asked(lambda analyst: [analyst.share(event, given)], (value,), width)


def _numbered(real: Table, random: np.random.Generator) -> tuple[str, Event]:
    (of,) = _columns(real.domain, random, 1, numeric=True)
    others = [name for name in real.domain.names if name != of]
    return of, _event(real.domain, [str(random.choice(others))], random)


def means(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    of, where = _numbered(real, random)
    inside = both(where, Event((of,), np.ones(real.domain.axis(of).size, np.bool_)), real.domain)
    joint = np.where(inside.mask, real.marginal(inside.columns), 0)
    counts = joint.sum(axis=tuple(i for i, name in enumerate(inside.columns) if name != of))
    numbers, size = floats(real.domain.axis(of)), int(counts.sum())
    width = None
    if size:
        centre = float(counts @ numbers) / size
        width = 2 * Z * sqrt(float(counts @ (numbers - centre) ** 2)) / size
    return Asked(lambda analyst: [analyst.averaged(of, where)], (truth.averaged(of, where).value,), width)


def quantiles(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    of, where = _numbered(real, random)
    at = Fraction(int(random.integers(1, 10)), 10)
    size = max(1, where.count(real))
    reach = Fraction(round(Z * sqrt(float(at * (1 - at)) / size) * 10**6), 10**6)
    ends = [max(Fraction(1, 10**6), at - reach), min(Fraction(999_999, 10**6), at + reach)]
    low, high = (truth.ranked(of, end, where).value for end in ends)
    width = None if low is None or high is None else high - low
    return Asked(lambda analyst: [analyst.ranked(of, at, where)], (truth.ranked(of, at, where).value,), width)


def tables(real: Table, truth: Analyst, random: np.random.Generator) -> Asked:
    by = tuple(_columns(real.domain, random, 2))
    question = Crossing(by)
    counts = [cell.found.value or 0.0 for cell in truth.cells(question)]
    width = float(np.mean([2 * Z * sqrt(c * (1 - c / real.n)) for c in counts]))
    return Asked(lambda analyst: [cell.found for cell in analyst.cells(question)], tuple(counts), width)


KINDS: dict[str, Callable[[Table, Analyst, np.random.Generator], Asked]] = {
    "cells": cells,
    "ranges": ranges,
    "threes": threes,
    "shares": shares,
    "means": means,
    "quantiles": quantiles,
    "tables": tables,
}


def tallied(tally: Tally, asked: Asked, analyst: Analyst, without: Analyst) -> None:
    """One question to one release. Of a table, all cells count as one: covered if all of them are."""
    found, other = asked.ask(analyst), asked.ask(without)
    tally.asked += 1
    held = [
        one.interval is None or value is None or one.interval.low - 1e-9 <= value <= one.interval.high + 1e-9
        for one, value in zip(found, asked.truth, strict=True)
    ]
    if any(one.interval is not None for one in found):
        tally.given += 1
        tally.covered += all(held)
    widths = [
        (one.interval.width, two.interval.width)
        for one, two in zip(found, other, strict=True)
        if one.interval is not None and two.interval is not None
    ]
    if widths and asked.bootstrap is not None:
        tally.compared += 1
        tally.widths += float(np.mean([one for one, _ in widths]))
        tally.without += float(np.mean([two for _, two in widths]))
        tally.bootstrap += asked.bootstrap


def measured(
    name: str, example: str, rehearsals: int, each: int, number: int, rows: int | None
) -> Iterator[str]:
    """A line for each kind of question."""
    folder = EXAMPLES / name
    spec = load(folder / example).model_copy(update={"publish": ("tables",)})
    table = read_public(simulate(load_facts(folder / "facts.yaml"), rows or spec.n, seed=1), spec)
    spec, random = spec.sized(table.n), np.random.default_rng(7)
    real = recode(spec, table, spec.first)
    pools = {kind: pool(kind, real, spec, random, number) for kind in KINDS}
    tallies, spent = defaultdict[str, Tally](Tally), defaultdict[str, float](float)
    released = 0
    for seed in range(rehearsals):
        begun = time.process_time()
        accepted, _ = rehearsed(spec, table, seed)
        spent["rehearsals"] += time.process_time() - begun
        if accepted is None:
            continue
        released += 1
        basis = Release.of(accepted, spec).basis
        analyst, without = Analyst(basis), Analyst(replace(basis, tables=(), planned=(), more=False))
        for kind, questions in pools.items():
            begun = time.process_time()
            for place in range(each if kind != "tables" else seed % 3 == 0):
                tallied(tallies[kind], questions[(seed * each + place) % len(questions)], analyst, without)
            spent[kind] += time.process_time() - begun
    yield f"{name}: {rehearsals} rehearsals, {released} released, {real.n:,} records; 95 % confidence"
    yield f"{'kind':12}{'asked':>8}{'given':>9}{'covered':>10}{'width':>14}{'no tables':>14}{'bootstrap':>14}"
    yield from (tallies[kind].line(kind) for kind in KINDS)
    yield "CPU: " + ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in spent.items())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers")
    parser.add_argument("--births", type=int, default=300)
    parser.add_argument("--discharges", type=int, default=100)
    parser.add_argument("--each", type=int, default=EACH, help="questions of a kind for each rehearsal")
    parser.add_argument("--questions", type=int, default=POOL)
    options = parser.parse_args()
    for name, example, number in (
        ("births", "ours.yaml", options.births),
        ("discharges", "first.yaml", options.discharges),
    ):
        for line in measured(name, example, number, options.each, options.questions, None) if number else ():
            print(line, flush=True)


if __name__ == "__main__":
    main()
