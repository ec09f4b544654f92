"""From a raw value to a sensitivity: means, regressions and Δ are computed from the declared numbers.

Every pair of neighbouring files of three records, read by the encoding, under each alternative. The numbers are
extreme and differ between alternatives, so that a Δ taken from another alternative, from the finest refinement
or from default numbers is too small on some pair.
"""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.model import model_of
from facsimile.acceptance.planned import Assumed
from facsimile.acceptance.regression import Centring, Fit, fit_question, refitting
from facsimile.privacy.mechanisms import NoisyMoments
from facsimile.privacy.queries import FloorMeans, ResizedMeans
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import Criterion
from facsimile.spec.formula import Formula
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import Encoding, recode
from facsimile.table.exact import Ints
from facsimile.table.numbers import mean
from facsimile.table.table import Table
from facsimile.testing import Broken, check_kind
from specs import changed

RAW = tuple(itertools.product(range(4), range(2)))
NUMBERS: dict[str, dict[int, int | Fraction]] = {
    "two": {0: -700, 1: -700, 2: 2, 3: 2},
    "four": {0: Fraction(1, 2), 1: 1, 2: 2, 3: 1000},
}
CRITERIA = [
    {"criterion": "mean", "of": "x", "by": ["y"], "threshold": 1, "epsilon": 1},
    {"criterion": "regression-coefficients", "target": "x", "threshold": 1, "epsilon": 1},
    {"criterion": "regression-mae", "target": "x", "threshold": 1, "epsilon": 1},
    {"criterion": "correlation", "of": ["x", "y"], "threshold": 1, "epsilon": 1},
    {"criterion": "query", "query": "those", "where": "y = 1", "of": "x", "threshold": 1, "epsilon": 1},
]


@cache
def specification() -> Specification:
    data = changed("criteria", CRITERIA)
    x = {
        "name": "x", "description": "x", "bounds": [-800, 1000],
        "alternatives": {"two": ["<2", "2≤"], "four": ["<1", "1", "2", "2<"]},
        "numbers": {"<2": -700, "2≤": 2, "<1": "0.5", "2<": 1000},
    }  # fmt: skip
    both = {"two": [0, 1], "four": [0, 1]}
    y = {"name": "y", "description": "y", "bounds": [0, 1], "alternatives": both, "groups": [0, 1]}
    data |= {
        "columns": [x, y],
        "constraints": {"policy": "declared"},
        "records": data["records"] | {"count": 3},
    }
    data["budget"] |= {"once": 1, "total": 20}
    return validated(data)


@cache
def coded(records: tuple[tuple[int, int], ...], alternative: str) -> Table:
    spec = specification()
    encoding = Encoding(spec)
    rows = [encoding.encode({"x": str(x), "y": str(y)}) for x, y in records]
    return recode(spec, Table.from_rows(encoding.domain, rows), dict.fromkeys(("x", "y"), alternative))


FILES = [tuple(sorted(file)) for file in itertools.combinations_with_replacement(RAW, 3)]
PAIRS = [
    (tuple(sorted((*rest, one))), tuple(sorted((*rest, other))))
    for rest in itertools.combinations_with_replacement(RAW, 2)
    for one, other in itertools.combinations(RAW, 2)
]


@pytest.mark.parametrize("alternative", NUMBERS)
def test_a_mean_is_of_the_numbers_that_are_declared_for_the_alternative(alternative: str) -> None:
    for file in FILES:
        by_hand = sum((Fraction(NUMBERS[alternative][x]) for x, _ in file), Fraction(0)) / 3
        assert mean(coded(file, alternative), "x") == by_hand


CANDIDATES = [
    ((0, 0), (3, 1), (3, 0)),
    ((0, 0), (1, 1), (2, 0)),
    ((3, 0), (0, 1), (2, 1)),
    ((0, 0), (0, 1), (3, 1)),
]


FORMS: tuple[Statistic, ...] = ("sharp", "paper")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("alternative", NUMBERS)
@pytest.mark.parametrize("criterion", specification().criteria, ids=lambda c: c.name)
def test_declared_numbers_decide_how_far_a_record_moves_a_criterion(
    criterion: Criterion, alternative: str, form: Statistic
) -> None:
    fit = Fit.of(coded(((0, 0), (3, 0), (0, 1)), alternative), "x")
    kind = kind_of(criterion, form)
    candidates = [coded(records, alternative) for records in CANDIDATES]
    resized = criterion.name.startswith("mean") and form == "paper"
    pairs = [(coded(one, alternative), coded(other, alternative)) for one, other in PAIRS]
    reach = Fraction(0) if resized else Fraction(9, 10) if form == "sharp" else Fraction(1, 4)
    check_kind(kind, specification(), candidates, fit=fit, reach=reach, pairs=pairs)
    for candidate in candidates if resized else ():  # it draws records: here its Δ, its law in `test_queries`
        asked = kind.asked(Candidate(specification(), candidate))
        assert asked is not None
        assert isinstance(asked.query, ResizedMeans)
        share = _spread(alternative) / min(g.size for g in asked.query.groups) / asked.sensitivity
        assert Fraction(1, 4) <= share <= 1


