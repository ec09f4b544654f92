"""A throw-away PostgreSQL server, and the ways in which one table is written for every engine."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import math
import os
import pwd
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pyreadstat
import pytest

from facsimile.testing.addresses import write_arrow, write_arrow_stream, write_duckdb
from facsimile.testing.addresses import write_parquet as write_parquet
from needs import needs

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "20",
    "autovacuum": "off",
    "timezone": "Asia/Jerusalem",
    "datestyle": "SQL,DMY",
}


def postgres_programs() -> Path | None:
    """The folder of the newest PostgreSQL server on this machine."""
    found = shutil.which("postgres")
    if found and (Path(found).resolve().parent / "initdb").exists():
        return Path(found).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    with_server = [folder for folder in folders if (folder / "initdb").exists()]
    return max(with_server, key=lambda folder: int(re.sub(r"\D", "", folder.parent.name) or 0), default=None)


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the block."""
    if not find_spec("psycopg"):
        needs("the extra postgres is not installed")
    programs = postgres_programs()
    if programs is None:
        needs("no PostgreSQL server (initdb, pg_ctl) on PATH or in /usr/lib/postgresql/*/bin")
    user = _unprivileged()
    top = Path(tempfile.mkdtemp(prefix="facsimile_pg_"))
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC", "HOME": str(top)}
    port = _free_port()
    options = " ".join(f"-c {key}={value}" for key, value in {**SETTINGS, "port": port}.items())

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(top / "data"), *arguments]
        subprocess.run(
            command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=top, env=environment, **user,
        )  # fmt: skip

    try:
        if user:
            os.chown(top, user["user"], user["group"])
        run("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "-w", "-l", str(top / "log"), "-o", f"{options} -k {top}", "start")
        try:
            yield f"postgres://tester@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _unprivileged() -> dict[str, Any]:
    """PostgreSQL does not run as root: another user to run it as, where needed."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    return needs("PostgreSQL does not run as root and there is no other user")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def write_csv(data: pyarrow.Table, path: Path, delimiter: str = ",") -> Path:
    """A CSV file, compressed if its name ends in .gz."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(data.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in data.columns), strict=True))
    plain = text.getvalue().encode()
    path.write_bytes(gzip.compress(plain) if path.suffix == ".gz" else plain)
    return path


_SQLITE = {"int64": "INTEGER", "double": "REAL", "bool": "BOOLEAN", "date32[day]": "DATE"}


def write_sqlite(data: pyarrow.Table, path: Path, table: str = "people") -> Path:
    """SQLite has no dates, truth values or decimals: they become texts, 0 and 1, and binary numbers."""
    fields = ", ".join(f'"{f.name}" {_SQLITE.get(str(f.type), "")}' for f in data.schema)
    rows = zip(*(map(_for_sqlite, column.to_pylist()) for column in data.columns), strict=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f'CREATE TABLE "{table}" ({fields})')
        marks = ", ".join("?" for _ in data.schema)
        connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        connection.commit()
    return path


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


_POSTGRES = {
    "int64": "bigint", "double": "double precision", "bool": "boolean", "date32[day]": "date",
    "string": "text", "decimal128(9, 3)": "numeric(9, 3)", "timestamp[us]": "timestamp",
}  # fmt: skip


def write_postgres(data: pyarrow.Table, address: str, table: str, enumerated: tuple[str, ...] = ()) -> str:
    """A table in PostgreSQL; some text columns may become enumerations."""
    import psycopg

    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        kinds = {f.name: _POSTGRES[str(f.type)] for f in data.schema}
        for name in enumerated:
            kinds[name] = f'"{table}_{name}"'
            texts = sorted({text for text in data.column(name).to_pylist() if text is not None})
            listed = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
            cursor.execute(f"CREATE TYPE {kinds[name]} AS ENUM ({listed})".encode())
        fields = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
        cursor.execute(f'CREATE TABLE "{table}" ({fields})'.encode())
        with cursor.copy(f'COPY "{table}" FROM STDIN'.encode()) as copy:
            for row in zip(*(column.to_pylist() for column in data.columns), strict=True):
                copy.write_row(row)
    return f"{address}#{table}"


def write_labelled(data: pyarrow.Table, path: Path) -> Path:
    """SPSS and Stata have numbers, dates and texts; a name has no blank and no comma."""
    columns = {plain(name): _for_labelled(data.column(name), path.name) for name in data.column_names}
    if path.suffix == ".dta":
        pyreadstat.write_dta(pandas.DataFrame(columns), path)
    else:
        pyreadstat.write_sav(pandas.DataFrame(columns), path, compress=path.suffix == ".zsav")
    return path


def plain(name: str) -> str:
    """A name that both programs take."""
    return re.sub(r"\W", "_", name)


def _for_labelled(column: pyarrow.ChunkedArray, name: str) -> Any:
    held = [_held(value, name) for value in column.to_pylist()]
    texts = pyarrow.types.is_temporal(column.type) or pyarrow.types.is_string(column.type)
    return pandas.Series(held, dtype=object if texts else float)


def _held(value: Any, name: str) -> Any:
    """What the program keeps: numbers are doubles, and the largest of these are its names for missing ones."""
    if value is None or isinstance(value, str | date):
        return value
    number = float(value)
    missing = abs(number) > 8.9e307 if name.endswith("dta") else abs(number) == sys.float_info.max
    return None if missing or math.isnan(number) else number


def told(value: Any, name: str) -> str | None:
    """The text that a labelled file has for a value, in the plainest way."""
    number = _held(value, name)
    if number is None or isinstance(number, str):
        return number
    if isinstance(number, date):
        return number.isoformat()
    if not math.isfinite(number) or number == int(number):
        return str(number if math.isinf(number) else int(number))
    return format(Decimal(f"{number:.15g}"), "f")


def on_spark(test: Callable[..., None]) -> Callable[..., None]:
    """A test that runs with Spark, which leaves sockets to the garbage collector and uses old pandas calls."""
    unwanted = ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning", "DeprecationWarning")
    quiet = pytest.mark.filterwarnings(*(f"ignore::{kind}" for kind in unwanted))
    marked: Callable[..., None] = pytest.mark.spark(quiet(test))
    return marked


FILES: dict[str, Callable[[pyarrow.Table, Path], Path]] = {
    "data.csv.gz": write_csv,
    "data.parquet": write_parquet,
    "data.arrow": write_arrow,
    "data.feather": write_arrow_stream,
    "data.duckdb": write_duckdb,
    "data.sqlite": write_sqlite,
    "data.sav": write_labelled,
    "data.zsav": write_labelled,
    "data.dta": write_labelled,
}
LABELLED = tuple(name for name, write in FILES.items() if write is write_labelled)
MEMORY: dict[str, Callable[[pyarrow.Table], Any]] = {
    "pyarrow": lambda data: data,
    "pandas": lambda data: data.to_pandas(),
    "polars": polars.DataFrame,
}
