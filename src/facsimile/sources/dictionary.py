"""The dictionary of an SPSS file, walked before the library reads it.

The library ends the whole program at a value label of a text that is no text in the file's encoding: a damaged
or mislabelled file is refused here instead. A dictionary is a chain of records, each with its kind:

    2  a variable: its width in bytes (0 for a number), two formats, perhaps a label and missing values; the
       library takes it for a text by its width or by either format
    3  value labels, each an 8-byte value and a text; a record 4 follows, with the variables that have them
    6  notes       7  anything else, with its size; 20 among these names the encoding       999  the end
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from facsimile.errors import refusal

HEADER, LINE, VALUE, NAME = 176, 80, 8, 8
TEXT = (1, 2)
"""The formats A and AHEX."""
LAYOUT = slice(64, 68)
ENCODING = 20


def refuse_broken_labels(path: Path) -> None:
    """Refuse a dictionary that does not end, or that labels a text which is none."""
    try:
        with path.open("rb") as file:
            order = "<" if file.read(HEADER)[LAYOUT] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
            encoding, texts = _walked(file, order)
        decoder = codecs.getincrementaldecoder(encoding)
        for text in texts:
            decoder().decode(text.rstrip(b" \0"))
        return
    except (struct.error, IndexError, UnicodeError, LookupError, OSError):
        pass
    raise refusal("E106")


def _walked(file: IO[bytes], order: str) -> tuple[str, list[bytes]]:
    """The encoding, ASCII where none is named, and every text that has a label."""
    encoding, is_text, texts, labelled = "ascii", list[bool](), list[bytes](), list[bytes]()
    while (kind := _number(file, order)) != 999:
        if kind == 2:
            width, label, missing, *formats = (_number(file, order) for _ in range(5))
            is_text.append(width != 0 or any((each >> 16) & 0xFF in TEXT for each in formats))
            _skip(file, NAME)
            _skip(file, _padded(_number(file, order), 4) if label else 0)
            _skip(file, VALUE * abs(missing))
        elif kind == 3:
            labelled = list(_values(file, _number(file, order)))
        elif kind == 4:
            places = [_number(file, order) - 1 for _ in range(_number(file, order))]
            if not places or min(places) < 0 or max(places) >= len(is_text):
                raise LookupError
            texts += labelled if any(is_text[place] for place in places) else []
        elif kind == 6:
            _skip(file, LINE * _number(file, order))
        elif kind == 7:
            what, size, count = (_number(file, order) for _ in range(3))
            if what == ENCODING and 0 < size * count < LINE:
                encoding = file.read(size * count).decode("ascii")
            else:
                _skip(file, size * count)
        else:
            raise LookupError
    return encoding, texts


def _values(file: IO[bytes], count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield file.read(VALUE)
        size = file.read(1)[0]
        _skip(file, _padded(size + 1, VALUE) - 1)


def _number(file: IO[bytes], order: str) -> int:
    found: int = struct.unpack(f"{order}i", file.read(4))[0]
    return found


def _padded(size: int, to: int) -> int:
    """The size rounded up.

    >>> _padded(1, 8), _padded(8, 8), _padded(9, 8)
    (8, 8, 16)
    """
    return -(-size // to) * to


def _skip(file: IO[bytes], size: int) -> None:
    if size < 0:
        raise LookupError
    file.seek(size, 1)
