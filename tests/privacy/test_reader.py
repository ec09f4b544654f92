"""What a data file may be, and that a refused one tells nothing of what it holds."""

from __future__ import annotations

import gzip
import io
import re
import sqlite3
import sys
import time
import traceback
import tracemalloc
import zipfile
import zlib
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pytest

import engines
from facsimile.errors import CATALOGUE, DataRefused, FacsimileError
from facsimile.privacy.dataset import dataset_key, key_path
from facsimile.privacy.private import Private
from facsimile.privacy.reader import (
    _code,
    opened_public,
    read,
    read_public,
    read_public_labels,
    read_public_sums,
)
from facsimile.sources.address import Address
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from needs import needs
from specs import changed
from table.oracle import specified

SENTINELS = ("Zaphodine", "8675309", "Beeblebrox", "1879-03-14", "column_of_secrets", "5551212")
HEADER = "age,sex,born,column_of_secrets\n"
ROWS = "30,F,1879-03-14,Zaphodine\n41,M,1990-05-06,8675309\n"
GOOD = HEADER + ROWS + "17,F,2001-01-01,Beeblebrox 5551212\n"


def people(**changes: Any) -> Specification:
    columns: list[dict[str, Any]] = [
        {"name": "age", "bounds": ["0", "120"], "alternatives": {"fine": ["0-17", "18-120"]}},
        {"name": "sex", "values": ["M", "F"], "alternatives": {"fine": ["M", "F"]}},
        {"name": "month", "source": "born", "part": "month", "bounds": ["1", "12"],
         "alternatives": {"fine": ["1..12"]}},
    ]  # fmt: skip
    columns[0] |= changes
    return specified(columns)


@pytest.fixture
def refuses(capfd: pytest.CaptureFixture[str]) -> Any:
    """Checks that a source is refused with a code and that nothing of it comes out."""

    def check(source: Any, code: str, specification: Specification | None = None, **items: str) -> None:
        with pytest.raises(DataRefused) as caught:
            read_public(source, specification or people())
        error: BaseException | None = caught.value
        entry = CATALOGUE[code]
        assert caught.value.code == code
        assert str(error) == f"{code} {entry.sentence.format(**items)} {entry.next_step.format(**items)}"
        assert error is not None
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__
        shown = ["".join(traceback.format_exception(error)), str(caught.value.as_json()), *capfd.readouterr()]
        assert shown[-2:] == ["", ""]
        while error is not None:
            shown += [
                str(error),
                repr(error),
                repr(error.args),
                repr(vars(error)),
                repr(getattr(error, "object", "")),
            ]
            error = error.__cause__ or error.__context__
        for sentinel in SENTINELS:
            assert not any(sentinel in text for text in shown), (sentinel, code)

    return check


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(content: str) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("data.csv", content)
    return memory.getvalue()


