"""Text files before an engine sees them: UTF-8, no hidden characters, no bombs, rows as long as the header.

A file is scanned once, in pieces. Only an error code leaves this module.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from facsimile.errors import refusal

PIECE = 1 << 20
LONGEST_FIELD = 1 << 16
BOMB_BYTES = 1 << 28
BOMB_RATIO = 100
GZIP = b"\x1f\x8b"
_BIDI = re.compile(b"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
_ARCHIVES = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
_QUOTE = b'"'
_LINE_END = ord("\n")
_QUOTED = re.compile(b'"[^"]{0,%d}"' % (LONGEST_FIELD - 1))


@dataclass(frozen=True)
class Layout:
    """How a text file is written."""

    names: list[str]
    delimiter: str
    compressed: bool
    line_end: str = "\n"


def scan(path: Path, wanted: set[str] | None) -> Layout:
    """Refuse a file that is not a plain table, and say how it is written."""
    pieces = _plain(_pieces(path))
    first = next(pieces, b"")
    line = first.partition(b"\n")[0]
    header = line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r")
    if not header.strip():
        raise refusal("E102")
    delimiter = delimiter_of(header, wanted)
    line_end = "\r\n" if line.endswith(b"\r") else "\n"
    layout = Layout(header_names(header, delimiter), delimiter, _start(path).startswith(GZIP), line_end)
    rows = _Rows(delimiter.encode())
    for piece in chain([first], pieces):
        rows.take(piece)
    rows.finish(len(layout.names))
    return layout


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(6)


def _pieces(path: Path) -> Iterator[bytes]:
    start = _start(path)
    if start.startswith(_ARCHIVES):
        raise refusal("E122")
    with path.open("rb") as file:
        yield from _expanded(file) if start.startswith(GZIP) else _read(file)


def _expanded(file: IO[bytes]) -> Iterator[bytes]:
    read = 0
    try:
        with gzip.open(file) as expanded:
            for piece in _read(expanded):
                if not read and piece.startswith((GZIP, *_ARCHIVES)):
                    raise refusal("E122")
                read += len(piece)
                if read > BOMB_BYTES and read > BOMB_RATIO * file.tell():
                    raise refusal("E122")
                yield piece
    except (OSError, EOFError, zlib.error):
        raise refusal("E106") from None


def _read(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _plain(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a text that is UTF-8 without hidden characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    tail = b""
    for piece in pieces:
        simple = piece.isascii() and tail.isascii()
        if not (simple or _decodes(decoder, piece)):
            raise refusal("E120")
        if b"\x00" in piece or (not simple and _BIDI.search(tail + piece)):
            raise refusal("E121")
        tail = (tail + piece[-2:])[-2:]
        yield piece
    if not _decodes(decoder, b"", final=True):
        raise refusal("E120")


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes, final: bool = False) -> bool:
    """Whether a piece is UTF-8; the exception, which holds the piece, ends here."""
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


class _Rows:
    """Counts rows and separators outside quotes, and refuses fields that never end.

    Engines refuse a row with too few fields but not always one with a field too many (`1,2,` under two
    names). Where no row has too few, the total tells whether one has too many.
    """

    def __init__(self, delimiter: bytes) -> None:
        self.delimiter = delimiter
        self.separators = self.rows = 0
        self.since_break = 0
        self.unclosed = self.held = b""
        self.last = b"\n"

    def take(self, piece: bytes) -> None:
        """Count one piece of the file."""
        self._check_fields(piece)
        bare = self.held + self._unquoted(piece)
        self.held = b"\r" if bare.endswith(b"\r") else b""
        if b"\r" in bare:
            bare = bare.removesuffix(b"\r").replace(b"\r\n", b"\n")
        self._count(bare)

    def finish(self, fields: int) -> None:
        """Refuse a file whose rows are not as long as its header."""
        self._count(self.held)
        self.rows += self.last != b"\n"
        if self.unclosed or self.separators != self.rows * (fields - 1):
            raise refusal("E130")
        if self.rows < 2:
            raise refusal("E103")

    def _count(self, bare: bytes) -> None:
        """Count separators and rows; a line end that follows a line end closes no row."""
        joined = self.last + bare
        signs = np.frombuffer(joined, np.uint8)
        ends = signs == _LINE_END
        self.separators += int(np.count_nonzero(signs[1:] == self.delimiter[0]))
        self.rows += int(np.count_nonzero(ends[1:] & ~ends[:-1]))
        self.last = joined[-1:]

    def _unquoted(self, piece: bytes) -> bytes:
        """The text with its quotations left out. A quote stays if the next one is 64 kB away."""
        text = self.unclosed + piece
        self.unclosed = b""
        if _QUOTE not in text:
            return text
        if text.count(_QUOTE) % 2:
            start = text.rfind(_QUOTE)
            text, self.unclosed = text[:start], text[start:]
        bare = _QUOTED.sub(b"_", text)
        if _QUOTE in bare or len(self.unclosed) > LONGEST_FIELD:
            raise refusal("E131")
        return bare

    def _check_fields(self, piece: bytes) -> None:
        """A window of 64 kB without a line end or a separator lies inside one field."""
        start = -self.since_break
        while len(piece) - start >= LONGEST_FIELD:
            end = self._last_break(piece, max(0, start), start + LONGEST_FIELD)
            if end < 0:
                raise refusal("E131")
            start = end + 1
        end = self._last_break(piece, max(0, start), len(piece))
        self.since_break = len(piece) - (start if end < 0 else end + 1)

    def _last_break(self, piece: bytes, start: int, end: int) -> int:
        return max(piece.rfind(b"\n", start, end), piece.rfind(self.delimiter, start, end))


def header_names(header: bytes, delimiter: str) -> list[str]:
    """The column names of a header line, quotes removed."""
    text = header.decode(errors="replace")
    try:
        fields = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [field.strip() for field in fields]


def delimiter_of(header: bytes, wanted: set[str] | None) -> str:
    """The separator under which the header names most of the wanted columns; a comma if none does.

    Where every column is wanted: under which it names most columns, and cuts through no quotes.

    >>> delimiter_of(b'age;"sex"', {"age", "sex"}), header_names(b'age;"sex"', ";")
    (';', ['age', 'sex'])
    >>> delimiter_of(b'age;"sex, as registered"', None)
    ';'
    """

    def named(delimiter: str) -> int:
        names = set(header_names(header, delimiter))
        return sum('"' not in name for name in names) if wanted is None else len(wanted & names)

    return max(",;\t|", key=named)
