"""Questions about the confidential table: which cells they hold for, and what the candidate alone decides."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate, as_tested, exact_errors
from facsimile.acceptance.decision import GRID
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.regression import Fit, fit_once, fit_question
from facsimile.privacy.curator import Curator
from facsimile.privacy.noise import LARGEST, RehearsalNoise
from facsimile.privacy.queries import OneStep, PredictionGap, ResizedMeans
from facsimile.privacy.reader import rehearse
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import RegressionCoefficients, RegressionError
from facsimile.spec.formula import Formula
from facsimile.spec.load import validated
from facsimile.spec.release import Selection, Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.table.view import View
from specs import SMALL

EVERYTHING: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "threshold": "0.1"},
    {"criterion": "marginals-relative", "threshold": "1.5"},
    {"criterion": "mean", "of": "kids", "by": ["age"], "threshold": "1"},
    {"criterion": "mean", "of": "age", "by": ["age"], "threshold": "1"},
    {"criterion": "regression-coefficients", "target": "kids", "threshold": "5"},
    {"criterion": "regression-mae", "target": "kids", "threshold": "1"},
    {"criterion": "faithfulness", "match": ["age"], "reference": "fine", "threshold": "0.1"},
    {"criterion": "ranges-absolute", "of": ["kids"], "by": ["age"], "threshold": "0.1"},
    {"criterion": "total-variation", "ways": "1", "threshold": "0.1"},
    {"criterion": "marginals-tail", "ways": "2", "beyond": "0.1", "threshold": "0.1"},
    {"criterion": "quantile", "of": "kids", "by": ["age"], "threshold": "0.1"},
    {"criterion": "correlation", "of": ["age", "kids"], "threshold": "0.1"},
    {"criterion": "query", "query": "few", "where": "kids < 2", "of": "age", "threshold": "1"},
    {"criterion": "query", "query": "many", "where": "kids > 2", "threshold": "0.1"},
]


def column(name: str, bins: list[str], bounds: list[str]) -> dict[str, Any]:
    groups = {"groups": bins} if name == "age" else {}
    return {"name": name, "description": name, "bounds": bounds, "alternatives": {"fine": bins}, **groups}


def specification(
    raw: str = "age <= 21 and kids > 1", synthetic: str | None = None, largest: str | None = None
) -> Specification:
    """The review's case: ages 18 to 21, 0 to 9 children, nearly everything forbidden."""
    data = copy.deepcopy(SMALL)
    kids = ["0..9"] if largest is None else ["0", "1", f"2-{largest}"]
    data["records"]["count"] = "60"
    data["columns"] = [column("age", ["18..21"], ["18", "21"]), column("kids", kids, ["0", largest or "9"])]
    data["constraints"] = {"policy": "declared", "raw": [{"never": raw, "source": "the review"}]}
    if synthetic:
        data["constraints"]["synthetic"] = [{"never": synthetic, "source": "taste"}]
    data["criteria"] = [{"epsilon": "0.1", **criterion} for criterion in EVERYTHING]
    data["budget"]["once"] = "1"
    return validated(data)


def candidate(spec: Specification, most: int = 2) -> Table:
    """Sixty records, all with few children."""
    random = np.random.default_rng(5)
    rows = np.column_stack([random.integers(0, 4, 60), random.integers(0, most, 60)])
    return Table.from_rows(Domain(spec.finest()), rows)


def asked(spec: Specification, table: Table) -> Candidate:
    fit = Fit.of(table, "kids")
    assert fit is not None
    return Candidate(spec, table, Fit(fit.scaling, tuple(2 * c for c in fit.coefficients)))


