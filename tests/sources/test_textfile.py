from __future__ import annotations

import csv
import gzip
import io
import re
from itertools import combinations_with_replacement, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import DataRefused
from facsimile.sources import textfile
from facsimile.sources.textfile import LONGEST_FIELD, PIECE, _plain, _Rows, delimiter_of, header_names, scan


@pytest.mark.parametrize(
    ("header", "delimiter", "names"),
    [
        (b"a,b,c", ",", ["a", "b", "c"]),
        (b' a , "b,""c""" ,', ",", ["a", 'b,"c"', ""]),
        (b"a\t\tb", "\t", ["a", "", "b"]),
        ("é;größe".encode(), ";", ["é", "größe"]),
        (b"a", ",", ["a"]),
        (b"a\xff,b", ",", ["a\ufffd", "b"]),
    ],
)
def test_names_of_a_header(header: bytes, delimiter: str, names: list[str]) -> None:
    assert header_names(header, delimiter) == names


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_that_gives_the_wanted_names(delimiter: str) -> None:
    header = delimiter.join(["age", "sex", "a.b"]).encode()
    assert delimiter_of(header, {"age", "sex"}) == delimiter


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_where_every_column_is_wanted_the_separator_gives_the_most_names(delimiter: str) -> None:
    header = delimiter.join(["age", "sex", '"a quoted, name"']).encode()
    assert delimiter_of(header, None) == delimiter
    assert delimiter_of(b"alone", None) == ","


def test_a_header_without_wanted_names_is_read_with_commas() -> None:
    assert delimiter_of(b"x;y", {"age"}) == ","


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_a_plain_table(ending: bytes, last: bool, compressed: bool, tmp_path: Path) -> None:
    lines = [b"\xef\xbb\xbfage,name", b'1,"a,\n""b"""', b"", b"2,", "3,é٣".encode()]
    content = ending.join(lines) + ending * last
    path = tmp_path / "data.csv"
    path.write_bytes(gzip.compress(content) if compressed else content)
    layout = scan(path, {"age"})
    assert (layout.names, layout.delimiter, layout.compressed) == (["age", "name"], ",", compressed)


