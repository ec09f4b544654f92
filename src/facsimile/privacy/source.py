"""Sources: a file, a database or a table in memory, opened for the one query of reader.py.

    data.csv  data.csv.gz  data.parquet  data.arrow      read by the embedded engine
    data.duckdb#TABLE  data.sqlite#TABLE                 opened read-only
    postgres://user@host/database#TABLE                  the server does the work (extra `postgres`)
    spark://local/data.parquet  spark://local#TABLE      Spark does the work (extra `spark`)

An engine's own message can hold values, so no exception of an engine leaves this module or reader.py: it
becomes an error code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import ibis
import pyarrow
import pyarrow.ipc
from ibis.expr.types import Table as Source

from facsimile.errors import FacsimileError, refusal
from facsimile.privacy import textfile

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
DUCKDB = (".duckdb", ".ddb")
SQLITE = (".sqlite", ".sqlite3", ".db")


@dataclass(frozen=True)
class Place:
    """Where the records are: an address and, for databases, a table."""

    address: str
    table: str | None


def parse_place(text: str) -> Place:
    """Split `ADDRESS#TABLE`.

    >>> parse_place("postgres://host/registry#births")
    Place(address='postgres://host/registry', table='births')
    """
    address, mark, table = text.rpartition("#")
    return Place(address, table) if mark else Place(text, None)


@contextlib.contextmanager
def opened(data: Any, wanted: list[str]) -> Iterator[Source]:
    """An ibis table of the source that holds at least the wanted columns."""
    with contextlib.ExitStack() as stack:
        try:
            table = _open(data, set(wanted), stack)
            _check_columns(list(table.columns), wanted)
        except FacsimileError:
            raise
        except Exception:
            raise refusal("E106") from None
        yield table


def _open(data: Any, wanted: set[str], stack: contextlib.ExitStack) -> Source:
    if not isinstance(data, str | Path):
        return _embedded(stack).create_table("memory", _arrow(data))
    place = parse_place(str(data))
    if place.address.startswith(("postgres://", "postgresql://")):
        return _postgres(place, stack)
    if place.address.startswith("spark://"):
        return _spark(place, wanted)
    path = Path(place.address)
    if not path.exists():
        raise refusal("E101")
    name = path.name.lower()
    if name.endswith(CSV):
        return _csv(path, wanted, stack)
    if not path.is_file() or path.stat().st_size == 0:
        raise refusal("E102" if path.is_file() else "E105")
    if name.endswith(PARQUET):
        return _embedded(stack).read_parquet(str(path))
    if name.endswith(ARROW):
        return _embedded(stack).create_table("memory", _arrow_file(path))
    if name.endswith(DUCKDB):
        connection = ibis.duckdb.connect(str(path), read_only=True)
        stack.callback(connection.disconnect)
        _settle(connection)
        return _named(connection, place.table)
    if name.endswith(SQLITE):
        return _sqlite(path, place.table, stack)
    raise refusal("E122" if name.endswith((".zip", ".gz", ".7z", ".bz2", ".xz", ".zst")) else "E105")


def _embedded(stack: contextlib.ExitStack) -> Any:
    connection = ibis.duckdb.connect()
    stack.callback(connection.disconnect)
    _settle(connection)
    return connection


def _settle(connection: Any) -> None:
    """No extension is fetched, no spill file with records is written, order is not kept."""
    for setting in (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "preserve_insertion_order = false",
        "temp_directory = ''",
        "enable_progress_bar = false",
    ):
        connection.raw_sql(f"SET {setting}").fetchall()


def _csv(path: Path, wanted: set[str], stack: contextlib.ExitStack) -> Source:
    header = textfile.scan(path)
    delimiter = textfile.delimiter_of(header, wanted)
    names = textfile.header_names(header, delimiter)
    _check_columns(names, sorted(wanted))
    # Columns are declared by place: other columns of the file are skipped under neutral names.
    columns = {name if name in wanted else f"unused {i}": "VARCHAR" for i, name in enumerate(names)}
    try:
        return _embedded(stack).read_csv(
            str(path),
            auto_detect=False,
            header=True,
            delim=delimiter,
            quote='"',
            escape='"',
            columns=columns,
            strict_mode=True,
            max_line_size=textfile.LONGEST_FIELD * 4,
        )
    except duckdb.Error:
        raise refusal("E130") from None


def _arrow(data: Any) -> pyarrow.Table:
    """Any table that speaks Arrow: pyarrow, pandas, Polars."""
    if isinstance(data, pyarrow.Table):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.table(data)
    return pyarrow.Table.from_pandas(data, preserve_index=False)


def _arrow_file(path: Path) -> pyarrow.Table:
    with pyarrow.memory_map(str(path)) as source:
        try:
            return pyarrow.ipc.open_file(source).read_all()
        except pyarrow.ArrowInvalid:
            source.seek(0)
            return pyarrow.ipc.open_stream(source).read_all()


def _named(connection: Any, name: str | None, database: str | None = None) -> Source:
    """The named table, or the only one."""
    tables = sorted(connection.list_tables(database=database))
    if name is None and len(tables) != 1:
        raise refusal("E107" if tables else "E108")
    chosen = tables[0] if name is None else name
    if chosen not in tables:
        raise refusal("E108")
    return connection.table(chosen, database=database)


def _sqlite(path: Path, name: str | None, stack: contextlib.ExitStack) -> Source:
    """SQLite's columns hold any type, so every value is read as text, in one spelling."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as plain:
        tables = [
            row[0] for row in plain.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        ]
        if name is None and len(tables) != 1:
            raise refusal("E107" if tables else "E108")
        chosen = tables[0] if name is None else name
        if chosen not in tables:
            raise refusal("E108")
        columns = [row[0] for row in plain.execute("SELECT name FROM pragma_table_xinfo(?)", (chosen,))]
    connection = ibis.sqlite.connect(str(path))
    stack.callback(connection.disconnect)
    connection.raw_sql("PRAGMA query_only = ON")
    fields = ", ".join(_sqlite_text(_quoted(column)) for column in columns)
    text = ibis.schema(dict.fromkeys(columns, "string"))
    return connection.sql(f"SELECT {fields} FROM {_quoted(chosen)}", schema=text)


