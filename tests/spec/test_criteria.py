"""Criteria with predictors, events and crossed groups: what is understood, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from facsimile.errors import SpecRefused
from facsimile.spec.criteria import crossed
from workers import RICH, WORKERS, workers

LINEAR: dict[str, Any] = {"criterion": "regression-coefficients", "target": "hours"}
CHANCE: dict[str, Any] = {"criterion": "logistic-coefficients", "event": f"income = {RICH}"}
SHARE: dict[str, Any] = {"criterion": "proportion", "where": f"income = {RICH}"}
ONCE = {"total": "90", "generator": "1", "test": "1", "once": "1"}


def test_names_tell_criteria_apart() -> None:
    spec = workers(
        LINEAR, LINEAR | {"called": "short", "on": ["age"]}, CHANCE, SHARE, SHARE | {"called": "rich"}
    )
    assert [criterion.name for criterion in spec.criteria] == [
        "regression-coefficients",
        "regression-coefficients-short",
        "logistic-coefficients-income",
        "proportion-income",
        "proportion-rich",
    ]
    with pytest.raises(SpecRefused, match="Two criteria have the same name"):
        workers(SHARE, SHARE | {"by": ["sex"]})


def test_without_new_keys_a_specification_has_the_hash_it_had() -> None:
    spec = workers(LINEAR, {"criterion": "mean", "of": "hours", "by": ["sex"]})
    assert not {"on", "indicators", "called", "fill_to"} & {
        key for criterion in spec.criteria for key in criterion.model_dump(exclude_none=True)
    }


def test_crossed_groups_are_named_and_planned_for() -> None:
    spec = workers(
        {"criterion": "mean", "of": "hours", "by": ["sex", ["job", "sex"]]},
        planning={"groups": {"job*sex": "90", "sex": "1000"}},
    )
    assert list(crossed(spec.criteria[0].by)) == ["sex", "job*sex"]  # type: ignore[union-attr]
    assert spec.criteria[0].columns == ("hours", "sex", "job", "sex")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a column twice in a crossing": (SHARE | {"by": [["sex", "sex"]]}, "Crossed groups name a column twice"),
    "the same groups twice": (SHARE | {"by": ["sex", "sex"]}, "the same groups twice"),
    "a crossing without groups": (SHARE | {"by": [["sex", "hours"]]}, "column hours declares no groups"),
    "no predictors": (LINEAR | {"on": []}, "on"),
    "a predictor twice": (LINEAR | {"on": ["age*sex", "sex*age"]}, "names sex\\*age twice"),
    "a number without numbers": (
        LINEAR | {"on": ["age"]},
        "needs a number for every bin of age, or `indicators",
    ),
    "a target without numbers": (LINEAR | {"target": "job"}, "needs a number for every bin of job"),
    "predicted from itself": (LINEAR | {"on": ["hours*age"]}, "predicts hours from itself"),
    "an indicator twice": (LINEAR | {"indicators": ["job", "job"]}, "`indicators` names a column twice"),
    "an event predicted from itself": (CHANCE | {"on": ["income"]}, "predicts income from itself"),
    "planning for no column": (SHARE, "Did you mean job"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    criterion, words = REFUSED[name]
    changes: dict[str, Any] = {}
    if "without numbers" in name:
        first, *others = WORKERS["columns"]
        changes["columns"] = [first | {"missing": {"code": "unknown"}}, *others]
    if "planning" in name:
        changes["planning"] = {"groups": {"jo*sex": "9"}}
    with pytest.raises(SpecRefused, match=words):
        workers(criterion, **changes)


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(SpecRefused) as told:
        workers(
            LINEAR | {"on": ["aeg"]},
            CHANCE | {"on": ["sex*sex"]},
            SHARE | {"by": [["jobb", "sex"]], "where": "incme = 1"},
        )
    said = str(told.value)
    assert all(words in said for words in ("aeg", "sex has no square", "jobb", "incme"))


def test_one_noisy_regression_is_published_and_its_bins_do_not_change() -> None:
    mae = LINEAR | {"criterion": "regression-mae", "on": ["age"]}
    with pytest.raises(SpecRefused, match="one noisy regression"):
        workers(mae, mae | {"called": "other", "on": ["sex"]}, budget=ONCE)
    with pytest.raises(SpecRefused, match="one noisy regression"):
        workers(LINEAR, LINEAR | {"called": "other", "on": ["sex"]}, statistic="paper")
    few = {"soldier": ["soldier"], "other": ["clerk", "manager", "teacher"]}
    job = next(column for column in WORKERS["columns"] if column["name"] == "job")
    cut = {k: v for k, v in job.items() if k != "groups"} | {"alternatives": job["alternatives"] | {"few": few}}
    several = [cut if column is job else column for column in WORKERS["columns"]]
    with pytest.raises(SpecRefused, match="indicators of job: let it `use` one"):
        workers(mae | {"on": ["job"]}, budget=ONCE, columns=several)
    assert workers(mae | {"on": ["age"]}, budget=ONCE, columns=several).once_formula is not None
