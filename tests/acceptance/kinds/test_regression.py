"""Regressions on chosen predictors, with indicators and products, linear and logistic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import Kind, kind_of
from facsimile.acceptance.original import Original
from facsimile.acceptance.regression import Fit, fit_once, fit_question
from facsimile.privacy.curator import Curator
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import OneStep, Viewed
from facsimile.privacy.reader import rehearse
from facsimile.release.questions import made_up, unaskable
from facsimile.spec.release import Specification
from facsimile.table.scores import ONE
from facsimile.table.table import Table
from facsimile.testing.neighbours import random_pairs
from facsimile.testing.queries import check_query
from workers import JOBS, RICH, WORKERS, records, workers

AGES, HOURS = 24.5 + 10 * np.arange(6), np.array([9.5, 29.5, 49.5])
LINEAR: dict[str, Any] = {"criterion": "regression-coefficients", "target": "hours", "on": ["age", "job"]}
CROSSED = LINEAR | {"on": ["age*job", "sex", "age*age"]}
CHANCE: dict[str, Any] = {
    "criterion": "logistic-coefficients",
    "event": f"income = {RICH}",
    "on": ["age", "job"],
}
PREDICTED = LINEAR | {"criterion": "regression-mae"}
REAL, NEAR, OTHER = records(seed=1), records(seed=2), records(seed=3, alike=True)


def kind(criterion: dict[str, Any], form: Any = "sharp") -> tuple[Specification, Kind[Any]]:
    spec = workers(criterion)
    return spec, kind_of(spec.criteria[0], form)


def features(rows: Any, crossed: bool) -> Any:
    """Record by record: age, indicators of jobs but the first; with sex, age × job and age × age if crossed.

    Products are of ages less the middle of their range.
    """
    age, away = AGES[rows[:, 0]], AGES[rows[:, 0]] - 49.5
    jobs = [rows[:, 2] == job for job in (1, 2, 3)]
    plain = [age, *jobs]
    if crossed:
        plain += [rows[:, 1] == 1, *(away * job for job in jobs), away**2]
    return np.column_stack(plain).astype(float)


def standardised(table: Table, by: Table, crossed: bool) -> Any:
    x, own = (features(one.records(), crossed) for one in (table, by))
    return np.column_stack([np.ones(table.n), (x - own.mean(axis=0)) / own.std(axis=0)])


@pytest.mark.parametrize(("criterion", "crossed"), [(LINEAR, False), (CROSSED, True)])
def test_coefficients_are_those_of_the_records(criterion: Any, crossed: bool) -> None:
    spec, asked = kind(criterion)
    fits = []
    for table in (REAL, NEAR):
        y = HOURS[table.records()[:, 3]]
        fits.append(np.linalg.lstsq(standardised(table, NEAR, crossed), y)[0])
    error = float(np.abs(fits[0] - fits[1]).sum())
    candidate = Candidate(spec, NEAR)
    assert asked.exact(candidate, Original(REAL)) == pytest.approx(error, rel=1e-3)
    query = asked.query(candidate)
    assert isinstance(query, Viewed) and isinstance(query.query, OneStep)
    assert float(query.value(REAL, RehearsalNoise(1))) == pytest.approx(error, rel=0.1)
    assert float(query.value(NEAR, RehearsalNoise(1))) < 0.02


def test_names_of_features_say_what_they_are() -> None:
    spec, _ = kind(CROSSED)
    model = Candidate(spec, REAL).model(spec.criteria[0].formula)  # type: ignore[union-attr]
    jobs = [f"job={job}" for job in JOBS[1:]]
    assert model.domain.names == ("age", *jobs, "sex=M", *(f"age*{job}" for job in jobs), "age*age", "hours")
    assert model.reads.domain.names == ("age", "sex", "job", "hours")


def test_no_label_takes_the_name_of_another_feature() -> None:
    """Once one that reads like a second product made two features one, and coefficients undetermined."""
    jobs = ["clerk", "x", "x*sex=M", "x*sex=M (2)"]
    job = {"name": "job", "description": "Job", "values": jobs, "alternatives": {"all": jobs}}
    columns = [job if column["name"] == "job" else column for column in WORKERS["columns"]]
    spec = workers(LINEAR | {"on": ["job*sex"]}, columns=columns)
    candidate = Candidate(spec, made_up(spec, spec.first))
    names = candidate.model(spec.criteria[0].formula).domain.names  # type: ignore[union-attr]
    assert len(set(names)) == len(names) == 3 + 1 + 3 + 1
    assert candidate.asked(spec.criteria[0]) is not None


def newton(x: Any, y: Any) -> Any:
    """Maximum likelihood, record by record."""
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        w = w + np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (y - p))
    return w


def test_log_odds_are_those_of_the_records() -> None:
    spec, asked = kind(CHANCE)
    fits = [newton(standardised(t, NEAR, False), t.records()[:, 4]) for t in (REAL, NEAR)]
    error = float(np.abs(fits[0] - fits[1]).sum())
    candidate = Candidate(spec, NEAR)
    assert asked.exact(candidate, Original(REAL)) == pytest.approx(error, rel=1e-4)
    query = asked.query(candidate)
    assert query is not None
    assert float(query.value(REAL, RehearsalNoise(1))) == pytest.approx(error, rel=0.1)
    assert float(query.value(NEAR, RehearsalNoise(1))) < 0.01


def test_what_tells_the_event_apart_has_no_coefficients_and_is_not_met() -> None:
    spec, asked = kind(CHANCE)
    rows = REAL.records().copy()
    rows[:, 4] = rows[:, 2] == 1
    for table in (Table.from_rows(REAL.domain, rows), REAL.filter(REAL.codes[:, 4] == 0)):
        assert asked.query(Candidate(spec, table)) is None
        assert asked.exact(Candidate(spec, NEAR), Original(table)) is None


@pytest.mark.parametrize("criterion", [LINEAR, CROSSED, CHANCE, CHANCE | {"on": ["age*job", "sex"]}])
@pytest.mark.parametrize("listed", [True, False])
def test_one_record_moves_a_step_by_its_sensitivity_at_most(
    criterion: Any, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not listed:
        monkeypatch.setattr("facsimile.acceptance.candidate.DENSE_CELLS", 1)
    spec, asked = kind(criterion)
    query = asked.query(Candidate(spec, NEAR))
    assert isinstance(query, Viewed) and isinstance(query.query, OneStep)
    assert (query.query.cells is None) is not listed
    worst = np.concatenate([np.array([[a, s, j, h, i]]) for a in (0, 5) for s in (0, 1) for j in range(4)
                            for h in (0, 2) for i in (0, 1)])  # fmt: skip
    far = [Table.from_rows(REAL.domain, np.concatenate([REAL.records()[1:], [row]])) for row in worst]
    moved = [query.value(table, RehearsalNoise(1)) for table in far]
    delta = query.sensitivity()
    assert max(moved) - min(moved) <= delta
    check_query(query, REAL.domain, REAL.n, reach=Fraction(0), pairs=random_pairs(REAL.domain, REAL.n, 20))


@pytest.mark.parametrize("criterion", [LINEAR, CROSSED, CHANCE])
def test_a_bound_without_a_list_of_cells_counts_an_indicator_in_its_own_bin_only(
    criterion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is at least the diameter, and not many times larger: a sum over all bins would be."""
    spec, asked = kind(criterion)
    exact = asked.query(Candidate(spec, NEAR))
    monkeypatch.setattr("facsimile.acceptance.candidate.DENSE_CELLS", 1)
    loose = asked.query(Candidate(spec, NEAR))
    assert exact is not None and loose is not None
    assert exact.sensitivity() <= loose.sensitivity() <= 4 * exact.sensitivity()


