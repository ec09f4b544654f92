"""Examples: a question for every listed mechanism, query and score, on the neighbours that it tells apart best.

A test holds the list against what is listed. `tight`: some pair comes near to what the theorem allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import (
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyMoments,
    NoisyScores,
    NoisySelection,
    NoisySteps,
    NoisyVotes,
)
from facsimile.privacy.queries import (
    BoxDistances,
    ClippedRatio,
    Dependences,
    FloorMeans,
    LargestDifference,
    MarginalDistances,
    OneStep,
    PredictionGap,
    Query,
    ResizedMeans,
    Scores,
    TailDifference,
    TotalVariation,
    Unlikeness,
    Unmatched,
    Viewed,
    WorstExcess,
    WorstSum,
)
from facsimile.privacy.queries.regression import Cells
from facsimile.privacy.queries.sums import Sums
from facsimile.privacy.stream import WORDS
from facsimile.table.boxes import Boxes
from facsimile.table.domain import Domain, Versions
from facsimile.table.linear import Linear, newton_terms
from facsimile.table.matching import Likeness
from facsimile.table.regression import Scaling
from facsimile.table.scores import ONE, Factor, RowScores
from facsimile.table.table import Table
from facsimile.table.view import View
from facsimile.testing import every_pair, small_domain
from facsimile.testing.apart import DRAWS, SHARE, tightest
from facsimile.testing.learners import Begin, Deaf, lesson, steps
from facsimile.testing.neighbours import Neighbours
from facsimile.testing.queries import finest

RHO = Rho(SHARE**2 / 2)
"""The ρ whose √(2ρ) is the ε that pure questions have."""
PAIR = small_domain(2)
WIDER = small_domain(3, 2)
RECORDS = 4
CANDIDATE = Table.from_rows(WIDER, [[0, 0], [1, 1], [2, 0], [2, 1]])
BOUNDS = (Fraction(0), Fraction(2))
GROUPS = (("b", (0, 1)),)
CELLS = Cells(np.ones(WIDER.shape, np.bool_))
TEACHERS = 2
MIXED = small_domain(3, 3, 2)
CANDIDATES: tuple[tuple[str, Versions], ...] = (("a", (("b", None),)), ("c", (("a", None),)))
FEW, MANY = 10, 10_000


@dataclass(frozen=True, eq=False)
class Example:
    """A question about tables of n records over a domain; `of` is what its theorem speaks of."""

    name: str
    of: type
    mechanism: Mechanism[Any]
    domain: Domain
    n: int
    tight: bool = True
    draws: int = DRAWS
    known: Neighbours | None = None
    """The neighbours that it tells apart best, where they are known."""

    @property
    def theorem(self) -> str:
        """Its place in the index of privacy/README.md."""
        module = self.of.__module__.removeprefix("facsimile.privacy.")
        return f"{module}.{self.of.__name__}"

    @cached_property
    def pairs(self) -> Sequence[Neighbours]:
        """All neighbouring tables; of many records, those that it tells apart best."""
        if self.n > FEW and self.known is not None:
            return [self.known]
        return list(every_pair(self.domain, self.n))

    @cached_property
    def pair(self) -> Neighbours:
        """The neighbours that it tells apart best."""
        return self.known or tightest(self.mechanism, self.pairs)


def examples() -> Iterator[Example]:
    """Every listed mechanism, with noise for an ε and for a ρ; every listed query and score, for an ε."""
    for share, unit in ((SHARE, ""), (RHO, ", rho")):
        yield Example(f"a marginal{unit}", NoisyMarginals, NoisyMarginals(((("a", "b"), share),)), WIDER, 3)
        yield Example(f"a count{unit}", NoisyAnswer, NoisyAnswer(_count(), share), PAIR, 3)
        yield Example(f"a choice{unit}", NoisySelection, NoisySelection(_distances(), share), PAIR, 3)
        yield Example(f"clipped scores{unit}", NoisyScores, NoisyScores(_waves(), 1, share), WIDER, 3)
    little = NoisyAnswer(_count(), SHARE / 30)
    yield Example("a count, much noise", NoisyAnswer, little, PAIR, 3, tight=False, draws=DRAWS // 10)
    yield Example("moments", NoisyMoments, _moments(), WIDER, 3)
    few = small_domain(2, 2)
    trained = replace(steps(few, most=2**13, times=1, loss="wasserstein"), share=WORDS, variance=Fraction(1))
    yield Example("noisy steps", NoisySteps, trained, few, 2, tight=False, draws=DRAWS // 5)
    yield Example("teachers' votes", NoisyVotes, _votes(few), few, 3, tight=False, draws=DRAWS // 2)
    for query, domain, n, pair in _queries():
        answer = NoisyAnswer(query, SHARE, finest(query.sensitivity()))
        yield Example(type(query).__name__, type(query), answer, domain, n, known=pair)
    for scores, domain, n, tight in _scores():
        yield Example(type(scores).__name__, type(scores), NoisySelection(scores, SHARE), domain, n, tight)
    mixed = NoisySelection(Dependences(MIXED, CANDIDATES, MANY), SHARE)
    yield Example("mixed candidates", Dependences, mixed, MIXED, MANY, False, known=_dependent())


def _count() -> WorstSum:
    return WorstSum((Sums(("a",), np.array([[1, 0]]), (0,), (Fraction(1),)),))


def _distances() -> MarginalDistances:
    """One distance grows where the other falls."""
    return MarginalDistances(((("a",), np.array([3, 0])), (("a",), np.array([1, 2]))))


def _waves() -> RowScores:
    return RowScores(WIDER, ((Factor(0, ((("a",), ONE * np.array([-1, 0, 1])),)),),))


def _moments() -> NoisyMoments:
    """Of a regression on a constant alone: one sum, which one event can tell."""
    return NoisyMoments((), (("a",), np.array([0, 1, 4])), 2, SHARE)


def _votes(domain: Domain) -> NoisyVotes[Deaf]:
    return NoisyVotes(Begin((lesson(domain, 3),)), TEACHERS, 1, 3, RHO)


def _queries() -> Iterator[tuple[Query, Domain, int, Neighbours | None]]:
    s, n = CANDIDATE, RECORDS
    two = Table.from_rows(PAIR, [[0], [1]])
    terms = newton_terms(s, "a")
    assert terms is not None
    scaling = Scaling("a", ("b",), (Fraction(1, 2),), (Fraction(1, 2),))
    real, made = (
        Linear.scaled(WIDER, scaling, weights)
        for weights in ((Fraction(2), Fraction(1)), (Fraction(0), Fraction(0)))
    )
    first = View.of_columns(WIDER, ["a"])
    alike = Likeness(("b",), (("a", (0, 1, 2)),), 1)
    together = ((LargestDifference(s), Fraction(1, 5)), (Unlikeness(s), Fraction(1, 2)))
    every: tuple[Query, ...] = (
        LargestDifference(s),
        Unlikeness(s),
        TotalVariation(s, (("a",), ("a", "b"))),
        TailDifference(s, (("a",), ("b",)), Fraction(1, 4)),
        WorstSum((Sums(("a",), np.array([[0, 1, 3], [2, 0, 0]]), (4, 1), (Fraction(2), Fraction(5))),)),
        FloorMeans(s, "a", GROUPS, BOUNDS, Fraction(0)),
        OneStep(terms, CELLS, n),
        PredictionGap(real, made, BOUNDS, CELLS, n),
        Unmatched(s, alike),
        WorstExcess(together),
        Viewed(first, LargestDifference(first.of(s))),
    )
    yield from ((query, WIDER, n, None) for query in every)
    yield ClippedRatio(two, Fraction(2)), PAIR, 2, None
    rest = [[0, 0], [1, 1], [2, 1]]
    pair = Table.from_rows(WIDER, [[0, 0], *rest]), Table.from_rows(WIDER, [[2, 0], *rest])
    yield ResizedMeans(s, "a", GROUPS, BOUNDS, Fraction(0)), WIDER, n, pair


def _scores() -> Iterator[tuple[Scores, Domain, int, bool]]:
    yield _distances(), PAIR, 3, True
    ends = np.array([[0], [1]])
    yield BoxDistances(Boxes((2,), ends, ends + 1), np.array([3, 2])), PAIR, 3, True
    square = small_domain(2, 2)
    both: tuple[Any, ...] = (("a", (("b", None),)), ("a", ()))
    yield Dependences(square, both, 3), square, 3, False


def _dependent() -> Neighbours:
    """A record leaves a cell that is rarer than independence has it for an empty row and column: the dependence
    of `a` on `b` moves by nearly 6n, that of `c`, which has two values, by 4n at most."""
    few = 3 * isqrt(MANY) // 2
    rest, counts = [[0, 2, 0], [2, 0, 0], [2, 2, 0]], [few, few, MANY - 1 - 2 * few]
    one, other = (Table.from_rows(MIXED, [*rest, last], [*counts, 1]) for last in ([0, 0, 0], [1, 1, 0]))
    return one, other
