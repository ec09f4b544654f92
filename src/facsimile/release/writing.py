"""Writing: a table as labels, one row for each record, to a CSV or Parquet file; or a text."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from facsimile.errors import refusal
from facsimile.spec.columns import Axis
from facsimile.table.exact import Ints
from facsimile.table.table import Table

MOST_TEXT = 1 << 30
"""Bytes of a piece of a column: an array of texts counts them in 31 bits."""


def labelled(table: Table) -> pa.Table:
    """Every record with the labels of its bins, in an order that depends on nothing but the records.

    The order is a permutation drawn from the SHA-256 of the sorted table: it tells nothing that the table
    does not, and nobody reads a meaning into neighbouring rows.
    """
    order = np.random.Generator(np.random.PCG64(int.from_bytes(digest(table)))).permutation(table.n)
    rows = np.repeat(np.arange(table.distinct), table.counts)[order]
    return pa.table({axis.name: _texts(axis, table.column(axis.name)[rows]) for axis in table.domain.axes})


def _texts(axis: Axis, codes: Ints) -> pa.ChunkedArray:
    """The label of each code, in pieces that no array of texts is too small for."""
    piece = max(1, MOST_TEXT // max(len(label.encode()) for label in axis.labels))
    labels, parts = pa.array(axis.labels, pa.string()), range(0, max(1, len(codes)), piece)
    coded = (pa.array(codes[start : start + piece], pa.int32()) for start in parts)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(part, labels).cast(pa.string()) for part in coded])


def digest(table: Table) -> bytes:
    """The SHA-256 of the sorted table: its codes and counts."""
    codes, counts = (array.astype("<i8").tobytes() for array in (table.codes, table.counts))
    return hashlib.sha256(codes + counts).digest()


def as_csv(table: pa.Table) -> bytes:
    """As the bytes of a CSV file, quoted where it must be."""
    sink = io.BytesIO()
    pa_csv.write_csv(table, sink, pa_csv.WriteOptions(quoting_style="needed"))
    return sink.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    """As the bytes of a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    return sink.getvalue()


def save(table: pa.Table, path: Path) -> None:
    """Write records as CSV or Parquet, whole or not at all; an existing file is never touched."""
    if path.suffix == ".parquet":
        _put(path, lambda part: pq.write_table(table, part))
    else:
        _put(path, lambda part: pa_csv.write_csv(table, part))


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all; an existing file is never touched."""
    write_bytes(path, text.encode())


def write_told(path: Path, told: Mapping[str, Any], page: Callable[[], str]) -> None:
    """Write what was found as data where the name ends with .json, and as its page elsewhere."""
    plain = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    write_text(path, plain if path.suffix == ".json" else page())


def write_bytes(path: Path, content: bytes) -> None:
    """The same for bytes."""
    _put(path, lambda part: part.write_bytes(content))


def rewrite(path: Path, content: bytes) -> None:
    """Put other content into a file that is there, in one step; its mode and what links to it stay."""
    real = path.resolve()
    part = real.with_name(f".{real.name}.part")
    try:
        part.write_bytes(content)
        part.chmod(real.stat().st_mode & 0o7777)
        part.replace(real)
    except OSError:
        part.unlink(missing_ok=True)
        raise refusal("E403") from None


def refuse_taken(path: Path) -> None:
    """A file is new, no link, in a folder that is there: asked before the work."""
    if path.is_symlink() or path.exists():
        raise refusal("E402" if path.is_symlink() else "E401")
    if not path.absolute().parent.is_dir():
        raise refusal("E403")


def _put(path: Path, write: Callable[[Path], object]) -> None:
    refuse_taken(path)
    part = path.with_name(path.name + ".part")
    try:
        write(part)
        part.rename(path)
    except OSError:
        raise refusal("E403") from None
    finally:
        part.unlink(missing_ok=True)
