"""Sources: a file, a database (address.py) or a table in memory, opened for the one query of reader.py.

Files are read by the embedded engine, databases are opened read-only, PostgreSQL and Spark do the work
themselves (extras `postgres` and `spark`). What is opened is what the address says, and nothing that the
environment adds.

Theorem. The values of a record are a function of that record and of public things: the types of columns, the
         header of a file, settings. No other record changes them; a source where one could is refused.
Proof.   By kind (KINDS). What an engine could decide by looking at all records, it is not asked to decide.

    text           every field is a text; separator and line end are those of the header (textfile.py)
    parquet        one file, one schema; the names of its folders are no columns
    arrow, stream  one schema
    labelled       each value becomes a text by itself (labelled.py)
    duckdb         declared types
    sqlite         each value by its own type, whatever its column declares
    postgres       declared types; the session says how times and dates are written
    spark files    the names of partitions are texts, never inferred; the files of a folder have one schema, or
                   are refused (E119); a text file as above
    spark tables   the types of the catalogue
    pandas         declared types; objects of one type of Python, and texts as categories, or refused (E112)

Hypotheses. Types were declared, and not chosen by looking at all records, as pandas.read_csv does, or a table
         of Spark whose partitions were inferred when it was made; a row of a view is made of one record.

An engine's own message can hold values, so no exception of an engine leaves this module or reader.py: it
becomes an error code.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import duckdb
import ibis
import numpy as np
import pandas
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from ibis.expr.datatypes import DataType
from ibis.expr.types import Table as Source

from facsimile.errors import FacsimileError, refusal
from facsimile.sources import labelled, textfile
from facsimile.sources.address import Address

T = TypeVar("T")
Wanted = set[str] | None
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
DUCKDB = (".duckdb", ".ddb")
SQLITE = (".sqlite", ".sqlite3", ".db")
LOGIN = ("PGPASS", "PGSSL", "PGREQUIRE", "PGCHANNELBINDING", "PGGSS", "PGKRB")
"""Variables of PostgreSQL that say how to log in, and not where."""
OBJECTS: tuple[tuple[tuple[type, ...], pyarrow.DataType], ...] = (
    ((str,), pyarrow.string()),
    ((bool, np.bool_), pyarrow.bool_()),
    ((int, np.integer), pyarrow.int64()),
    ((float, np.floating), pyarrow.float64()),
    ((datetime,), pyarrow.timestamp("us")),
    ((date,), pyarrow.date32()),
    ((Decimal,), pyarrow.decimal128(38, 9)),
)
"""Which objects of Python a column may hold, and its type then; a time is a date too, so it comes first."""
READERS = 8
"""How many files of a folder Spark is asked about at once."""
SPARK = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""The name of a partition is a text, whatever other names there are; no file is left out."""
UNUSED = "unused"
"""How the neutral name of a text file's column begins."""


