"""Learning: the measurements and weights of a workload, chosen on public data of the same form.

The objective is the expected slack (`slack`) of a candidate at one generator epsilon: how far, in logarithms,
the worst criterion stays below its threshold. It is estimated by making candidates.

Search. A draft asks for every column by itself and for some tables of several columns, each column in so many
groups. Moves change one thing: a weight, the number of groups of one column in one table (one group: the column
is not in it), a table more or less. The kind of move that gained most so far is next; of its moves those never
tried come first, ordered by the columns that the worst criteria name and by the pairs that fit worst.

Races. A move is compared with the draft it starts from on the same seeds, so that both meet the same luck, in
an order drawn for each race. A race ends as soon as the move is clearly better, or hardly worth another look.

Honesty. Whatever wins many races was also lucky on their seeds. So `slack` and `before` are measured on fresh
seeds that no race has seen. They speak of the public table all the same; how a workload does on another
population, only that population can tell.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod
from statistics import fmean
from typing import Any

import numpy as np
import yaml

from facsimile.errors import refusal
from facsimile.explore.slack import (
    FURTHEST,
    SHARPNESS,
    Lost,
    Overshoots,
    Rehearsals,
    badness,
    not_lost,
)
from facsimile.spec.criteria import Criterion
from facsimile.spec.release import Specification
from facsimile.synthesizers.measurements import AUTO, COLUMNS_FIRST, EACH, Cuts, affordable, most_cells
from facsimile.table.domain import Clique
from facsimile.table.encoding import recode
from facsimile.table.table import Table

LADDER = (2, 3, 4, 6, 8, 16)
TOGETHER = (2, 4, 8)
STEPS = ((2.0, 0.04), (1.5, 0.02), (1.25, 0.01))
"""By how much a weight is multiplied, and which gain is looked for; less when no move helps any more."""
POOL, FRESH = 48, 16
"""Seeds of the races, and seeds of the figures that are reported."""
HOPE, PROOF, LOOKS = 0.5, 1.7, 5
"""A race is lost when the gain is HOPE deviations away, and won, after LOOKS seeds, when zero is PROOF away."""
CREDIT = (0.1, 5)
"""The gain and the candidates that every kind of move begins with."""
SPREAD, SPREAD_SEEDS = 0.1, 2
"""The deviation of a difference before anything is known, and how many seeds that is worth."""
LONGEST = 1000
"""The characters that a specification allows in a hyperparameter."""
Texts = tuple[str, str]
Sizes = tuple[int, ...]
UNLEARNT: Texts = (AUTO, AUTO)
SEEDS = 10_000
"""Searches of different seeds share none below."""


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


@dataclass(frozen=True)
class Draft:
    """A workload to be: the weight of each column by itself, and tables with their weights.

    A table is the number of groups of each column of the domain, 1 where the column is not in it.
    """

    names: Clique
    codes: Sizes
    each: tuple[float, ...]
    tables: tuple[Sizes, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def texts(self) -> Texts:
        """Measurements and weights as the family reads them; weights in per cent of ε."""
        share = 100 / (sum(self.each) + sum(self.weights))
        alone, mark = ([EACH], ",") if EACH not in self.names else (list(self.names), "; ")
        each = mark.join(_shown(weight * share) for weight in self.each)
        items = [*alone, *(self.item(table) for table in self.tables)]
        return "; ".join(items), "; ".join([each, *(_shown(weight * share) for weight in self.weights)])

    def item(self, table: Sizes) -> str:
        """One table as a measurement."""
        parts = zip(self.names, table, self.codes, strict=True)
        return "*".join(name if size >= codes else f"{name}@{size}" for name, size, codes in parts if size > 1)

    def columns(self, table: Sizes) -> Clique:
        """The columns of a table."""
        return tuple(name for name, size in zip(self.names, table, strict=True) if size > 1)

    def with_table(self, table: Sizes) -> Draft:
        """One table more, with the weight that its cells deserve beside the others: ε ∝ cells^(1/3)."""
        roots = [COLUMNS_FIRST * _root([codes]) for codes in self.codes] + [_root(t) for t in self.tables]
        unit = (sum(self.each) + sum(self.weights)) / sum(roots)
        return replace(self, tables=(*self.tables, table), weights=(*self.weights, unit * _root(table)))

    def without_table(self, place: int) -> Draft:
        """One table less."""
        kept = [i for i in range(len(self.tables)) if i != place]
        tables, weights = tuple(self.tables[i] for i in kept), tuple(self.weights[i] for i in kept)
        return replace(self, tables=tables, weights=weights)

    def with_size(self, place: int, column: int, size: int) -> Draft:
        """Another number of groups of one column in one table; a table of one column is left out."""
        table = _put(self.tables[place], column, size)
        if len(self.columns(table)) < 2:
            return self.without_table(place)
        return replace(self, tables=_put(self.tables, place, table))

    def makes_sense(self, n: int) -> bool:
        """No table twice, none with more cells than records, no weight below a hundredth of a per cent."""
        share = 100 / (sum(self.each) + sum(self.weights))
        fits = all(prod(table) <= n for table in self.tables) and len(set(self.tables)) == len(self.tables)
        return fits and min(*self.each, *self.weights, inf) * share >= 0.01 and len(self.texts[0]) <= LONGEST


def _root(table: Sequence[int]) -> float:
    return float(prod(table) ** (1 / 3))


def _shown(weight: float) -> str:
    return f"{weight:.3g}"


def _put(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


@dataclass(frozen=True)
class Move:
    """One change: its kind and name, the draft it leads to, how promising it looks among its kind."""

    kind: str
    name: str
    draft: Draft
    promise: float


@dataclass(frozen=True, eq=False)
class Clues:
    """What the public table and the criteria say about drafts before any candidate is made."""

    table: Table
    epsilon: Fraction
    criteria: tuple[Criterion, ...]
    cuts: Mapping[str, Cuts]
    dependences: Mapping[Clique, float]

    @classmethod
    def of(cls, table: Table, epsilon: Fraction, criteria: tuple[Criterion, ...]) -> Clues:
        """Look at every column and at every pair of columns."""
        cuts = {}
        for axis in table.domain.axes:
            if axis.size > 1:
                numbers = [float(number) for number in axis.numbers or range(axis.size)]
                cuts[axis.name] = Cuts.of(table.marginal((axis.name,)).astype(np.float64), numbers)
        found: dict[Clique, float] = {pair: dependence(table, pair) for pair in combinations(cuts, 2)}
        pairs = dict(sorted(found.items(), key=lambda one: -one[1]))
        return cls(table, epsilon, criteria, cuts, pairs)

    @property
    def joints(self) -> list[Clique]:
        """Columns that one criterion names, three or more, if two groups of each are affordable; or all."""
        named = [tuple(name for name in self.cuts if name in c.columns) for c in self.criteria]
        most = most_cells(self.table.n, self.epsilon / 3)
        found = [c for c in dict.fromkeys([tuple(self.cuts), *named]) if len(c) > 2 and 2 ** len(c) <= most]
        return sorted(found, key=len, reverse=True)

    @property
    def named(self) -> list[Clique]:
        """Pairs that one criterion names: a column and what it is grouped by, else any two."""
        found = set()
        for criterion in self.criteria:
            by = getattr(criterion, "by", ())
            within = product((name for name in criterion.columns if name not in by), by)
            found |= {frozenset(pair) for pair in (within if by else combinations(criterion.columns, 2))}
        return [pair for pair in self.dependences if frozenset(pair) in found]

    def sized(self, columns: Clique, share: float = 0.0) -> Sizes:
        """A table of some columns: as fine as a share of ε affords, or as fine as they are."""
        sizes = {name: self.cuts[name].codes for name in columns}
        if share:
            cells = most_cells(self.table.n, self.epsilon * Fraction(share))
            sizes = affordable({name: self.cuts[name] for name in columns}, cells)
        return tuple(sizes.get(name, 1) for name in self.table.domain.names)

    def drafts(self) -> list[Draft]:
        """Where a search may start.

        Coarse tables of many columns, with strong pairs or without, where one of all columns is affordable;
        else pairs, those that criteria name as fine as they are.
        """
        codes, names = self.table.domain.shape, tuple(self.cuts)
        alone = Draft(self.table.domain.names, codes, tuple(COLUMNS_FIRST * _root([size]) for size in codes))
        strong, wide = list(self.dependences), len(names)
        found = [alone]
        if names in self.joints:
            joints = [alone.with_table(self.sized(joint, 1 / 3)) for joint in self.joints[:2]]
            pairs = [self.sized(pair, 1 / wide) for pair in strong[: (wide + 1) // 2]]
            found += [*joints, *(_with(joint, pairs) for joint in joints)]
        elif strong:
            named = _with(alone, [self.sized(pair) for pair in self.named])
            for number in (wide - 1, 2 * wide):
                sized = {pair: self.sized(pair, 1 / (3 * number)) for pair in strong[:number]}
                others = [table for pair, table in sized.items() if pair not in self.named]
                found += [_with(named, others), _with(alone, sized.values())]
            found.insert(1, named)
        return [draft for draft in dict.fromkeys(found) if draft is alone or draft.makes_sense(self.table.n)]

    def focus(self, overshoots: Overshoots) -> dict[str, float]:
        """How much each column matters to the worst criteria; one that they do not name, a quarter."""
        weights = np.exp(SHARPNESS * (np.array(overshoots) - max(overshoots)))
        names = self.table.domain.names
        found = dict.fromkeys(names, 0.0)
        for criterion, weight in zip(self.criteria, weights / weights.sum(), strict=True):
            for name in names:
                found[name] += float(weight) * (1.0 if name in (criterion.columns or names) else 0.25)
        return found

    def moves(self, draft: Draft, made: Table, overshoots: Overshoots, step: float) -> list[Move]:
        """Every change of a draft that makes sense, the promising ones first; `made` is a candidate of it."""
        focus = self.focus(overshoots)
        found = [*_weights(draft, focus, step), *_sizes(draft, focus), *self._more(draft, made, focus)]
        found = [move for move in found if move.draft.makes_sense(self.table.n)]
        return sorted(found, key=lambda move: -move.promise)

    def _more(self, draft: Draft, made: Table, focus: Mapping[str, float]) -> Iterator[Move]:
        """One table more, or several at once: the worst of many cells improves only when all of them do."""
        promises = {pair: misfit(self.table, made, pair) * _mean(pair, focus) for pair in self.dependences}
        worst = sorted(promises, key=lambda pair: -promises[pair])
        for number in (number for number in TOGETHER if number <= len(worst)):
            tables = [self.sized(pair, 1 / (3 + len(draft.tables) + number)) for pair in worst[:number]]
            promise = sum(promises[pair] for pair in worst[:number])
            yield Move("table", f"add {number} pairs", _with(draft, tables), promise)
        for clique in self.joints:
            promises[clique] = fmean(promises[pair] for pair in combinations(clique, 2))
        for clique, promise in promises.items():
            coarse, fine = self.sized(clique, 1 / (3 + len(draft.tables))), self.sized(clique)
            for word, table in (("fine", fine), *([("coarse", coarse)] if fine != coarse else [])):
                yield Move("table", f"add a {word} {'*'.join(clique)}", draft.with_table(table), promise)


def _with(draft: Draft, tables: Iterable[Sizes]) -> Draft:
    for table in tables:
        draft = draft.with_table(table)
    return draft


def _weights(draft: Draft, focus: Mapping[str, float], step: float) -> Iterator[Move]:
    for factor, word in ((step, "more"), (1 / step, "less")):
        every = replace(draft, each=tuple(weight * factor for weight in draft.each))
        yield Move("weight", f"{word} of each column", every, _mean(draft.names, focus))
        for place, name in enumerate(draft.names):
            changed = replace(draft, each=_put(draft.each, place, draft.each[place] * factor))
            yield Move("weight", f"{word} of {name}", changed, focus[name])
        for place, table in enumerate(draft.tables):
            columns = draft.columns(table)
            changed = replace(draft, weights=_put(draft.weights, place, draft.weights[place] * factor))
            yield Move("weight", f"{word} of {'*'.join(columns)}", changed, _mean(columns, focus))


def _sizes(draft: Draft, focus: Mapping[str, float]) -> Iterator[Move]:
    for place, table in enumerate(draft.tables):
        columns = draft.columns(table)
        words = "*".join(columns)
        yield Move("table", f"without {words}", draft.without_table(place), -_mean(columns, focus))
        for column, (name, size, codes) in enumerate(zip(draft.names, table, draft.codes, strict=True)):
            rungs = (1, *(rung for rung in LADDER if rung < codes), codes)
            finer = [("finer", rung) for rung in rungs if rung > size][:1]
            coarser = [("coarser", rung) for rung in rungs if rung < size][-1:]
            for word, rung in finer + coarser:
                changed = draft.with_size(place, column, rung)
                yield Move("size", f"{word} {name} in {words}", changed, focus[name] * (1 if size > 1 else 0.5))


def _mean(columns: Clique, focus: Mapping[str, float]) -> float:
    return fmean(focus[name] for name in columns)


def dependence(table: Table, pair: Clique) -> float:
    """The mutual information of two columns in nats, less what n records of independent ones would show."""
    joint = table.marginal(pair) / table.n
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    information = float((joint[seen] * np.log(joint[seen] / expected[seen])).sum())
    by_chance = float(np.prod(np.array(joint.shape) - 1)) / (2 * table.n)
    return max(0.0, information - by_chance)


def misfit(real: Table, made: Table, pair: Clique) -> float:
    """Σ (r − s)²/(r + s) over the cells of two columns, less the 1 of a cell by chance, per record."""
    one, other = real.marginal(pair).astype(np.float64), made.marginal(pair)
    seen = one + other > 0
    return float(((one - other)[seen] ** 2 / (one + other)[seen] - 1).sum()) / real.n


@dataclass(eq=False)
class Search:
    """Climbs from draft to draft by races.

    `evaluate` makes one candidate and measures it; `over` says whether so many evaluations are enough.
    """

    evaluate: Callable[[Texts, int, Lost], Overshoots]
    seeds: Sequence[int]
    random: np.random.Generator
    over: Callable[[int], bool]
    progress: Callable[[str], None]
    evaluations: int = 0
    known: dict[tuple[Texts, int], Overshoots] = field(default_factory=dict)

    def overshoots(self, texts: Texts, seed: int, lost: Lost = not_lost) -> Overshoots:
        """Of one candidate, made once."""
        if (texts, seed) not in self.known:
            self.evaluations += 1
            self.known[texts, seed] = self.evaluate(texts, seed, lost)
        return self.known[texts, seed]

    def slack(self, texts: Texts, seeds: Sequence[int]) -> float:
        """The mean over some seeds."""
        return -fmean(badness(self.overshoots(texts, seed)) for seed in seeds)

    def mean(self, texts: Texts) -> Overshoots:
        """Each criterion's mean over the seeds that were looked at, at least one."""
        self.overshoots(texts, self.seeds[0])
        rows = [row for (known, _), row in self.known.items() if known == texts]
        return tuple(np.maximum(rows, -FURTHEST).mean(axis=0).tolist())

    def gain(self, challenger: Texts, holder: Texts, wanted: float) -> float:
        """What a race on common seeds gained: 0 where it was lost, or could not be finished."""
        gaps: list[float] = []
        for seed in self.random.permutation(np.array(self.seeds)).tolist():
            if self.over(self.evaluations):
                return 0.0
            bar = badness(self.overshoots(holder, seed))

            def hopeless(bad: float, bar: float = bar) -> bool:
                return lost([*gaps, bad - bar], wanted)

            gaps.append(badness(self.overshoots(challenger, seed, hopeless)) - bar)
            if lost(gaps, wanted):
                del self.known[challenger, seed]  # it may be incomplete
                return 0.0
            if won(gaps):
                break
        return max(0.0, -fmean(gaps))

    def best(self, drafts: Sequence[Draft]) -> Draft:
        """All on two seeds, the better half on four, and so on."""
        left, number = list(drafts), 2
        while len(left) > 1:
            for draft, seed in product(left, self.seeds[:number]):
                if self.over(self.evaluations):
                    return left[0]
                self.overshoots(draft.texts, seed)
            left.sort(key=lambda draft: -self.slack(draft.texts, self.seeds[:number]))
            left, number = left[: (len(left) + 1) // 2], 2 * number
        return left[0]

    def climb(self, draft: Draft, moves: Callable[[Draft, Overshoots, float], list[Move]]) -> Draft:
        """Moves until none helps at the smallest step, or until it is over.

        The kind of move that gained most for each candidate so far is next; every kind begins with some credit.
        Of its moves the most promising one that was never tried, else the one tried longest ago.
        """
        gains: dict[str, float] = defaultdict(float)
        costs: dict[str, int] = defaultdict(int)
        turns: dict[str, int] = {}
        for step, wanted in STEPS:
            stale: set[str] = set()
            again, choice = "", list[Move]()
            chosen_for: Draft | None = None
            while not self.over(self.evaluations):
                if chosen_for is not draft:
                    choice, chosen_for = moves(draft, self.mean(draft.texts), step), draft
                    self.evaluations += 1  # moves look at a candidate
                left = [move for move in choice if move.name not in stale]
                if not left:
                    break
                worth = {m.kind: (gains[m.kind] + CREDIT[0]) / (costs[m.kind] + CREDIT[1]) for m in left}
                move = min(left, key=lambda m: (m.name != again, -worth[m.kind], turns.get(m.name, 0)))
                turns[move.name] = len(turns) + self.evaluations + 1
                before = self.evaluations
                gained = self.gain(move.draft.texts, draft.texts, wanted)
                gains[move.kind] += gained
                costs[move.kind] += self.evaluations - before
                stale.add(move.name)
                again = ""
                if gained:
                    draft, again, stale = move.draft, move.name, set()
                    self.progress(f"{self.evaluations} candidates, {move.name}: gain {gained:.3f}")
        return draft


def lost(gaps: Sequence[float], wanted: float) -> bool:
    """Whether a challenger with these differences of badness would need luck to be better by what is wanted."""
    return fmean(gaps) - HOPE * _deviation(gaps) > -wanted


def won(gaps: Sequence[float]) -> bool:
    """Whether it is clearly better."""
    return len(gaps) >= LOOKS and fmean(gaps) + PROOF * _deviation(gaps) < 0


def _deviation(gaps: Sequence[float]) -> float:
    """Of the mean: from the spread seen and the one assumed before."""
    mean = fmean(gaps)
    square = SPREAD**2 * SPREAD_SEEDS + sum((gap - mean) ** 2 for gap in gaps)
    return float((square / (SPREAD_SEEDS + len(gaps) - 1) / len(gaps)) ** 0.5)


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
    is kept for the end: the winner and `auto` meet on seeds of the search, where the better one is taken, and
    on fresh ones. However low the limits, up to six candidates are made.
    """
    limit = Limit(seconds, evaluations)
    spec = specification.sized(table.n)
    choice = dict(alternatives or spec.alternatives_named(""))
    rehearsals = Rehearsals(spec, recode(spec, table, choice), choice, epsilon)
    clues = Clues.of(rehearsals.real, epsilon, spec.criteria)
    pool = range(seed * SEEDS, seed * SEEDS + POOL)

    def evaluate(texts: Texts, one: int, lost: Lost) -> Overshoots:
        return rehearsals.overshoots(*texts, one, lost)

    def moves(draft: Draft, overshoots: Overshoots, step: float) -> list[Move]:
        made = rehearsals.candidate(*draft.texts, pool[0])
        return [] if made is None else clues.moves(draft, made, overshoots, step)

    search = Search(evaluate, pool, np.random.default_rng(seed), limit.over, progress)
    search.overshoots(UNLEARNT, pool[0])
    limit.reserve()
    draft = search.climb(search.best(clues.drafts()), moves)
    met = pool[: max(1, limit.fresh // 2)]
    texts = max((draft.texts, UNLEARNT), key=lambda texts: search.slack(texts, met))
    if set(search.overshoots(texts, pool[0])) == {FURTHEST}:
        raise refusal("E160", family="workload")
    fresh = range(pool.stop, pool.stop + limit.fresh)
    slack, before = search.slack(texts, fresh), search.slack(UNLEARNT, fresh)
    return Learned(*texts, epsilon, slack, before, search.evaluations)


@dataclass(eq=False)
class Limit:
    """How long a search may take, and what it leaves for the comparison at its end.

    A comparison on `fresh` seeds needs three candidates for each: two there, and one on half as many seeds of
    the search.
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
        self.fresh = max(2, min(FRESH, int(possible / 10)))

    def over(self, made: int) -> bool:
        """Whether it is time for the end, so many candidates having been made."""
        late = time.monotonic() - self.begun + 3 * self.fresh * self.candidate > self.seconds
        return late or (self.evaluations is not None and made + 3 * self.fresh >= self.evaluations)