def _sqlite_text(column: str) -> str:
    whole = f"CAST(CAST({column} AS INTEGER) AS TEXT)"
    real = f"CASE WHEN {column} = CAST({column} AS INTEGER) THEN {whole} ELSE printf('%.6f', {column}) END"
    return (
        f"CASE typeof({column}) WHEN 'real' THEN {real} WHEN 'blob' THEN '?' "
        f"ELSE CAST({column} AS TEXT) END AS {column}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _postgres(place: Place, stack: contextlib.ExitStack) -> Source:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise refusal("E109", extra="postgres") from None
    schema, _, name = (place.table or "").rpartition(".")
    connection = ibis.connect(place.address.replace("postgresql://", "postgres://", 1))
    stack.callback(connection.disconnect)
    connection.raw_sql("SET default_transaction_read_only = on").close()
    return _named(connection, name or None, schema or None)


def _spark(place: Place, wanted: set[str]) -> Source:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise refusal("E109", extra="spark") from None
    parts = urlsplit(place.address)
    builder = SparkSession.builder.appName("facsimile").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.ansi.enabled", "false")
    if not SparkSession.getActiveSession():
        builder = builder.master("local[*]" if parts.netloc == "local" else f"spark://{parts.netloc}")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    connection = ibis.pyspark.connect(session)
    if place.table is not None:
        return _named(connection, place.table)
    if parts.path.lower().endswith(CSV):
        path = Path(parts.path)
        header = textfile.scan(path) if path.exists() else b""
        delimiter = textfile.delimiter_of(header, wanted) if header else ","
        _check_columns(textfile.header_names(header, delimiter) if header else [], sorted(wanted))
        options = {"header": True, "sep": delimiter, "quote": '"', "escape": '"', "mode": "FAILFAST"}
        return connection.read_csv(parts.path, inferSchema=False, **options)
    return connection.read_parquet(parts.path)


def _check_columns(names: list[str], wanted: list[str]) -> None:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise refusal("E110", columns=", ".join(missing))
    for name in wanted:
        if names.count(name) > 1:
            raise refusal("E111", column=name)
