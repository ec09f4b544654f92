"""A release with listed configurations draws these only, and is only refused for what these would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.planned import declared
from facsimile.errors import FacsimileError
from facsimile.release import bundle, questions
from facsimile.release.check import check
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.questions import choices
from facsimile.release.recipe import Recipe
from facsimile.release.run import _ready, release
from facsimile.release.scheme import Scheme
from facsimile.release.verify import verify
from facsimile.spec.release import Specification
from release.test_verify import rehash
from releases import N, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

TWO = {"min_count": ["2", "3"]}
MOST = {"never": "age < 18 or age > 64 or (age > 20 and age < 30)", "source": "An example", "bins": "any"}


def one(age: str = "fine", family: str = "mst", min_count: int = 2, **hyperparameters: str) -> dict[str, Any]:
    return {
        "alternatives": {"age": age},
        "family": family,
        "hyperparameters": hyperparameters,
        "projection": {"min_count": str(min_count)},
    }


def listed(*items: dict[str, Any], **changes: Any) -> Specification:
    return specification(**({"projection": TWO} | changes | {"configurations": list(items)}))


def test_only_listed_configurations_are_drawn_each_as_often() -> None:
    spec = listed(one(), one(min_count=3), one("coarse", "workload"))
    asked = list[int]()

    def below(n: int) -> int:
        asked.append(n)
        return len(asked) - 1

    drawn = [Scheme(spec, below).drawn().configuration for _ in range(3)]
    assert tuple(drawn) == spec.space.listed and asked == [3, 3, 3]


def test_a_regression_paid_once_has_the_numbers_of_the_first_that_is_listed() -> None:
    assert listed(one("fine"), one("coarse")).first["age"] == "fine" != specification().first["age"]


def test_the_promise_names_the_list() -> None:
    whole, some, fewer = specification(projection=TWO), listed(one(), one("coarse")), listed(one())
    assert len({plan_hash(spec) for spec in (whole, some, fewer)}) == 3
    assert plan_of(whole) == plan_of(some), "and costs the same"


def test_check_counts_what_is_listed_and_what_is_allowed() -> None:
    found = check(listed(one(), one("coarse")))
    assert [(line.family, line.configurations, line.note) for line in found.families] == [
        ("mst", 2, "of 4"),
        ("workload", 0, "of 4"),
    ]


def test_a_list_of_approximate_families_is_refused() -> None:
    families = [{"family": "mst"}, {"family": "dpctgan"}]
    check(listed(one(), one(family="dpctgan"), families=families))
    with pytest.raises(FacsimileError, match="Every family needs a delta"):
        check(listed(one(family="dpctgan"), families=families))


def query(where: str) -> list[dict[str, str]]:
    return [{"criterion": "query", "query": "q", "where": where, "threshold": "0.1", "epsilon": "0.5"}]


@pytest.mark.parametrize(
    ("changes", "good", "bad"),
    [
        ({"projection": {"min_count": ["2", str(N + 1)]}}, one(), one(min_count=N + 1)),
        ({"families": [{"family": "workload", "grid": {"measurements": ["auto", "nonsense*9"]}}]},
         one(family="workload", measurements="auto"), one(family="workload", measurements="nonsense*9")),
        ({"criteria": query("age > 49 and age < 65")}, one("cut"), one("coarse")),
        ({"constraints": {"policy": "declared", "synthetic": [MOST]}}, one("cut"), one("coarse")),
    ],
    ids=["min_count", "hyperparameters", "query", "rules"],
)  # fmt: skip
def test_only_what_can_be_drawn_is_refused(
    changes: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]
) -> None:
    """The same specification without a list is refused, for the bad one's sake."""
    data = specification().model_dump(mode="json", exclude_none=True)
    data["columns"][0]["alternatives"]["cut"] = ["<18", "18-49", "50-64", "64<"]
    changes = {"columns": data["columns"], "projection": TWO} | changes
    assert check(listed(good, **changes)).families
    with pytest.raises(FacsimileError, match="E200"):
        check(specification(**changes))
    with pytest.raises(FacsimileError, match="E200"):
        check(listed(good, bad, **changes))


def test_a_run_looks_at_every_listed_configuration(tmp_path: Path) -> None:
    """Before a record is read: also at those beyond the first fifty."""
    many = ["auto", *(f"each; age@{k}" for k in range(2, 62)), "nonsense*9"]
    families = [{"family": "workload", "grid": {"measurements": many}}]
    items = [one(family="workload", measurements=text) for text in many]
    good = listed(*items[:-1], families=families)
    _ready(request(tmp_path, specification=good))
    with pytest.raises(FacsimileError, match="E200"):
        _ready(request(tmp_path, specification=listed(*items, families=families)))


def test_questions_are_asked_under_listed_alternatives_only(monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = {"age": "coarse", "sex": "coarse"}
    assert list(choices(listed(one("coarse"), one("coarse", "workload")))) == [coarse]
    fine = {"age": "fine", "sex": "coarse"}
    assert list(choices(listed(one("coarse"), one("fine")))) in ([coarse, fine], [fine, coarse])
    seen = list[tuple[str, str]]()

    class Spy(Recipe):
        @property
        def domain(self) -> Any:
            seen.append((self.configuration.family, self.configuration.alternatives["age"]))
            return super().domain

    monkeypatch.setattr(questions, "Recipe", Spy)
    assert not list(
        questions.untied(listed(one("coarse"), one("coarse", min_count=3), one("fine", "workload")))
    )
    assert set(seen) == {("mst", "coarse"), ("workload", "fine")}


def test_noise_is_planned_for_listed_alternatives() -> None:
    data = specification().model_dump(mode="json", exclude_none=True)
    columns = data["columns"]
    columns[0]["alternatives"]["halves"] = {"young": "<45", "old": "45≤"}
    columns[0] |= {"groups": ["<45", "45≤"], "alternatives": {
        "coarse": ["<18", "18-44", "45-64", "64<"], "halves": ["<45", "45≤"]}}  # fmt: skip
    mean = [{"criterion": "mean", "of": "age", "by": ["sex"], "threshold": "60", "epsilon": "0.5"}]
    columns[1]["groups"] = ["M", "F"]
    given = {"columns": columns, "criteria": mean, "planning": {"groups": {"sex": "100"}}}
    lines = [
        kind_of(spec.criteria[0]).noise(spec, declared(spec)).sensitivity
        for spec in (listed(one("halves"), **given), listed(one("coarse"), **given), specification(**given))
    ]
    assert lines[0] is not None and lines[1] is not None
    assert lines[0] < lines[1] == lines[2]


def test_a_bundle_of_a_listed_configuration_verifies_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    release(request(tmp_path, specification=listed(one("coarse"), one("coarse", "workload"))))
    made = tmp_path / "bundle"
    verify(made)
    said = json.loads((made / bundle.REPORT).read_bytes())
    assert (said["configurations"], said["alternatives"]["age"]) == (2, "coarse")
    promised = yaml.safe_load((made / bundle.SPECIFICATION).read_bytes())
    promised["configuration"]["projection"]["min_count"] = "3"
    (made / bundle.SPECIFICATION).write_text(yaml.safe_dump(promised, sort_keys=False))
    rehash(made)
    with pytest.raises(FacsimileError, match="does not allow this configuration"):
        verify(made)
