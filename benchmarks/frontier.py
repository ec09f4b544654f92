"""The frontier: at which epsilon what passes, on tables that nothing was designed on. One command for all rows:

    python -m benchmarks.frontier --seeds 100 --workers 2

    designed     births: measurements designed on one table, candidates made of another; beside them `auto`, and
                 tables chosen by hand on the very table they are measured on
    totals       births: releases of a planned specification, with all its noise
    priors       births: the same leaning on another sample, on one that is reweighted, and on another country
    discharges   measurements designed on one draw of the discharges, candidates and releases of another
    cpu          seconds of one births candidate: fit, scores, sample, filter, project

Shares come with 95 % intervals (Clopper and Pearson). Wide tables have a benchmark of their own (`adult_like`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from statistics import median

import numpy as np
from scipy.stats import beta

from benchmarks.criteria import BIRTHS
from benchmarks.workload import MEASUREMENTS, OTHER, PRIORS, WEIGHTS, births
from facsimile.acceptance import exact_errors
from facsimile.explore.design import design
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import read_public, rehearse
from facsimile.release.recipe import Recipe
from facsimile.release.run import rehearsed
from facsimile.spec.criteria import MarginalsRelative
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table

EPSILONS = ("0.5", "0.35", "0.25")
SHARP, PLAIN = Fraction(7, 5), Fraction(2)
DISCHARGES = BIRTHS.parent / "discharges"
Own = Mapping[str, str]
Spent = tuple[str, str, str]
"""The epsilon of the generator, of the test and of the regression paid once."""
TOTALS: tuple[Spent, ...] = (("0.27", "0.13", "0.1"), ("0.22", "0.12", "0.1"), ("0.2", "0.1", "0.1"))
LEANING: tuple[Spent, ...] = (("0.12", "0.12", "0.1"), ("0.08", "0.1", "0.07"))
HAND: Own = {"measurements": MEASUREMENTS, "weights": WEIGHTS}
AUTO: Own = {"measurements": "auto", "weights": "auto"}


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    met: int
    of: int

    def __str__(self) -> str:
        low = beta.ppf(0.025, self.met, self.of - self.met + 1) if self.met else 0.0
        high = beta.ppf(0.975, self.met + 1, self.of - self.met) if self.met < self.of else 1.0
        return f"{100 * self.met / self.of:.0f} % ({100 * low:.0f}–{100 * high:.0f})"


def line(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def with_ratio(specification: Specification, limit: Fraction) -> Specification:
    """The specification with another threshold of the relative error."""
    criteria = tuple(
        c.model_copy(update={"threshold": limit}) if isinstance(c, MarginalsRelative) else c
        for c in specification.criteria
    )
    return specification.model_copy(update={"criteria": criteria})


@cache
def tables(name: str) -> tuple[Specification, Table]:
    """A specification of a table's size, and the table at the finest refinement.

    `nvss`: the public births, or simulated ones where they are not at hand. `small`: another sample of 10,000.
    `discharges` and `discharges again`: two draws.
    """
    if name.startswith("discharges"):
        spec, seed = load(DISCHARGES / "first.yaml"), 3 + 4 * name.endswith("again")
        table = read_public(simulate(load_facts(DISCHARGES / "facts.yaml"), spec.n, seed=seed), spec)
        return spec.sized(table.n), table
    spec = load(BIRTHS / "nvss.yaml")
    if name == "nvss":
        from benchmarks.criteria import SAMPLE

        data = SAMPLE if SAMPLE.exists() else simulate(load_facts(BIRTHS / "facts.yaml"), 160_000, seed=1)
    else:
        data = OTHER if OTHER.exists() else simulate(load_facts(BIRTHS / "facts.yaml"), 10_000, seed=2)
    table = read_public(data, spec)
    return spec.sized(table.n), table


def chosen(spec: Specification) -> dict[str, str]:
    """The released transformation of the births; the first of other tables."""
    return spec.alternatives_named("released" if "released" in spec.columns[0].used else "")


def blown_up(table: Table, n: int) -> Table:
    """A public sample in the size of the release: its shares, without its sampling error being new."""
    counts = np.random.default_rng(0).multinomial(n, table.counts / table.n)
    return Table.from_rows(table.domain, table.codes, counts)


def candidate_meets(table: str, own: Own, epsilon: str, prior: str, seed: int) -> tuple[bool, ...]:
    """Whether a candidate meets all criteria, with the relative error below 1.4 and below 2."""
    spec, finest = tables(table)
    choice = chosen(spec)
    real = recode(spec, finest, choice)
    public = None if prior == "none" else PRIORS[prior](births()[2])
    configuration = Recipe.alone(spec, choice, "workload", own).configuration
    recipe = Recipe(spec, configuration, public)
    model = recipe.fit(Curator.rehearsal(rehearse(real), seed), Fraction(epsilon), (seed, 0))
    made = recipe.table(model, (seed, 1))
    limits = (SHARP, PLAIN) if not table.startswith("discharges") else (None,)
    found = []
    for limit in limits:
        asked = spec if limit is None else with_ratio(spec, limit)
        found.append(all(verdict.met for verdict in exact_errors(asked, real, made)))
    return tuple(found)


def promised(own: Own, spent: Spent) -> Specification:
    """The promises of `half.yaml` about the public births, with these measurements and this budget."""
    half, nvss = (
        load(BIRTHS / name).model_dump(mode="json", exclude_none=True) for name in ("half.yaml", "nvss.yaml")
    )
    columns = [column | {"use": ["released"]} for column in nvss["columns"]]
    grid = {name: [text] for name, text in own.items()}
    generator, test, once = spent
    return validated(
        half
        | {name: nvss[name] for name in ("constraints", "records")}
        | {
            "columns": columns,
            "families": [{"family": "workload", "grid": grid}],
            "budget": {"total": total(spent), "generator": generator, "test": test, "once": once},
        }
    )


def total(spent: Spent) -> str:
    """Its parts together: there is one candidate, and nothing after it."""
    return show_decimal(sum(map(Fraction, spent), Fraction(0)))


def release_comes(own: Own, spent: Spent, prior: str, seed: int) -> tuple[bool, ...]:
    """Whether a rehearsal of a whole release comes out."""
    spec, (_, table) = promised(own, spent), tables("nvss")
    public = None if prior == "none" else read_public(OTHER, spec)
    return (rehearsed(spec.sized(table.n), table, seed, public)[0] is not None,)


def shares(run: Callable[[int], Sequence[bool]], seeds: int, workers: int) -> list[Share]:
    """How many of the seeds meet each limit."""
    with ProcessPoolExecutor(workers) as pool:
        every = np.array(list(pool.map(run, range(seeds), chunksize=4)))
    return [Share(int(column.sum()), seeds) for column in every.reshape(seeds, -1).T]


@cache
def designed(table: str, epsilon: str) -> tuple[Own, float]:
    """A design for the relative error of 1.4, and its seconds; a small sample is blown up."""
    spec, finest = tables(table)
    if table == "small":
        finest = blown_up(finest, tables("nvss")[1].n)
    asked = with_ratio(spec, SHARP) if not table.startswith("discharges") else spec
    started = time.monotonic()
    found = design(asked, finest, Fraction(epsilon), alternatives=chosen(spec), margin=0.0)
    return found.own, time.monotonic() - started


def described(table: str, epsilons: Sequence[str]) -> Iterator[str]:
    """What was designed, and how long it took."""
    for epsilon in epsilons:
        own, seconds = designed(table, epsilon)
        yield f"\ndesign at {epsilon}, {seconds:.0f} s: {dict(own)}"


def designs(seeds: int, workers: int) -> Iterator[str]:
    yield line("births, no prior", *(f"ε_x {e}: rel 1.4" for e in EPSILONS), *(f"{e}: rel 2" for e in EPSILONS))
    yield line(*["---"] * 7)
    ways: dict[str, Callable[[str], Own]] = {
        "designed on another sample of 10,000": lambda e: designed("small", e)[0],
        "tables by hand (tuned on this table)": lambda e: HAND,
        "`auto`": lambda e: AUTO,
    }
    for name, own in ways.items():
        found = [shares(partial(candidate_meets, "nvss", own(e), e, "none"), seeds, workers) for e in EPSILONS]
        yield line(name, *(share[0] for share in found), *(share[1] for share in found))
    yield from described("small", EPSILONS)


def totals(seeds: int, workers: int) -> Iterator[str]:
    yield line("births, scheme `measured`, one candidate", "total ε", "releases")
    yield line(*["---"] * 3)
    own = designed("small", "0.27")[0]
    for spent in TOTALS:
        (share,) = shares(partial(release_comes, own, spent, "none"), seeds, workers)
        yield line(f"designed on another sample; {' + '.join(spent)}", float(total(spent)), share)
    for spent in LEANING:
        (share,) = shares(partial(release_comes, own, spent, "sample"), seeds, workers)
        yield line(f"the same leaning on that sample; {' + '.join(spent)}", float(total(spent)), share)


def priors(seeds: int, workers: int) -> Iterator[str]:
    epsilons = ("0.25", "0.15", "0.1")
    yield line("births, tables by hand, prior", *(f"ε_x {e}: rel 1.4, 2" for e in epsilons))
    yield line(*["---"] * (1 + len(epsilons)))
    for prior in PRIORS:
        found = [shares(partial(candidate_meets, "nvss", HAND, e, prior), seeds, workers) for e in epsilons]
        yield line(prior, *(", ".join(map(str, share)) for share in found))


def discharges(seeds: int, workers: int) -> Iterator[str]:
    epsilons = ("1", "0.5", "0.35")
    yield line("discharges, all of first.yaml met", *(f"ε_x {e}" for e in epsilons))
    yield line(*["---"] * (1 + len(epsilons)))
    listed = tables("discharges")[0].space.configuration(0).hyperparameters
    ways: dict[str, Callable[[str], Own]] = {
        "designed on another draw": lambda e: designed("discharges", e)[0],
        "the example's own list": lambda e: listed,
        "`auto`": lambda e: AUTO,
    }
    for name, own in ways.items():
        runs = (partial(candidate_meets, "discharges again", own(e), e, "none") for e in epsilons)
        yield line(name, *(shares(run, seeds, workers)[0] for run in runs))
    yield from described("discharges", epsilons)


def cpu(seeds: int, workers: int) -> Iterator[str]:
    spec, finest = tables("nvss")
    real, found = recode(spec, finest, chosen(spec)), []
    own = {**HAND, "scores": "regression-coefficients 10"}
    rehearsals = Rehearsals(spec, real, chosen(spec), Fraction("0.35"))
    for seed in range(min(seeds, 15)):
        started = time.process_time()
        rehearsals.candidate(own, seed)
        found.append(time.process_time() - started)
    yield f"a births candidate with scores: CPU at least {min(found):.2f} s, median {median(found):.2f} s"


ROWS: dict[str, Callable[[int, int], Iterator[str]]] = {
    "cpu": cpu,
    "designed": designs,
    "totals": totals,
    "priors": priors,
    "discharges": discharges,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=list(ROWS), default=list(ROWS))
    options = parser.parse_args()
    for name in options.only:
        print(f"\n### {name}\n", flush=True)
        for text in ROWS[name](options.seeds, options.workers):
            print(text, flush=True)


if __name__ == "__main__":
    main()
