"""Criteria in words: every kind has its case, and the words are those of the criterion."""

from __future__ import annotations

from typing import Any

import pytest

from documents.drawn import KINDS, criteria
from facsimile.acceptance.kind import Told, kind_of, titles
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import Criterion
from facsimile.spec.load import validated
from specs import SMALL


def criterion(kind: str, **changes: Any) -> Criterion:
    data = SMALL | {"criteria": [criteria([kind])[0] | changes], "budget": SMALL["budget"] | {"once": "1"}}
    return validated(data).criteria[0]


def told(criterion: Criterion) -> Told:
    return kind_of(criterion).told


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("form", ["paper", "sharp"])
def test_every_kind_has_words_a_title_and_a_topic(kind: str, form: Statistic) -> None:
    said = told(criterion(kind))
    assert said.words.endswith(".")
    assert said.title[0].isupper()
    assert said.title not in KINDS
    assert said.topic in ("counts", "means", "quantiles", "correlations", "regression", "rows")
    assert kind_of(criterion(kind), form).stands in ("itself", "floored", "resized", "step", "fit")
    for name in said.columns:
        assert name in said.words


def test_titles_tell_the_criteria_of_a_specification_apart() -> None:
    every = [criterion(kind) for kind in sorted(KINDS)]
    every += [criterion("query", query=name) for name in ("young_and_old", "youngandold")]
    found = titles(every)
    assert len(set(found.values())) == len(found) == len({c.name for c in every})
    assert all(found[c.name] == told(c).title for c in every)


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("marginals-absolute", {"ways": "1"}, "any table of one column,"),
        ("marginals-absolute", {"ways": "2"}, "any table of up to 2 columns,"),
        ("marginals-absolute", {}, "any table of any number of columns,"),
        ("total-variation", {"over": "average"}, "average of the tables of 2 columns."),
        ("total-variation", {"ways": "1"}, "worst of the tables of one column."),
        ("marginals-tail", {"beyond": "0.025"}, "all but 2.5 % of the cells"),
        ("quantile", {"at": "0.25"}, "the release's 0.25 quantile of age"),
        ("quantile", {}, "the release's median of age"),
        ("mean", {"by": []}, "The largest difference of the mean of age, overall."),
        ("mean", {"by": ["age"]}, "overall and within the groups of age."),
        ("faithfulness", {"within": "2"}, "at most 2 bins off in one other column."),
        ("faithfulness", {"match": []}, "in the original: at most 1 bin off"),
        ("query-of", {}, "the mean of age among records where age > 17."),
    ],
)
def test_the_words_say_what_is_measured(kind: str, changes: dict[str, Any], said: str) -> None:
    assert said in told(criterion(kind, **changes)).words


def test_groups_of_several_columns_are_said_to_be_taken_one_by_one() -> None:
    """`by: [a, b]` compares the groups of a and those of b, not those of both together."""
    columns = [SMALL["columns"][0], SMALL["columns"][1] | {"groups": ["M", "F"]}]
    data = SMALL | {"columns": columns, "criteria": [criteria(["mean"])[0] | {"by": ["age", "sex"]}]}
    assert "within the groups of each of age and sex" in told(validated(data).criteria[0]).words