FILES: list[tuple[str, bytes | str, str, dict[str, str]]] = [
    ("data.csv", "", "E102", {}),
    ("data.csv", "\n\n", "E102", {}),
    ("data.csv.gz", gzip.compress(b""), "E102", {}),
    ("data.parquet", "", "E102", {}),
    ("data.db", "", "E102", {}),
    ("data.csv", HEADER, "E103", {}),
    ("data.csv", HEADER.strip(), "E103", {}),
    ("data.csv", HEADER + "\r\n\n", "E103", {}),
    ("data.xlsx", GOOD, "E105", {}),
    ("data", GOOD, "E105", {}),
    ("data.parquet", "PAR1" + GOOD, "E106", {}),
    ("data.arrow", GOOD, "E106", {}),
    ("data.arrow", "ARROW1\x00\x00" + GOOD, "E106", {}),
    ("data.duckdb", GOOD, "E106", {}),
    ("data.sqlite", GOOD * 20, "E106", {}),
    ("data.sav", "", "E102", {}),
    ("data.sav", GOOD, "E106", {}),
    ("data.zsav", "$FL3" + GOOD * 9, "E106", {}),
    ("data.dta", "<stata_dta><header>" + GOOD, "E106", {}),
    ("data.csv.gz", gzip.compress(GOOD.encode())[:-12], "E106", {}),
    ("data.csv.gz", gzip.compress(GOOD.encode())[:20] + GOOD.encode(), "E106", {}),
    ("data.csv", GOOD.replace("age", "Alter").replace("born", "Beeblebrox"), "E110", {"columns": "age, born"}),
    ("data.csv", GOOD.replace("age,", "AGE,"), "E110", {"columns": "age"}),
    ("data.csv", GOOD.replace("column_of_secrets", "age"), "E111", {"column": "age"}),
    ("data.csv", GOOD.encode("latin-1") + b"9,F,2001-01-01,Zaphod\xe9\n", "E120", {}),
    ("data.csv", GOOD.encode() + b"9,F,2001-01-01,Zaphod\xff", "E120", {}),
    ("data.csv", GOOD.encode("utf-16"), "E120", {}),
    ("data.csv", GOOD + "9,F,2001-01-01,Zaph\x00od\n", "E121", {}),
    ("data.csv", GOOD + "9,F,2001-01-01,Zaph\u202eod\n", "E121", {}),
    ("data.csv", GOOD + "9,F,2001-01-01,Zaph\u2066od\n", "E121", {}),
    ("data.csv", zipped(GOOD), "E122", {}),
    ("data.zip", zipped(GOOD), "E122", {}),
    ("data.csv.gz", gzip.compress(gzip.compress(GOOD.encode())), "E122", {}),
    ("data.csv.gz", gzip.compress(zipped(GOOD)), "E122", {}),
    ("data.csv", GOOD + "9,F,2001-01-01\n", "E130", {}),
    ("data.csv", GOOD + "9,F,2001-01-01,Zaphodine,8675309\n", "E130", {}),
    ("data.csv", GOOD + "9,F,2001-01-01,Zaphodine,\n", "E130", {}),
    (
        "data.csv",
        GOOD + "9,F,2001-01-01,Zaphodine\n9,F,2001-01-01\n9,F,2001-01-01,Zaphodine,8675309\n",
        "E130",
        {},
    ),
    ("data.csv", GOOD + "8675309\n9,F,2001-01-01,a,b,c,Zaphodine\n", "E130", {}),
    ("data.csv", GOOD + '9,F,2001-01-01,"Zaphodine\n', "E130", {}),
    ("data.csv", GOOD + '9,F,"2001-01-01,Zaphodine\n8,F,2001-01-01,x\n', "E130", {}),
    ("data.csv", GOOD + f"9,F,2001-01-01,{'Zaphodine' * 8000}\n", "E131", {}),
    ("data.csv", GOOD + f"{'8675309' * 10000},F,2001-01-01,x\n", "E131", {}),
    ("data.csv", GOOD + "Zaphodine,F,2001-01-01,x\n", "E140", {"column": "age"}),
    ("data.csv", GOOD + "8675309e3,F,2001-01-01,x\n", "E140", {"column": "age"}),
    ("data.csv", GOOD + "1_000,F,2001-01-01,x\n", "E140", {"column": "age"}),
    ("data.csv", GOOD + "٣,F,2001-01-01,x\n", "E140", {"column": "age"}),
    ("data.csv", GOOD + "inf,F,2001-01-01,x\n", "E140", {"column": "age"}),
    ("data.csv", GOOD + "9,F,8675309-01-01,x\n", "E140", {"column": "month"}),
    ("data.csv", GOOD + ",F,2001-01-01,x\n", "E141", {"column": "age"}),
    ("data.csv", GOOD + '9," ",2001-01-01,x\n', "E141", {"column": "sex"}),
    ("data.csv", GOOD + "8675309,F,2001-01-01,x\n", "E142", {"column": "age"}),
    ("data.csv", GOOD + "9,Beeblebrox,2001-01-01,x\n", "E142", {"column": "sex"}),
    ("data.csv", HEADER + ROWS.splitlines()[0], "E151", {}),
]


@pytest.mark.parametrize(
    ("name", "content", "code", "items"), FILES, ids=[f"{i}-{f[2]}" for i, f in enumerate(FILES)]
)
def test_a_bad_file_is_refused(
    name: str, content: bytes | str, code: str, items: dict[str, str], tmp_path: Path, refuses: Any
) -> None:
    path = written(tmp_path, name, content)
    refuses(path, code, **items)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_file_that_is_not_there(tmp_path: Path, refuses: Any) -> None:
    for name in ("Zaphodine.csv", "Zaphodine.duckdb", "Zaphodine.sqlite#t", "Zaphodine"):
        refuses(tmp_path / name, "E101")
    assert not list(tmp_path.iterdir())
    refuses(tmp_path, "E105")


