"""Replicates: the whole scheme run again with the released table in the place of the confidential one.

A replicate S* is to the release S what S is to the original R: the same configuration, epsilons, sampling,
rules, projection, test and selection. So T(S*) − T(S) stands for T(S) − T(R), whatever T is. It follows from
public things alone and costs no epsilon.

No guarantee follows. S is a draw from the model, so replicates do not see what the model cannot express; and of
a bias they see a part (of what clipping at zero does to an empty cell: three quarters).

Where a replicate comes from is public too: its seed follows from one number, its place and its attempt.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.release.plan import plan_of
from facsimile.release.scheme import Accepted, Scheme, under
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.table import Table

REPLICATES = 20
CANDIDATES = 100
"""So many candidates are tried for one replicate, in as many searches as that takes."""
Watch = Callable[[int], None]
"""Is told how many replicates there are by now."""


@dataclass(frozen=True, eq=False)
class Replicate:
    """One table, the seed of the search it comes from, and how many candidates were tried for it.

    `accepted`: it passed the test, as the release did. Otherwise none of the candidates passed, and this is one
    that was not tested.
    """

    table: Table
    seed: int
    tried: int
    accepted: bool


@dataclass(frozen=True, eq=False)
class Replication:
    """A specification that allows the release's configuration only, and the release as its original.

    `original` is at the finest refinement, where a bin of the release stands as the first one that it holds: a
    release is known under its own alternatives, and under no others it is asked. `prior` is at the finest too.
    """

    specification: Specification
    original: Table
    prior: Table | None = None

    @classmethod
    def of(
        cls, specification: Specification, configuration: Configuration, table: Table, prior: Table | None = None
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
        tried = 0
        for attempt in count():
            own = seed_of(seed, place, attempt)
            found, candidates = self._searched(own, CANDIDATES - tried)
            tried += candidates
            if found is not None:
                return Replicate(found.table, own, tried, True)
            if tried >= CANDIDATES:
                return Replicate(self._untested(own), own, tried, False)
        raise AssertionError("every search tries a candidate")

    def _made(self, places: Iterable[int], seed: int, workers: int) -> Iterator[Replicate]:
        if workers == 1:
            yield from map(partial(self.replicate, seed), places)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, context, _begin, (self,)) as pool:
            yield from pool.map(partial(_replicate, seed), places)

    def _searched(self, seed: int, most: int) -> tuple[Accepted | None, int]:
        """What a search accepts, and how many candidates it tried; it is left after `most` of them."""
        spec, tried = self.specification, 0

        def index(answers: Answers, number: int) -> Accepted | None:
            nonlocal tried
            if number > most:
                raise _Enough
            tried = number
            return scheme.index(answers, prepared, np.random.default_rng((seed, number)))

        with self._answering(seed).search(plan_of(spec), "replicate") as search:
            scheme = Scheme(spec, search.draw, self.prior)
            prepared = scheme.prepare(search.once(), np.random.default_rng((seed, 0)))
            try:
                return search.find(index), tried
            except _Enough:
                return None, tried

    def _untested(self, seed: int) -> Table:
        """A candidate, fitted and shaped like any other."""
        random = np.random.default_rng((seed, 0))
        recipe = Scheme(self.specification, lambda _: 0, self.prior).drawn()
        answers = under(self._answering(seed), recipe)
        return recipe.table(recipe.fit(answers, self.specification.budget.generator, random), random)

    def _answering(self, seed: int) -> Curator:
        return Curator.rehearsal(rehearse(self.original), seed)


class _Enough(Exception):
    """No further candidate is tried."""


def seed_of(seed: int, place: int, attempt: int) -> int:
    """The seed of one search.

    >>> seed_of(1, 0, 0) == seed_of(1, 0, 0), seed_of(1, 0, 0) == seed_of(1, 1, 0)
    (True, False)
    """
    text = f"replicate|{seed}|{place}|{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _settled(specification: Specification, configuration: Configuration) -> Specification:
    """The same promise with one configuration to draw."""
    plain = specification.model_dump(mode="json", exclude_none=True)
    return validated(plain | {"configurations": [configuration.as_json()]})


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
