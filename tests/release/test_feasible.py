"""What no data could meet is refused by `check`, so that no budget is burnt for it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.release import feasible
from facsimile.release.check import check
from facsimile.release.feasible import some_row
from facsimile.release.run import rehearsal
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from releases import N, request, specification, write_data
from specs import SMALL

SHAPE = (2, 3, 2)
DOMAIN = Domain(
    tuple(
        Axis(name, tuple(CategoryBin(str(i), frozenset(str(i))) for i in range(size)))
        for name, size in zip("abc", SHAPE, strict=True)
    )
)


def query(where: str, **more: str) -> list[dict[str, str]]:
    return [{"criterion": "query", "query": "q", "where": where, "threshold": "0.1", "epsilon": "0.5", **more}]


def synthetic(*rules: str) -> dict[str, Any]:
    return {"policy": "declared", "synthetic": [{"never": rule, "source": "a test"} for rule in rules]}


def reading_any(*rules: str) -> dict[str, Any]:
    found = synthetic(*rules)
    return found | {"synthetic": [rule | {"bins": "any"} for rule in found["synthetic"]]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"projection": {"min_count": [str(N + 1)]}}, "min_count"),
        ({"projection": {"min_count": ["2", str(N + 1)]}}, "min_count"),
        ({"constraints": synthetic("sex in [M, F]", "sex is missing")}, "no row"),
        ({"constraints": synthetic("age < 18 or age > 64", "age <= 64 and age >= 18")}, "no row"),
        (
            {"constraints": reading_any("age > 70", "age < 70")},
            "no row that a release could hold (age: coarse)",
        ),
        ({"criteria": query("age = 19")}, "No bin"),
        ({"criteria": query("age = 19", of="age")}, "No bin"),
        ({"criteria": query("age < 18 and age > 64")}, "No bin"),
        ({"criteria": query("sex is missing or sex is not missing")}, "Every record"),
    ],
    ids=range(9),
)
def test_what_cannot_be_met_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(FacsimileError) as caught:
        check(specification(**changes))
    assert caught.value.code == "E200"
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"projection": {"min_count": [str(N)]}},
        {"constraints": synthetic("sex in [M, F]")},
        {"constraints": synthetic("age < 18", "age > 64")},
        {"criteria": query("age < 18")},
        {"criteria": query("sex is missing or sex is not missing", of="age")},
    ],
    ids=range(5),
)
def test_what_can_be_met_is_not(changes: dict[str, Any]) -> None:
    assert check(specification(**changes))


@pytest.mark.parametrize("turned", [False, True])
def test_a_query_that_one_alternative_cannot_tell_is_refused(turned: bool) -> None:
    """Under `fine` a bin ends at 40; under `coarse` none does. Whichever comes first."""
    columns = specification().model_dump(mode="json", exclude_none=True)["columns"]
    alternatives = {"coarse": ["<18", "18-64", "64<"], "fine": ["<18", "18-39", "40-64", "64<"]}
    columns[0]["alternatives"] = dict(reversed(alternatives.items())) if turned else alternatives
    with pytest.raises(FacsimileError, match=r"age: coarse"):
        check(specification(columns=columns, criteria=query("age < 40 and age > 17")))
    columns[0]["use"] = ["fine"]
    assert check(specification(columns=columns, criteria=query("age < 40 and age > 17")))


def test_a_rehearsal_on_a_smaller_file_is_asked_again(tmp_path: Path) -> None:
    write_data(tmp_path)
    spec = specification(
        projection={"min_count": [str(N + 1)]}, records={"count": "900", "public_because": "x"}
    )
    assert check(spec)
    with pytest.raises(FacsimileError, match="min_count"):
        rehearsal(request(tmp_path, specification=spec), seed=1)


masks = st.sampled_from([("a",), ("b",), ("a", "b"), ("b", "c"), ("a", "b", "c")]).flatmap(
    lambda clique: st.tuples(
        st.just(clique),
        st.lists(
            st.booleans(),
            min_size=int(np.prod([DOMAIN.axis(n).size for n in clique])),
            max_size=int(np.prod([DOMAIN.axis(n).size for n in clique])),
        ),
    )
)


@given(st.lists(masks, max_size=6))
def test_a_row_is_found_exactly_where_there_is_one(found: list[tuple[tuple[str, ...], list[bool]]]) -> None:
    rules = [(c, np.array(m).reshape([DOMAIN.axis(n).size for n in c])) for c, m in found]
    rows = (dict(zip("abc", row, strict=True)) for row in product(*map(range, SHAPE)))
    wanted = any(not any(mask[tuple(row[n] for n in clique)] for clique, mask in rules) for row in rows)
    assert some_row(DOMAIN, rules) is wanted


def test_where_it_takes_too_long_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [(("a", "b", "c"), np.ones(SHAPE, bool))]
    assert not some_row(DOMAIN, rules)
    monkeypatch.setattr(feasible, "MOST_STEPS", 3)
    assert some_row(DOMAIN, rules)


def one_criterion(kind: str, **more: Any) -> list[dict[str, Any]]:
    return [{"criterion": kind, "threshold": "0.5", "epsilon": "0.5", **more}]


def numbered(columns: int, bins: int) -> list[dict[str, Any]]:
    cut = {"bounds": ["0", str(bins)], "alternatives": {"a": [f"0..{bins - 1}"]}, "outside": "clip"}
    return [{"name": f"c{i}", "description": "x", **cut} for i in range(columns)]


ONE_BIN = [{"name": "age", "description": "x", "bounds": ["0", "90"], "alternatives": {"a": ["0-90"]}}]
HUGE = [
    {"name": "sex", "description": "x", "values": ["M", "F"], "alternatives": {"a": ["M", "F"]}}
    | {"numbers": {"M": "0", "F": "1e25"}}
]
TIES = [f"c{i} > c{j}" for i in range(4) for j in range(i)]
EASY = one_criterion("marginals-absolute", ways="1", threshold="0.9")
BURNT: dict[str, dict[str, Any]] = {
    "a correlation with itself": {"criteria": one_criterion("correlation", of=["age", "age"])},
    "matched twice": {"criteria": one_criterion("faithfulness", match=["sex", "sex"], reference="coarse")},
    "far partners": {
        "criteria": one_criterion("faithfulness", match=[], reference="coarse", within="99999999999")
    },
    "no range": {"columns": ONE_BIN, "criteria": one_criterion("ranges-absolute", of=["age"])},
    "many cells": {"columns": numbered(3, 700), "criteria": one_criterion("total-variation", ways="3")},
    "many cells in a tail": {
        "columns": numbered(3, 700),
        "criteria": one_criterion("marginals-tail", of=[["c0", "c1", "c2"]], beyond="0.1"),
    },
    "many ranges": {"columns": numbered(1, 20_000), "criteria": one_criterion("ranges-absolute", of=["c0"])},
    "tied for aim": {
        "columns": numbered(4, 60),
        "criteria": EASY,
        "families": [{"family": "aim"}],
        "constraints": synthetic(*TIES),
    },
    "tied for workload": {
        "columns": numbered(4, 60),
        "criteria": EASY,
        "families": [{"family": "workload"}],
        "constraints": synthetic(*TIES),
    },
    "a huge mean": {"columns": HUGE, "criteria": one_criterion("mean", of="sex", threshold="1e30")},
    "a huge epsilon": {"criteria": one_criterion("marginals-absolute", epsilon="1e25")},
    "hopeless ratio": {"criteria": one_criterion("marginals-relative", threshold="1")},
}


@pytest.mark.parametrize("name", BURNT)
def test_what_would_fail_after_the_charge_is_refused(name: str) -> None:
    free = {"constraints": {"policy": "declared"}, "budget": {"total": "1e9", "generator": "3", "test": "2"}}
    with pytest.raises(FacsimileError) as caught:
        check(specification(**free | BURNT[name]))
    assert caught.value.code in ("E200", "E201")


def test_a_rule_by_any_record_is_looked_at_under_every_alternative_that_is_used() -> None:
    """Finer bins leave a row that coarser ones do not: the coarser alternative is refused by its name."""
    age = SMALL["columns"][0] | {"alternatives": {"wide": ["<18", "17<"], "fine": ["<18", "18-64", "64<"]}}
    rules = reading_any("age < 18 or age > 70")
    with pytest.raises(FacsimileError, match=r"no row that a release could hold \(age: wide\)"):
        check(specification(columns=[age, SMALL["columns"][1]], constraints=rules))
    check(specification(columns=[age | {"use": ["fine"]}, SMALL["columns"][1]], constraints=rules))
    check(specification(columns=[age, SMALL["columns"][1]], constraints=synthetic("age < 18 or age > 70")))
