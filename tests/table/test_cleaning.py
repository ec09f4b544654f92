"""Every engine cleans a field to the same integer as the reference in Python."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import ibis
import pyarrow
import pytest
from ibis.expr.types import Value

import engines
from facsimile.sources.source import opened, run
from facsimile.spec.columns import Column
from facsimile.table.cleaning import BAD, FAR, big, clean_value, cleaned, prepared
from table.nasty import NATIVE

NOTHING = BAD - 1
LABELS = [
    "5",
    "abc",
    "a'b",
    'a"b',
    "a\\b",
    "a%b",
    "été",
    "true",
    "2020-01-31",
    "1000000000000000",
    "-1000000000000000",
]


def every_column() -> list[Column]:
    shared: dict[str, Any] = {"name": "x", "description": "A column"}
    numbers: dict[str, Any] = {**shared, "bounds": ["0", "9999"], "alternatives": {"all": ["0-9999"]}}
    whole = [Column(**numbers, decimals=str(digits)) for digits in (0, 3)]
    down = [Column(**numbers, decimals=str(digits), round="down") for digits in (0, 6)]
    dates = [Column(**numbers, part=part) for part in ("year", "quarter", "month", "day")]
    spelled = {True: "5", False: "abc", "1": "a'b", "ABC": "abc", "-3": "été"}
    categories = {**shared, "values": LABELS, "alternatives": {"all": LABELS}}
    return [*whole, *down, *dates, Column(**categories), Column(**categories, map=spelled)]


COLUMNS = every_column()


def told(value: int | None) -> int | None:
    """Beyond any bound is beyond any bound."""
    return value if value is None or value == BAD else max(-FAR, min(FAR, value))


def integer(value: Value) -> Value:
    """Without NULL, which makes some engines hand over floating-point numbers."""
    return value.cast("int64").fill_null(big(NOTHING))


def check(source: Any, values: list[Any]) -> None:
    columns = COLUMNS if any(isinstance(value, str | date) for value in values) else COLUMNS[1:5] + COLUMNS[-1:]
    with opened(source, ["id", "x"]) as table:
        ready = table.select(id=table.id.cast("int64"), x=prepared(table.x))
        query = ready.select("id", **{f"c{i}": integer(cleaned(c, ready.x)) for i, c in enumerate(columns)})
        found = sorted(run(query).to_pylist(), key=lambda row: row["id"])
    for row, value in zip(found, values, strict=True):
        for place, column in enumerate(columns):
            found_value = None if row[f"c{place}"] == NOTHING else row[f"c{place}"]
            assert told(found_value) == told(clean_value(column, value)), (
                value,
                column.decimals,
                column.part,
                column.values,
            )


def numbered(kind: str) -> pyarrow.Table:
    values = NATIVE[kind]
    if kind == "enumeration":
        values = values.dictionary_decode()
    return pyarrow.table({"id": pyarrow.array(range(len(values)), pyarrow.int64()), "x": values})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9" * 15, 10**15 - 1),
        ("-" + "9" * 15, 1 - 10**15),
        ("1" + "0" * 15, 10**15),
        ("-" + "9" * 16, -(10**15)),
    ],
)
def test_whole_numbers_are_told_apart_up_to_fifteen_digits(text: str, value: int) -> None:
    assert clean_value(COLUMNS[0], text) == value
    check(pyarrow.table({"id": [0], "x": [text]}), [text])


@pytest.mark.parametrize("kind", NATIVE)
def test_duckdb(kind: str) -> None:
    check(numbered(kind), NATIVE[kind].to_pylist())


def test_every_end_of_a_month_in_text() -> None:
    """Days of leap years and others, in a form that the engine does not read itself."""
    ends = product((0, 1, 1900, 2000, 2019, 2020, 2100, 2400), range(14), (0, 1, 28, 29, 30, 31, 32))
    values = [f"{year:04}-{month:02}-{day:02}T10:00" for year, month, day in ends]
    table = ibis.memtable(pyarrow.table({"id": range(len(values)), "x": values}))
    columns = [column for column in COLUMNS if column.part]
    cleaning = {str(column.part): integer(cleaned(column, table.x)) for column in columns}
    found = ibis.duckdb.connect().to_pyarrow(table.select("id", **cleaning).order_by("id"))
    for column in columns:
        assert found.column(str(column.part)).to_pylist() == [clean_value(column, value) for value in values]


@pytest.mark.parametrize("kind", ["text", "int64", "double"])
def test_sqlite(kind: str, tmp_path: Path) -> None:
    values = NATIVE[kind].to_pylist()
    path = engines.write_sqlite(numbered(kind), tmp_path / "data.db")
    absent = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    check(path, absent)


def test_sqlite_with_every_type_in_one_column(tmp_path: Path) -> None:
    values: list[Any] = [None, 5, "5", 5.0, 5.5, " 5 ", "", "x", b"5", 2**63 - 1, -(2**63), 1e300, float("inf")]
    path = tmp_path / "data.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id, x)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate(values))
        connection.commit()
    check(path, ["?" if isinstance(value, bytes) else value for value in values])


@pytest.mark.parametrize("name", ["data.sav", "data.dta"])
@pytest.mark.parametrize("kind", ["text", "int64", "double", "decimal", "date", "timestamp", "boolean"])
def test_labelled(kind: str, name: str, tmp_path: Path) -> None:
    path = engines.write_labelled(numbered(kind), tmp_path / name)
    check(path, [engines.told(value, name) for value in NATIVE[kind].to_pylist()])


POSTGRES = {
    "text": "text", "enumeration": "text", "int64": "bigint", "int8": "smallint", "double": "double precision",
    "float": "real", "decimal": "numeric(20, 3)", "tiny": "numeric", "boolean": "boolean", "date": "date",
    "timestamp": "timestamp",
}  # fmt: skip


@pytest.mark.parametrize("kind", POSTGRES)
def test_postgres(kind: str, postgres: str) -> None:
    import psycopg

    data = numbered(kind)
    with psycopg.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {kind}_data (id int, x {POSTGRES[kind]})".encode())
        with cursor.copy(f"COPY {kind}_data FROM STDIN".encode()) as copy:
            for row in data.to_pylist():
                copy.write_row((row["id"], row["x"]))
        if kind == "enumeration":
            short = "ARRAY(SELECT DISTINCT x FROM enumeration_data WHERE length(x) < 60)"
            listed = cursor.execute(f"SELECT string_agg(quote_literal(u), ',') FROM unnest({short}) u".encode())
            labels = (listed.fetchone() or [""])[0]
            cursor.execute(f"CREATE TYPE few AS ENUM ({labels})".encode())
            cursor.execute(b"UPDATE enumeration_data SET x = 'abc' WHERE length(x) >= 60")
            cursor.execute(b"ALTER TABLE enumeration_data ALTER x TYPE few USING x::few")
    values = data.column("x").to_pylist()
    if kind == "enumeration":
        values = ["abc" if value is not None and len(value.encode()) >= 60 else value for value in values]
    check(f"{postgres}#{kind}_data", values)


@engines.on_spark
@pytest.mark.parametrize("kind", [kind for kind in NATIVE if kind not in ("uint64", "nothing", "enumeration")])
def test_spark(kind: str, tmp_path: Path) -> None:
    path = engines.write_parquet(numbered(kind), tmp_path / "data.parquet")
    check(f"spark://local{path}", NATIVE[kind].to_pylist())