def test_a_large_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    row = '12,é,"x\ny"\r\n'.encode()
    path.write_bytes(b"a,b,c\r\n" + row * (3 * PIECE // len(row)))
    assert scan(path, {"a"}).names == ["a", "b", "c"]
    path.write_bytes(b"a,b,c\r\n" + row * (3 * PIECE // len(row)) + b"1,2,3,\r\n")
    assert refused(path) == "E130"
    path.write_bytes(b"a,b,c\r\n" + row * (3 * PIECE // len(row)) + b"1,2,\xe9\r\n")
    assert refused(path) == "E120"


def refused(path: Path) -> str:
    with pytest.raises(DataRefused) as caught:
        scan(path, {"a"})
    assert caught.value.__context__ is None
    return caught.value.code


@pytest.mark.parametrize("size", [LONGEST_FIELD - 1, LONGEST_FIELD])
@pytest.mark.parametrize("before", [0, 1, 1000, PIECE // 4 - 20_000])
@pytest.mark.parametrize("letter", [b"x", b"\n", b","])
def test_long_fields(size: int, before: int, letter: bytes, tmp_path: Path) -> None:
    field = letter * size if letter == b"x" else b'"' + letter * size + b'"'
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * before + b"1," + field + b"\n")
    if size == LONGEST_FIELD:
        assert refused(path) == "E131"
    else:
        assert scan(path, {"a"}).names == ["a", "b"]


def test_a_quoted_field_of_many_lines_may_not_be_long_either(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b'a,b\n1,"' + b"x,\n" * (LONGEST_FIELD // 3 + 1) + b'"\n3,"4"\n')
    assert refused(path) == "E131"


@pytest.mark.parametrize("size", [LONGEST_FIELD - 1, LONGEST_FIELD])
def test_nor_may_a_quoted_field_that_a_piece_leaves_open(size: int) -> None:
    rows = _Rows(b",")
    if size == LONGEST_FIELD:
        with pytest.raises(DataRefused, match="E131"):
            rows.take(b'a,b\n1,"' + b"\n" * size)
    else:
        rows.take(b'a,b\n1,"' + b"\n" * size)
        rows.take(b'"\n')
        rows.finish(2)


def test_a_field_of_64_kb_is_long_and_one_in_another_piece_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the pieces: every text with some field as long as that is refused, and no other."""
    assert LONGEST_FIELD == 65_536
    monkeypatch.setattr(textfile, "LONGEST_FIELD", 4)

    @given(st.lists(st.text("x,\n", min_size=1, max_size=9), max_size=6))
    def check(pieces: list[str]) -> None:
        counter, long = _Rows(b","), max(map(len, re.split("[,\n]", "".join(pieces)))) >= 4
        try:
            for piece in pieces:
                counter._check_fields(piece.encode())
        except DataRefused:
            assert long
        else:
            assert not long

    check()


def test_many_short_fields_make_a_long_row(tmp_path: Path) -> None:
    wide = LONGEST_FIELD
    path = tmp_path / "data.csv"
    header = ",".join(["a", *(f"c{i}" for i in range(wide - 1))])
    path.write_text(header + "\n" + ",".join(["1"] * wide) + "\n")
    assert len(scan(path, {"a"}).names) == wide


rows = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.text('ab,;"\n\r é', max_size=4), min_size=width, max_size=width), min_size=2, max_size=8
    )
)


def counted(content: bytes, cuts: list[int], fields: int) -> str | None:
    counter = _Rows(b",")
    places = sorted({min(cut, len(content)) for cut in cuts} | {0, len(content)})
    try:
        for start, end in pairwise(places):
            counter.take(content[start:end])
        counter.finish(fields)
    except DataRefused as error:
        return error.code
    return None


@given(rows, st.sampled_from(["\n", "\r\n"]), st.lists(st.integers(0, 200), max_size=6))
def test_rows_are_counted_across_pieces(table: list[list[str]], ending: str, cuts: list[int]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=ending).writerows([["h"] * len(table[0]), *table])
    content = text.getvalue().encode()
    assert counted(content, cuts, len(table[0])) is None
    assert counted(content.rstrip(b"\r\n"), cuts, len(table[0])) in (None, "E103")
    assert counted(content + b"x" + b"," * len(table[0]), cuts, len(table[0])) == "E130"
    assert counted(content + b'"', cuts, len(table[0])) == "E130"


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"a,b", "E103"), (b"a,b\n\n", "E103"), (b"a,b\n1,2", None), (b"a,b\n1,2\r\n", None),
     (b"a,b\n1,2\r", None), (b"a,b\n1,2\n\r", "E130"), (b"a,b\n1,2\n3", "E130"), (b'a,b\n1,"', "E130")],
)  # fmt: skip
def test_a_file_has_a_header_and_a_row_and_all_rows_are_whole(content: bytes, code: str | None) -> None:
    for cut in range(len(content)):
        assert counted(content, [cut], 2) == code


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("aé٣\U0001f476b".encode(), None),
        ("a\u202eb".encode(), "E121"),
        ("a\u2067b".encode(), "E121"),
        (b"a\x00b", "E121"),
        (b"a\xe9b", "E120"),
        (b"ab\xc3", "E120"),
        ("a".encode("utf-16"), "E120"),
        (b"\xed\xa0\x80", "E120"),
        (b"\xe2b\x80\xae", "E120"),
    ],
)
def test_characters_are_seen_across_pieces(content: bytes, code: str | None) -> None:
    for one, two in combinations_with_replacement(range(len(content) + 1), 2):
        pieces = [piece for piece in (content[:one], content[one:two], content[two:]) if piece]
        if code is None:
            assert b"".join(_plain(iter(pieces))) == content
        else:
            with pytest.raises(DataRefused) as caught:
                list(_plain(iter(pieces)))
            assert caught.value.code == code
            assert caught.value.__context__ is None


@pytest.mark.parametrize(("line", "refused"), [("{}", False), ("1", True)])
def test_a_file_that_grows_a_hundredfold_is_refused_and_no_other_however_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, refused: bool
) -> None:
    """Past the size at which growth is looked at."""
    monkeypatch.setattr(textfile, "BOMB_BYTES", 1 << 20)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n".format(i) for i in range(1_000_000)).encode()))
    if refused:
        with pytest.raises(DataRefused, match="E122"):
            list(textfile._pieces(path))
    else:
        assert sum(map(len, textfile._pieces(path))) > 2 * textfile.BOMB_BYTES


@pytest.mark.parametrize("inner", [textfile.GZIP, *textfile._ARCHIVES])
def test_an_archive_is_refused_in_a_packed_file_too_but_not_what_looks_like_one_further_on(
    inner: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(textfile, "PIECE", 8)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(inner + b"x" * 20))
    with pytest.raises(DataRefused, match="E122"):
        list(textfile._pieces(path))
    path.write_bytes(gzip.compress(b"a" * 8 + inner))
    assert b"".join(textfile._pieces(path)) == b"a" * 8 + inner
    if inner != textfile.GZIP:
        path.write_bytes(inner + b"x" * 20)
        with pytest.raises(DataRefused, match="E122"):
            list(textfile._pieces(path))


@pytest.mark.parametrize("least", [999, 1000])
@pytest.mark.parametrize("packed", [9, 10])
def test_growth_is_looked_at_past_some_size_and_may_be_a_hundredfold(
    monkeypatch: pytest.MonkeyPatch, least: int, packed: int
) -> None:
    """1,000 bytes, read from so many."""
    assert (textfile.BOMB_BYTES, textfile.BOMB_RATIO) == (268_435_456, 100)
    monkeypatch.setattr(textfile, "BOMB_BYTES", least)
    monkeypatch.setattr(gzip, "open", lambda file: io.BytesIO(b"x" * 1000))
    file = io.BytesIO()
    file.seek(packed)
    if (least, packed) == (999, 9):
        with pytest.raises(DataRefused, match="E122"):
            list(textfile._expanded(file))
    else:
        assert list(textfile._expanded(file)) == [b"x" * 1000]