def guarded(call: Callable[[], T], code: Callable[[Exception], str]) -> T:
    """The result of a call to an engine, whose warnings are dropped and whose exceptions become a code.

    The refusal is raised after the exception is forgotten, so that it does not refer to it.

    >>> try:
    ...     guarded(lambda: int("a secret"), lambda error: "E106")
    ... except FacsimileError as error:
    ...     error.code, "secret" in str(error), error.__context__
    ('E106', False, None)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except FacsimileError:
        raise
    except Exception as error:
        stopped = isinstance(error, duckdb.InterruptException)
        found = code(error)
    if stopped:
        raise KeyboardInterrupt
    raise refusal(found)


def run(query: Any) -> Any:
    """Execute a query with its sub-queries kept apart: each column is cleaned once."""
    fused = ibis.options.sql.fuse_selects
    ibis.options.sql.fuse_selects = False
    try:
        return query.to_pyarrow()
    finally:
        ibis.options.sql.fuse_selects = fused


@contextlib.contextmanager
def opened(data: Any, wanted: list[str] | None) -> Iterator[Source]:
    """An ibis table of the source that holds at least the wanted columns; None: every column that has a name.

    Where every column is wanted their names differ (one engine tells no capital letters apart), and a file's
    records come in its order.
    """
    names = None if wanted is None else set(wanted)
    with contextlib.ExitStack() as stack:
        yield guarded(lambda: _checked(_open(data, names, stack), wanted), lambda _: "E106")


def labels(data: Any) -> labelled.Header | None:
    """What a labelled file says of itself; None for a source of another kind."""
    if not isinstance(data, str | Path | Address):
        return None
    address = Address.of(data)
    if address.scheme != "file" or not str(address.path).lower().endswith(labelled.ENDINGS):
        return None
    return guarded(lambda: labelled.header(_file(address)[0]), lambda _: "E106")


def openable(data: Any) -> None:
    """Refuse a source that cannot be opened, whatever its columns are."""
    with opened(data, []):
        pass


def _checked(table: Source, wanted: list[str] | None) -> Source:
    _check_columns(list(table.columns), wanted)
    for name in wanted or ():
        if not readable(table[name].type()):
            raise refusal("E112", column=name)
    return table


def readable(kind: DataType) -> bool:
    """Whether a type has a text that is the same on every engine."""
    return not (kind.is_nested() or kind.is_binary() or kind.is_json() or kind.is_time() or kind.is_interval())


def _open(data: Any, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    source = Address.of(data) if isinstance(data, str | Path | Address) else data
    name = _file(source)[1] if isinstance(source, Address) and source.scheme == "file" else ""
    for kind in KINDS:
        if kind.fits(source, name):
            return kind.open(source, wanted, stack)
    raise refusal("E122" if name.endswith((".zip", ".gz", ".7z", ".bz2", ".xz", ".zst")) else "E105")


def _file(address: Address) -> tuple[Path, str]:
    """The file itself, which is there and not empty, and the name it was given by, which says its kind."""
    path = address.place
    if path is None or address.path is None or not path.exists():
        raise refusal("E101")
    if not path.is_file():
        raise refusal("E105")
    if path.stat().st_size == 0:
        raise refusal("E102")
    return path, address.path.name.lower()


def _embedded(stack: contextlib.ExitStack, path: Path | None = None, in_order: bool = False) -> Any:
    connection = ibis.duckdb.connect(str(path), read_only=True) if path else ibis.duckdb.connect()
    stack.callback(connection.disconnect)
    for setting in (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"preserve_insertion_order = {str(in_order).lower()}",
        "temp_directory = ''",
        "enable_progress_bar = false",
        "TimeZone = 'UTC'",
    ):
        connection.raw_sql(f"SET {setting}").fetchall()
    return connection


def _in_memory(data: pyarrow.Table, wanted: set[str] | None, stack: contextlib.ExitStack) -> Source:
    _check_columns(data.column_names, wanted)
    connection = _embedded(stack, in_order=wanted is None)
    named = data.rename_columns(_declared(data.column_names, None)) if wanted is None else data
    connection.con.register("memory", named.select(sorted(wanted)) if wanted else named)
    return connection.table("memory")


def _text(address: Address, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    path = _file(address)[0]
    layout = textfile.scan(path, wanted)
    _check_columns(layout.names, wanted)
    columns = dict.fromkeys(_declared(layout.names, wanted), "VARCHAR")
    return _embedded(stack, in_order=wanted is None).read_csv(
        _pattern(path),
        auto_detect=False,
        header=True,
        delim=layout.delimiter,
        quote='"',
        escape='"',
        columns=columns,
        compression="gzip" if layout.compressed else "none",
        strict_mode=True,
        hive_partitioning=False,
    )


def _parquet(address: Address, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    path = _file(address)[0]
    _check_columns(pyarrow.parquet.read_schema(path).names, wanted)
    return _embedded(stack, in_order=wanted is None).read_parquet(_pattern(path), hive_partitioning=False)


def _declared(names: list[str], wanted: set[str] | None) -> list[str]:
    """Columns are declared by place: those that are not wanted, or have no name, get neutral ones."""
    kept = set(filter(None, names)) if wanted is None else wanted
    return [name if name in kept else f"{UNUSED} {place}" for place, name in enumerate(names)]


def _pattern(path: Path) -> str:
    """A pattern that the engine matches with this path only."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