def test_a_diameter_of_too_many_signs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, asked = kind(CROSSED)
    exact = asked.query(Candidate(spec, NEAR))
    monkeypatch.setattr("facsimile.privacy.queries.regression.MOST_SIGNED", 1)
    bounded = asked.query(Candidate(spec, NEAR))
    assert exact is not None and bounded is not None
    assert exact.sensitivity() <= bounded.sensitivity() <= 2 * exact.sensitivity()


@pytest.mark.parametrize("criterion", [LINEAR, CROSSED, CHANCE])
def test_influences_predict_the_error_of_a_table_nearby(criterion: Any) -> None:
    spec, asked = kind(criterion)
    found = asked.influences(spec, REAL)
    assert found is not None
    away = NEAR.counts @ found.of(NEAR.codes) / NEAR.n - REAL.counts @ found.of(REAL.codes) / REAL.n
    exact = asked.exact(Candidate(spec, NEAR), Original(REAL))
    assert float(np.abs(away).sum()) == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize("criterion", [LINEAR, CROSSED, CHANCE])
def test_scores_vanish_at_their_own_table_and_not_where_it_is_wrong(criterion: Any) -> None:
    spec, asked = kind(criterion)
    found = asked.scores(spec, NEAR)
    assert found is not None and found.fits and asked.scored
    own, other = (table.counts @ found.of(table.codes) / table.n / ONE for table in (NEAR, OTHER))
    assert np.abs(own).max() < 0.002
    assert criterion is not CHANCE or np.abs(other).max() > 0.2


