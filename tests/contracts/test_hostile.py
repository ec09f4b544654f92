"""Hostile parameters: a question is refused for all tables, or answered for all within its sensitivity.

The contract is `facsimile.testing.check_parameters`; here every parameter of every listed kind also has hostile
values by hand.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from contracts.test_mechanisms import count
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import (
    MECHANISMS,
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyMoments,
    NoisyScores,
    NoisySelection,
    NoisySteps,
    NoisyVotes,
)
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.queries import (
    QUERIES,
    SCORES,
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
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.boxes import Boxes
from facsimile.table.domain import Domain
from facsimile.table.linear import Linear, Terms
from facsimile.table.matching import MOST_FLOW, Likeness
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.table.view import Shown, View
from facsimile.testing import Broken, NoNoise, check_parameters, every_pair, moves, small_domain
from facsimile.testing.hostile import LEAST, parts, refused
from facsimile.testing.learners import LEARNERS, Begin, critic, learners, lesson
from facsimile.testing.mechanisms import asked

N = 2
DOMAIN, OTHER = small_domain(3, 2), small_domain(2, 3)
PAIRS = list(every_pair(DOMAIN, N))
S = Table.from_rows(DOMAIN, [[0, 0], [2, 1]])
HALF, ONE = Fraction(1, 2), Fraction(1)
BOUNDS = (Fraction(0), Fraction(2))
GROUPS = (("b", (0, 1)),)
UNKNOWN = Domain((*DOMAIN.axes[:1], Axis("z", DOMAIN.axes[1].bins)))
NAMELESS = Domain(
    tuple(Axis(a.name, tuple(CategoryBin(b.label, frozenset([b.label])) for b in a.bins)) for a in DOMAIN.axes)
)


@dataclasses.dataclass(frozen=True, eq=False)
class Stranger(Query):
    """A query that is plain, but not listed: it shows a record."""

    def check(self, domain: Domain, n: int) -> None:
        pass

    def value(self, table: Table, noise: Noise) -> int:
        return 10**9 * int(table.codes[0, 0])

    def sensitivity(self) -> Fraction:
        return ONE


class Failing(Stranger):
    """A query that fails on some tables."""

    def value(self, table: Table, noise: Noise) -> int:
        return [0][int(table.codes[0, 0])]


def arrays(*values: Any) -> tuple[Any, ...]:
    return tuple(np.array(value) for value in values)


def line(domain: Domain = DOMAIN, b: Any = (-5, 5), **changed: Any) -> Linear:
    given: dict[str, Any] = {"target": "a", "constant": 3, "contributions": ((("b",), np.array(b)),)}
    return Linear(domain, **(given | changed))


TERMS = Terms(line(), (line(constant=2**20, b=(2**18, 0)), line(constant=0, b=(0, -(2**21)))))
CELLS = Cells(np.array([[1, 0], [1, 1], [0, 1]]) > 0)
PART = Sums(("a",), np.array([[0, 1, 3], [2, 0, 0]]), (4, 1), (Fraction(2), Fraction(5)))
LIKE = Likeness(("b",), (("a", (0, -1, 2)),), 1)
COUNT = count(("a",), [0, 1, 0])
MODELS = ((("a",), np.array([1, 0, 1])), (("a", "b"), np.array([[1, 0], [0, 2], [0, 0]])))
BOXES = Boxes((3, 2), np.array([[0, 0], [1, 1]]), np.array([[2, 2], [2, 2]]))
EVENT = Shown.numbers("e", ("a",), map(Fraction, (0, 1, 1)), (3,))
VIEW = View(DOMAIN, (Shown.plain(DOMAIN.axes[1]), EVENT))
ODDS = Linear(VIEW.domain, "e", 3, ((("b",), np.array([-(2**20), 2**19])),))
COARSE = (("a", (("b", None),)), ("b", (("a", (0, 0, 1)),)))


FACTOR = Factor(3, ((("a",), np.array([0, 3, -1])), (("b", "a"), np.array([[1, 2, 3], [4, 5, 6]]))))
ROWS = RowScores(DOMAIN, ((FACTOR,), (FACTOR, Factor(-1, ((("b",), np.array([2000, 4])),)))))


def scores(**changes: Any) -> RowScores:
    """Scores with one factor changed."""
    return RowScores(DOMAIN, ((FACTOR,), (dataclasses.replace(FACTOR, **changes), FACTOR)))


@dataclasses.dataclass(frozen=True)
class Made:
    """A hostile value that may be refused when it is made."""

    make: Callable[[], Any]


def course(**changes: Any) -> Made:
    """A course whose critic has something changed."""
    return Made(lambda: Begin((dataclasses.replace(critic(DOMAIN), **changes),)))


def school(**changes: Any) -> Made:
    """A school whose lesson has something changed."""
    return Made(lambda: Begin((dataclasses.replace(lesson(DOMAIN), **changes),)))


def signs(given: Any) -> Made:
    """A school whose layer has these signs."""
    good = lesson(DOMAIN)
    return Made(lambda: Begin((dataclasses.replace(good, layer=dataclasses.replace(good.layer, signs=given)),)))


def misfits(array: Any) -> list[Any]:
    """An array with a number out of range, of another type and of another shape."""
    lowest = np.zeros(array.shape, np.int64)
    lowest.flat[-1] = LEAST
    types = (np.float64, np.int8, object, np.complex128)
    return [lowest, array + 2**15, array[:-1], array[:0], array[None], *(array.astype(kind) for kind in types)]


def outside(rows: Any) -> list[Any]:
    """Rows just beyond the codes of a column."""
    return [rows - 1, *(rows + np.array(beyond) for beyond in ((DOMAIN.shape[0], 0), (0, DOMAIN.shape[1])))]


ROW = np.zeros((6, 2), np.int64)


class Turning(tuple[Any, ...]):
    """Its parts are others when they are taken one by one."""

    def __getitem__(self, place: Any) -> Any:
        return None


GOOD: dict[type, Any] = {
    NoisyMarginals: NoisyMarginals(((("a",), HALF), (("b", "a"), ONE)), (("a", (0, 2, 0)), ("b", None))),
    NoisyAnswer: NoisyAnswer(COUNT, HALF, 3),
    NoisySelection: NoisySelection(MarginalDistances(MODELS), HALF, 2),
    NoisyMoments: NoisyMoments(((("a",), np.array([0, 3, -1])),), (("b",), np.array([0, 4])), 2, HALF),
    NoisyScores: NoisyScores(ROWS, 7, HALF),
    LargestDifference: LargestDifference(S, 1),
    ClippedRatio: ClippedRatio(S, Fraction(2)),
    Unlikeness: Unlikeness(S),
    TotalVariation: TotalVariation(S, (("a",), ("a", "b"))),
    TailDifference: TailDifference(S, (("a",), ("b",)), Fraction(1, 4)),
    WorstSum: WorstSum((PART,)),
    FloorMeans: FloorMeans(S, "a", GROUPS, BOUNDS, Fraction(1, 4)),
    ResizedMeans: ResizedMeans(S, "a", GROUPS, BOUNDS, Fraction(1, 4)),
    OneStep: OneStep(TERMS, CELLS, N),
    PredictionGap: PredictionGap(line(constant=2**21), line(), BOUNDS, CELLS, N),
    Unmatched: Unmatched(S, LIKE),
    WorstExcess: WorstExcess(((COUNT, HALF), (Unlikeness(S), Fraction(1, 5)))),
    Viewed: Viewed(VIEW, OneStep(Terms(ODDS, (ODDS,), odds=True), Cells(np.ones((2, 2), np.bool_)), N)),
    BoxDistances: BoxDistances(BOXES, np.array([1, 0])),
    MarginalDistances: MarginalDistances(MODELS, (HALF, Fraction(3, 2)), (ONE, HALF)),
    Dependences: Dependences(DOMAIN, COARSE, N),
    **learners(DOMAIN),
}
CHANGED: dict[type, dict[str, list[Any]]] = {
    NoisyMarginals: {
        "marginals": [
            ((("z",), HALF),), ((("a", "a"), HALF),), ((["a"], HALF),), ((("a",), 0.5),), (("ab", HALF),),
            ((("a",), Fraction(10**400)),), ((("a",), Fraction(1, 10**400)),),
            ([("a",), HALF],), (Turning((("a",), HALF)),),
        ],
        "versions": [
            (("a", (0, 1)),), (("a", (0, 1, 2, 3)),), (("a", (0, -1, 1)),), (("a", (0, 2**62, 1)),), "ab",
            (("z", (0, 1)),), (("a", (0.0, 1.0, 1.0)),), (("a", [0, 1, 1]),), [("a", (0, 0, 1))], (("a", ()),),
            (("a",),), (Turning(("a", (-1, 0, 1))),), (["a", (0, 0, 1)],),
        ],
    },
    NoisyAnswer: {
        "query": [Unlikeness(Table.from_rows(OTHER, [[0, 0], [1, 2]])), WorstExcess(((Stranger(), HALF),))],
        "grid": [1.5, 2**70, True], "epsilon": [0.5, Fraction(10**400)],
    },
    NoisySelection: {
        "scores": [MarginalDistances(((("a",), np.array([LEAST, 0, 0])),))],
        "grid": [2.5, 2**70], "epsilon": [0.5, Fraction(1, 10**400)],
    },
    NoisyMoments: {
        "features": [
            ((("a",), np.array([0, 3])),), ((("a",), np.array([0, 3, 1, 2])),),
            ((("z",), np.array([0, 3, 1])),), ((("a",), np.array([LEAST, 0, 1])),),
            ((("b",), np.array([0, 4])),), ((("a",), np.array([0.0, 3.0, 1.0])),),
            ((("a",), np.array([[0, 3, 1]])),), ((("a", "b"), np.ones((3, 2), np.int64)),),
            (((), np.array(1)),),
        ],
        "target": [(("b",), np.array([0])), (("a",), np.array([0, 1, 2]))], "unit": [2**62, 0, 1.5],
        "epsilon": [0.5],
    },
    NoisyScores: {
        "scores": [
            None, RowScores(OTHER, ROWS.functions), RowScores(DOMAIN, ()),
            *(RowScores(DOMAIN, given) for given in (([FACTOR],), [(FACTOR,)], (("ab",),))),  # type: ignore[arg-type]
            scores(constant=1.5), scores(constant=2**60), scores(constant=LEAST), scores(constant=True),
            *(
                scores(tables=((("a",), np.array(table)),))
                for table in ([0, 3], [LEAST, 0, 1], [0.0, 3.0, 1.0], [2**61, 0, 1], [[0, 3, 1]])
            ),
            *(scores(tables=((("a",), np.array([0, 3, 1], kind)),)) for kind in (object, np.int8)),
            scores(tables=((("z",), np.array([0, 3, 1])),)), scores(tables=(("a", np.array([0, 3, 1])),)),
            scores(tables=((("a", "a"), np.eye(3, dtype=int)),)),
            RowScores(DOMAIN, ((FACTOR,) * 20 + (Factor(2**40),) * 5,)),
        ],
        "most": [0, -1, 1.5, 2**62, True], "epsilon": [0.5, Fraction(0), Fraction(10**400)],
    },
    LargestDifference: {"ways": [0, -1, 1.5]},
    ClippedRatio: {"clip": [ONE, Fraction(-3), 2.0, Fraction(0)]},
    Unlikeness: {},
    TotalVariation: {"marginals": [(), (("z",),), (("a", "a"),), ("ab",), (["a"],)]},
    TailDifference: {"marginals": [(), (("z",),)], "beyond": [Fraction(-1), Fraction(2), 0.5]},
    WorstSum: {
        "parts": [
            (),
            *(
                (dataclasses.replace(PART, **change),)
                for change in (
                    {"clique": ("b",)}, {"clique": ("z",)}, {"clique": ("a", "a")}, {"centres": (1,)},
                    {"centres": (1.5, 1)}, {"units": (Fraction(2),)}, {"units": (Fraction(0), ONE)},
                    {"units": (-ONE, ONE)}, {"units": (0.5, ONE)}, {"terms": np.array([[0, 1], [2, 0]])},
                    {"terms": np.array([[0.0, 1, 3], [2, 0, 0]])}, {"terms": np.array([0, 1, 3])},
                    {"terms": np.array([[0.5, 1, 3], [2, 0, 0]], object)},
                    {"terms": np.zeros((0, 3), np.int64)},
                )
            ),
        ]
    },
    FloorMeans: {
        "of": ["z", ["a"]],
        "groupings": [(("b", (0,)),), (("b", (0, -1)),), (("z", (0, 1)),), (("b", (0, 2**62)),)],
        "bounds": [(Fraction(0), ONE), (Fraction(2), Fraction(0)), (0.0, 2.0), (Fraction(1, 2), Fraction(2))],
        "slack": [0.5], "fill_to": [0, -3, 1.5, True],
    },
    OneStep: {
        "terms": [
            Terms(line(OTHER), TERMS.rows), Terms(line(), ()), Terms(line(b=(1,)), TERMS.rows),
            Terms(line(b=(1, 2, 3)), TERMS.rows), Terms(line(), (line(b=(0.5, 1.0)),)),
            Terms(line(target="z"), TERMS.rows), Terms(line(constant=0.5), TERMS.rows),
            Terms(line(), (line(contributions=((("z",), np.array([1, 2])),)),)),
            Terms(line(), (line(contributions=((("b", "b"), np.ones((2, 2), np.int64)),)),)),
            Terms(line(), (line(contributions=(((), np.array(3)),)),)), Terms(line(), TERMS.rows, 1),  # type: ignore[arg-type]
        ],
        "cells": [Cells(np.ones((2, 3), np.bool_)), np.ones((3, 2), np.bool_), Cells(np.ones(3, np.bool_))],
        "n": [N + 1, 0, -1, 2**62],
    },
    PredictionGap: {
        "real": [line(OTHER), line(b=(1,)), line(b=(0.5, 1.0)), line(target="b", contributions=())],
        "candidate": [line(b=(1,)), line(UNKNOWN)],
        "bounds": [(Fraction(2), Fraction(0)), (0.0, 1.0), (Fraction(0),)],
        "cells": [Cells(np.ones((2, 3), np.bool_))], "n": [N + 1, 0],
    },
    Unmatched: {
        "likeness": [
            Likeness(("b",), (("a", (0, 1)),), 1), Likeness(("b",), (), 1), Likeness(("z",), LIKE.steps, 1),
            Likeness(("b",), (("a", (0, -7, 1)),), 1), Likeness(("b",), (("a", (0, 2**62, 1)),), 1),
            Likeness(("b",), LIKE.steps, -1), Likeness(("b",), LIKE.steps, 2**40), Likeness((), LIKE.steps, 1),
        ]
    },
    WorstExcess: {
        "parts": [
            (), (Turning((COUNT, HALF)),), ((Stranger(), HALF),), ((Failing(), HALF),), ((COUNT, 0.5),),
            ((COUNT, HALF), (Failing(), HALF)),
            ((WorstExcess(((Stranger(), HALF),)), HALF),),
            ((FloorMeans(S, "a", (("b", (0,)),), BOUNDS, HALF), HALF),),
        ]
    },
    Viewed: {
        "view": [
            View(OTHER, VIEW.columns), View(DOMAIN, ()), View(DOMAIN, [*VIEW.columns]),  # type: ignore[arg-type]
            View(DOMAIN, VIEW.columns * 2), View(DOMAIN, (VIEW.columns[0],)), None,
            *(
                View(DOMAIN, (VIEW.columns[0], dataclasses.replace(EVENT, **change)))
                for change in (
                    {"clique": ("z",)}, {"clique": ()}, {"clique": ["a"]}, {"clique": ("a", "b")},
                    {"codes": np.array([0, 1])}, {"codes": np.array([0, 1, 2])},
                    {"codes": np.array([0, -1, 1])}, {"codes": np.array([0.0, 1.0, 1.0])},
                    {"codes": np.array([0, 1, 1], object)},
                    {"axis": DOMAIN.axes[1]}, {"axis": None},
                )
            ),
        ],
        "query": [
            Stranger(), Failing(), COUNT, WorstExcess(((COUNT, HALF),)),
            FloorMeans(S, "a", GROUPS, BOUNDS, HALF),
            Viewed(View.of_columns(VIEW.domain), Unlikeness(VIEW.of(S))),
        ],
    },
    MarginalDistances: {
        "models": [
            (), ((("a",), np.array([LEAST, 0, 0])), (("a",), np.array([0, 0, 0]))),
            ((("a",), np.array([2**53 + 1, 0, 0])),), ((("a",), np.array([1, 0])),),
            ((("z",), np.array([1, 0, 1])),),
            ((("a",), np.array([[1, 0, 1]])),), ((("a",), np.array([1, 0, 1], np.uint64)),),
            ((("a",), np.rint(np.full(3, np.inf)).astype(object)),), ((("a",), np.array([1, 0, 1], np.int8)),),
        ],
        "weights": [(ONE,), (ONE, ONE, ONE), (Fraction(0), ONE), (0.5, 0.5), (-ONE, ONE)],
        "biases": [(ONE,), (0.5, 0.5), (ONE, ONE, ONE)],
    },
    BoxDistances: {
        "boxes": [
            Boxes((2, 3), BOXES.low, BOXES.high), None,
            Boxes((3.0, 2.0), BOXES.low, BOXES.high),  # type: ignore[arg-type]
            Boxes((3, 2), BOXES.low - 1, BOXES.high), Boxes((3, 2), BOXES.low, BOXES.high + 1),
            Boxes((3, 2), BOXES.low, BOXES.low), Boxes((3, 2), BOXES.high, BOXES.low), BOXES.some([0]),
            Boxes((3, 2), BOXES.low.astype(float), BOXES.high.astype(float)), BOXES.low,
            Boxes((3, 2), BOXES.low.astype(object), BOXES.high),
            Boxes((3, 2), BOXES.low[:, :1], BOXES.high[:, :1]),
            Boxes((3, 2), BOXES.low[:0], BOXES.high[:0]), Boxes((3, 2), BOXES.low[0], BOXES.high[0]),
            Boxes((3, 2), BOXES.low[:1], BOXES.high), Boxes((3, 2), np.array(1), np.array(2)),
        ],
        "model": [
            np.array([1]), np.array([1.0, 0.0]), np.array([LEAST, 0]), np.array([2**53 + 1, 0]), [1, 0],
            np.array([[1, 0]]), np.array([1, 0], np.int8), np.array([1, None]), np.array([1, 0.5], object),
        ],
    },
    Dependences: {
        "candidates": [
            [("b", ())], (Turning(("b", ())),),
            (), (("a", (("b", (0,)),)),), (("b", (("a", (0, 0)),)),), (("b", (("a", (0, -1, 1)),)),),
            (("b", (("a", (0, 2**40, 1)),)),), (("b", (("a", (0, 1000, 1)), ("c", None))),), (("z", ()),),
            (("b", (("z", None),)),), (("b", (("a", (0, 0.5, 1)),)),), (("b", (("b", None),)),),
        ],
        "n": [N + 1, 0, -5, 2**62], "domain": [OTHER, UNKNOWN],
    },
    NoisySteps: {
        "begin": [
            None, Begin(()), Begin((None,)), course(domain=OTHER), course(domain=UNKNOWN),
            course(level=2**40), course(level=LEAST), course(level=0.5), course(loss="mine"),
            *(
                course(**{name: misfit})
                for name in ("weights", "bias", "out")
                for misfit in misfits(getattr(critic(DOMAIN), name))
            ),
        ],
        "steps": [0, -1, 1.5, True, 2**40], "share": [0, -1, 1.5, True, 2**33],
        "most": [0, -1, 1.5, 2**62, True], "variance": [Fraction(0), -ONE, 0.5, Fraction(10**40), None],
        "delta": [Fraction(0), ONE, -ONE, 1e-9, None],
    },
    NoisyVotes: {
        "begin": [
            None, Begin(()), Begin((None,)), school(layer=None), school(asked=None), school(made=None),
            Begin((lesson(OTHER),)), Begin((lesson(UNKNOWN),)), Begin((lesson(DOMAIN, 5),)),
            *(
                school(**{name: misfit})
                for name in ("made", "asked")
                for misfit in (*misfits(ROW)[:2], *outside(ROW), ROW[:0], ROW[:, :1], *misfits(ROW)[4:])
            ),
            *(signs(((("a", "b"), misfit),)) for misfit in misfits(np.ones((3, 2), np.int64))),
            signs(()), signs([]), signs(((("z",), np.ones(1, np.int64)),)), signs((((), np.array(1)),)),
            signs(((("a", "a"), np.ones((3, 3), np.int64)),)), signs(("ab",)),
        ],
        "teachers": [0, -1, 1.5, True, 2**40], "rounds": [0, -1, 1.5, True, 2**40],
        "rows": [0, -6, 5, 6.0, True, 2**70], "share": [Rho(0), -ONE, HALF, 0.5, Rho(10**400), Rho(1, 10**400)],
    },
}  # fmt: skip
CHANGED[ResizedMeans] = CHANGED[FloorMeans]
TABLES_OF_OTHERS = [
    Table.from_rows(OTHER, [[0, 0], [1, 2]]), Table.from_rows(DOMAIN, [[0, 0]]),
    Table.from_rows(NAMELESS, [[0, 0], [2, 1]]),
    Table.from_rows(UNKNOWN, [[0, 0], [2, 1]]), Table(DOMAIN, *arrays([[0, 0], [3, 1]], [1, 1])),
    Table(DOMAIN, *arrays([[0, 0], [2, -1]], [1, 1])), Table(DOMAIN, *arrays([[0, 0], [2, 1]], [3, -1])),
    Table(DOMAIN, *arrays([[0, 0], [2, 1]], [2, 0])), Table(DOMAIN, *arrays([[0.0, 0.0], [2, 1]], [1, 1])),
    Table(DOMAIN, *arrays([[0, 0, 0], [2, 1, 0]], [1, 1])), Table(DOMAIN, *arrays([[0, 0], [2, 1]], [2])),
]  # fmt: skip


def asking(question: Any, epsilon: Fraction = HALF) -> Mechanism[Any]:
    """A mechanism that asks a query or takes a score."""
    if isinstance(question, Query):
        return NoisyAnswer(question, epsilon, 3)
    return NoisySelection(question, epsilon, 3) if isinstance(question, Scores) else question


def test_every_listed_kind_has_a_good_question_and_every_parameter_hostile_ones() -> None:
    """Candidates are hostile in a test of their own; `average` is a choice that cannot be wrong."""
    assert set(GOOD) == set(CHANGED) == {*MECHANISMS, *QUERIES, *SCORES}
    for kind, hostile in CHANGED.items():
        fields = {field.name for field in dataclasses.fields(kind)}
        assert fields - {"average"} == set(hostile) | (fields & {"candidate"})


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_question_is_answered_on_every_table(kind: type) -> None:
    assert not refused(lambda: asking(GOOD[kind]), DOMAIN, N, PAIRS)


@pytest.mark.parametrize("kind", GOOD)
def test_it_does_not_fit_another_domain_or_another_size(kind: type) -> None:
    question = asking(GOOD[kind])
    with pytest.raises(ValueError):
        question.check(Domain(tuple(Axis(name, DOMAIN.axes[0].bins) for name in "yz")), N)
    with pytest.raises(ValueError):
        question.check(DOMAIN, 2**53)
    if hasattr(GOOD[kind], "candidate") or hasattr(GOOD[kind], "n"):
        with pytest.raises(ValueError):
            question.check(DOMAIN, N + 1)


HOSTILE = [
    (kind, field, place)
    for kind, fields in CHANGED.items()
    for field in fields
    for place in range(len(fields[field]))
]


@pytest.mark.parametrize(("kind", "field", "place"), HOSTILE)
def test_a_hostile_parameter_is_refused(kind: type, field: str, place: int) -> None:
    given = CHANGED[kind][field][place]

    def make() -> Mechanism[Any]:
        value = given.make() if isinstance(given, Made) else given
        return asking(dataclasses.replace(GOOD[kind], **{field: value}))

    assert refused(make, DOMAIN, N, PAIRS)


def of_its_own_class(part: Any) -> Any:
    """An equal value of a class that could do anything."""
    own: Any = object.__new__(type("Own", (type(part),), {}))
    own.__dict__.update(part.__dict__)
    return own


def others(part: Any) -> list[Any]:
    """What looks like a part of a question, and may be another after a look at it."""
    if type(part) is tuple:
        return [list(part), Turning(part)]
    if dataclasses.is_dataclass(part) and not isinstance(part, Mechanism):
        return [of_its_own_class(part)]
    return [part.view(type("Own", (np.ndarray,), {}))] if isinstance(part, np.ndarray) else []


@pytest.mark.parametrize("kind", GOOD)
def test_a_question_holds_nothing_that_may_be_another_after_its_check(kind: type) -> None:
    """Every part becomes one of a class of its own, every tuple a list: it is refused, or made plain again."""
    for where, part, rebuild in parts(asking(GOOD[kind])):
        for other in others(part) if ".begin" not in where else ():
            try:
                changed = rebuild(other)
            except Exception:
                continue
            try:
                changed.check(DOMAIN, N)
            except ValueError:
                continue
            kinds = {type(held) for place, held, _ in parts(changed) if place == where}
            assert kinds == {type(part)}, f"{where} is another {kinds}"


LATER: dict[type, tuple[Any, ...]] = {
    NoisySteps: (None, object(), critic(OTHER), critic(UNKNOWN)),
    NoisyVotes: (None, object(), lesson(OTHER), lesson(UNKNOWN), lesson(DOMAIN, 7)),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_learner_that_turns_hostile_ends_at_the_same_place_for_every_table(kind: type) -> None:
    for later in LATER[kind]:
        turned = dataclasses.replace(GOOD[kind], begin=Begin((GOOD[kind].begin().critic, later)))
        turned.check(DOMAIN, N)
        assert moves(turned, PAIRS)[0] <= 1
        ends = [asked(turned, table) for table, _ in PAIRS]
        assert {(end.ended, len(end.asked)) for end in ends} == {("ValueError", 1)}


def test_what_somebody_learns_from_is_measured_where_all_tables_share_its_draw() -> None:
    assert set(LEARNERS) == {kind for kind in MECHANISMS if hasattr(GOOD[kind], "begin")}
    for kind in LEARNERS:
        assert 0.05 < moves(GOOD[kind], PAIRS)[0] <= 1


@pytest.mark.parametrize(
    "kind", [k for k, q in GOOD.items() if isinstance(getattr(q, "candidate", None), Table)]
)
@pytest.mark.parametrize("place", range(len(TABLES_OF_OTHERS)))
def test_a_candidate_that_is_no_table_of_the_domain_is_refused(kind: type, place: int) -> None:
    assert refused(
        lambda: asking(dataclasses.replace(GOOD[kind], candidate=TABLES_OF_OTHERS[place])), DOMAIN, N, PAIRS
    )


def test_a_query_that_reads_numbers_is_refused_where_a_bin_has_none() -> None:
    for kind in (FloorMeans, OneStep, PredictionGap):
        with pytest.raises(ValueError):
            asking(GOOD[kind]).check(NAMELESS, N)


def test_a_matching_has_no_more_records_than_its_flow_can_hold() -> None:
    for n, fits in ((MOST_FLOW, True), (MOST_FLOW + 1, False)):
        many = Unmatched(Table.from_rows(DOMAIN, [[0, 0]], [n]), LIKE)
        with contextlib.nullcontext() if fits else pytest.raises(ValueError, match="too many records"):
            many.check(DOMAIN, n)


OTHERS = [Stranger(), Failing(), *(GOOD[kind] for kind in (*QUERIES, *SCORES))]


@pytest.mark.parametrize("kind", [kind for kind, question in GOOD.items() if hasattr(question, "n")])
@pytest.mark.parametrize("other", [float(N), Fraction(N), np.int64(N)], ids=lambda other: type(other).__name__)
def test_a_number_of_records_is_an_integer(kind: type, other: Any) -> None:
    with pytest.raises(ValueError):
        dataclasses.replace(GOOD[kind], n=other).check(DOMAIN, N)


@pytest.mark.parametrize("kind", GOOD)
def test_no_failure_depends_on_the_table_however_a_question_is_mutated(kind: type) -> None:
    """One to three changes anywhere inside a good question."""
    check_parameters(asking(GOOD[kind]), DOMAIN, N, changes=60, others=OTHERS)


class Hopeful(NoisyMarginals):
    """Mutant: a column that is not there is found out when a record is looked at."""

    def check(self, domain: Domain, n: int) -> None:
        pass


def test_a_question_that_fails_where_a_record_is_looked_at_is_caught() -> None:
    with pytest.raises(Broken, match="fails on a table"):
        check_parameters(Hopeful(((("a",), HALF),)), DOMAIN, N)


@pytest.mark.parametrize("versions", [((0, 1, 2), (0, 0, 1)), ((0, 0, 1), (0, 1, 2))])
def test_a_column_in_two_groupings_is_counted_in_one_of_them(versions: tuple[tuple[int, ...], ...]) -> None:
    twice = NoisyMarginals(((("a",), HALF),), tuple(("a", groups) for groups in versions))
    assert not refused(lambda: twice, DOMAIN, N, PAIRS)


def test_an_answer_beyond_all_integers_is_cut() -> None:
    for sign in (-1, 1):
        cut = NoisyAnswer(COUNT, HALF, 3).around(Fraction(sign * 10**30), NoNoise())
        assert cut.units == sign * 2**62


def test_a_marginal_says_the_variance_that_its_noise_has() -> None:
    """A replacement moves two cells: b = 2/ε, and 2b² is no less than the variance of integer noise."""
    table = PAIRS[0][0]
    drawn = [NoisyMarginals(((("a",), HALF),))._sample(table, RehearsalNoise(seed))[0] for seed in range(2000)]
    errors = np.concatenate([found.counts - table.marginal(("a",)) for found in drawn])
    assert drawn[0].variance == 2 * (2 / 0.5) ** 2 == pytest.approx(errors.var(), rel=0.15)