@pytest.mark.parametrize("kind", [RegressionCoefficients, RegressionError])
def test_a_record_that_raw_constraints_forbid_moves_no_regression_by_more_than_its_sensitivity(
    kind: type,
) -> None:
    """Review: a record at (21, 9) moved the coefficients by 7.4, the error by 23.3 declared sensitivities."""
    spec = specification()
    s = candidate(spec)
    criterion = next(c for c in spec.criteria if isinstance(c, kind))
    found = asked(spec, s).asked(criterion, "sharp")
    assert found is not None
    rows = s.records()
    values = []
    for age, kids in product(range(4), range(10)):
        table = Table.from_rows(s.domain, [*rows[1:], (age, kids)])
        values.append(Fraction(found.query.value(table, RehearsalNoise(1))))
    assert max(values) - min(values) <= found.query.sensitivity()


def test_allowed_cells_are_those_of_raw_constraints_whatever_synthetic_constraints_say() -> None:
    """A synthetic constraint says nothing about records: their sensitivity is over all cells they may have."""
    plain, cut = specification("kids > 7"), specification("kids > 7", "kids > 1 or age = 18")
    s = candidate(plain)
    for spec in (plain, cut):
        cells = Candidate(spec, s).cells(View.of_columns(s.domain), 2)
        assert cells is not None
        assert cells.allowed.tolist() == [[kids <= 7 for kids in range(10)] for _ in range(4)]
    for kind in (OneStep, PredictionGap):
        deltas = {
            found.sensitivity
            for spec in (plain, cut)
            for criterion in spec.criteria
            if (found := asked(spec, s).asked(criterion, "sharp")) and isinstance(found.query, kind)
        }
        assert len(deltas) == 1


@pytest.mark.parametrize("form", ["paper", "sharp"])
def test_every_question_fits_the_tables_it_is_asked_about(form: Any) -> None:
    spec = specification("kids > 7")
    s = candidate(spec)
    shorter = Domain(tuple(replace(axis, bins=axis.bins[1:]) for axis in s.domain.axes))
    for criterion in spec.criteria:
        found = asked(spec, s).asked(criterion, form)
        assert found is not None
        found.query.check(s.domain, spec.n)
        question = found.question()
        question.check(s.domain, spec.n)
        with pytest.raises(ValueError):
            question.check(shorter, spec.n)
    test = asked(spec, s).joint_test(Fraction(1))
    assert test is not None
    test.question().check(s.domain, spec.n)
    fit_question(spec, Formula("kids"), Fraction(1)).check(Domain(spec.finest()), spec.n)


@pytest.mark.parametrize("largest", ["3", "100000", "1000000000", "10000000000000", "1" + "0" * 29])
@pytest.mark.parametrize("form", ["paper", "sharp"])
def test_no_number_is_too_large_to_be_asked_about(largest: str, form: Any) -> None:
    """A criterion is answered exactly, or left to the candidate; nothing fails after a charge."""
    spec = specification("kids < 0", largest=largest)
    for most in (2, 3):
        s = candidate(spec, most)
        curator = Curator.rehearsal(rehearse(s), 1)
        fit = fit_once(curator, spec, Formula("kids"), Fraction(10**6))
        exact_errors(spec, s, s)
        as_tested(spec, s, s, form)
        for criterion in spec.criteria:
            found = Candidate(spec, s, fit).asked(criterion, form)
            assert found is None or found.sensitivity <= LARGEST // 2, "integer noise is long enough"
            if isinstance(criterion, RegressionError):
                assert (found is None) is (int(largest) > 10**12)
            if isinstance(criterion, RegressionCoefficients):
                kind_of(criterion, "paper").measure(Candidate(spec, s), curator)
            if found is not None and found.sensitivity < 2**40:
                answer = curator.run(found.question(Fraction(10**6)))
                assert found.measured(answer).sensitivity == found.sensitivity
                others = [
                    Table.from_rows(s.domain, [*s.records()[1:], row]) for row in ([0, 0], [3, 2], [2, 1])
                ]
                moves = [found.query.excess(t, found.limit, RehearsalNoise(1)) for t in others]
                assert isinstance(found.query, ResizedMeans) or max(moves) - min(moves) <= 1


