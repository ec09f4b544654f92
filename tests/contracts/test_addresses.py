"""Every kind of address keeps its contract: whatever one record holds, the others are read as they were.

The forms of the package and those that need a server: PostgreSQL, which tests start, and Spark
(`make test-spark`). One test tries all odd records at one place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import engines
from facsimile.errors import DataRefused, FacsimileError
from facsimile.sources import source
from facsimile.sources.address import Address
from facsimile.sources.source import KINDS, opened
from facsimile.testing.addresses import (
    ARROW,
    BASE,
    FORMS,
    ODD,
    PIECES,
    PLACES,
    RAW,
    UNHELD,
    Form,
    Record,
    any_value,
    apart,
    check_form,
    held,
    table,
    write_parquet,
    write_text,
    written,
)
from facsimile.testing.contract import Broken

TYPES = (None, "01", 1, 2.5, True, 2**63, date(2020, 1, 1), datetime(2020, 1, 1), Decimal("1.5"), b"01", [1])
NUMBERS = itertools.count()


def write_folder(records: Sequence[Record], folder: Path) -> str:
    """A folder with a Parquet file for each piece."""
    for place, piece in enumerate(PIECES):
        write_parquet(table(records).slice(piece.start, piece.stop - piece.start), folder / f"{place}.parquet")
    return f"spark://local{folder}"


def write_own_types(records: Sequence[Record], folder: Path) -> str:
    """The same, each file with the types that its own values have."""
    for place, piece in enumerate(PIECES):
        data = pyarrow.Table.from_pylist(list(records[piece]))
        pyarrow.parquet.write_table(data, folder / f"{place}.parquet")
    return f"spark://local{folder}"


def write_partitions(records: Sequence[Record], folder: Path) -> str:
    """A folder for each value of the other columns, with the number of its record."""
    for record in records:
        own = folder
        for name, value in list(record.items())[1:]:
            text = "__HIVE_DEFAULT_PARTITION__" if value is None else quote(str(value), safe=" ")
            own = own / f"{name}={text}"
        own.mkdir(parents=True)
        write_parquet(pyarrow.table({"who": [record["who"]]}), own / "part.parquet")
    return f"spark://local{folder}"


def write_view(records: Sequence[Record], folder: Path) -> str:
    """A table of Spark, by its name."""
    session = source._session(Address.of("spark://local#people"))
    name, where = f"people_{next(NUMBERS)}", write_parquet(table(records), folder / "data.parquet")
    session.read.parquet(str(where)).createOrReplaceTempView(name)
    return f"spark://local#{name}"


def write_crlf(records: Sequence[Record], path: Path) -> Path:
    """A text file as Windows writes it."""
    path.write_bytes(write_text(records, path).read_bytes().replace(b"\n", b"\r\n"))
    return path


def on_spark(write: Callable[[Any, Path], Path], name: str, make: Callable[[Any], Any]) -> Any:
    return lambda records, folder: f"spark://local{write(make(records), folder / name)}"


SPARK = (
    Form("Spark files", "", on_spark(write_text, "people.csv", list), written, ("text",), "csv", (*ODD, *RAW)),
    Form("Spark files", "", on_spark(write_text, "people.tsv.gz", list), written, ("text",), "tsv.gz", RAW),
    Form(
        "Spark files", "", on_spark(write_crlf, "people.csv", list), written, ("text",), "csv of Windows", RAW
    ),
    Form("Spark files", "", on_spark(write_parquet, "people.parquet", table), words="file"),
    Form("Spark files", "", write_folder, words="folder"),
    Form("Spark files", "", write_own_types, any_value, ("whole", "day"), "folder of other types", TYPES),
    Form("Spark files", "", write_partitions, held, ("text",), "partitions"),
    Form("Spark tables", "", write_view),
)
POSTGRES = Form("PostgreSQL", "", lambda records, folder: None)


def test_every_kind_of_address_and_every_ending_has_a_form() -> None:
    kinds = {(kind.name, ending) for kind in KINDS for ending in kind.endings or ("",)}
    assert kinds == {(form.kind, form.ending) for form in (*FORMS, POSTGRES, *SPARK)}


FRAMES = (*FORMS, Form("stream", "", lambda records, _: polars.DataFrame(table(records)), words="Polars"))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FRAMES, ids=lambda form: str(form.name))
def test_no_record_changes_what_another_becomes(form: Form, place: str) -> None:
    figures = check_form(form, PLACES[place])
    assert figures["read"] > len(form.odd) // 3 and figures["unwritable"] < figures["read"] // 4


@pytest.mark.parametrize(
    "form", {form.words or form.kind: form for form in FRAMES}.values(), ids=lambda f: f.name
)
def test_an_odd_record_moves_one_record_of_the_count_table(form: Form, tmp_path: Path) -> None:
    assert apart(form, tmp_path, PLACES["first"]) == 1


@pytest.mark.parametrize("place", PLACES)
def test_the_same_in_postgresql(place: str, postgres: str) -> None:
    def write(records: Sequence[Record], _: Path) -> str:
        return engines.write_postgres(table(records), postgres, f"odd_{next(NUMBERS)}")

    figures = check_form(Form("PostgreSQL", "", write), PLACES[place])
    assert figures["read"] > 100


@engines.on_spark
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", SPARK, ids=lambda form: str(form.name))
def test_the_same_on_spark(form: Form, place: str) -> None:
    figures = check_form(form, PLACES[place])
    print(form.name, place, dict(figures))
    assert figures["read"] > (1 if "types" in form.words else 10)


@engines.on_spark
@pytest.mark.parametrize("form", SPARK, ids=lambda form: str(form.name))
def test_an_odd_record_moves_one_record_of_the_count_table_on_spark(form: Form, tmp_path: Path) -> None:
    if form.words != "folder of other types":
        assert apart(form, tmp_path, PLACES["first"]) == 1


@engines.on_spark
@pytest.mark.parametrize("setting", source.SPARK)
def test_settings_of_a_session_that_is_there_do_not_count(setting: str, tmp_path: Path) -> None:
    """An office's own session may infer, merge or leave out."""
    session = source._session(Address.of("spark://local#people"))
    wanted = session.conf.get(setting)
    session.conf.set(setting, {"true": "false", "false": "true"}.get(wanted, "Asia/Jerusalem"))
    with opened(
        write_partitions([{"who": 1, "text_0": "01"}, {"who": 2, "text_0": "02"}], tmp_path), ["text_0"]
    ) as t:
        assert sorted(t.to_pyarrow()["text_0"].to_pylist()) == ["01", "02"]
    assert session.conf.get(setting) == wanted
    assert session.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled") == "false"


