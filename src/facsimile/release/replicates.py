"""Replicates: the whole scheme run again, with the release in the place of what it was made from.

For each place the release S is drawn again with replacement, n records: R*. Then the scheme runs on R* as it
ran on the original R, with the same configuration, epsilons, sampling, rules, projection, test and selection,
and gives S*. What S* is to R*, S is to R; and what R* is to S, R is to the population behind it. So

    T(S*) − T(R*)   stands for   T(S) − T(R)      the error against the confidential table
    T(S*) − T(S)    stands for   T(S) − θ         the error against the population

whatever T is (analysis/combining.py). All of it follows from public things and costs no epsilon.

Why R* and not S itself: a table holds chance that no model keeps, such as how births of one month happen to
differ from those of the next. S has lost that of R, which is a part of its error. A scheme that runs on S has
nothing of the kind to lose, so it shows too small an error; R* has as much of it as R.

No guarantee follows. S is a draw from the model, so replicates do not see what the model cannot express of the
population; and of a bias they see a part (of what clipping at zero does to an empty cell: three quarters).

Where a replicate comes from is public too: its seeds follow from one number, its place and its attempt.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Literal

import numpy as np

from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.release.plan import plan_of
from facsimile.release.scheme import Accepted, Scheme, under
from facsimile.release.writing import as_csv, as_parquet, labelled
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table

ABOUT = "replicates.json"
WORDS = {
    "replicate": "The scheme of the release, run again on a table that stands for the confidential one.",
    "resampled": "That table: the records of the release, drawn again with replacement. No confidential data.",
    "confidential": "T(replicate) - T(resampled) stands for the error of T(release) against the original.",
    "population": "T(replicate) - T(release) stands for the error of T(release) against the population.",
    "guarantee": "None: what the generator cannot express is not seen.",
}
Ending = Literal["csv", "parquet"]
REPLICATES, SEED = 20, 1
CANDIDATES = 100
"""So many candidates are tried for one replicate, in as many searches as that takes."""
Watch = Callable[[int], None]
"""Is told how many replicates there are by now."""


@dataclass(frozen=True, eq=False)
class Replicate:
    """A table S* and the one that it was made from: the release, `resampled`.

    `seed` is that of the search it comes from, `tried` how many candidates were. `accepted`: it passed the
    test, as the release did; otherwise none of the candidates passed, and this is one that was not tested.
    """

    resampled: Table
    table: Table
    seed: int
    tried: int
    accepted: bool


@dataclass(frozen=True, eq=False)
class Replication:
    """A specification that allows the release's configuration only, and the release.

    `release` is at the finest refinement, where a bin of it stands as the first one that it holds: a release is
    known under its own alternatives, and is asked under no others. `prior` is at the finest refinement too.
    """

    specification: Specification
    release: Table
    prior: Table | None = None

    @classmethod
    def of(
        cls,
        specification: Specification,
        configuration: Configuration,
        table: Table,
        prior: Table | None = None,
    ) -> Replication:
        """Of a release that this configuration gave."""
        settled = _settled(specification, configuration).sized(table.n)
        return cls(settled, _refined(settled, table, configuration), prior)

    def replicates(
        self, number: int, seed: int, workers: int = 1, watch: Watch = lambda done: None
    ) -> Iterator[Replicate]:
        """So many replicates, in the order of their places; the same for any number of processes."""
        for done, found in enumerate(self._made(range(number), seed, workers), 1):
            watch(done)
            yield found

    def replicate(self, seed: int, place: int) -> Replicate:
        """The replicate at a place: searches with seeds of their own, until one accepts a candidate."""
        resampled = _resampled(self.release, np.random.default_rng(seed_of(seed, place)))
        tried = 0
        for attempt in count(1):
            search = _Search(self.specification, resampled, seed_of(seed, place, attempt), self.prior)
            found, candidates = search.found(CANDIDATES - tried)
            tried += candidates
            if found is not None or tried >= CANDIDATES:
                break
        table = search.untested() if found is None else found.table
        original = recode(self.specification, resampled, self.specification.first)
        return Replicate(original, table, search.seed, tried, found is not None)

    def _made(self, places: Iterable[int], seed: int, workers: int) -> Iterator[Replicate]:
        if workers == 1:
            yield from map(partial(self.replicate, seed), places)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, context, _begin, (self,)) as pool:
            yield from pool.map(partial(_replicate, seed), places)


@dataclass(frozen=True, eq=False)
class _Search:
    """One search on a table that stands for the original."""

    specification: Specification
    original: Table
    seed: int
    prior: Table | None

    def found(self, most: int) -> tuple[Accepted | None, int]:
        """What it accepts, and how many candidates it tried; it is left after `most` of them."""
        spec, tried = self.specification, 0

        def index(answers: Answers, number: int) -> Accepted | None:
            nonlocal tried
            if number > most:
                raise _Enough
            tried = number
            return scheme.index(answers, prepared, self._random(number))

        with self._curator().search(plan_of(spec), "replicate") as search:
            scheme = Scheme(spec, search.draw, self.prior)
            prepared = scheme.prepare(search.once(), self._random(0))
            try:
                return search.find(index), tried
            except _Enough:
                return None, tried

    def untested(self) -> Table:
        """A candidate that nothing was asked about."""
        recipe, random = Scheme(self.specification, lambda _: 0, self.prior).drawn(), self._random(0)
        answers = under(self._curator(), recipe)
        return recipe.table(recipe.fit(answers, self.specification.budget.generator, random), random)

    def _curator(self) -> Curator:
        return Curator.rehearsal(rehearse(self.original), self.seed)

    def _random(self, number: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, number))


def replicate_files(
    specification: Specification,
    configuration: Configuration,
    table: Table,
    prior: Table | None = None,
    number: int = REPLICATES,
    seed: int = SEED,
) -> dict[str, bytes]:
    """Replicates of a release as files: its folder in a bundle."""
    made = list(Replication.of(specification, configuration, table, prior).replicates(number, seed))
    return files_of(made, about(specification, made, seed), "parquet")


def files_of(made: Sequence[Replicate], said: Mapping[str, Any], ending: Ending) -> dict[str, bytes]:
    """Two tables of labels for each replicate, and what is said about all of them."""
    written = as_csv if ending == "csv" else as_parquet
    width = max(2, len(str(len(made))))
    found = {}
    for place, one in enumerate(made, 1):
        for name, table in (("replicate", one.table), ("resampled", one.resampled)):
            found[f"{name}-{place:0{width}}.{ending}"] = written(labelled(table))
    found[ABOUT] = (json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    return found


def about(specification: Specification, made: Sequence[Replicate], seed: int) -> dict[str, Any]:
    """What is said about replicates: how they were made, what they are not, and how they were calibrated."""
    calibration = specification.calibration
    return {
        "calibration": None if calibration is None else calibration.model_dump(mode="json"),
        "replicates": len(made),
        "seed": seed,
        "guaranteed": False,
        "words": WORDS,
        "made": [{"seed": str(one.seed), "tried": one.tried, "accepted": one.accepted} for one in made],
    }


class _Enough(Exception):
    """No further candidate is tried."""


def seed_of(seed: int, place: int, attempt: int = 0) -> int:
    """The seed of an attempt at a place, from 1 on; 0 is that of the records drawn again.

    >>> seed_of(1, 0) == seed_of(1, 0, 0), seed_of(1, 0) == seed_of(1, 1)
    (True, False)
    """
    text = f"replicate|{seed}|{place}|{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _settled(specification: Specification, configuration: Configuration) -> Specification:
    """The same promise with one configuration to draw."""
    plain = specification.model_dump(mode="json", exclude_none=True)
    return validated(plain | {"configurations": [configuration.as_json()]})


def _resampled(table: Table, random: np.random.Generator) -> Table:
    """As many records, drawn with replacement."""
    drawn = random.multinomial(table.n, table.counts / table.n)
    return Table(table.domain, table.codes, drawn).filter(drawn > 0)


def _refined(specification: Specification, table: Table, configuration: Configuration) -> Table:
    """A table at the finest refinement that is the given one under the configuration's alternatives."""
    recodings = specification.recodings(configuration.alternatives)
    maps = {
        axis.name: [recodings[axis.name].index(code) for code in range(axis.size)] for axis in table.domain.axes
    }
    return table.recode(Domain(specification.finest()), maps)


_replications: list[Replication] = []


def _begin(replication: Replication) -> None:
    """What a process works on; Ctrl-C is answered by the one that gave it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _replications[:] = [replication]


def _replicate(seed: int, place: int) -> Replicate:
    return _replications[0].replicate(seed, place)