def test_a_fit_is_known_to_be_impossible_before_it_is_charged() -> None:
    spec = specification("kids > 7")
    planned = spec.model_copy(
        update={
            "planning": spec.planning.model_copy(
                update={"numbers": {"kids": _Spread(Fraction(0), Fraction(1, 10**20))}}
            )
        }
    )
    with pytest.raises(ValueError):
        fit_question(planned, Formula("kids"), Fraction(1))
    assert fit_question(spec, Formula("kids"), Fraction(1)).units < GRID * 2**20


class _Spread:
    """A public mean and deviation."""

    def __init__(self, mean: Fraction, deviation: Fraction) -> None:
        self.mean, self.deviation = mean, deviation


def test_coefficients_are_measured_before_the_predictions_that_need_their_fit() -> None:
    """And both are told in the order of the specification."""
    spec = specification("kids > 7")
    both = (*spec.criteria_of(RegressionError), *spec.criteria_of(RegressionCoefficients))
    unpaid = spec.budget.model_copy(update={"once": None})
    changes = {"criteria": both, "budget": unpaid, "scheme": "paper", "statistic": "paper"}
    s = candidate(spec)
    found = Candidate(spec.model_copy(update=changes), s).measured_all(
        Curator.rehearsal(rehearse(s), 1), stop=False
    )
    assert found is not None
    measured, fit, refit = found
    assert [m.criterion for m in measured] == list(both)
    assert fit is refit is not None


def test_a_question_is_kept_for_its_own_form_threshold_and_fit_only() -> None:
    """What was asked first never answers for another: each is what a fresh candidate is asked."""
    spec = specification("kids > 7")
    table = candidate(spec, 7)
    first = asked(spec, table)
    assert first.fit is not None
    other = replace(first, fit=Fit(first.fit.scaling, tuple(3 * c for c in first.fit.coefficients)))
    told = set()
    for criterion in spec.criteria:
        lower = criterion.model_copy(update={"threshold": criterion.threshold / 2 + Fraction(1, 2)})
        for one, form, shared in product((criterion, lower), get_args(Statistic), (first, other)):
            kind = kind_of(one, form)
            found, fresh = shared.ask(kind), Candidate(spec, table, shared.fit).ask(kind)
            assert (found is None) == (fresh is None)
            if found is not None and fresh is not None:
                assert (found.kind, found.limit, found.sensitivity) == (kind, fresh.limit, fresh.sensitivity)
                assert type(found.query) is type(fresh.query)
                if isinstance(found.query, PredictionGap):
                    assert shared.fit is not None
                    expected = shared.fit.on(shared.model(Formula("kids"))).contributions
                    for given, wanted in zip(found.query.real.contributions, expected, strict=True):
                        assert given[1].tolist() == wanted[1].tolist()
                told.add(found)
            assert shared.ask(kind) is found
    assert first.own_fit(Formula("kids")) is other.own_fit(Formula("kids")) and len(told) > 2 * len(
        spec.criteria
    )


@pytest.mark.parametrize(
    ("selection", "luck"),
    [
        ({"mode": "single"}, "1/20"),
        ({"mode": "paper"}, "1/20"),
        ({"mode": "coin", "gamma": "0.05"}, "1/381"),
        ({"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "1", "cap": "20"}, "1/381"),
        ({"mode": "rising-coin", "a": "0.5"}, "0.0025"),
    ],
)
def test_the_joint_test_is_as_careful_as_its_search_needs(selection: dict[str, str], luck: str) -> None:
    """A test by itself may err with 1/20; the many tests of a search together may not err more often."""
    spec = specification("kids > 7")
    chosen = Selection.model_validate({**selection, "false_accept": "0.05"})
    changes = {"selection": chosen, "criteria": spec.criteria[:1]}
    found = Candidate(spec.model_copy(update=changes), candidate(spec)).joint_test(Fraction(1))
    assert found is not None and Fraction(luck) * Fraction(99999, 100000) < found.luck <= Fraction(luck)