def _stream(data: Any, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    """Any table that speaks Arrow: pyarrow, Polars. Its columns have types."""
    return _in_memory(pyarrow.table(data), wanted, stack)


def _pandas(data: pandas.DataFrame, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    names = [str(name) for name in data.columns]
    _check_columns(names, wanted)
    kept = [place for place, name in enumerate(names) if not wanted or name in wanted]
    columns = [_column(names[place], data.iloc[:, place]) for place in kept]
    return _in_memory(pyarrow.table(columns, [names[place] for place in kept]), wanted, stack)


def _column(name: str, series: pandas.Series[Any]) -> pyarrow.Array:
    """A column of pandas by its own type; one of objects, or of categories, by the type that all of them have.

    Without a type the library would choose one by looking at every record, and convert all to it: one number
    among dates, or 2.5 among integers, would change the others.
    """
    if isinstance(series.dtype, pandas.CategoricalDtype):
        if _object_type(name, series.cat.categories) != pyarrow.string():
            raise refusal("E112", column=name)
    elif series.dtype == object:
        return pyarrow.array(series, _object_type(name, series), from_pandas=True)
    return pyarrow.array(series, from_pandas=True)


def _object_type(name: str, values: pandas.Series[Any] | pandas.Index[Any]) -> pyarrow.DataType:
    """The one type of Python that all objects are of, as a type of Arrow; missing ones are of any."""
    classes = set(map(type, values[values.notna()]))
    types = {next((t for known, t in OBJECTS if issubclass(each, known)), None) for each in classes}
    if len(types) > 1 or None in types:
        raise refusal("E112", column=name)
    return next(iter(types), pyarrow.string())


def _arrow(address: Address, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    with pyarrow.memory_map(str(_file(address)[0])) as source:
        try:
            found = pyarrow.ipc.open_file(source).read_all()
        except pyarrow.ArrowInvalid:
            source.seek(0)
            found = pyarrow.ipc.open_stream(source).read_all()
    return _in_memory(found, wanted, stack)


def _labelled(address: Address, wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    path = _file(address)[0]
    head = labelled.header(path)
    _check_columns(head.names, wanted)
    return _in_memory(
        labelled.records(path, head, set(head.names) if wanted is None else wanted), wanted, stack
    )


def _chosen(tables: list[str], name: str | None) -> str:
    """The named table, or the only one."""
    if name is None and len(tables) != 1:
        raise refusal("E107" if tables else "E108")
    if name is not None and name not in tables:
        raise refusal("E108")
    return tables[0] if name is None else name


def _duckdb(address: Address, _: Wanted, stack: contextlib.ExitStack) -> Source:
    connection = _embedded(stack, _file(address)[0])
    connection.raw_sql("SET enable_external_access = false").fetchall()  # a view reads no other file
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'"
    return connection.table(_chosen([row[0] for row in connection.raw_sql(query).fetchall()], address.table))


def _sqlite(address: Address, _: Wanted, stack: contextlib.ExitStack) -> Source:
    """SQLite's columns hold any type: a column gives texts and, as they are, binary numbers."""
    import sqlite3

    path = _file(address)[0]
    plain = stack.enter_context(
        contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True))
    )
    listed = plain.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    chosen = _chosen([row[0] for row in listed if not row[0].startswith("sqlite_")], address.table)
    columns = [row[0] for row in plain.execute("SELECT name FROM pragma_table_xinfo(?)", (chosen,))]
    fields = ", ".join(_sqlite_field(_quoted(column)) for column in columns)
    schema = ibis.schema(dict.fromkeys(columns, "string"))
    connection = ibis.sqlite.from_connection(plain)
    return connection.sql(f"SELECT {fields} FROM {_quoted(chosen)}", schema=schema)


def _sqlite_field(column: str) -> str:
    return (
        f"CASE typeof({column}) WHEN 'real' THEN {column} WHEN 'blob' THEN '?' "
        f"ELSE CAST({column} AS TEXT) END AS {column}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _need(module: str, extra: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError:
        raise refusal("E109", extra=extra) from None


def _postgres(address: Address, _wanted: Wanted, stack: contextlib.ExitStack) -> Source:
    _need("psycopg", "postgres")
    schema, _, name = str(address.table).partition(".")
    with _own_words():
        connection = ibis.postgres.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
        )
    stack.callback(connection.disconnect)
    for setting in ("default_transaction_read_only = on", "DateStyle = 'ISO, YMD'", "TimeZone = 'UTC'"):
        connection.raw_sql(f"SET SESSION {setting}").close()
    connection.con.commit()
    return connection.table(_chosen(sorted(connection.list_tables(database=schema)), name), database=schema)


@contextlib.contextmanager
def _own_words() -> Iterator[None]:
    """The address alone says where the table is: of PostgreSQL's variables only those about logging in stay."""
    kept = {key: value for key, value in os.environ.items() if key.startswith("PG")}
    for key in kept:
        if not key.startswith(LOGIN):
            del os.environ[key]
    try:
        yield
    finally:
        os.environ.update(kept)


def _spark_table(address: Address, _: Wanted, __: contextlib.ExitStack) -> Source:
    _need("pyspark", "spark")
    connection = ibis.pyspark.connect(_session(address))
    return connection.table(_chosen(sorted(connection.list_tables()), address.table))


def _spark_files(address: Address, wanted: Wanted, _: contextlib.ExitStack) -> Source:
    _need("pyspark", "spark")
    path = address.place
    assert path is not None  # by its kind
    is_text = path.name.lower().endswith(CSV)
    if not path.exists() and (is_text or address.host == "local"):
        raise refusal("E101")
    layout = textfile.scan(path, wanted) if is_text else None
    if layout:
        _check_columns(layout.names, wanted)
    session = _session(address)
    pattern = _escaped(str(path))
    if layout is None:
        records = session.read.schema(_common_schema(session, pattern)).parquet(pattern)
    else:
        records = session.read.csv(
            pattern,
            header=True,
            schema=", ".join(f"`{name}` STRING" for name in _declared(layout.names, wanted)),
            sep=layout.delimiter,
            lineSep=layout.line_end,
            quote='"',
            escape='"',
            multiLine=True,
            mode="FAILFAST",
        )
    view = ibis.util.gen_name("facsimile")
    records.createOrReplaceTempView(view)
    return ibis.pyspark.connect(session).table(view)


def _escaped(path: str) -> str:
    """A pattern that Spark matches with this path only."""
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)


def _common_schema(session: Any, pattern: str) -> Any:
    """The one schema that all Parquet files of a folder have.

    Spark would take that of one file for all: dates become times because another file holds times.
    """
    files = session.read.parquet(pattern).inputFiles()
    with ThreadPoolExecutor(READERS) as pool:
        schemas = list(
            pool.map(lambda file: session.read.parquet(file).schema, map(_escaped, map(unquote, files)))
        )
    if any(schema != schemas[0] for schema in schemas):
        raise refusal("E119")
    return schemas[0]


def _session(address: Address) -> Any:
    """A Spark session with our settings; a new one starts without a word on standard error."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("facsimile")
    for key in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(key, "false")
    session = SparkSession.getActiveSession()
    if session is None:
        master = "local[*]" if address.host == "local" else f"spark://{address.host}:{address.port}"
        if address.host == "local":
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = builder.config("spark.hadoop.fs.defaultFS", "file:///")
        with _silent():
            session = builder.master(master).getOrCreate()
            session.sparkContext.setLogLevel("OFF")
    for key, value in SPARK.items():
        session.conf.set(key, value)
    return session


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Standard error goes nowhere, for this process and those it starts."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _check_columns(names: list[str], wanted: Collection[str] | None) -> None:
    """Each wanted column is there once; where all are wanted, no two differ by capital letters alone."""
    if wanted is None:
        wanted = names = [name.lower() for name in names if name]
    ordered = sorted(wanted) if isinstance(wanted, set) else wanted
    missing = [name for name in ordered if name not in names]
    if missing:
        raise refusal("E110", columns=", ".join(missing))
    for name in ordered:
        if names.count(name) > 1:
            raise refusal("E111", column=name)


@dataclass(frozen=True)
class Kind:
    """A kind of source: which are of it, by a file's ending or by what they are, and how one is opened."""

    name: str
    open: Callable[[Any, Wanted, contextlib.ExitStack], Source]
    endings: tuple[str, ...] = ()
    is_one: Callable[[Any], bool] | None = None

    def fits(self, source: Any, name: str) -> bool:
        """Whether a source, or a file of this name, is of the kind."""
        return name.endswith(self.endings) if name else self.is_one is not None and self.is_one(source)


def _at(scheme: str, is_path: bool) -> Callable[[Any], bool]:
    return lambda source: (
        isinstance(source, Address) and source.scheme == scheme and (source.path is not None) == is_path
    )


KINDS = (
    Kind("text", _text, CSV),
    Kind("Parquet", _parquet, PARQUET),
    Kind("Arrow", _arrow, ARROW),
    Kind("labelled", _labelled, labelled.ENDINGS),
    Kind("DuckDB", _duckdb, DUCKDB),
    Kind("SQLite", _sqlite, SQLITE),
    Kind("PostgreSQL", _postgres, is_one=_at("postgres", is_path=False)),
    Kind("Spark files", _spark_files, is_one=_at("spark", is_path=True)),
    Kind("Spark tables", _spark_table, is_one=_at("spark", is_path=False)),
    Kind("pandas", _pandas, is_one=lambda source: isinstance(source, pandas.DataFrame)),
    Kind("stream", _stream, is_one=lambda source: hasattr(source, "__arrow_c_stream__")),
)
"""Every kind of source. Each has a form in testing/addresses.py, where its contract is tried."""