@pytest.mark.parametrize("count", ["2", "4", "8675309"])
def test_the_number_of_records_is_checked_and_not_told(count: str, tmp_path: Path) -> None:
    data = people().model_dump(mode="json", exclude_none=True)
    data["records"]["count"] = count
    with pytest.raises(DataRefused) as caught:
        read(written(tmp_path, "data.csv", GOOD), validated(data))
    assert str(caught.value) == f"E104 {CATALOGUE['E104'].sentence} {CATALOGUE['E104'].next_step}"


def test_a_good_file_is_boxed(tmp_path: Path) -> None:
    data = people().model_dump(mode="json", exclude_none=True)
    data["records"]["count"] = "3"
    sealed = read(written(tmp_path, "data.csv", GOOD), validated(data))
    assert isinstance(sealed.private, Private)
    assert (sealed.n, sealed.domain) == (3, Domain(validated(data).finest()))
    assert sealed.private._open().domain == sealed.domain


def test_what_is_read_as_public_is_refused_where_budget_was_spent(tmp_path: Path) -> None:
    path, column = written(tmp_path, "data.csv", GOOD), people().columns[0].name
    with opened_public(path, ["age", "sex"]) as source:
        assert {"age", "sex"} <= set(source.columns) and source.count().execute() == 3
    sums = read_public_sums(path, people(), [column])
    assert sums.sums[column].sum() == 30 + 41 + 17 and sums.values[column].sum() == 3
    dataset_key(key_path(Address.of(str(path))))

    def entered() -> None:
        with opened_public(path, ["age"]):
            pytest.fail("opened")

    for action in (
        entered,
        lambda: read_public_sums(path, people(), [column]),
        lambda: read_public(path, people()),
    ):
        with pytest.raises(FacsimileError) as caught:
            action()
        assert caught.value.code == "E207"


def test_an_engine_that_fails_is_told_by_its_kind_alone(tmp_path: Path) -> None:
    """The words are DuckDB's own, and hold what it failed on."""
    found = []
    form = "auto_detect = false, columns = {'a': 'VARCHAR', 'b': 'VARCHAR'}, max_line_size = 100"
    for line, asked in (
        ("Zaphodine" * 20 + ",1", "a"),
        ("1,2,8675309", "a"),
        ("Zaphodine,2", "error(a)"),
    ):
        path = written(tmp_path, "data.csv", line + "\n")
        with closing(duckdb.connect()) as connection, pytest.raises(duckdb.Error) as caught:
            connection.execute(f"SELECT {asked} FROM read_csv('{path}', {form})").fetchall()
        found.append(_code(caught.value))
    assert found == ["E131", "E130", "E106"]


def table_of(text: str = GOOD) -> pyarrow.Table:
    header, *rows = (line.split(",") for line in text.splitlines())
    return pyarrow.table([pyarrow.array(column) for column in zip(*rows, strict=True)], names=header)


@pytest.mark.parametrize("name", engines.FILES)
def test_every_kind_of_file_without_records(name: str, tmp_path: Path, refuses: Any) -> None:
    path = engines.FILES[name](table_of().slice(0, 0), tmp_path / name)
    refuses(path, "E103")


@pytest.mark.parametrize("name", engines.FILES)
def test_every_kind_of_file_without_a_column(name: str, tmp_path: Path, refuses: Any) -> None:
    path = engines.FILES[name](table_of().drop_columns(["sex"]), tmp_path / name)
    refuses(path, "E110", columns="sex")


@pytest.mark.parametrize("name", engines.FILES)
def test_every_kind_of_file_with_values_outside(name: str, tmp_path: Path, refuses: Any) -> None:
    path = engines.FILES[name](table_of(GOOD + "8675309,F,2001-01-01,x\n"), tmp_path / name)
    refuses(path, "E142", column="age")


@pytest.mark.parametrize("name", ["data.csv.gz", "data.parquet", "data.arrow", "data.feather", "memory"])
def test_every_kind_of_file_with_a_column_twice(name: str, tmp_path: Path, refuses: Any) -> None:
    data = table_of().rename_columns(["age", "sex", "born", "age"])
    refuses(engines.FILES[name](data, tmp_path / name) if name in engines.FILES else data, "E111", column="age")


