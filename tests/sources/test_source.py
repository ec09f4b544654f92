"""The same specification gives the same table from every source."""

from __future__ import annotations

import os
import random
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow
import pyarrow.parquet
import pytest

import engines
from facsimile.errors import DataRefused
from facsimile.privacy.reader import read_public
from facsimile.sources.address import Address
from facsimile.sources.source import _silent, guarded, opened, run
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import Encoding
from facsimile.table.table import Table
from table.oracle import outcome, specified

ODD = [
    "",
    " ",
    "\t\n",
    "x",
    "1_000",
    "0x10",
    "1e3",
    "inf",
    "nan",
    "٣",
    "9" * 400,
    "-" + "9" * 400,
    "5\u2028",
    None,
]
ODD_DAYS = [
    "",
    "2020-02-30",
    "2019-3-1",
    "0000-01-01",
    "2019-02-14T10:00:00Z",
    "2019-02-14 10:00:00.5+01",
    None,
]
RECORDS = 2000


@pytest.fixture(scope="module")
def registry(births: Path) -> Specification:
    return load(births / "nvss.yaml")


def births_like(seed: int = 1) -> pyarrow.Table:
    """Births as a file writes them, one field in thirty odd."""
    chance = random.Random(seed)

    def odd(text: str, others: list[str | None]) -> str | None:
        return chance.choice(others) if chance.random() < 1 / 30 else text

    def number(mean: float, deviation: float) -> str | None:
        text = str(round(chance.gauss(mean, deviation)))
        return odd(chance.choice([text] * 6 + [f" {text}", f"+{text}", f"00{text}", f"{text}.0"]), ODD)

    rows = [
        {
            "mother_age": number(29, 7),
            "parity": number(2.5, 2),
            "gestation_week": number(38, 4),
            "is_female": odd(chance.choice(["True", "False", "true", "0", "1"]), ["", "x", "yes", None]),
            "birth_weight": number(3200, 900),
            "date_of_birth": odd(str(date(2019, 1, 1 + chance.randrange(28))), ODD_DAYS),
        }
        for _ in range(RECORDS)
    ]
    return pyarrow.Table.from_pylist(rows)


