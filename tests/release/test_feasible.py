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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"projection": {"min_count": [str(N + 1)]}}, "min_count"),
        ({"projection": {"min_count": ["2", str(N + 1)]}}, "min_count"),
        ({"constraints": synthetic("sex in [M, F]", "sex is missing")}, "no row"),
        ({"constraints": synthetic("age < 18 or age > 64", "age <= 64 and age >= 18")}, "no row"),
        ({"criteria": query("age = 19")}, "No bin"),
        ({"criteria": query("age = 19", of="age")}, "No bin"),
        ({"criteria": query("age < 18 and age > 64")}, "No bin"),
        ({"criteria": query("sex is missing or sex is not missing")}, "Every record"),
    ],
    ids=range(8),
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
