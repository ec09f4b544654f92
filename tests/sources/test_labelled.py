"""SPSS and Stata: a text for each value that depends on that value alone, and files that are none."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
import time
import tracemalloc
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pyreadstat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import engines
from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public
from facsimile.sources import labelled
from facsimile.sources.labelled import CALENDARS, Variable, header, records
from facsimile.sources.source import labels, opened
from table.oracle import specified

KINDS = ["sav", "zsav", "dta"]
SECRET = "Zaphodine"


def write(path: Path, columns: dict[str, Any], **how: Any) -> Path:
    """A file of these columns, whose types pandas chooses as an exporter would."""
    data = pandas.DataFrame({name: pandas.Series(values) for name, values in columns.items()})
    if "code" in columns:  # whole numbers in the file itself, missing ones among them
        data["code"] = pandas.array(columns["code"], "Int16")
    if path.suffix == ".dta":
        pyreadstat.write_dta(data, path, **how)
    else:
        pyreadstat.write_sav(data, path, compress=path.suffix == ".zsav", **how)
    return path


def texts(path: Path) -> list[dict[str, str | None]]:
    """Every record as texts."""
    return list(records(path, header(path)).to_pylist())


def refused(path: Path, wanted: list[str] | None = None) -> str | None:
    """The code of the refusal, if it is one."""
    try:
        with opened(path, wanted or ["x"]):
            return None
    except FacsimileError as error:
        assert error.__context__ is None or error.__suppress_context__
        assert SECRET not in str(error)
        return error.code


# --- a record's texts are its own

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
NUMBERS = st.one_of(
    st.none(),
    st.integers(-(2**53), 2**53),
    st.floats(-8e307, 8e307),
    st.sampled_from([0.0, -0.0, 0.1 + 0.2, 1.0, 1e300, 5e-324, 1e15 + 0.5, math.nan, 2.9999999999999996]),
)
ROWS = st.fixed_dictionaries(
    {
        "number": NUMBERS,
        "whole": st.none() | st.integers(-(2**31), 2**31),
        "code": st.none() | st.integers(-9, 9),
        "born": st.none() | st.dates(date(1583, 1, 1)),
        "seen": st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
        "word": st.none() | WORDS | st.sampled_from(["", " ", " a ", "5", "5.0", "x" * 300]),
    }
)


ROW = {
    "number": 1,
    "whole": 1,
    "code": 1,
    "born": date(2020, 1, 31),
    "seen": datetime(2020, 1, 31),
    "word": "5",
}


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_no_other_record_changes_a_record(kind: str, tmp_path: Path) -> None:
    """A record in a file of its own, whose columns have the types that it alone asks for, is the same texts."""

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(ROWS, min_size=2, max_size=4))
    @example(
        [ROW, dict.fromkeys(ROW), ROW | {"number": 2.5, "code": 2, "born": date(9999, 12, 31), "word": " "}]
    )
    def check(rows: list[dict[str, Any]]) -> None:
        def saved(some: list[dict[str, Any]]) -> list[dict[str, str | None]]:
            missing = {} if kind == "dta" else {"missing_ranges": {"whole": [7, {"lo": -9, "hi": -1}]}}
            columns = {name: [row[name] for row in some] for name in rows[0]}
            if all(value is None for value in columns["whole"]):
                missing = {}
            return texts(write(tmp_path / f"data.{kind}", columns, **missing))

        whole = saved(rows)
        assert whole == [saved([row])[0] for row in rows]
        assert whole == [saved([row, other])[0] for row, other in zip(rows, rows[1:] + rows[:1], strict=True)]

    check()


@given(NUMBERS, st.sampled_from([None, *CALENDARS]), st.sampled_from(["double", "float"]))
def test_values_that_are_equal_have_one_text(value: Any, calendar: Any, storage: str) -> None:
    """Otherwise a text that is remembered would be that of another record."""
    column = Variable("x", storage=storage, calendar=calendar)
    for other in (value, float(value) if value is not None else None, 0.0 if value == 0 else value):
        if other == value:
            assert column.text(other) == column.text(value)
    assert column.text(0.0) == column.text(-0.0) == column.text(0)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1 + 0.7, "0.8"), (0.123456789012345, "0.123456789012345"), (123456789.0123456, "123456789.012346")],
)
def test_a_number_has_15_digits(value: float, text: str) -> None:
    assert Variable("x").text(value) == text


@given(st.floats(-1e308, 1e308))
def test_a_number_is_its_digits_without_an_exponent(value: float) -> None:
    text = Variable("x").text(value)
    assert text is not None and set(text) <= set("-.0123456789")
    assert text == engines.told(value, "data.sav")
    assert float(text) == value or not value.is_integer()
    assert math.isclose(float(text), value, rel_tol=1e-14)


def test_codes_of_a_record_are_its_own_too(tmp_path: Path) -> None:
    """The same through the query: each record twice in a file of its own, and all in one."""
    unknown = {"missing": {"code": "?"}}
    columns = [
        {"name": "x", "decimals": "1", "round": "down", "bounds": ["0", "9"], "malformed": "missing", **unknown,
         "outside": "clip", "alternatives": {"a": ["0.0..8.9 by 1"]}},
        {"name": "born", "part": "month", "bounds": ["1", "12"], "alternatives": {"a": ["1..12"]}, **unknown},
        {"name": "word", "values": ["1", "a"], "outside": "a", "alternatives": {"a": ["1", "a"]}, **unknown},
    ]  # fmt: skip
    specification = specified(columns)
    rows = [(1, date(2020, 2, 1), "1"), (None, None, " 1 "), (2.5, date(2020, 12, 1), None), (1e300, None, "b")]

    def coded(some: list[Any], kind: str) -> Any:
        given = dict(zip(("x", "born", "word"), map(list, zip(*some, strict=True)), strict=True))
        table = read_public(write(tmp_path / f"data.{kind}", given), specification)
        return sorted(
            tuple(code) for code, n in zip(table.codes.tolist(), table.counts, strict=True) for _ in range(n)
        )

    for kind in ("sav", "dta"):
        apart = sorted(code for row in rows for code in coded([row, row], kind))
        assert coded([*rows, *rows], kind) == apart


@pytest.mark.parametrize("kind", KINDS)
def test_where_a_piece_ends_changes_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path / f"data.{kind}", {"x": [i / 8 for i in range(50)], "s": [f"s{i}" for i in range(50)]}
    )
    whole = texts(path)
    assert len(whole) == 50 and whole[9] == {"x": "1.125", "s": "s9"}
    asked, read = list[int](), labelled._read

    def watched(path: Path, **how: Any) -> Any:
        asked.append(how.get("row_limit", 0))
        return read(path, **how)

    monkeypatch.setattr(labelled, "_read", watched)
    for cells, bytes_, rows in ((1, 9999, 1), (7, 9999, 3), (98, 9999, 49), (100, 9999, 50), (9999, 30, 2)):
        monkeypatch.setattr(labelled, "CELLS", cells)
        monkeypatch.setattr(labelled, "BYTES", bytes_)
        assert texts(path) == whole
        assert set(asked) == {0, rows}
        asked.clear()


# --- what a value becomes


def test_stata_s_small_numbers_have_the_digits_that_were_typed(tmp_path: Path) -> None:
    """0.1 as a `float` is 0.10000000149011612; as a `byte`, 1 is 1."""
    data = pandas.DataFrame({"x": np.array([0.1, 2, 1e-7], np.float32), "y": np.array([1, 2, 3], np.int8)})
    data.to_stata(tmp_path / "data.dta", write_index=False)
    assert [list(row.values()) for row in texts(tmp_path / "data.dta")] == [
        ["0.1", "1"],
        ["2", "2"],
        ["0.0000001", "3"],
    ]


DAY, NOON = 13799808000.0, 13799808000.0 + 43200.5
SPSS_FORMATS = [
    *(
        (f"{name}", DAY, "2020-01-31")
        for name in ("DATE11", "ADATE10", "EDATE10", "SDATE10", "JDATE7", "MOYR8")
    ),
    *((f"{name}", NOON, "2020-01-31") for name in ("DATE9", "QYR6", "WKYR8")),
    ("DATETIME20", NOON, "2020-01-31T12:00:00"),
    ("YMDHMS20", DAY, "2020-01-31T00:00:00"),
    ("DATE11", -1.0, "1582-10-13"),
    ("DATE11", 1e15, "1000000000000000"),
    ("DATETIME20", 1e300, str(int(1e300))),
    ("TIME8", 43200.0, "43200"),
    ("MONTH3", 5.0, "5"),
    ("F8.2", DAY, "13799808000"),
]


@pytest.mark.parametrize(("shown", "value", "text"), SPSS_FORMATS)
def test_dates_of_spss(shown: str, value: float, text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.sav", {"x": [value, None]}, variable_format={"x": shown})
    assert texts(path) == [{"x": text}, {"x": None}]


@pytest.mark.parametrize(("shown", "value", "text"), [
    ("%td", 21945.0, "2020-01-31"),
    ("%tdCCYY-NN-DD", 21945.9, "2020-01-31"),
    ("%-td", -1.0, "1959-12-31"),
    ("%d", 21945.0, "2020-01-31"),
    ("%tc", 21945 * 86400e3 + 43200999, "2020-01-31T12:00:00"),
    ("%tcHH:MM", 1577836800000.0 + 315619200000, "2020-01-01T00:00:00"),
    ("%tC", 1000.0, "1000"),
    ("%tm", 720.0, "720"),
    ("%td", 1e9, "1000000000"),
    ("%9.0g", 21945.0, "21945"),
])  # fmt: skip
def test_dates_of_stata(shown: str, value: float, text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.dta", {"x": [value, None]}, variable_format={"x": shown})
    assert texts(path) == [{"x": text}, {"x": None}]


def test_missing_values_are_null_whoever_declares_them(tmp_path: Path) -> None:
    missing = {"x": [{"lo": -math.inf, "hi": -1}, 9], "s": ["NA", "?"], "i": [7, 8, 9]}
    given = {"x": [1.5, 9, -3, None], "s": ["a", "NA", "?", " "], "i": [1, 7, 8, 9]}
    for kind in ("sav", "zsav"):
        found = texts(write(tmp_path / f"data.{kind}", given, missing_ranges=missing))
        assert [list(row.values()) for row in found] == [["1.5", "a", "1"], *[[None, None, None]] * 3]
    named = write(
        tmp_path / "data.dta",
        {"i": [1, "a", "z", 2]},
        missing_user_values={"i": ["a", "z"]},
        variable_value_labels={"i": {1: "one", "a": "refused"}},
    )
    assert texts(named) == [{"i": "1"}, {"i": None}, {"i": None}, {"i": "2"}]


# --- what a file says of itself


def test_labels_are_of_the_texts_that_values_become(tmp_path: Path) -> None:
    path = write(
        tmp_path / "data.sav",
        {"x": [1.0, 2.5], "s": ["a", "b"], "born": [date(2020, 1, 31)] * 2},
        file_label="People",
        column_labels=["A number", None, "A day"],
        variable_value_labels={"x": {1: "one", 2.5: "more", -1: "no"}, "s": {"a": "Anna", "": "blank"}},
        missing_ranges={"x": [{"lo": -9, "hi": -1}, 99], "s": ["NA"]},
        variable_measure={"x": "scale", "s": "nominal"},
    )
    head = labels(path)
    assert head is not None
    assert (head.title, head.rows, head.names) == ("People", 2, ["x", "s", "born"])
    x, s, born = head.variables
    assert (x.title, x.labels, x.missing) == (
        "A number",
        {"1": "one", "2.5": "more", "-1": "no"},
        ("99", "-1"),
    )
    assert (s.title, s.labels, s.missing, s.measure) == ("", {"a": "Anna"}, ("NA",), "nominal")
    assert born.calendar is not None and x.calendar is None
    assert labels(engines.write_csv(pyarrow.table({"x": ["1"]}), tmp_path / "data.csv")) is None


def test_a_name_of_stata_for_a_missing_value_has_no_text(tmp_path: Path) -> None:
    path = write(
        tmp_path / "data.dta",
        {"i": [1, "a"]},
        missing_user_values={"i": ["a"]},
        variable_value_labels={"i": {1: "one", "a": "refused"}},
    )
    (variable,) = header(path).variables
    assert variable.labels == {"1": "one"} and variable.missing == ()


def test_a_link_says_nothing_about_the_kind(tmp_path: Path) -> None:
    path = write(tmp_path / "data.dta", {"x": [1, 2]})
    (tmp_path / "link.sav").symlink_to(path)
    assert refused(tmp_path / "link.sav") is None


# --- files that are none


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_ends_early_is_refused(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it ends, and wherever a piece of it ends; what follows Stata's records is not needed."""
    path = write(tmp_path / f"data.{kind}", {"x": [i / 8 for i in range(40)], "s": [SECRET] * 40})
    content, whole = path.read_bytes(), texts(path)
    for cells in (1 << 20, 20):
        monkeypatch.setattr(labelled, "CELLS", cells)
        for end in range(1, len(content), 97):
            path.write_bytes(content[:end])
            code = refused(path)
            assert code == "E106" or (code is None and kind == "dta" and texts(path) == whole)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "content", [b"x,s\n1,2\n", b"$FL2", b"<stata_dta>", b"\x72" * 500, b"$FL2" + b"\0" * 900]
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_such_file_is_refused(content: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / f"data.{kind}").write_bytes(content)
    assert refused(tmp_path / f"data.{kind}") == "E106"


