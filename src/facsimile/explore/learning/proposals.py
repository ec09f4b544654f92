"""Proposals: what the public table and the criteria say about drafts, where to begin and which changes to try.

Moves change one thing of a draft: a weight, the number of groups of one column in one table (one group: the
column is not in it), a table more or less. They are ordered by the columns that the worst criteria name and by
the pairs that fit worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from statistics import fmean

import numpy as np

from facsimile.explore.learning.draft import Draft, Sizes, put, root
from facsimile.explore.learning.slack import SHARPNESS, Overshoots
from facsimile.spec.criteria import Criterion
from facsimile.synthesizers.measurements import COLUMNS_FIRST, BestGroups, affordable, most_cells
from facsimile.table.domain import Clique
from facsimile.table.table import Table

LADDER = (2, 3, 4, 6, 8, 16)
TOGETHER = (2, 4, 8)


@dataclass(frozen=True)
class Move:
    """One change: its kind and name, the draft it leads to, how promising it looks among its kind."""

    kind: str
    name: str
    draft: Draft
    promise: float


@dataclass(frozen=True, eq=False)
class Proposals:
    """What the public table and the criteria say about drafts before any candidate is made."""

    table: Table
    epsilon: Fraction
    criteria: tuple[Criterion, ...]
    cuts: Mapping[str, BestGroups]
    dependences: Mapping[Clique, float]

    @classmethod
    def of(cls, table: Table, epsilon: Fraction, criteria: tuple[Criterion, ...]) -> Proposals:
        """Look at every column and at every pair of columns."""
        cuts = {}
        for axis in table.domain.axes:
            if axis.size > 1:
                numbers = [float(number) for number in axis.numbers or range(axis.size)]
                cuts[axis.name] = BestGroups.of(table.marginal((axis.name,)).astype(np.float64), numbers)
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
        alone = Draft(self.table.domain.names, codes, tuple(COLUMNS_FIRST * root([size]) for size in codes))
        strong, wide = list(self.dependences), len(names)
        found = [alone]
        if names in self.joints:
            joints = [alone.with_table(self.sized(joint, 1 / 3)) for joint in self.joints[:2]]
            pairs = [self.sized(pair, 1 / wide) for pair in strong[: (wide + 1) // 2]]
            found += [*joints, *(joint.with_tables(pairs) for joint in joints)]
        elif strong:
            named = alone.with_tables([self.sized(pair) for pair in self.named])
            for number in (wide - 1, 2 * wide):
                sized = {pair: self.sized(pair, 1 / (3 * number)) for pair in strong[:number]}
                others = [table for pair, table in sized.items() if pair not in self.named]
                found += [named.with_tables(others), alone.with_tables(sized.values())]
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
            yield Move("table", f"add {number} pairs", draft.with_tables(tables), promise)
        for clique in self.joints:
            promises[clique] = fmean(promises[pair] for pair in combinations(clique, 2))
        for clique, promise in promises.items():
            coarse, fine = self.sized(clique, 1 / (3 + len(draft.tables))), self.sized(clique)
            for word, table in (("fine", fine), *([("coarse", coarse)] if fine != coarse else [])):
                yield Move("table", f"add a {word} {'*'.join(clique)}", draft.with_table(table), promise)


def _weights(draft: Draft, focus: Mapping[str, float], step: float) -> Iterator[Move]:
    for factor, word in ((step, "more"), (1 / step, "less")):
        every = replace(draft, each=tuple(weight * factor for weight in draft.each))
        yield Move("weight", f"{word} of each column", every, _mean(draft.names, focus))
        for place, name in enumerate(draft.names):
            changed = replace(draft, each=put(draft.each, place, draft.each[place] * factor))
            yield Move("weight", f"{word} of {name}", changed, focus[name])
        for place, table in enumerate(draft.tables):
            columns = draft.columns(table)
            changed = replace(draft, weights=put(draft.weights, place, draft.weights[place] * factor))
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
