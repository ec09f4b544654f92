"""The dictionary of SPSS is walked like the library walks it, and stops what would stop the program."""

from __future__ import annotations

import struct
import subprocess
import sys
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import pyreadstat
import pytest

from facsimile.errors import FacsimileError
from facsimile.sources.dictionary import _walked, refuse_broken_labels
from facsimile.sources.source import labels

HOW: dict[str, Any] = {
    "file_label": "A file",
    "column_labels": ["A label of some length", None, "Another"],
    "note": ["A note", "and a second line"],
    "variable_value_labels": {
        "x": {1.5: "one", -9: "none"} | {place: "l" * place for place in range(2, 20)},
        "s": {"QQQQQ": "q", "": "blank"},
        "t": {"r" * 12: "r"},
    },
    "missing_ranges": {"x": [{"lo": -9, "hi": -1}, 5], "s": ["a", "b", "c"]},
}


def written(path: Path) -> bytes:
    """A file with every kind of record."""
    data = pandas.DataFrame({"x": [1, 2.5], "s": ["QQQQQ", "a"], "t": ["r" * 12, "é" * 200]})
    pyreadstat.write_sav(data, path, compress=path.suffix == ".zsav", **HOW)
    return path.read_bytes()


def code(path: Path) -> str | None:
    try:
        refuse_broken_labels(path)
    except FacsimileError as error:
        return error.code
    return None


@pytest.mark.parametrize("kind", ["sav", "zsav"])
def test_a_whole_dictionary_is_walked_to_its_end_and_one_that_ends_early_is_refused(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"data.{kind}"
    content = written(path)
    assert code(path) is None
    end = content.index(struct.pack("<ii", 999, 0))
    for cut in (*range(0, end + 4, 13), end + 3):
        path.write_bytes(content[:cut])
        assert code(path) == "E106"
    path.write_bytes(content[: end + 4])
    assert code(path) is None


BAD = [b"\xff" * 8, b"ab\xff     ", b"\0\0\0\0\0\0\xf8?"]
GOOD = [b"\xc3\xa9      ", b"\xc3       ", b"abcdefg\xc3", b"        ", b"\0" * 8, b"a\0\0\0\0\0\0\0"]


@pytest.mark.parametrize("value", BAD + GOOD)
def test_a_label_of_what_is_no_text_is_refused(value: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.sav"
    content = written(path)
    place = content.index(b"QQQQQ   \1q")
    path.write_bytes(content[:place] + value + content[place + 8 :])
    assert code(path) == ("E106" if value in BAD else None)
    if value in GOOD:
        assert labels(path) is not None


def test_the_library_would_end_the_program(tmp_path: Path) -> None:
    """When this fails the library is mended, and the walk may go."""
    path = tmp_path / "data.sav"
    content = written(path)
    path.write_bytes(content.replace(b"QQQQQ   \1q", BAD[0] + b"\1q"))
    script = "import pyreadstat, sys; pyreadstat.read_sav(sys.argv[1], metadataonly=True)"
    ended = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=False)
    assert ended.returncode < 0 or ended.returncode > 1


@pytest.mark.parametrize("place", [194, 198])
def test_a_number_with_a_format_of_texts_is_one(place: int, tmp_path: Path) -> None:
    """The first variable is a number whose labelled values are no texts."""
    path = tmp_path / "data.sav"
    content = written(path)
    assert content[place] == 5
    path.write_bytes(content[:place] + b"\1" + content[place + 1 :])
    assert code(path) == "E106"


def variable(order: str, width: int = 8, *formats: int) -> bytes:
    one, two = ((7 << 24) + (each << 16) + 0x8008 for each in formats or (5, 5))
    return struct.pack(f"{order}6i", 2, width, 0, 0, one, two) + b"NAME    "


@pytest.mark.parametrize("order", "<>")
def test_a_text_is_one_by_its_width_or_either_format_and_others_have_no_labels(order: str) -> None:
    labelled = struct.pack(f"{order}2i", 3, 1) + b"QQQQQQQQ\1q" + bytes(6)
    labelled += struct.pack(f"{order}4i", 4, 1, 1, 999)
    for width, *formats in product((0, 8), (0, 1, 2, 3, 5), (0, 1, 2, 3, 5)):
        is_text = width > 0 or bool({1, 2} & {*formats})
        found = _walked(BytesIO(variable(order, width, *formats) + labelled), order)
        assert found == ("ascii", [b"QQQQQQQQ"] * is_text)


@pytest.mark.parametrize("place", [0, 2])
def test_labels_are_of_variables_that_are_there_and_of_texts_if_one_of_them_is(place: int) -> None:
    labelled = struct.pack("<2i", 3, 1) + b"QQQQQQQQ\1q" + bytes(6)
    beside = variable("<") + variable("<", 0) + labelled + struct.pack("<5i", 4, 2, 1, 2, 999)
    assert _walked(BytesIO(beside), "<") == ("ascii", [b"QQQQQQQQ"])
    with pytest.raises(LookupError):
        _walked(BytesIO(variable("<") + labelled + struct.pack("<5i", 4, 2, 1, place, 999)), "<")


def test_a_walk_never_goes_back() -> None:
    """Four bytes back there would be a record of one variable, and then the end."""
    with pytest.raises(LookupError):
        _walked(BytesIO(variable("<") + struct.pack("<7i", 7, 3, -1, 4, 1, 1, 999)), "<")


@pytest.mark.parametrize("size", [0, 1, 79, 80])
def test_an_encoding_has_a_name_that_fits_a_line(size: int) -> None:
    record = struct.pack("<4i", 7, 20, 1, size) + b"x" * size + struct.pack("<i", 999)
    assert _walked(BytesIO(record), "<") == ("x" * size if 0 < size < 80 else "ascii", [])


def test_labels_of_texts_are_read_by_the_encoding_that_the_file_names(tmp_path: Path) -> None:
    path = tmp_path / "data.sav"
    content = written(path).replace(b"QQQQQ   \1q", b"\xe9\xe8      \1q").replace(b"\xc3\xa9", b"ee")
    path.write_bytes(content)
    assert code(path) == "E106"
    named = content.replace(
        struct.pack("<iiii", 7, 20, 1, 5) + b"UTF-8", struct.pack("<iiii", 7, 20, 1, 12) + b"windows-1252"
    )
    assert named != content
    path.write_bytes(named)
    assert code(path) is None
    path.write_bytes(named.replace(b"windows-1252", b"no-such-code"))
    assert code(path) == "E106"


@pytest.mark.parametrize("record", [
    (7, 3, -8, 4), (7, 3, 2**31 - 1, 2**31 - 1), (6, -1), (3, 2**31 - 1), (4, 2**31 - 1), (4, 1, 99), (5,),
    (4, 0), (4, 1, 0), (4, 1, -1), (2, 0, 1, 0), (7, 20, 2**30, 8), (7, 20, -1, 1),
])  # fmt: skip
def test_a_record_that_leads_nowhere_ends_the_walk(record: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "data.sav"
    content = written(path)
    path.write_bytes(content[:176] + struct.pack(f"<{len(record)}i", *record) + content[176:])
    assert code(path) == "E106"
