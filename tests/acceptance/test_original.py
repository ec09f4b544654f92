"""Exact errors of every kind of criterion, and the same criteria as a release tests them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.acceptance.candidate import as_tested, exact_errors
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from specs import changed

CRITERIA: list[dict[str, object]] = [
    {"criterion": "ranges-absolute", "of": ["age"], "by": ["age"]},
    {"criterion": "total-variation", "ways": "2"},
    {"criterion": "total-variation", "of": [["age"], ["age", "sex"]], "over": "average"},
    {"criterion": "marginals-tail", "ways": "1", "beyond": "0.3"},
    {"criterion": "quantile", "of": "age", "at": "0.25"},
    {"criterion": "correlation", "of": ["age", "sex"]},
    {"criterion": "query", "query": "girls", "where": "sex = F and age < 18"},
    {"criterion": "query", "query": "age_of_women", "where": "sex = F", "of": "age"},
]
REAL = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 1], [2, 1]]
SYNTHETIC = [[0, 0], [0, 0], [1, 0], [1, 1], [2, 1], [1, 1]]


@pytest.fixture
def specification() -> Specification:
    shared = {"threshold": "0.4", "epsilon": "0.1"}
    return validated(changed("criteria", [c | shared for c in CRITERIA]))


def table(specification: Specification, rows: list[list[int]]) -> Table:
    return Table.from_rows(Domain(specification.axes(specification.alternatives_named("coarse"))), rows)


def test_every_further_criterion_by_hand(specification: Specification) -> None:
    real, synthetic = (table(specification, rows) for rows in (REAL, SYNTHETIC))
    found = {v.name: v.value for v in exact_errors(specification, real, synthetic)}
    ages, women = np.array([8.5, 41, 77.5]), np.array([0, 1, 0.5])
    correlations = [
        np.corrcoef(ages[np.array(rows)[:, 0]], women[np.array(rows)[:, 1]])[0, 1] for rows in (REAL, SYNTHETIC)
    ]
    assert found == pytest.approx(
        {
            "ranges-absolute": 1 / 6,
            "total-variation-worst": 2 / 6,
            "total-variation-average": (1 / 6 + 2 / 6) / 2,
            "marginals-tail": 1 / 6,
            "quantile-0.25-age": 0.0,
            "correlation": abs(correlations[0] - correlations[1]),
            "query-girls": 1 / 6,
            "query-age_of_women": abs((8.5 + 41 + 77.5 + 77.5) / 4 - (41 + 77.5 + 41) / 3),
        }
    )


@pytest.mark.parametrize("form", ["sharp", "paper"])
def test_as_tested_they_have_a_limit_and_a_noise(specification: Specification, form: str) -> None:
    real, synthetic = (table(specification, rows) for rows in (REAL, SYNTHETIC))
    found = as_tested(specification, real, synthetic, "sharp" if form == "sharp" else "paper")
    for criterion, tested in zip(specification.criteria, found, strict=True):
        assert tested is not None
        assert tested.limit == float(criterion.threshold)
        assert tested.sensitivity is not None
        assert tested.scale == pytest.approx(tested.sensitivity / 0.1)
        assert tested.sensitivity >= 1 / 6 or criterion.criterion == "correlation"


def test_what_is_empty_on_one_side_has_no_error(specification: Specification) -> None:
    real, men = table(specification, REAL), table(specification, [[0, 0]] * 6)
    found = {v.name: v for v in exact_errors(specification, real, men)}
    assert found["query-age_of_women"].value is None
    assert found["correlation"].value is None
    assert not found["correlation"].met
    same = {v.name: v.value for v in exact_errors(specification, men, men)}
    assert set(same.values()) == {0.0}


@pytest.mark.parametrize(
    "criterion",
    [
        {"criterion": "ranges-absolute", "of": []},
        {"criterion": "ranges-absolute", "of": ["age"], "by": ["sex"]},
        {"criterion": "total-variation"},
        {"criterion": "total-variation", "of": [["age"]], "ways": "1"},
        {"criterion": "total-variation", "of": [["age", "age"]]},
        {"criterion": "total-variation", "of": [["height"]]},
        {"criterion": "marginals-tail", "ways": "1", "beyond": "1"},
        {"criterion": "quantile", "of": "age", "at": "1"},
        {"criterion": "correlation", "of": ["age"]},
        {"criterion": "query", "query": "tall", "where": "height > 3"},
        {"criterion": "query", "query": "odd", "where": "sex > F"},
    ],
)
def test_what_makes_no_sense_is_refused(criterion: dict[str, object]) -> None:
    with pytest.raises(Exception, match="E2"):
        validated(changed("criteria", [criterion | {"threshold": "0.4", "epsilon": "0.1"}]))


def test_thresholds_are_strict(specification: Specification) -> None:
    real, synthetic = (table(specification, rows) for rows in (REAL, SYNTHETIC))
    verdict = exact_errors(specification, real, synthetic)[1]
    at = verdict.__class__(verdict.name, verdict.value, Fraction(verdict.value or 0))
    assert not at.met