@pytest.mark.parametrize("name", ["data.duckdb", "data.sqlite"])
def test_tables_of_a_database(name: str, tmp_path: Path, refuses: Any) -> None:
    path = engines.FILES[name](table_of(), tmp_path / name)
    engine = duckdb if name.endswith("duckdb") else sqlite3
    expected = read_public(path, people())
    with closing(engine.connect(str(path))) as connection:
        connection.execute("CREATE VIEW column_of_secrets AS SELECT 8675309 AS a").fetchall()
        connection.commit()
    refuses(path, "E107")
    refuses(f"{path}#Zaphodine", "E108")
    assert read_public(f"{path}#people", people()) == expected
    refuses(f"{path}#column_of_secrets", "E110", columns="age, sex, born")


@pytest.mark.parametrize("name", ["data.duckdb", "data.sqlite"])
def test_a_database_without_tables(name: str, tmp_path: Path, refuses: Any) -> None:
    engine = duckdb if name.endswith("duckdb") else sqlite3
    with closing(engine.connect(str(tmp_path / name))) as connection:
        connection.execute("CREATE TABLE t (a int)").fetchall()
        connection.execute("DROP TABLE t").fetchall()
        connection.commit()
    refuses(tmp_path / name, "E108")


def test_a_database_that_writes_ahead_is_read_and_left_whole(tmp_path: Path) -> None:
    path = engines.write_sqlite(table_of(), tmp_path / "data.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    content = path.read_bytes()
    assert read_public(path, people()).n == 3
    assert path.read_bytes() == content


@pytest.mark.parametrize(("source", "module", "extra"), [
    ("postgres://Zaphodine:8675309@localhost/x#t", "psycopg", "postgres"),
    ("postgresql://Zaphodine:8675309@localhost/x#t", "psycopg", "postgres"),
    ("spark://local/Zaphodine.parquet", "pyspark", "spark"),
])  # fmt: skip
def test_an_extra_that_is_not_installed(
    source: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch, refuses: Any
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    refuses(source, "E109", extra=extra)


def test_a_server_that_does_not_answer(refuses: Any) -> None:
    if not find_spec("psycopg"):
        needs("the extra postgres is not installed")
    refuses("postgres://Zaphodine:8675309@127.0.0.1:1/Beeblebrox#t", "E106")


@pytest.mark.parametrize("kind", [pyarrow.list_(pyarrow.string()), pyarrow.binary(), pyarrow.time64("us")])
def test_types_without_a_text(kind: Any, refuses: Any) -> None:
    data = table_of().set_column(0, "age", pyarrow.nulls(3, kind))
    refuses(data, "E112", column="age")


def test_a_broken_row_group(tmp_path: Path, refuses: Any) -> None:
    data = pyarrow.table({name: [str(i) for i in range(5000)] for name in ("age", "sex", "born")})
    path = engines.write_parquet(data, tmp_path / "data.parquet")
    content = bytearray(path.read_bytes())
    content[100:4000] = bytes(3900)
    path.write_bytes(content)
    refuses(path, "E106")


def test_a_gzip_bomb_is_refused_quickly_in_little_memory(tmp_path: Path, refuses: Any) -> None:
    row = b"30,F,1879-03-14,Zaphodine\n"
    piece = row * ((1 << 20) // len(row))
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(HEADER.encode())]
    parts += [packer.compress(piece)] + [packer.compress(piece) for _ in range(299)]
    path = written(tmp_path, "data.csv.gz", b"".join([*parts, packer.flush()]))
    assert path.stat().st_size < 3_000_000
    tracemalloc.start()
    start = time.monotonic()
    refuses(path, "E122")
    assert time.monotonic() - start < 20
    assert tracemalloc.get_traced_memory()[1] < 64_000_000
    tracemalloc.stop()


ACCEPTED = {
    "plain": GOOD,
    "byte-order mark": "\ufeff" + GOOD,
    "CRLF": GOOD.replace("\n", "\r\n"),
    "no last line end": GOOD.rstrip("\n"),
    "blank lines": GOOD.replace("\n", "\n\n"),
    "semicolons": GOOD.replace(",", ";"),
    "tabs": GOOD.replace(",", "\t"),
    "bars": GOOD.replace(",", "|"),
    "quotes": re.sub(r"[^,\n]+", r'"\g<0>"', GOOD),
    "spaces in the header": GOOD.replace("sex,born", " sex , born "),
    "another order": "\n".join(",".join(reversed(line.split(","))) for line in GOOD.splitlines()),
    "odd unread column": GOOD.replace("Zaphodine", '"Zaph\n""od"",ine"'),
}


def accepted(path: Path | str) -> None:
    table = read_public(path, people())
    assert table.marginal(("age", "sex")).tolist() == [[0, 1], [1, 1]]
    assert np.flatnonzero(table.marginal(("month",))).tolist() == [0, 2, 4]


@pytest.mark.parametrize("content", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted_files(content: str, tmp_path: Path) -> None:
    accepted(written(tmp_path, "data.csv", content))
    if '"' in content or "\r" in content:
        accepted(written(tmp_path, "data.csv.gz", gzip.compress(content.encode())))


@pytest.mark.parametrize("name", ["data.CSV", "d[1]*?.csv", "a#b.csv#", "data.txt", "dé 'x'.tsv"])
def test_accepted_names(name: str, tmp_path: Path) -> None:
    written(tmp_path, "d1xx.csv", HEADER + "1,M,2001-01-01,x\n" * 9)
    path = written(tmp_path, name.rstrip("#"), GOOD)
    accepted(f"{path}#" if name.endswith("#") else path)


def test_a_name_that_hides_the_compression(tmp_path: Path) -> None:
    packed = written(tmp_path, "packed.csv", gzip.compress(GOOD.encode()))
    plain = written(tmp_path, "plain.csv.gz", GOOD)
    assert read_public(packed, people()) == read_public(plain, people())


def test_two_records_are_enough(tmp_path: Path) -> None:
    assert read_public(written(tmp_path, "data.csv", HEADER + ROWS), people()).n == 2


def test_rows_that_are_all_equal(tmp_path: Path) -> None:
    table = read_public(
        written(tmp_path, "data.csv", HEADER + ROWS.splitlines()[0].join(["", "\n"]) * 50), people()
    )
    assert (table.n, table.distinct) == (50, 1)


def test_what_reads_for_the_public_takes_no_file_with_a_dataset_key(tmp_path: Path) -> None:
    path = written(tmp_path, "data.csv", GOOD)
    assert read_public(path, people()).n == 3
    dataset_key(key_path(Address.of(str(path))))
    with pytest.raises(FacsimileError, match=r"^E207 "):
        read_public(path, people())
    with pytest.raises(FacsimileError, match=r"^E207 "), opened_public(path, ["age"]):
        pass


def test_nor_does_what_reads_the_labels_of_a_file(tmp_path: Path) -> None:
    path = engines.write_labelled(table_of(), tmp_path / "data.sav")
    head = read_public_labels(path)
    assert head is not None and head.names == ["age", "sex", "born", "column_of_secrets"]
    dataset_key(key_path(Address.of(str(path))))
    with pytest.raises(FacsimileError, match=r"^E207 "):
        read_public_labels(path)


def test_rules_apply_and_say_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    specification = people(malformed="missing", missing={"code": "unknown"}, outside="clip")
    odd = ["Zaphodine", "", " ", "inf", "nan", "1_000", "٣", "8675309", "-5"]
    rows = "".join(f"{text},F,2001-01-01,x\n" for text in odd)
    table = read_public(written(tmp_path, "data.csv", GOOD + rows), specification)
    assert table.marginal(("age",)).tolist() == [2, 3, 7]
    assert capfd.readouterr() == ("", "")


def test_nothing_is_read_but_the_columns_of_the_specification(tmp_path: Path) -> None:
    wide = GOOD.replace("column_of_secrets", "column_of_secrets,unused 0,unused 1").replace("\n", ",a,b\n")
    wide = wide.replace("unused 1,a,b", "unused 1")
    assert read_public(written(tmp_path, "data.csv", wide), people()).n == 3


def test_two_columns_from_one_source(tmp_path: Path) -> None:
    data = changed("columns.0.source", "x")
    data["columns"][1] |= {"source": "x", "map": {"30": "F", "41": "M"}}
    table = read_public(written(tmp_path, "data.csv", "x\n30\n41\n30\n"), validated(data))
    assert table.marginal(("age", "sex")).tolist() == [[0, 0, 0], [1, 2, 0], [0, 0, 0]]


def test_the_public_sample(nvss: Path, births: Path) -> None:
    specification = load(births / "nvss.yaml")
    assert read_public(nvss / "nvss2019_singleton_10k.csv", specification).n == 9_898
    table = read_public(nvss / "nvss2019_singleton_160k.csv.gz", specification)
    released = recode(specification, table, specification.alternatives_named("released"))
    assert table.n == released.n == specification.n == 158_500
    assert released.distinct == 26_223
    assert int(np.count_nonzero(released.counts == 1)) == 11_928