def test_an_empty_file_and_one_without_columns(tmp_path: Path) -> None:
    (tmp_path / "data.sav").write_bytes(b"")
    assert refused(tmp_path / "data.sav") == "E102"
    pyreadstat.write_dta(pandas.DataFrame(), tmp_path / "data.dta")
    assert refused(tmp_path / "data.dta") == "E110"
    with pytest.raises(FacsimileError, match="E106"), opened(tmp_path / "data.dta", []):
        pass


def test_a_column_that_is_named_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "data.dta", {"x": [1], "y": [2]})
    path.write_bytes(path.read_bytes().replace(b"y\0\0\0", b"x\0\0\0"))
    assert refused(path) == "E111"
    assert refused(path, ["y"]) == "E110"


@pytest.mark.parametrize(("rows", "code"), [(10**8, "E122"), (2**31 - 1, None), (-1, None), (41, "E106")])
def test_a_number_of_records_that_is_not_true(rows: int, code: str | None, tmp_path: Path) -> None:
    """A promise of many records costs neither memory nor time; -1 or too many mean that nobody counted."""
    path = write(tmp_path / "data.sav", {"x": [i / 8 for i in range(40)]})
    content = path.read_bytes()
    path.write_bytes(content[:80] + struct.pack("<i", rows) + content[84:])
    tracemalloc.start()
    start = time.monotonic()
    assert refused(path) == code
    assert time.monotonic() - start < 5
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert code or len(texts(path)) == 40