def test_a_regression_on_a_constant_alone_has_no_scores() -> None:
    """Once they were asked for after the charge, and there were none to ask."""
    only = {"name": "job", "description": "Job", "values": ["clerk"], "alternatives": {"all": ["clerk"]}}
    columns = [only if column["name"] == "job" else column for column in WORKERS["columns"]]
    for criterion in (LINEAR, CHANCE):
        spec = workers(criterion | {"on": ["job"]}, columns=columns)
        assert kind_of(spec.criteria[0]).scores(spec, made_up(spec, spec.first)) is None


def test_a_regression_paid_once_has_indicators_and_products() -> None:
    budget = {"total": "90", "generator": "1", "test": "1", "once": "1"}
    for criterion in (PREDICTED, PREDICTED | {"on": ["age*job"]}):
        spec = workers(criterion, budget=budget)
        formula = spec.once_formula
        assert formula is not None
        fit = fit_once(Curator.rehearsal(rehearse(REAL), 1), spec, formula, Fraction(10**6))
        own = Candidate(spec, REAL).own_fit(formula)
        assert own is not None
        found = fit.standardised(own.scaling).coefficients
        assert np.allclose([float(x) for x in found], [float(x) for x in own.coefficients], atol=0.3)
        asked = kind_of(spec.criteria[0])
        query = asked.query(Candidate(spec, NEAR, fit))
        assert query is not None
        exact = asked.exact(Candidate(spec, NEAR), Original(REAL))
        assert float(query.value(REAL, RehearsalNoise(1))) == pytest.approx(exact, abs=0.02)
        check_query(query, REAL.domain, REAL.n, reach=Fraction(0), pairs=random_pairs(REAL.domain, REAL.n, 20))
        fit_question(spec, formula, Fraction(1)).check(REAL.domain, REAL.n)


def test_the_paper_form_refits_with_indicators() -> None:
    spec, asked = kind(LINEAR | {"epsilon": "1000000"}, "paper")
    measured, candidate = asked.measure(Candidate(spec, NEAR), Curator.rehearsal(rehearse(REAL), 1))
    exact = asked.exact(Candidate(spec, NEAR), Original(REAL))
    assert measured is not None and isinstance(candidate.refit, Fit)
    assert float(measured.value or 0) == pytest.approx(exact, abs=0.1)
    assert asked.again(candidate, measured.units) == measured


def test_a_regression_reads_its_own_columns_only() -> None:
    """Whatever another column holds, the answer is the same."""
    for criterion in (LINEAR, CHANCE):
        spec, asked = kind(criterion)
        query = asked.query(Candidate(spec, NEAR))
        rows = REAL.records().copy()
        rows[:, 1] = 0
        assert query is not None
        same = [query.value(t, RehearsalNoise(1)) for t in (REAL, Table.from_rows(REAL.domain, rows))]
        assert same[0] == same[1]


def test_a_raw_rule_cuts_cells_only_where_all_its_columns_are_read() -> None:
    rule = {"never": "sex = F and job = soldier", "source": "x"}
    for on in (["job", "sex", "age"], ["job"]):
        spec = workers(CHANCE | {"on": on}, constraints={"policy": "declared", "raw": [rule]})
        query = kind_of(spec.criteria[0]).query(Candidate(spec, NEAR))
        assert isinstance(query, Viewed) and isinstance(query.query, OneStep) and query.query.cells is not None
        mask = query.query.cells.allowed
        assert bool(mask.all()) is (len(on) == 1)
        assert len(on) == 1 or int((~mask).sum()) == mask.size // 8


def test_huge_products_are_refused_before_the_charge() -> None:
    wide = [str(i) for i in range(500)]
    columns = [
        {"name": name, "description": "Wide", "values": wide, "alternatives": {"a": wide}}
        for name in ("a", "b")
    ] + [{"name": "y", "description": "Number", "bounds": ["0", "9"], "alternatives": {"a": ["0..9"]}}]
    spec = workers({"criterion": "regression-coefficients", "target": "y", "on": ["a*b"]}, columns=columns)
    (told,) = unaskable(spec)
    assert "more numbers than a memory holds" in told.problem
