"""Profiles: every source gives the same texts, and none is opened that is confidential."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest

import engines
from facsimile.draft import profile
from facsimile.draft.profile import Profile, profiled
from facsimile.errors import FacsimileError

TEXTS = {"age": ["41", " 7", None, "7"], "sex": ["f", "", "m", "f"], "born": ["2001-02-03"] * 4}
TYPED = pyarrow.table(
    {
        "whole": [1.0, 2.5, None, float("nan")],
        "price": [Decimal("1.50"), Decimal("2.00"), None, Decimal("1.50")],
        "flag": [True, False, None, True],
        "day": [date(2001, 2, 3)] * 4,
        "moment": [datetime(2001, 2, 3, 4, 5)] * 4,
        "many": [[1], [2], [3], [4]],
    }
)


def counts(found: Profile) -> dict[str, tuple[dict[str, int], int]]:
    return {one.name: (dict(one.counts), one.blank) for one in found.columns}


@pytest.mark.parametrize("name", engines.FILES)
def test_every_file_gives_the_same_texts(name: str, tmp_path: Path) -> None:
    path = engines.FILES[name](pyarrow.table(TEXTS), tmp_path / name)
    found = profiled(path)
    assert found.records == 4 and found.every == 1
    expected = {"age": ({"41": 1, "7": 2}, 1), "sex": ({"f": 2, "m": 1}, 1), "born": ({"2001-02-03": 4}, 0)}
    assert counts(found) == expected
    age, _, born = found.columns
    assert {text: int(number) for text, number in age.numbers.items()} == {"41": 41, "7": 7}
    assert born.dates == {"2001-02-03": date(2001, 2, 3)} and not born.numbers


def test_typed_values_are_the_texts_that_a_specification_reads() -> None:
    found = profiled(TYPED)
    assert counts(found) == {
        "whole": ({"1": 1, "2.5": 1, "nan": 1}, 1),
        "price": ({"1.50": 2, "2.00": 1}, 1),
        "flag": ({"false": 1, "true": 2}, 1),
        "day": ({"2001-02-03": 4}, 0),
        "moment": ({"2001-02-03": 4}, 0),
    }
    assert [one.name for one in found.columns if one.real] == ["whole", "price"]
    assert found.unread == {"many": "has a type that cannot be read"}


def test_real_numbers_of_sqlite_are_read(tmp_path: Path) -> None:
    path = engines.write_sqlite(pyarrow.table({"x": [1.5, 2.0, None]}), tmp_path / "data.sqlite")
    assert counts(profiled(path)) == {"x": ({"1.5": 1, "2.0": 1}, 1)}


def test_columns_without_a_name_are_told(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,,b\n1,2,3\n4,5,6\n")
    found = profiled(path)
    assert [one.name for one in found.columns] == ["a", "b"]
    assert found.unread == {"column 2": "has no name"}


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_of_a_large_file_every_so_many_th_record_is_looked_at(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "MOST_RECORDS", 100)
    table = pyarrow.table({"place": [str(place) for place in range(250)], "one": ["1"] * 250})
    write = engines.write_csv if name.endswith("csv") else engines.write_parquet
    found = profiled(write(table, tmp_path / name))
    assert found.records == 250 and found.every == 3
    assert {int(text) for text in found.columns[0].counts} == set(range(0, 250, 3))


@pytest.mark.parametrize(
    ("content", "code"),
    [("a,a\n1,2\n", "E111"), ("A,a\n1,2\n", "E111"), ("a,b\n", "E103"), ("", "E102"), ("a,b\n1\n", "E130")],
)
def test_what_is_no_table_is_refused(content: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content)
    with pytest.raises(FacsimileError, match=code):
        profiled(path)


def test_a_confidential_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,a\n1,2\n")  # what opens it refuses it for its header
    (tmp_path / "data.csv.key").write_text("a key")
    with pytest.raises(FacsimileError, match="E207"):
        profiled(path)
