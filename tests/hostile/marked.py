"""A confidential file in which every raw value is marked: numbers and words that no code of the program prints.

Mapped, binned, clipped, malformed and unknown values, values of columns that no specification names, and such
names themselves. What is declared in public is not marked: labels, bins, names.
"""

from __future__ import annotations

import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 60
WORD = "Qzx"
HEADER = ("income", "place", "pay", f"{WORD}secretname")
MARK = re.compile(rf"{WORD}[a-z]*[0-9]*|4242[0-9]{{7}}")
SPECIFICATION = f"""\
facsimile: 1
title: Marked
unit: one person
neighbours: replace-one
records:
  count: {N}
  public_because: it is printed on the door
columns:
  - name: income
    description: Income
    bounds: [0, 99999999999]
    alternatives:
      published: [<42425000000, 42425000000-50000000000, 50000000000<]
    outside: clip
  - name: town
    source: place
    description: Town
    values: [north, south, elsewhere]
    alternatives:
      published: [north, south, elsewhere]
    outside: elsewhere
    missing: drop
  - name: pay
    description: Pay
    bounds: [0, 99999999999]
    alternatives:
      published: [<42425000000, 42425000000≤]
    malformed: missing
    missing: {{code: unknown}}
    outside: clip
constraints:
  policy: declared
families:
  - family: mst
projection:
  min_count: [1]
criteria:
  - criterion: marginals-absolute
    threshold: THRESHOLD
    epsilon: 0.5
selection:
  mode: MODE
budget:
  total: 20
  generator: 3
  test: 2
publish: [tables, explorer, labelled, metadata, replicates]
"""


def specification(halts: bool = False, mode: str = "paper", publish: bool = True) -> str:
    """The specification; all candidates pass, or none does."""
    found = SPECIFICATION.replace("THRESHOLD", "0.0001" if halts else "0.99")
    found = found.replace("MODE", "single" if halts else mode)
    return found if publish else found[: found.index("publish:")]


def rows(**odd: str) -> list[tuple[str, str, str, str]]:
    """Records; `odd` replaces fields of the last one."""
    found = []
    for i in range(N):
        pay = f"{WORD}malformed{i}" if i % 7 == 0 else str(4242 * 10**7 + 331 * i + 5_000_000 * (i % 2))
        place = ("north", "south", f"{WORD}unknown{i}")[i % 3]
        found.append([str(4242 * 10**7 + 977 * i + 5_000_000 * (i % 2)), place, pay, f"{WORD}note{i}"])
    for name, value in odd.items():
        found[-1][HEADER.index(name)] = value
    return [(a, b, c, d) for a, b, c, d in found]


def write(folder: Path, kind: str = "csv", **odd: str) -> Path:
    """The file, in any form."""
    path, records = folder / f"data.{kind}", rows(**odd)
    if kind == "csv":
        path.write_text("".join(",".join(row) + "\n" for row in (HEADER, *records)), "utf-8")
    elif kind == "parquet":
        pq.write_table(pa.table({n: [r[i] for r in records] for i, n in enumerate(HEADER)}), path)
    else:
        connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
        connection.execute(f"create table t ({', '.join(f'{name} text' for name in HEADER)})")
        connection.executemany("insert into t values (?, ?, ?, ?)", records)
        if isinstance(connection, sqlite3.Connection):
            connection.commit()
        connection.close()
    return path


ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
BEGINNINGS = tuple(text.encode(encoding) for text in (WORD, "4242") for encoding in ENCODINGS)
LOW, HIGH = 4242 * 10**7, 4243 * 10**7


def unpacked(content: bytes) -> Iterator[bytes]:
    """The bytes, and what is packed in them: streams of a PDF, parts of an archive, a Parquet table."""
    yield content
    for found in re.finditer(rb"x[\x01\x5e\x9c\xda]|\x1f\x8b", content):
        try:
            yield zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(content[found.start() :], 1 << 24)
        except zlib.error:
            continue
    if zipfile.is_zipfile(BytesIO(content)):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    if content[:4] == b"PAR1":
        yield str(pq.read_table(BytesIO(content)).to_pydict()).encode()


def words(content: bytes) -> Iterator[str]:
    """Marked words and numbers that stand there as text, in any of these encodings."""
    for beginning in BEGINNINGS:
        place = content.find(beginning)
        while place >= 0:
            width = len(beginning) // (3 if WORD.encode()[:1] in beginning else 4)
            piece = content[place : place + 24 * width].replace(b"\0", b"").decode("utf-8", "ignore")
            yield from (mark for mark in MARK.findall(piece) if mark not in PUBLIC)
            place = content.find(beginning, place + 1)


def numbers(content: bytes) -> bool:
    """Whether a marked number stands there as eight bytes of an integer or a float, in any order of bytes."""
    with np.errstate(invalid="ignore"):
        return any(
            bool(((found >= LOW) & (found < HIGH) & (found != int(*PUBLIC))).any())
            for start in range(8)
            for kind in ("<i8", ">i8", "<f8", ">f8")
            for found in [np.frombuffer(content[start : len(content) - (len(content) - start) % 8], kind)]
        )


def marks(content: bytes | str) -> list[str]:
    """What of the marked values stands there."""
    raw = content.encode() if isinstance(content, str) else content
    pieces = list(unpacked(raw))
    return [mark for piece in pieces for mark in words(piece)] + ["a number"] * any(map(numbers, pieces))


PUBLIC = {"42425000000"}
"""The edge of a bin."""


def everywhere(*folders: Path, besides: Path) -> dict[str, list[str]]:
    """Marks in all files below folders, but for the data itself."""
    files = [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file() and path != besides
    ]
    found = {str(path): marks(path.read_bytes()) for path in files}
    named = {str(path): marks(path.name) for path in files}
    return {name: told for name, told in (*found.items(), *named.items()) if told}
