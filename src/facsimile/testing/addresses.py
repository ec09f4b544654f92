"""The contract of a kind of address: whatever one record holds, every other record is read as it was.

A table of nine made-up records is written and opened twice, the second time with one record replaced by an odd
one. Both times the columns have the same types, and each other record, known by its number, has the same
values; or the source is refused by a code that says nothing of values. The query computes the codes of a record
from its values and these types (table/encoding.py), so no other code changes. `apart` reads both through the
whole reader too, and counts.

A form is one way in which a kind of address is written: a new kind, or a new ending, needs one.
"""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from facsimile.errors import DataRefused, FacsimileError, refusal
from facsimile.privacy.reader import opened_public, read_public
from facsimile.sources.source import guarded
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.testing.contract import Broken, require

Record = Mapping[str, Any]
Field = tuple[str, Any]
"""A column and the odd value that is put into it."""
COUNT, WIDTH, FEW = 9, 12, 7
"""Records of the table, columns of each type, and of how many odd values another ending tries one."""
PLACES = {"first": 0, "middle": 4, "last": 8}
PIECES = (slice(0, 1), slice(1, 8), slice(8, 9))
"""Row groups, batches, files and partitions: the first and the last record are alone in theirs."""
BASE: Mapping[str, Sequence[Any]] = {
    "text": tuple(f"{place:02d}" for place in range(COUNT)),
    "whole": (1, 2, 10**15, 7, 0, -1, 42, 365, 10**15 - 1),
    "real": (1.0, 0.5, 1e15, 2.25, 0.0, -1.5, 42.0, 1e-7, 3.0),
    "day": tuple(date(2012 + place, 1 + place, 1 + 3 * place) for place in range(COUNT)),
    "flag": tuple(place % 2 == 0 for place in range(COUNT)),
}
COLUMNS = {f"{kind}_{place}": kind for place in range(WIDTH) for kind in BASE}
RECORDS: tuple[Record, ...] = tuple(
    {"who": who} | {name: BASE[kind][who] for name, kind in COLUMNS.items()} for who in range(COUNT)
)
ARROW = {
    "text": pyarrow.string(),
    "whole": pyarrow.int64(),
    "real": pyarrow.float64(),
    "day": pyarrow.date32(),
    "flag": pyarrow.bool_(),
}
SCHEMA = pyarrow.schema([("who", pyarrow.int64()), *((name, ARROW[kind]) for name, kind in COLUMNS.items())])
_FAR_EAST = timezone(timedelta(hours=14))
ODD: tuple[Any, ...] = (
    None, "", " ", "\t", "01", "0001", "+1", "-1", "-0", "1.0", "1.", "1e3", "1E400", "0x10", "1_000",
    "1,000", "٣", "１", "½", "nan", "-inf", "NULL", "NA", "\\N", "None", "true", "False", "t", "2020-01-01",
    "2020-02-30", "2020-01-01T00:00:00", "2020-01-01 23:30:00+14", "01/02/2020", "0000-00-00", "9" * 400,
    "x" * 70_000, '"', '""', 'a"b', '"a"', '"a', "'", "a;b", "a\tb", "a|b", "a\nb", "a\r\nb", "a\rb", "\r",
    "\n", "\\", '\\"', "\0", "a\0b", "\x1a", "\x85", "\u2028", "\ufeff1", "\u202e1", "#", "--", "é",
    "e\u0301", "A1", "a=b/c", "%2F", "..", "__HIVE_DEFAULT_PARTITION__", 0, -1, 2**31, 2**53 + 1, 2**63 - 1,
    -(2**63), 2**63, 2**64, 10**30, 0.5, -0.0, 2.5, 1e300, 5e-324, float("nan"), float("inf"),
    float("-inf"), True, False, Decimal("1.50"), Decimal("1E+30"), Decimal("0.0000001"), Decimal("NaN"),
    date(2020, 1, 1), date(1, 1, 1), date(9999, 12, 31), datetime(2020, 1, 1),
    datetime(2020, 1, 1, 23, 30, tzinfo=_FAR_EAST), datetime(2020, 1, 1, tzinfo=UTC), time(1), timedelta(1),
    b"01", b"\xff", [1], {"a": 1},
)  # fmt: skip


class Raw(str):
    """A text that a text file holds as it is, whatever its quotes."""

    def __repr__(self) -> str:
        return f"Raw({super().__repr__()})"


RAW = (
    Raw('"'), Raw('""'), Raw('a"b'), Raw('"a"b'), Raw('"a'), Raw('a"'), Raw(' "a"'), Raw('"a" '), Raw('a""b'),
    Raw('\\"'), Raw('"a\nb"'), Raw("\r"), Raw("a\rb"), Raw('"1,2"'), Raw("1,2"), Raw("a;b"), Raw("a\tb"),
    Raw("\0"), Raw("\x1a"), Raw("#"), Raw("\udcff"), Raw("\udc801"), Raw("\ufeff"),
)  # fmt: skip
UNHELD = (ValueError, TypeError, ArithmeticError, AttributeError, pyarrow.ArrowException)
"""What is raised for a value that a column cannot hold."""


