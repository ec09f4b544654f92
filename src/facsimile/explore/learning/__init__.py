"""Learning: the measurements and weights of a workload, chosen on public data of the same form.

The objective is the expected slack (`slack`) of a candidate at one generator epsilon: how far, in logarithms,
the worst criterion stays below its threshold. It is estimated by making candidates.

Search. A draft (`draft`) asks for every column by itself and for some tables of several columns, each column in
so many groups. Moves change one thing of it (`proposals`), and races decide which moves help (`search`).

Honesty. Whatever wins many races was also lucky on their seeds. So the last drafts, the first one and `auto`
meet once more, all on the same seeds and on more of them, and the best is taken. `slack` and `before` are
measured on fresh seeds that nothing before has seen. They speak of the public table all the same; how a
workload does on another population, only that population can tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import yaml

from facsimile.errors import refusal
from facsimile.explore.learning.draft import Draft, Texts
from facsimile.explore.learning.proposals import Move, Proposals
from facsimile.explore.learning.search import DraftSearch
from facsimile.explore.learning.slack import FURTHEST, Overshoots, Rehearsals
from facsimile.spec.release import Specification
from facsimile.synthesizers.measurements import AUTO
from facsimile.table.encoding import recode
from facsimile.table.table import Table

POOL, FRESH = 48, 16
"""Seeds of the races, and seeds of the figures that are reported."""
START, LAST = 3, 6
"""On how many seeds drafts meet at the start; how many of the last drafts of a search meet again at its end."""
SEEDS = 10_000
"""Searches of different seeds share none below."""
UNLEARNT: Texts = (AUTO, AUTO)


@dataclass(frozen=True)
class Learned:
    """A workload for a specification, and what it is worth on seeds that the search never saw.

    `slack` is its own, `before` that of `auto`: the larger the better. At 0 the worst criterion is about at its
    threshold.
    """

    measurements: str
    weights: str
    epsilon: Fraction
    slack: float
    before: float
    evaluations: int

    def families(self) -> list[dict[str, Any]]:
        """The block as plain data."""
        grid = {"measurements": [self.measurements], "weights": [self.weights]}
        return [{"family": "workload", "grid": grid}]

    def block(self) -> str:
        """The block as YAML, to be pasted into a specification."""
        return yaml.safe_dump({"families": self.families()}, sort_keys=False, width=100)


def learn(
    specification: Specification,
    table: Table,
    epsilon: Fraction,
    *,
    alternatives: Mapping[str, str] | None = None,
    seed: int = 1,
    seconds: float = 600,
    evaluations: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Learned:
    """The best workload that a search of so many seconds or candidates finds for a public table.

    `table` is at the specification's finest refinement; `alternatives` are each column's first unless given.
    With `evaluations` the result follows from the seed, as long as the seconds suffice. A part of both limits
    is kept for the end: the last drafts and `auto` meet on seeds of the search, where the best one is taken,
    and this one and `auto` on fresh seeds. However low the limits, up to six candidates are made.
    """
    limit = Limit(seconds, evaluations)
    spec = specification.sized(table.n)
    choice = dict(alternatives or spec.alternatives_named(""))
    rehearsals = Rehearsals(spec, recode(spec, table, choice), choice, epsilon)
    proposals = Proposals.of(rehearsals.real, epsilon, spec.criteria)
    pool = range(seed * SEEDS, seed * SEEDS + POOL)

    def moves(draft: Draft, overshoots: Overshoots, step: float) -> list[Move]:
        made = rehearsals.candidate(draft.texts, pool[0])
        return [] if made is None else proposals.moves(draft, made, overshoots, step)

    search = DraftSearch(rehearsals.overshoots, pool, np.random.default_rng(seed), limit.over, progress)
    search.overshoots(UNLEARNT, pool[0])
    limit.reserve()
    starts = {draft.texts: draft for draft in proposals.drafts()}
    first, *later = search.climb(starts[search.best(starts, START, limit.over)], moves)
    finalists = [UNLEARNT, *(draft.texts for draft in (first, *later[-LAST:]))]
    texts = search.best(finalists, max(1, limit.fresh // 2), lambda _: False)
    if set(search.overshoots(texts, pool[0])) == {FURTHEST}:
        raise refusal("E160", family="workload")
    fresh = range(pool.stop, pool.stop + limit.fresh)
    slack, before = search.slack(texts, fresh), search.slack(UNLEARNT, fresh)
    return Learned(*texts, epsilon, slack, before, search.evaluations)


@dataclass(eq=False)
class Limit:
    """How long a search may take, and what it leaves for the comparisons at its end.

    On each of the `fresh` seeds two candidates are made. Before that, up to LAST + 2 finalists meet on half as
    many seeds, half of them on as many and a quarter on twice as many: LAST + 2 candidates for a fresh seed.
    """

    seconds: float
    evaluations: int | None
    begun: float = field(default_factory=lambda: time.monotonic())
    fresh: int = 2
    candidate: float = 0.0
    """The seconds that one candidate takes."""

    def reserve(self) -> None:
        """Plan the end, after one candidate: at most about a third of either limit."""
        self.candidate = time.monotonic() - self.begun
        possible = self.seconds / max(self.candidate, 1e-9) if self.evaluations is None else self.evaluations
        self.fresh = max(2, min(FRESH, int(possible / 30)))

    def over(self, made: int) -> bool:
        """Whether it is time for the end, so many candidates having been made."""
        kept = (2 + LAST + 2) * self.fresh
        late = time.monotonic() - self.begun + kept * self.candidate > self.seconds
        return late or (self.evaluations is not None and made + kept >= self.evaluations)
