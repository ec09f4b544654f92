"""Text files before an engine sees them: UTF-8, no hidden characters, no bombs, one header.

A file is scanned once, in pieces. Only an error code leaves this module.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from facsimile.errors import refusal

PIECE = 1 << 20
LONGEST_FIELD = 1 << 16
BOMB_BYTES = 1 << 28
BOMB_RATIO = 100
_BIDI = re.compile(b"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
_ARCHIVES = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
GZIP = b"\x1f\x8b"


def scan(path: Path) -> bytes:
    """Refuse a file that is not plain text, and return its first line without a byte-order mark."""
    if path.stat().st_size == 0:
        raise refusal("E102")
    header = b""
    complete = False
    records = False
    decoder = codecs.getincrementaldecoder("utf-8")()
    tail = b""
    try:
        for piece in _pieces(path):
            if b"\x00" in piece:
                raise refusal("E121")
            if not (piece.isascii() and tail.isascii()):
                decoder.decode(piece)
                if _BIDI.search(tail + piece):
                    raise refusal("E121")
            _check_lines(piece)
            tail = piece[-2:]
            rest = piece
            if not complete:
                first, newline, rest = piece.partition(b"\n")
                header += first
                complete = bool(newline)
            records = records or bool(rest.strip())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise refusal("E120") from None
    header = header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r")
    if not header.strip():
        raise refusal("E102")
    if not records or not complete:
        raise refusal("E103")
    return header


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith(_ARCHIVES):
            raise refusal("E122")
        if not start.startswith(GZIP):
            yield from _read(file)
            return
        read = 0
        try:
            with gzip.open(file) as expanded:
                for piece in _read(expanded):
                    read += len(piece)
                    if read > BOMB_BYTES and read > BOMB_RATIO * file.tell():
                        raise refusal("E122")
                    if read == len(piece) and piece.startswith((GZIP, *_ARCHIVES)):
                        raise refusal("E122")
                    yield piece
        except (OSError, EOFError, zlib.error):
            raise refusal("E106") from None


def _read(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _check_lines(piece: bytes) -> None:
    """A window of 64 kB without a line end lies inside one row: refused here, shorter rows by the engine."""
    for start in range(0, len(piece) - LONGEST_FIELD + 1, LONGEST_FIELD):
        if piece.find(b"\n", start, start + LONGEST_FIELD) < 0:
            raise refusal("E131")


def header_names(header: bytes, delimiter: str) -> list[str]:
    """The column names of a header line, quotes removed."""
    fields = re.findall(
        rf'(?:^|{re.escape(delimiter)})\s*("(?:[^"]|"")*"|[^{re.escape(delimiter)}]*)', header.decode()
    )
    return [f.strip()[1:-1].replace('""', '"') if f.strip().startswith('"') else f.strip() for f in fields]


def delimiter_of(header: bytes, wanted: set[str]) -> str:
    """The separator under which the header names most of the wanted columns; a comma if none does."""
    return max(",;\t|", key=lambda d: len(wanted & set(header_names(header, d))))