def held(kind: str, value: Any) -> Any:
    """An odd value as a column of this type holds it; ValueError where it cannot."""
    return pyarrow.scalar(value, ARROW[kind]).as_py()


def written(kind: str, value: Any) -> str:
    """An odd value as a text."""
    if isinstance(value, bytes):
        raise ValueError("no text")
    return "" if value is None else value if isinstance(value, str) else str(value)


def bound(kind: str, value: Any) -> Any:
    """An odd value as SQLite takes it."""
    if not isinstance(value, str | bytes | float | bool | date | int | None) or value in (2**63, 2**64, 10**30):
        raise ValueError("SQLite has no such type")
    return str(value) if isinstance(value, date) else value


def any_value(kind: str, value: Any) -> Any:
    """An odd value as it is."""
    return value


@dataclass(frozen=True)
class Form:
    """One way in which a kind of address is written.

    `kind` and `ending` are those of sources/source.py; `fit` says what a column of a type makes of a value, and
    raises an error where it cannot hold it; `types` are those of its columns.
    """

    kind: str
    ending: str
    write: Callable[[Sequence[Record], Path], Any]
    fit: Callable[[str, Any], Any] = held
    types: Sequence[str] = tuple(BASE)
    words: str = ""
    odd: Sequence[Any] = ODD

    @property
    def name(self) -> str:
        """How it is called in a list."""
        return " ".join(filter(None, (self.kind, self.ending, self.words)))

    @property
    def columns(self) -> list[str]:
        """Its columns, but for the number of a record."""
        return [name for name, kind in COLUMNS.items() if kind in self.types]

    def fields(self) -> list[list[Field]]:
        """Every odd value in a column of every type that holds it, no column twice in a list."""
        fields: dict[str, list[Field]] = {name: [] for name in self.columns}
        for place, value in enumerate(self.odd):
            for kind in self.types:
                with contextlib.suppress(*UNHELD):
                    name = f"{kind}_{place % WIDTH}"
                    fields[name].append((name, self.fit(kind, value)))
        return [[field for field in row if field is not None] for row in zip_longest(*fields.values())]

    def records(self, place: int, fields: Mapping[str, Any]) -> Sequence[Record]:
        """The table of some columns, with one record replaced."""
        kept = [{name: record[name] for name in ("who", *fields)} for record in RECORDS]
        kept[place] |= fields
        return kept


def table(records: Sequence[Record]) -> pyarrow.Table:
    """A table with declared types, in pieces."""
    schema = pyarrow.schema([SCHEMA.field(name) for name in records[0]])
    return pyarrow.concat_tables(pyarrow.Table.from_pylist(list(records[piece]), schema) for piece in PIECES)


def write_text(records: Sequence[Record], path: Path) -> Path:
    """A text file; what it would misread is quoted, unless it is raw."""
    separator = "\t" if ".tsv" in path.name else ","

    def quoted(value: Any) -> str:
        text = "" if value is None else str(value)
        plain = isinstance(value, Raw) or not set(text) & {separator, '"', "\r", "\n"}
        return text if plain else '"' + text.replace('"', '""') + '"'

    lines = (separator.join(map(quoted, line)) for line in (records[0], *(r.values() for r in records)))
    plain = "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")
    path.write_bytes(gzip.compress(plain) if path.suffix == ".gz" else plain)
    return path


def write_parquet(data: pyarrow.Table, path: Path) -> Path:
    """A Parquet file, each piece a row group."""
    with pyarrow.parquet.ParquetWriter(path, data.schema) as file:
        for batch in data.to_batches(max_chunksize=500):
            file.write_batch(batch)
    return path


def write_arrow(data: pyarrow.Table, path: Path) -> Path:
    """An Arrow file, each piece a batch."""
    with pyarrow.ipc.new_file(path, data.schema) as file:
        file.write_table(data, max_chunksize=500)
    return path


def write_arrow_stream(data: pyarrow.Table, path: Path) -> Path:
    """The same as a stream."""
    with pyarrow.ipc.new_stream(path, data.schema) as file:
        file.write_table(data)
    return path


def write_duckdb(data: pyarrow.Table, path: Path, name: str = "people") -> Path:
    """A database of DuckDB."""
    with duckdb.connect(str(path)) as connection:
        connection.register("given", data)
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given').fetchall()
    return path


_SQLITE = {"text": "TEXT", "whole": "INTEGER", "real": "REAL", "day": "DATE", "flag": "BOOLEAN"}