@engines.on_spark
@pytest.mark.parametrize(
    "odd",
    [
        {"x": pyarrow.array([1], pyarrow.int32())},
        {"x": [1.0]},
        {"X": [1]},
        {"x": [1], "y": [1]},
        {"y": [1]},
        {"x": pyarrow.array([1], pyarrow.decimal128(20, 0))},
    ],
)
def test_files_of_a_folder_have_one_schema(odd: Any, tmp_path: Path) -> None:
    """Whichever is read first, and whatever a summary file says."""
    for name in ("0", "2"):
        with pytest.raises(DataRefused, match="E119"):
            for file, data in (("1", {"x": [1]}), (name, odd)):
                write_parquet(pyarrow.table(data), tmp_path / f"{file}.parquet")
            with opened(f"spark://local{tmp_path}", ["x"]):
                pass
        (tmp_path / f"{name}.parquet").unlink()


def inferred(name: str, series: Any) -> pyarrow.Array:
    """What the reader must not do: the library chooses a type by all values."""
    return pyarrow.array(series, from_pandas=True)


def simplified(name: str, series: Any) -> pyarrow.Array:
    """The same within one type: zeros are cut off while all are numbers."""
    texts = [str(value) for value in series]
    numbers = all(text.isdigit() for text in texts)
    return pyarrow.array([str(int(text)) for text in texts] if numbers and name != "who" else texts)


@pytest.mark.parametrize(
    ("column", "words"), [(inferred, "was of the type"), (simplified, "of the records .* changed")]
)
def test_a_reader_that_looks_at_all_records_is_caught(
    column: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_column", column)
    objects = next(form for form in FORMS if form.words == "objects")
    with pytest.raises(Broken, match=words):
        check_form(objects, PLACES["first"])


def test_a_refusal_that_says_a_value_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def telling(name: str, series: Any) -> pyarrow.Array:
        raise DataRefused("E112", f"Column {name} holds {series.iloc[0]}", "")

    objects = next(form for form in FORMS if form.words == "objects")
    monkeypatch.setattr(source, "_column", telling)
    with pytest.raises(Broken, match="more than its code"):
        check_form(objects, PLACES["first"])


def test_categories_of_pandas_are_texts() -> None:
    for values, reads in ((["01", "1", None], True), ([1, 2, 1], False), ([1.0, 2.5, None], False)):
        data = pandas.DataFrame({"x": pandas.Categorical(values)})
        try:
            with opened(data, ["x"]) as found:
                assert reads and sorted(found.to_pyarrow()["x"].to_pylist(), key=str) == sorted(values, key=str)
        except DataRefused as error:
            assert not reads and error.code == "E112"


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["01", None, float("nan"), pandas.NA], "string"),
        ([1, None, 2], "int64"),
        ([True, None, False], "boolean"),
        ([1.5, None, 2.0], "float64"),
        ([Decimal("1.5"), None, Decimal(2)], "decimal(38, 9)"),
        ([date(2020, 1, 1), pandas.NaT, date(2021, 1, 1)], "date"),
        ([datetime(2020, 1, 1), None, pandas.Timestamp(2021, 1, 1)], "timestamp(6)"),
        ([None, None, None], "string"),
        ([1, "01", 2], None),
        ([1, 2.5, 3], None),
        ([1, True, 3], None),
        ([1, Decimal(1), 3], None),
        ([date(2020, 1, 1), datetime(2020, 1, 1), None], None),
        ([1, 2**63, 3], None),
        ([b"1", b"2", b"3"], None),
    ],
    ids=str,
)
def test_objects_of_pandas_are_of_one_type_whatever_their_order(values: list[Any], type_: str | None) -> None:
    for order in itertools.permutations(values):
        data = pandas.DataFrame({"x": pandas.Series(order, dtype=object), "unread": [1, *map(str, order[1:])]})
        try:
            with opened(data, ["x"]) as found:
                assert str(found["x"].type()) == type_
        except FacsimileError as error:
            assert type_ is None and error.code in ("E112", "E106")


def test_a_value_that_no_column_holds_is_left_out_by_a_known_error() -> None:
    for kind in BASE:
        for value in ODD:
            try:
                held(kind, value)
            except UNHELD:
                continue
    assert set(ARROW) == set(BASE)