def births_typed(seed: int = 2) -> pyarrow.Table:
    """The same as a database types them."""
    chance = random.Random(seed)

    def number(mean: float, deviation: float) -> int | None:
        far = chance.choice([None, 2**63 - 1, -(2**63), 0])
        return far if chance.random() < 1 / 30 else round(chance.gauss(mean, deviation))

    def weight() -> float | None:
        return chance.choice(
            [None, 1e300, 3000.5, 3000.0000001, -0.5, float("inf"), *[chance.gauss(3200, 900) // 1] * 40]
        )

    rows = [
        {
            "mother_age": number(29, 7),
            "parity": number(2.5, 2),
            "gestation_week": number(38, 4),
            "is_female": chance.choice([True, False] * 9 + [None]),
            "birth_weight": weight(),
            "date_of_birth": chance.choice(
                [None, *(date(2019, m, 31 - 3 * (m % 2)) for m in (1, 3, 5, 7, 8, 10))]
            ),
        }
        for _ in range(RECORDS)
    ]
    kinds = [pyarrow.int64()] * 3 + [pyarrow.bool_(), pyarrow.float64(), pyarrow.date32()]
    return pyarrow.Table.from_pylist(rows, pyarrow.schema(zip(rows[0], kinds, strict=True)))


def clinic() -> Specification:
    """Categories, codes and constants for what is missing, decimals, a quarter."""
    return specified(
        [
            {
                "name": "height", "source": "Körper größe", "decimals": "1", "round": "down",
                "bounds": ["40", "220"],
                "alternatives": {"fine": ["40.0..219.9 by 20"], "coarse": ["40-119.9", "120-219.9"]},
                "malformed": "missing", "missing": {"code": "?"}, "outside": "clip",
            },
            {
                "name": "diagnosis", "values": ["A'1", 'B"2', "été", "5", "other"],
                "missing": {"value": "other"}, "outside": "other",
                "alternatives": {"fine": ["A'1", 'B"2', "été", "5", "other"]},
            },
            {
                "name": "visit", "part": "quarter", "bounds": ["1", "4"], "alternatives": {"fine": ["1..4"]},
                "malformed": "drop", "missing": "drop", "outside": "drop",
            },
            {
                "name": "score", "decimals": "2", "bounds": ["-1", "2"], "malformed": "drop", "outside": "drop",
                "alternatives": {"fine": ["-1.00--0.01", "0.00..0.99 by 0.25", "1-2"]},
                "missing": {"value": "0.5"},
            },
        ],
        raw=[
            "height > 200 and diagnosis = été", "score >= 1.5 and visit = 2",
            "diagnosis = 5 and height is missing",
        ],
    )  # fmt: skip


def visits(typed: bool) -> pyarrow.Table:
    chance = random.Random(3)
    rows: list[dict[str, Any]] = []
    for _ in range(RECORDS):
        height = chance.uniform(20, 240)
        score = Decimal(chance.randrange(-1500, 2500)).scaleb(-3) if chance.random() < 0.2 else None
        score = score if score is not None else Decimal(chance.randrange(-120, 220)).scaleb(-2)
        day = date(2020, chance.randrange(1, 13), chance.randrange(1, 29))
        row = {
            "Körper größe": chance.choice([None, float(round(height)), round(height, 1), height, float("inf")]),
            "unread, column": 'a\n"b"',
            "diagnosis": chance.choice(
                ["A'1", 'B"2', "été", "5", "other", " été ", "", None, "5.0", 'x,"y"\nz']
            ),
            "visit": chance.choice([None, day, day, day, day]),
            "score": chance.choice([None, score, score, score, score]),
        }
        if not typed:
            odd = {
                "Körper größe": ODD,
                "visit": ODD_DAYS,
                "score": [*ODD, "0.50", "1.", ".5", "-0.00", "-0.005"],
            }
            row = {k: str(v) if v is not None else None for k, v in row.items()}
            row |= {k: chance.choice(values) for k, values in odd.items() if chance.random() < 1 / 15}
        rows.append(row)
    if not typed:
        return pyarrow.Table.from_pylist(rows)
    kinds = [pyarrow.float64(), pyarrow.string(), pyarrow.string(), pyarrow.date32(), pyarrow.decimal128(9, 3)]
    return pyarrow.Table.from_pylist(rows, pyarrow.schema(zip(rows[0], kinds, strict=True)))


def by_reference(specification: Specification, data: pyarrow.Table) -> Table:
    """The table that the plain oracle gives, record by record."""
    found = [outcome(specification, record) for record in data.to_pylist()]
    codes = [code for code in found if isinstance(code, tuple)]
    assert not any(isinstance(refusals, frozenset) for refusals in found)
    assert 500 < len(codes) < RECORDS
    return Table.from_rows(Encoding(specification).domain, codes)


def is_text(data: pyarrow.Table) -> bool:
    return all(pyarrow.types.is_string(kind) for kind in data.schema.types)


def as_told(specification: Specification, data: pyarrow.Table, file: str) -> tuple[Specification, Table]:
    """The same for a labelled file, whose names are plain and whose values are texts."""
    declared = specification.model_dump(mode="json", exclude_none=True, by_alias=True)
    for column in declared["columns"]:
        column["source"] = engines.plain(column.get("source", column["name"]))
    texts = [[engines.told(value, file) for value in column.to_pylist()] for column in data.columns]
    named = pyarrow.table(texts, names=[engines.plain(name) for name in data.column_names])
    return validated(declared), by_reference(validated(declared), named)


CASES = ("births", "births typed", "clinic", "clinic typed")
Case = tuple[Specification, pyarrow.Table, Table]


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, registry: Specification) -> Case:
    typed = request.param.endswith("typed")
    specification = registry if request.param.startswith("births") else clinic()
    data = (births_typed() if typed else births_like()) if specification is registry else visits(typed)
    return specification, data, by_reference(specification, data)


@pytest.mark.parametrize("name", engines.FILES)
def test_files(name: str, case: Case, tmp_path: Path) -> None:
    specification, data, expected = case
    if "csv" in name and not is_text(data):
        pytest.skip("a text file has no types")
    if name in engines.LABELLED:
        specification, expected = as_told(specification, data, name)
    path = engines.FILES[name](data, tmp_path / name)
    content = path.read_bytes()
    assert read_public(path, specification) == expected
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_separators(delimiter: str, tmp_path: Path) -> None:
    specification, data = clinic(), visits(typed=False)
    path = engines.write_csv(data, tmp_path / "data.csv", delimiter)
    assert read_public(path, specification) == by_reference(specification, data)


@pytest.mark.parametrize("kind", engines.MEMORY)
def test_memory(kind: str, case: Case) -> None:
    specification, data, expected = case
    assert read_public(engines.MEMORY[kind](data), specification) == expected


def test_postgres(postgres: str, case: Case, request: pytest.FixtureRequest) -> None:
    specification, data, expected = case
    name = request.node.callspec.params["case"]
    enumerated = ("diagnosis",) if "diagnosis" in data.column_names else ()
    source = engines.write_postgres(data, postgres, name, enumerated)
    assert read_public(source, specification) == expected
    assert read_public(f"{postgres}#public.{name}", specification) == expected
    with pytest.raises(DataRefused, match="E108"):
        read_public(f"{postgres}#absent", specification)


def test_postgres_is_only_read(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    from facsimile.sources.source import opened

    engines.write_postgres(pyarrow.table({"a": ["1"]}), postgres, "locked")
    with opened(f"{postgres}#locked", ["a"]) as table:
        connection = table.get_backend()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.raw_sql("DELETE FROM locked")


@engines.on_spark
@pytest.mark.parametrize("name", ["data.parquet", "data.csv.gz", "d[1]{a}*.csv"])
def test_spark(name: str, case: Case, tmp_path: Path) -> None:
    specification, data, expected = case
    if "csv" in name and not is_text(data):
        pytest.skip("a text file has no types")
    write = engines.write_parquet if name.endswith("parquet") else engines.write_csv
    path = write(data, tmp_path / name)
    assert read_public(f"spark://local{path}", specification) == expected


@engines.on_spark
def test_spark_tables(case: Case, tmp_path: Path) -> None:
    from facsimile.sources.source import _session

    specification, data, expected = case
    path = engines.write_parquet(data, tmp_path / "data.parquet")
    _session(Address.of("spark://local#people")).read.parquet(str(path)).createOrReplaceTempView("people")
    assert read_public("spark://local#people", specification) == expected
    with pytest.raises(DataRefused, match="E108"):
        read_public("spark://local#absent", specification)


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_the_name_of_a_folder_is_no_column(name: str, tmp_path: Path) -> None:
    """Engines read `age=5/` as a column and put it in the place of the file's own."""
    folder = tmp_path / "age=5"
    folder.mkdir()
    data = pyarrow.table({"age": ["70", "71"], "sex": ["a", "b"]})
    write = engines.write_csv if name.endswith("csv") else pyarrow.parquet.write_table
    write(data, folder / name)
    with opened(folder / name, ["age", "sex"]) as source:
        assert sorted(source.to_pyarrow().column("age").to_pylist()) == ["70", "71"]


@pytest.mark.parametrize("name", engines.FILES)
def test_every_column_is_opened_where_none_is_named(name: str, tmp_path: Path) -> None:
    odd = "Größe" if name.endswith((".sav", ".zsav", ".dta")) else "Größe (cm)"
    data = pyarrow.table({"b": ["1", "2"], odd: ["3", None], "a": ["5", "6"]})
    with opened(engines.FILES[name](data, tmp_path / name), None) as source:
        assert list(source.columns) == data.column_names
        assert source.to_pyarrow().select(data.column_names).to_pydict() == data.to_pydict()


@pytest.mark.parametrize("names", [["a", "a"], ["a", "A"]])
@pytest.mark.parametrize("form", ["csv", "parquet", "memory"])
def test_every_column_has_a_name_of_its_own(names: list[str], form: str, tmp_path: Path) -> None:
    data = pyarrow.Table.from_arrays([pyarrow.array(["1", "2"])] * 2, names=names)
    path = tmp_path / f"data.{form}"
    if form == "csv":
        path.write_text(f"{','.join(names)}\n1,1\n2,2\n")
    elif form == "parquet":
        pyarrow.parquet.write_table(data, path)
    with pytest.raises(DataRefused, match="E111"), opened(data if form == "memory" else path, None):
        pass
    if names == ["a", "A"] and form == "csv":
        with opened(path, ["A"]) as source:  # a specification that names one of them still reads it
            assert source.select("A").to_pyarrow().num_rows == 2


@pytest.mark.parametrize("name", ["data.csv.gz", "data.parquet", "data.arrow"])
def test_every_column_comes_in_the_order_of_the_file(name: str, tmp_path: Path) -> None:
    places = [str(place) for place in range(300_000)]
    with opened(engines.FILES[name](pyarrow.table({"place": places}), tmp_path / name), None) as source:
        assert source.to_pyarrow().column("place").to_pylist() == places


def test_an_interrupted_engine_stops_the_program() -> None:
    def interrupted() -> None:
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

    with pytest.raises(KeyboardInterrupt):
        guarded(interrupted, lambda _: "E106")


@pytest.mark.parametrize("fused", [True, False])
def test_how_ibis_writes_queries_is_as_it_was_after_one(fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ibis.options.sql, "fuse_selects", fused)
    assert run(ibis.memtable(pyarrow.table({"a": [1]}))).to_pylist() == [{"a": 1}]
    assert ibis.options.sql.fuse_selects is fused


def test_a_duckdb_file_is_opened_for_reading_alone(tmp_path: Path) -> None:
    path = engines.FILES["data.duckdb"](pyarrow.table({"a": ["1"]}), tmp_path / "data.duckdb")
    with opened(path, ["a"]) as source, pytest.raises(duckdb.InvalidInputException, match="read-only"):
        source.get_backend().raw_sql("CREATE TABLE more (a TEXT)")


def test_silence_is_for_standard_error_and_has_an_end(capfd: pytest.CaptureFixture[str]) -> None:
    free = os.dup(2)
    os.close(free)
    with _silent():
        os.write(2, b"what an engine says of a value")
    after = os.dup(2)
    os.close(after)
    assert after == free
    os.write(2, b"after")
    assert capfd.readouterr().err == "after"


def test_what_is_there_but_no_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "births.csv")
    with pytest.raises(DataRefused) as refused, opened(Address.of(str(tmp_path / "births.csv")), None):
        pass
    assert refused.value.code == "E105"


def test_an_address_alone_says_where_a_table_of_postgres_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def connect(**given: Any) -> None:
        seen.update(given, **{key: value for key, value in os.environ.items() if key.startswith("PG")})
        raise ConnectionError

    monkeypatch.setattr(ibis.postgres, "connect", connect)
    for key in list(os.environ):
        if key.startswith("PG"):
            monkeypatch.delenv(key)
    variables = {"PGHOST": "elsewhere", "PGOPTIONS": "-c x=y", "PGPASSFILE": "kept"}
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    with pytest.raises(DataRefused), opened(Address.of("postgres://me:secret@host:5433/base#t"), None):
        pass
    said = {"host": "host", "port": 5433, "user": "me", "password": "secret", "database": "base"}
    assert seen == {**said, "PGPASSFILE": "kept"}
    assert {key: os.environ[key] for key in variables} == variables


@engines.on_spark
def test_a_column_that_is_there_twice_is_refused_on_spark_too(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,a\n1,1\n2,2\n")
    with pytest.raises(DataRefused, match="E111"), opened(f"spark://local{tmp_path}/data.csv", ["a"]):
        pass