def test_records_that_expand_beyond_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed file of equal records, with and without their number in its header."""
    path = write(tmp_path / "data.zsav", {"x": [1.0] * 200_000})
    content = path.read_bytes()
    assert len(content) * 100 < 200_000 * 8
    monkeypatch.setattr(labelled, "BOMB_BYTES", 1_000_000)
    monkeypatch.setattr(labelled, "CELLS", 50_000)
    assert refused(path) == "E122"
    path.write_bytes(content[:80] + struct.pack("<i", -1) + content[84:])
    assert refused(path) == "E122"
    monkeypatch.setattr(labelled, "BOMB_BYTES", 2_000_000)
    assert refused(path) is None


@pytest.mark.parametrize(
    ("size", "least", "found"), [(1000, 999, None), (1001, 1001, None), (1001, 1000, "E122"), (999, 0, None)]
)
def test_records_may_be_a_hundred_times_the_file(
    size: int, least: int, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.sav").write_bytes(b"x" * 10)
    monkeypatch.setattr(labelled, "BOMB_BYTES", least)
    if found is None:
        labelled._refuse_bomb(tmp_path / "data.sav", size)
    else:
        with pytest.raises(FacsimileError, match=found):
            labelled._refuse_bomb(tmp_path / "data.sav", size)


def test_a_variable_takes_the_bytes_that_its_file_says_and_at_least_one(tmp_path: Path) -> None:
    """Stata keeps its long texts elsewhere: they take none."""
    data = {"a": np.array([1], np.int8), "b": np.array([1], np.int16), "c": [1.5], "s": ["x"], "t": ["xyz"]}
    pandas.DataFrame(data).to_stata(tmp_path / "data.dta", write_index=False, convert_strl=["t"], version=117)
    assert [variable.width for variable in header(tmp_path / "data.dta").variables] == [1, 2, 8, 2, 1]


def test_a_label_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """In a process of its own: without the walk through the dictionary the library would end this one."""
    path = write(tmp_path / "data.sav", {"s": ["QQQQQ"]}, variable_value_labels={"s": {"QQQQQ": "q"}})
    path.write_bytes(path.read_bytes().replace(b"QQQQQ   \1q", b"\xff" * 8 + b"\1q"))
    script = "import sys; from facsimile.sources.source import labels; labels(sys.argv[1])"
    ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "E106" in ended.stderr


def damaged(content: bytes, start: int, piece: bytes) -> bytes:
    start %= len(content)
    return content[:start] + piece + content[start + len(piece) :]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_bytes_are_read_or_refused(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    how: dict[str, Any] = {"variable_value_labels": {"x": {1: SECRET}}}
    if kind != "dta":
        how = {"variable_value_labels": {"x": {1: SECRET}, "s": {"a": SECRET}}, "missing_ranges": {"s": ["b"]}}
    path = write(tmp_path / f"data.{kind}", {"x": [1, 2, 3], "s": ["a", "b", SECRET]}, **how)
    content = path.read_bytes()

    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 3000), st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 4, b"\0" * 4]))
    def check(start: int, piece: bytes) -> None:
        path.write_bytes(damaged(content, start, piece))
        assert refused(path) in (None, "E106", "E110", "E111", "E122")

    check()
    assert capfd.readouterr() == ("", "")