def write_sqlite(records: Sequence[Record], path: Path) -> Path:
    """A database of SQLite, whose columns hold any type."""
    fields = ", ".join(f'"{name}" {_SQLITE.get(COLUMNS.get(name, ""), "")}' for name in records[0])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE people ({fields})")
        marks = ", ".join("?" for _ in records[0])
        rows = [[bound("", value) for value in record.values()] for record in records]
        connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
        connection.commit()
    return path


def write_labelled(records: Sequence[Record], path: Path) -> Path:
    """A file of SPSS or Stata: numbers are doubles."""
    import pyreadstat

    types = {"real": float, "who": float}
    columns = {
        n: pandas.Series([r[n] for r in records], dtype=types.get(COLUMNS.get(n, n), object))
        for n in records[0]
    }
    if path.suffix == ".dta":
        pyreadstat.write_dta(pandas.DataFrame(columns), path)
    else:
        pyreadstat.write_sav(pandas.DataFrame(columns), path, compress=path.suffix == ".zsav")
    return path


def labelled_value(kind: str, value: Any) -> Any:
    """An odd value as a column of a labelled file holds it."""
    return float(value) if kind == "real" and not isinstance(value, str) else held(kind, value)


def frame(types: Mapping[str, Any]) -> Callable[[Sequence[Record], Path], pandas.DataFrame]:
    """How pandas holds records under these types."""

    def made(records: Sequence[Record], _: Path) -> pandas.DataFrame:
        columns = {
            name: pandas.Series([record[name] for record in records], dtype=types[COLUMNS.get(name, "whole")])
            for name in records[0]
        }
        return pandas.DataFrame(columns)

    return made


def _categories(records: Sequence[Record], folder: Path) -> pandas.DataFrame:
    objects: pandas.DataFrame = frame(dict.fromkeys(BASE, object))(records, folder)
    return objects.astype({name: "category" for name in objects if name != "who"})


def _file(
    ending: str, write: Callable[[Any, Path], Any], make: Callable[[Any], Any] = lambda records: records
) -> Any:
    return lambda records, folder: write(make(records), folder / f"people{ending}")


def _forms(
    kind: str, endings: Sequence[str], write: Any, make: Any = table, odd: Sequence[Any] = ODD, **how: Any
) -> Iterator[Form]:
    """One form for each ending; those after the first, which the same code opens, with few odd values."""
    for place, ending in enumerate(endings):
        few = odd[::FEW] if place else odd
        yield Form(kind, ending, _file(ending, write, make), odd=few, **how)


