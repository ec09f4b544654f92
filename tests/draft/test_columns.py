"""What a raw column becomes, one kind after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from drafts import seen
from facsimile.draft.columns import drafted
from facsimile.draft.description import Description, Field
from facsimile.draft.part import DraftColumn
from facsimile.draft.profile import Profile
from facsimile.sources.address import Address
from facsimile.spec.columns import Column

N = 600
DAYS = [f"2021-{1 + place % 12:02}-{1 + place % 28:02}" for place in range(N)]


def became(values: Sequence[object], name: str = "x", real: bool = False, **said: Any) -> DraftColumn | str:
    """What a column of these values becomes, or why it is left out."""
    fields = {name: Field(name, **said)} if said else {}
    columns, left = drafted(
        Profile((seen(name, values, real),), len(values), 1, {}),
        Description(Address.of("x.csv"), fields=fields),
    )
    if left:
        return left[0].why
    Column.model_validate(dict(columns[0].data))
    return columns[0]


def kind(found: DraftColumn | str) -> str:
    return found if isinstance(found, str) else found.kind


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([place % 90 for place in range(N)], "number"),
        ([place % 7 - 3 for place in range(N)], "number"),
        ([place / 10 for place in range(N)], "number"),
        ([f"{place % 90}.00" for place in range(N)], "number"),
        ([1950 + place % 70 for place in range(N)], "number"),
        ([1, 2] * (N // 2), "category"),
        (["0", "1"] * (N // 2), "yes or no"),
        (["True", "False", None] * (N // 3), "yes or no"),
        (["Y", "N"] * (N // 2), "category"),
        (["007", "012", "350"] * (N // 3), "category"),
        (DAYS, "date"),
        ([f"{day} 10:00" for day in DAYS], "date"),
        ([None, "x"] * (N // 2), "category"),
    ],
)
def test_kinds(values: Sequence[object], expected: str) -> None:
    assert kind(became(values)) == expected


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        ([f"P{place}" for place in range(N)], "x", "identifier or free text"),
        (list(range(1000, 1000 + N)), "x", "looks like an identifier"),
        ([place * 7919 % 99991 for place in range(N)], "record_id", "looks like an identifier"),
        (["k"] * N, "x", "one value only: k"),
        ([7] * N, "x", "one value only: 7"),
        ([None] * N, "x", "no value"),
        (["NA"] * N, "x", "no value"),
        (["31.12.2020", "1/2/2021"] * (N // 2), "x", "not written like 2023-05-17"),
        (["a", "b"] * (N // 2), "n" * 129, "more than 128 characters"),
        ([0.000000001 * place for place in range(N)], "x", "cannot tell apart"),
    ],
)
def test_what_is_left_out_and_why(values: Sequence[object], name: str, why: str) -> None:
    found = became([f"{v:.12f}" if isinstance(v, float) else v for v in values], name)
    assert isinstance(found, str) and why in found


def test_an_income_that_nobody_shares_is_no_identifier() -> None:
    assert (
        kind(became([20_000 + 137 * place * (place % 13) + place for place in range(N)], "income")) == "number"
    )


def data(found: DraftColumn | str) -> Mapping[str, Any]:
    assert isinstance(found, DraftColumn), found
    return found.data


def test_blanks_get_a_code_and_else_stop_a_release() -> None:
    ages = [place % 90 for place in range(N)]
    assert data(became(ages))["missing"] == "refuse"
    found = became([None, *ages])
    assert data(found)["missing"]["code"] == "unknown"
    assert isinstance(found, DraftColumn) and "number" in found.data["missing"] and found.averaged
    half = became([*ages, *[None] * 200])
    assert isinstance(half, DraftColumn) and not half.averaged


def test_words_among_numbers_are_read_as_blank() -> None:
    found = data(became([*(place % 90 for place in range(N)), "NA", "."]))
    assert found["malformed"] == "missing" and found["missing"]["code"] == "unknown"


def test_a_category_that_means_nothing_is_unknown_and_so_are_blanks() -> None:
    found = data(became(["a", "b", "?"] * 200))
    assert found["map"] == {"a": "a", "b": "b", "?": "unknown"}
    assert found["missing"] == {"value": "unknown"}


def test_a_date_keeps_its_month_within_a_year_and_else_its_year() -> None:
    assert data(became(DAYS))["part"] == "month"
    later = [f"{2000 + place % 20}-05-17" for place in range(N)]
    assert data(became(later))["part"] == "year"


def test_real_numbers_are_no_categories() -> None:
    assert kind(became([0.5, 1.5] * 50, real=True)) == "number"
    assert kind(became([0, "inf", "nan"] * 50, real=True)) == "number"


def test_a_description_names_and_decides() -> None:
    labels = {"1": "man", "2": "woman", "9": "not said"}
    found = became([1, 2, 9] * 200, title="Sex of the person", labels=labels, missing=("9",))
    assert data(found)["description"] == "Sex of the person"
    assert data(found)["map"] == {"1": "man", "2": "woman", "9": "unknown"}
    assert kind(became([place % 9 for place in range(N)], kind="category")) == "category"
    codes = became([*range(1, 80), *[999] * 5] * 9, missing=("999",))
    assert "code 999" in data(codes)["alternatives"]["released"]


def test_names_differ_and_point_to_their_source() -> None:
    columns, _ = drafted(
        Profile(tuple(seen(name, ["a", "b"] * 50) for name in ("Sex", "sex ", "שם")), 100, 1, {}),
        Description(Address.of("x.csv")),
    )
    assert [column.name for column in columns] == ["sex", "sex_2", "column_3"]
    assert [column.data["source"] for column in columns] == ["Sex", "sex ", "שם"]


def test_every_guess_has_a_note() -> None:
    found = became([*(place * place % 977 for place in range(N)), None])
    assert isinstance(found, DraftColumn)
    assert {"description", "bounds", "alternatives", "missing"} <= set(found.notes)
    assert set(found.notes) <= set(found.data)
