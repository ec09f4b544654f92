"""Means and shares within groups, crossed ones among them: exact error, question, influence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate, exact_errors
from facsimile.acceptance.groups import crossing, named
from facsimile.acceptance.kind import Kind, kind_of
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import declared
from facsimile.privacy.curator import Curator
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import FloorMeans, Viewed
from facsimile.privacy.reader import rehearse
from facsimile.release.feasible import infeasible
from facsimile.release.questions import unaskable
from facsimile.spec.release import Specification
from facsimile.table.scores import ONE
from facsimile.table.table import Table
from facsimile.testing.neighbours import random_pairs
from facsimile.testing.queries import check_query
from workers import JOBS, RICH, records, workers

SHARE: dict[str, Any] = {"criterion": "proportion", "where": f"income = {RICH}", "by": [["age", "job"]]}
CHANCE: dict[str, Any] = {"criterion": "logistic-coefficients", "on": ["job"]}
MEAN: dict[str, Any] = {"criterion": "mean", "of": "hours", "by": ["sex", ["sex", "age"]]}
REAL, OTHER = records(seed=1), records(seed=2, alike=True)


def kind(criterion: dict[str, Any], form: Any = "sharp") -> tuple[Specification, Kind[Any]]:
    spec = workers(criterion)
    return spec, kind_of(spec.criteria[0], form)


def values(table: Table, of: str, by: tuple[str, ...]) -> dict[tuple[int, ...], tuple[float, int]]:
    """Mean and size of each crossed group, record by record: ages in two groups."""
    place, rows = table.domain.place, table.records()
    numbers = np.array([0, 1]) if of == "income" else np.array([9.5, 29.5, 49.5])
    columns = [rows[:, place(name)] // 2 > 0 if name == "age" else rows[:, place(name)] for name in by]
    keys = np.column_stack(columns).astype(int)
    found = {}
    for key in np.unique(keys, axis=0):
        inside = (keys == key).all(axis=1)
        found[tuple(map(int, key))] = float(numbers[rows[inside, place(of)]].mean()), int(inside.sum())
    return found


@pytest.mark.parametrize(
    ("criterion", "of", "by"), [(SHARE, "income", ("age", "job")), (MEAN, "hours", ("sex", "age"))]
)
def test_the_error_within_crossed_groups_is_that_of_the_records(
    criterion: Any, of: str, by: tuple[str, ...]
) -> None:
    spec, asked = kind(criterion)
    one, other = values(REAL, of, by), values(OTHER, of, by)
    worst = max(abs(one[key][0] - other[key][0]) for key in one)
    candidate = Candidate(spec, OTHER)
    assert asked.exact(candidate, Original(REAL)) == pytest.approx(worst)
    query = asked.query(candidate)
    assert isinstance(query, Viewed) and isinstance(query.query, FloorMeans)
    assert float(query.value(REAL, RehearsalNoise(1))) == pytest.approx(worst, rel=0.2)
    found = {tuple(line.labels): line for line in asked.subgroups(candidate) if "*" in line.by}
    ages = ["less than 40", "more than 39"]
    labels = {"age": ages, "job": JOBS, "sex": ["F", "M"]}
    for key, (value, size) in other.items():
        line = found[tuple(labels[name][code] for name, code in zip(by, key, strict=True))]
        assert line.value == pytest.approx(value) and line.records == size


def test_groups_are_crossed_in_the_order_they_are_written() -> None:
    """The last column's group moves fastest, in the codes and in the names."""
    spec = workers(MEAN)
    shown = crossing(spec, ("job", "age"), REAL.domain)
    assert shown.codes.tolist() == [[2 * job + (age > 1) for age in range(6)] for job in range(4)]
    said = [labels for _, labels in named(spec, (("job", "age"),), REAL.domain)]
    assert said == [(job, age) for job in JOBS for age in ("less than 40", "more than 39")]


@pytest.mark.parametrize("form", ["sharp", "paper"])
@pytest.mark.parametrize("criterion", [SHARE, MEAN, SHARE | {"fill_to": "300"}, MEAN | {"fill_to": "4000"}])
def test_one_record_moves_the_question_by_its_sensitivity_at_most(criterion: Any, form: Any) -> None:
    spec, asked = kind(criterion, form)
    query = asked.query(Candidate(spec, OTHER))
    assert query is not None
    check_query(query, REAL.domain, REAL.n, reach=Fraction(0), pairs=random_pairs(REAL.domain, REAL.n, 40))