_TIMES = "datetime64[us]"
_NUMPY = {"text": "str", "whole": "int64", "real": "float64", "day": _TIMES, "flag": "bool"}
_NULLABLE = {"text": "string", "whole": "Int64", "real": "Float64", "day": _TIMES, "flag": "boolean"}
_BACKED = {kind: pandas.ArrowDtype(type_) for kind, type_ in ARROW.items()}
_OBJECTS = (*ODD[:6], *(value for value in ODD if not isinstance(value, str)))
_TEXTS: Mapping[str, Any] = {"make": list, "fit": written, "types": ("text",), "odd": (*ODD, *RAW)}
_LABELLED: Mapping[str, Any] = {"fit": labelled_value, "types": ("text", "real", "day")}
FORMS: tuple[Form, ...] = (
    *_forms("text", (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt"), write_text, **_TEXTS),
    *_forms("Parquet", (".parquet", ".pq"), write_parquet),
    *_forms("Arrow", (".arrow", ".feather"), write_arrow),
    *_forms("Arrow", (".ipc",), write_arrow_stream, words="stream"),
    *_forms("labelled", (".sav", ".zsav"), write_labelled, list, **_LABELLED, words="SPSS"),
    *_forms("labelled", (".dta",), write_labelled, list, **_LABELLED, words="Stata"),
    *_forms("DuckDB", (".duckdb", ".ddb"), write_duckdb),
    *_forms("SQLite", (".sqlite", ".sqlite3", ".db"), write_sqlite, list, fit=bound),
    Form("stream", "", lambda records, _: table(records)),
    Form("pandas", "", frame(_NUMPY)),
    Form("pandas", "", frame(_NULLABLE), words="nullable"),
    Form("pandas", "", frame(_BACKED), words="Arrow"),
    Form("pandas", "", frame(dict.fromkeys(BASE, object)), any_value, words="objects", odd=_OBJECTS),
    Form("pandas", "", _categories, any_value, ("text",), "categories"),
)
"""Every form that needs no server."""


UNWRITABLE, LOST = refusal("E112", column=""), refusal("E104")


@dataclass(frozen=True)
class Read:
    """What was opened: for each column its type, and the value of each record by its number."""

    columns: Mapping[str, tuple[str, Mapping[str, str]]]


def read(form: Form, records: Sequence[Record], folder: Path) -> Read | FacsimileError:
    """Open a table; a refusal says nothing of values."""
    names = list(records[0])
    try:
        data = form.write(records, folder)
    except Exception:
        return UNWRITABLE
    try:
        with opened_public(data, names) as source:
            types = {name: str(source[name].type()) for name in names}
            rows = guarded(lambda: source.select(names).to_pyarrow().to_pylist(), lambda _: "E106")
    except DataRefused as error:
        public = (refusal(error.code, column=name, columns=name) for name in ("", *names))
        require(error.__cause__ is None and error.__context__ is None, "a refusal refers to an engine's error")
        require(str(error) in map(str, public), "a refusal says more than its code and a column")
        return error
    if len({row["who"] for row in rows}) < COUNT or len(rows) > COUNT:
        return LOST
    return Read({n: (types[n], {str(row["who"]): repr(row[n]) for row in rows}) for n in names})


def check_form(form: Form, place: int) -> Counter[str]:
    """Replace the record at a place by odd ones: how many were read, refused, or not held by the form at all.

    Values of several columns are tried together; where they are refused, half of them at a time.
    """
    figures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as top:

        def tried(fields: Mapping[str, Any]) -> Read | FacsimileError:
            return read(form, form.records(place, fields), Path(tempfile.mkdtemp(dir=top)))

        base = tried({name: RECORDS[place][name] for name in form.columns})
        if not isinstance(base, Read):
            raise Broken(f"{form.name}: the plain table is refused")
        left = form.fields()
        while left:
            fields = left.pop()
            found = tried(dict(fields))
            if isinstance(found, Read):
                figures["read"] += len(fields)
                _require_others(f"{form.name}, record {place}, {fields!r:.300}", place, base, found)
            elif len(fields) > 1:
                left += [fields[: len(fields) // 2], fields[len(fields) // 2 :]]
            else:
                figures["unwritable" if found is UNWRITABLE else "refused"] += 1
    return figures


def _require_others(where: str, place: int, base: Read, found: Read) -> None:
    for name, (type_, values) in found.columns.items():
        was, before = base.columns[name]
        require(type_ == was, f"{where}: {name} was of the type {was}, and is {type_}")
        changed = [who for who in before if who != str(place) and values.get(who) != before[who]]
        require(not changed, f"{where}: {name} of the records {changed} changed")


PAIR = {"text_0": "A1", "whole_0": -2, "day_0": date(9999, 12, 31)}
OTHERS = {"text_0": "1e3", "whole_0": 2.5}
"""An odd record that every form reads, and one with a value of another type."""


def specification(form: Form) -> Specification:
    """Columns as categories, whose texts tell `01` from `1` and a day from a time."""
    known = {name: BASE[COLUMNS[name]][:4] for name in PAIR if name in form.columns}
    texts = {name: [*map(str, values), "other"] for name, values in known.items()}
    how = {"missing": {"code": "?"}, "outside": "other"}
    columns = [
        {"name": name, "description": name, "values": each, "alternatives": {"each": each}, **how}
        for name, each in texts.items()
    ]
    return validated(
        {
            "facsimile": "1",
            "title": "Records that were made up",
            "unit": "one record",
            "neighbours": "replace-one",
            "records": {"count": str(COUNT), "public_because": "they were made up"},
            "columns": columns,
            "constraints": {"policy": "clamp"},
            "families": [{"family": "mst"}],
            "projection": {"min_count": ["2"]},
            "scheme": "test-then-measure",
            "selection": {"mode": "single"},
            "budget": {"total": "9", "generator": "1", "test": "1"},
            "criteria": [{"criterion": "marginals-absolute", "threshold": "0.2", "epsilon": "0.5"}],
        }
    )


def apart(form: Form, folder: Path, place: int = 0) -> int:
    """By how many records a table and one with an odd record differ after the whole reader: the most of two."""
    spec = specification(form)

    def counted(number: int, odd: Mapping[str, Any]) -> Counter[tuple[int, ...]] | None:
        fields = {name: RECORDS[place][name] for name in PAIR if name in form.columns}
        for name in fields.keys() & odd.keys():
            with contextlib.suppress(*UNHELD):
                fields[name] = form.fit(COLUMNS[name], odd[name])
        own = folder / str(number)
        own.mkdir()
        try:
            found = read_public(form.write(form.records(place, fields), own), spec)
        except DataRefused:
            return None
        return Counter(dict(zip(map(tuple, found.codes.tolist()), found.counts.tolist(), strict=True)))

    base, *odd = (counted(number, fields) for number, fields in enumerate(({}, PAIR, OTHERS)))
    return max((base - table).total() for table in odd if base is not None and table is not None)
