"""Structures: which tables to ask for, found greedily by their predicted chances.

Moves change one table: one more (two columns as fine as they are or as fine as affordable, or the columns that
a criterion names), one less, another number of groups of a column, two tables in one. After each move that
helps, the shares of ε or ρ are made anew. Gains that were seen before say which move is tried next:
one that is still better than what the next in line last promised is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

import numpy as np

from facsimile.explore.design.draft import Draft
from facsimile.explore.design.effects import Moments, Sizes
from facsimile.explore.design.law import Law, law_of
from facsimile.explore.design.linear import LinearCriteria
from facsimile.explore.design.prediction import Prediction
from facsimile.explore.design.weights import weighted
from facsimile.spec.criteria import Criterion
from facsimile.synthesizers.measurements import most_cells
from facsimile.table.domain import Clique
from facsimile.table.exact import Floats

COARSE, FEW, MOST_CELLS = 4, 2, 512
"""Groups of a column in a new table of two or of many; a fine table has no more cells."""
LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32)
GAIN, PRICE = 0.002, 0.004
"""A move must raise the promise by so much, and a table more by so much again."""
SCORE = 0.1
"""The share that a new score begins with."""
QUICK, STEPS = 3, 12
"""Steps of a weighing in a trial, and after a move was taken."""
SEARCHING = 100
"""Draws of noise in a search."""


@dataclass(frozen=True)
class Found:
    """A draft with its shares, what it promises, its prediction and the bias that was assumed."""

    draft: Draft
    value: float
    prediction: Prediction
    bias: Floats

    def chance(self, budget: Fraction) -> float:
        """The predicted chance that all criteria are met."""
        return self.prediction.chance(self.spent(budget), self.bias)

    def chances(self, budget: Fraction) -> dict[str, float]:
        """Of each criterion by itself."""
        return self.prediction.chances(self.spent(budget), self.bias)

    def spent(self, budget: Fraction) -> Floats:
        """The ε or ρ of each table and score."""
        return float(budget) * np.array(self.draft.shares)


@dataclass(eq=False)
class Structures:
    """Climbs from draft to draft, for a budget that is an ε or a ρ.

    `fitted` is the bias of a real fit without noise, None where no model can hold it. The bias of a draft is
    that to first order, corrected by what a real fit of the draft before it showed.
    """

    moments: Moments
    start: Moments
    criteria: LinearCriteria
    declared: tuple[Criterion, ...]
    budget: Fraction
    diameters: Mapping[str, float]
    fitted: Callable[[Draft], Floats | None]
    trials: int
    progress: Callable[[str], None]
    draws: int = SEARCHING
    tried: int = 0
    _promised: dict[str, float] = field(default_factory=dict)

    def predicted(self, draft: Draft, draws: int = 0) -> Prediction:
        """The prediction of a draft."""
        scores = {name: self.diameters[name] for name in draft.scores}
        given = self.moments, self.start, self.criteria, draft.every, scores, self.law
        return Prediction(*given, draws=draws or self.draws)

    @property
    def law(self) -> Law:
        """That of the noise."""
        return law_of(self.budget)

    def weighed(self, draft: Draft, correction: Floats | float, steps: int) -> Found:
        """A draft, its shares improved by so many steps."""
        self.tried += 1
        prediction = self.predicted(draft)
        bias = prediction.first_bias + correction
        better, value = weighted(draft, prediction, float(self.budget), bias, steps)
        price = PRICE * (len(draft.tables) + len(draft.scores))
        return Found(better, value - price, prediction, bias)

    def settled(self, found: Found, steps: int = STEPS) -> Found | None:
        """With the bias of a real fit, and shares that suit it."""
        bias = self.fitted(found.draft)
        return None if bias is None else self.weighed(found.draft, bias - found.prediction.first_bias, steps)

    def climb(self, draft: Draft) -> Found | None:
        """Moves until none helps, or until enough were tried; None where no model can hold the draft."""
        found = self.settled(self.weighed(draft, 0.0, STEPS))
        refused: set[str] = set()
        anew = False
        while found is not None and self.tried < self.trials:
            best = self._best(found, refused, anew)
            if best is None and anew:
                break
            anew = best is None
            if best is None:
                continue
            name, move = best
            settled = self.settled(move)
            if settled is None or settled.value < found.value + GAIN:
                refused.add(name)
                continue
            self.progress(f"{self.tried} tried; {name}: {found.value:.3f} to {settled.value:.3f}")
            found, refused = settled, set()
        return found

    def _best(self, found: Found, refused: set[str], anew: bool) -> tuple[str, Found] | None:
        """The move that helps most, if one does; `anew`: whatever drafts before promised of it."""
        moves = {name: draft for name, draft in self.moves(found.draft) if name not in refused}
        promised = {} if anew else self._promised
        correction = found.bias - found.prediction.first_bias
        best: tuple[str, Found] | None = None
        gain = GAIN
        for name in sorted(moves, key=lambda name: -promised.get(name, inf)):
            if promised.get(name, inf) <= gain or self.tried >= self.trials:
                break
            tried = self.weighed(moves[name], correction, QUICK)
            self._promised[name] = tried.value - found.value
            if self._promised[name] > gain:
                best, gain = (name, tried), self._promised[name]
        return best

    def moves(self, draft: Draft) -> Iterator[tuple[str, Draft]]:
        """Every change that makes sense, by name."""
        for name, changed in self._moves(draft):
            if changed.sensible(self.moments.table.n):
                yield name, changed

    def _moves(self, draft: Draft) -> Iterator[tuple[str, Draft]]:
        for clique in [*combinations(self.moments.cuts, 2), *self.joints]:
            for word, groups in (
                (("fine", MOST_CELLS), ("coarse", COARSE)) if len(clique) == 2 else (("joint", FEW),)
            ):
                table = self.sized(clique, groups)
                if prod(table) <= MOST_CELLS:
                    yield f"add {word} {'*'.join(clique)}", draft.with_table(table)
        for place, table in enumerate(draft.tables):
            words = "*".join(draft.columns(table))
            yield f"drop {words}", draft.without(place)
            for column, (size, codes) in enumerate(zip(table, draft.codes, strict=True)):
                rungs = (1, *(rung for rung in LADDER if rung < codes), codes)
                near = {
                    "finer": [r for r in rungs if r > size][:1],
                    "coarser": [r for r in rungs if r < size][-1:],
                }
                for word, rung in ((word, rung) for word, rungs in near.items() for rung in rungs):
                    yield f"{word} {draft.names[column]} in {words}", draft.resized(place, column, rung)
        for one, other in combinations(range(len(draft.tables)), 2):
            both = [draft.columns(draft.tables[place]) for place in (one, other)]
            if set(both[0]) & set(both[1]):
                yield f"merge {' with '.join(map('*'.join, both))}", draft.merged(one, other)
        for name in self.diameters:
            if name in draft.scores:
                yield f"no score of {name}", draft.without_score(name)
            else:
                yield f"score of {name}", draft.with_score(name, SCORE)

    @property
    def joints(self) -> list[Clique]:
        """Columns that one criterion names, three or more, if two groups of each are affordable; or all."""
        names = tuple(self.moments.cuts)
        named = [tuple(name for name in names if name in c.columns) for c in self.declared]
        most = most_cells(self.moments.table.n, self.budget / 3)
        return [c for c in dict.fromkeys([names, *named]) if len(c) > 2 and 2 ** len(c) <= most]

    @property
    def named(self) -> list[Clique]:
        """Pairs that one criterion names: a column and what it is grouped by."""
        names = tuple(self.moments.cuts)
        found = {
            frozenset(pair)
            for criterion in self.declared
            for pair in product(criterion.columns, getattr(criterion, "by", ()))
        }
        return [pair for pair in combinations(names, 2) if frozenset(pair) in found]

    def sized(self, columns: Clique, groups: int) -> Sizes:
        """A table of some columns, each in at most so many groups."""
        sizes = {name: min(self.moments.cuts[name].codes, groups) for name in columns}
        return tuple(sizes.get(name, 1) for name in self.moments.table.domain.names)

    def starts(self) -> list[Draft]:
        """Where to begin: columns alone, with the pairs that criteria name, with a coarse joint table."""
        alone = Draft.of(self.moments.table.domain, law=self.law)
        named = alone.with_tables([self.sized(pair, COARSE) for pair in self.named])
        joints = [self.sized(clique, FEW) for clique in self.joints]
        found = [alone, named, *(one.with_table(joint) for joint in joints for one in (alone, named))]
        return [draft for draft in found if draft.sensible(self.moments.table.n)]