def test_a_group_is_filled_up_and_its_error_shrinks() -> None:
    """Soldiers under 40 are about 70: filled up to 700, a tenth of their error is left."""
    spec, asked = kind(SHARE | {"fill_to": "700"})
    candidate = Candidate(spec, OTHER)
    query = asked.query(candidate)
    assert isinstance(query, Viewed) and isinstance(query.query, FloorMeans)
    assert min(group.size for group in query.query.groups) == 700 == asked.smallest(query)
    assert query.sensitivity() == Fraction(1, 700) == asked.planned(spec, declared(spec))[0]
    one, other = values(REAL, "income", ("age", "job")), values(OTHER, "income", ("age", "job"))
    errors = [abs(one[key][0] - other[key][0]) * one[key][1] / max(700, one[key][1]) for key in one]
    assert asked.exact(candidate, Original(REAL)) == pytest.approx(max(errors))


def test_a_group_that_is_empty_in_the_release_alone_is_not_met_or_filled_up() -> None:
    gone = OTHER.codes[:, 2] == 2
    empty = Table.from_rows(OTHER.domain, np.where(gone[:, None], [0, 0, 0, 0, 0], OTHER.codes), OTHER.counts)
    spec, asked = kind(SHARE)
    assert asked.exact(Candidate(spec, empty), Original(REAL)) is None
    spec, asked = kind(SHARE | {"fill_to": "200"})
    assert asked.exact(Candidate(spec, empty), Original(REAL)) is not None


@pytest.mark.parametrize("criterion", [SHARE, MEAN, SHARE | {"fill_to": "300"}])
def test_influences_predict_the_error_of_a_table_nearby(criterion: Any) -> None:
    spec, asked = kind(criterion)
    near = records(seed=3)
    found = asked.influences(spec, REAL)
    assert found is not None
    away = near.counts @ found.of(near.codes) / near.n - REAL.counts @ found.of(REAL.codes) / REAL.n
    assert float(np.abs(away).max()) == pytest.approx(
        asked.exact(Candidate(spec, near), Original(REAL)), rel=0.35
    )


@pytest.mark.parametrize("criterion", [SHARE, MEAN])
def test_scores_vanish_at_their_own_table_and_not_where_it_is_wrong(criterion: Any) -> None:
    spec, asked = kind(criterion)
    found = asked.scores(spec, OTHER)
    assert found is not None and found.fits and asked.scored
    own, other = (table.counts @ found.of(table.codes) / table.n / ONE for table in (OTHER, REAL))
    assert np.abs(own).max() < 0.002
    assert criterion is not SHARE or np.abs(other).max() > 0.05


def test_a_release_that_meets_the_old_criteria_misses_incomes_and_the_new_one_rejects_it() -> None:
    """The story of Adult: counts and means met, incomes of managers off by far; a share says so."""
    old: list[dict[str, Any]] = [
        {"criterion": "marginals-absolute", "ways": "1", "threshold": "0.02"},
        {"criterion": "mean", "of": "hours", "by": ["age", "job"], "threshold": "3"},
        {"criterion": "marginals-relative", "threshold": "1.3"},
    ]
    spec = workers(*old, SHARE | {"threshold": "0.1", "fill_to": "200"})
    *before, share = exact_errors(spec, REAL, OTHER)
    assert all(verdict.met for verdict in before)
    assert share.value is not None and share.value > 0.35 and not share.met
    curator = Curator.rehearsal(rehearse(REAL), 1)
    for table, accepted in ((OTHER, False), (records(seed=4), True)):
        asked = Candidate(spec, table).ask(kind_of(spec.criteria[-1]))
        assert asked is not None
        assert asked.measured(curator.run(asked.question())).met is accepted
    assert exact_errors(spec, REAL, records(seed=4))[-1].met


def test_a_condition_that_no_bin_or_every_bin_satisfies_is_refused() -> None:
    for where, words in (("age < 25", "no bin meets"), ("age < 100", "every record meets")):
        for criterion in (SHARE | {"where": where}, CHANCE | {"event": where}):
            (told,) = infeasible(workers(criterion))
            assert words in told.problem and told.place[-1] in criterion


def test_too_many_crossed_groups_are_refused_before_the_charge() -> None:
    columns = [
        {
            "name": f"c{i}", "description": "Many", "bounds": ["0", "99"], "alternatives": {"a": ["0..99"]},
            "groups": ["0..99"],
        }
        for i in range(6)
    ]  # fmt: skip
    spec = workers({"criterion": "mean", "of": "c0", "by": [["c1", "c2", "c3", "c4"]]}, columns=columns)
    (told,) = unaskable(spec)
    assert "more numbers than a memory holds" in told.problem