MEAN = kind_of(specification().criteria[0], "sharp")
ASKED = type(MEAN).asked


class HalfMeans(FloorMeans):
    def sensitivity(self) -> Fraction:
        return super().sensitivity() / 2


def halved(kind: Any, candidate: Candidate) -> Any:
    """Mutant: half the sensitivity, so half the noise."""
    asked = ASKED(kind, candidate)
    assert asked is not None
    query = HalfMeans(**{f.name: getattr(asked.query, f.name) for f in fields(FloorMeans) if f.init})
    return replace(asked, query=query)


def lenient(kind: Any, candidate: Candidate) -> Any:
    """Mutant: a limit beyond the threshold."""
    asked = ASKED(kind, candidate)
    assert asked is not None
    return replace(asked, limit=asked.limit + 1)


@pytest.mark.parametrize(
    ("name", "mutant", "words"),
    [
        ("asked", halved, "by more than"),
        ("asked", lenient, "threshold does not"),
        ("asked", lambda *_: None, "no candidate"),
        ("exact", lambda *_: 1e9, "too far from itself"),
        ("planned", lambda *_: (Fraction(0), ""), "planned noise"),
        ("sentence", "", "no words"),
    ],
    ids=["half sensitivity", "beyond the threshold", "no question", "far from itself", "no noise", "no words"],
)
def test_a_kind_that_breaks_the_contract_is_caught(
    name: str, mutant: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates = [coded(CANDIDATES[0], "four")]
    check_kind(MEAN, specification(), candidates, reach=Fraction(1, 2))
    monkeypatch.setattr(type(MEAN), name, mutant)
    with pytest.raises(Broken, match=words):
        check_kind(MEAN, specification(), candidates, reach=Fraction(1, 2))


def _spread(alternative: str) -> Fraction:
    numbers = NUMBERS[alternative].values()
    return Fraction(max(numbers) - min(numbers))


@pytest.mark.parametrize("alternative", NUMBERS)
def test_moments_move_by_no_more_than_declared_numbers_allow(alternative: str) -> None:
    """The regression that is fitted once is asked under the first alternatives."""
    once = fit_question(specification(), Formula("x"), Fraction(1))
    first = next(iter(NUMBERS))
    numbers = [Fraction(x) for x in dict.fromkeys(NUMBERS[first].values())]
    middle, half = (min(numbers) + max(numbers)) / 2, (max(numbers) - min(numbers)) / 2
    by_hand = [round((x - middle) / half * once.unit) for x in numbers]
    assert once.target[1].tolist() == by_hand
    found = _refitted(coded(CANDIDATES[0], alternative))
    assert found is not None
    centring, again = found
    by_code = dict.fromkeys(NUMBERS[alternative].values())
    assert again.target[1].tolist() == [
        round((Fraction(x) - centring.centre) / centring.spread * again.unit) for x in by_code
    ]
    for question, used in ((once, first), (found[1], alternative)):
        assert question.units / 2 <= _moved(question, used) <= question.units


def _refitted(table: Table) -> tuple[Centring, NoisyMoments] | None:
    return refitting(table, model_of(specification(), Formula("x"), table.domain), Fraction(1))


def _moved(question: NoisyMoments, alternative: str) -> int:
    """The largest L1 distance of the monomials of two records."""
    factors = (*question.features, question.target)

    def monomials(record: tuple[int, int]) -> Ints:
        table = coded((record,) * 3, alternative)
        values = [question.unit, *(int(numbers[table.column(name)[0]]) for (name,), numbers in factors)]
        return np.array([values[i] * values[j] for i, j in question.monomials])

    return max(int(np.abs(monomials(a) - monomials(b)).sum()) for a, b in itertools.combinations(RAW, 2))


def test_planning_looks_at_every_alternative_that_a_release_may_use() -> None:
    """Means of `two` reach from −700 to 2, those of `four` from 0.5 to 1000: a plan allows for both."""
    spec = specification()
    planned = kind_of(spec.criteria[0]).noise(spec, Assumed(None, {"y": 1}, {})).sensitivity
    assert planned == 1700
    for alternative in NUMBERS:
        asked = Candidate(spec, coded(CANDIDATES[0], alternative)).asked(spec.criteria[0], "sharp")
        assert asked is not None
        assert isinstance(asked.query, FloorMeans)
        assert asked.sensitivity <= planned
