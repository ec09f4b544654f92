from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.described import REPORTS, small, table, written
from documents.drawn import Drawn, releases
from documents.sample import BIRTHS, ODD
from facsimile.documents.facts import wording
from facsimile.documents.labelled import NOTES, SPSS, STATA, labelled_files, names, try_writing
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import ColumnEntry, Report
from facsimile.release.writing import labelled as with_labels

READERS = {STATA: pyreadstat.read_dta, SPSS: pyreadstat.read_sav}


def read(files: dict[str, bytes], name: str, folder: Path) -> tuple[Any, Any]:
    path = folder / Path(name).name
    path.write_bytes(files[name])
    frame, meta = READERS[name](path)
    return frame, meta


def spoken(values: dict[float, str], column: ColumnEntry) -> list[str]:
    """The labels that the words of the codes stand for; where words were cut, by their beginning."""
    found = []
    for code, label, meaning in zip(range(1, len(values) + 1), column.labels, column.meanings, strict=True):
        words, whole = values[float(code)], " ".join(wording(label, meaning).split())
        begun = re.sub(r"…( \[\d+\])?$", "", words)
        assert words == whole or (begun != words and whole.startswith(begun))
        found.append(label)
    return found


def holds(report: Report, records: pa.Table, files: dict[str, bytes], name: str, folder: Path) -> None:
    """The file has every record of the table, in its order, and the words of its values."""
    frame, meta = read(files, name, folder)
    called = names(report.columns)
    assert meta.number_rows == records.num_rows
    every = [name for given in called.values() for name in (given.codes, given.numbers) if name is not None]
    assert meta.column_names == every
    for column in report.columns:
        given = called[column.name]
        words = meta.variable_value_labels[given.codes]
        labels = spoken(words, column)
        assert len(set(words.values())) == len(labels)
        codes = [int(code) for code in frame[given.codes]]
        assert [labels[code - 1] for code in codes] == records.column(column.name).to_pylist()
        label = meta.column_names_to_labels[given.codes]
        assert " ".join(column.description.split()).startswith(label.removesuffix("…"))
        if given.numbers is not None and column.numbers is not None:
            assert frame[given.numbers].tolist() == [column.numbers[code - 1] for code in codes]
            assert given.numbers not in meta.variable_value_labels


@pytest.mark.parametrize("name", [STATA, SPSS])
@pytest.mark.parametrize("report", [small(report) for report in REPORTS.values()], ids=REPORTS)
def test_a_file_read_back_has_the_records_their_words_and_their_numbers(
    report: Report, name: str, tmp_path: Path
) -> None:
    records = table(report)
    holds(report, records, labelled_files(report, records), name, tmp_path)


@settings(max_examples=12, deadline=None)
@given(releases())
def test_so_it_is_of_any_release(tmp_path_factory: pytest.TempPathFactory, drawn: Drawn) -> None:
    folder, records = tmp_path_factory.mktemp("drawn"), with_labels(drawn.table)
    files = labelled_files(drawn.report, records)
    for name in READERS:
        holds(drawn.report, records, files, name, folder)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=130).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(TEXT, min_size=1, max_size=6, unique=True),
    TEXT,
    st.lists(TEXT, min_size=1, max_size=4, unique=True),
)
def test_no_text_breaks_a_file(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], words: str, columns: list[str]
) -> None:
    one = ColumnEntry("", words, tuple(labels), tuple(labels), None, None, (2,) * len(labels))
    numbers = tuple(place / 3 for place in range(len(labels)))
    entries = tuple(
        replace(one, name=name, numbers=numbers if place % 2 else None) for place, name in enumerate(columns)
    )
    report = replace(ODD, title=words, columns=entries, records=2 * len(labels))
    records, folder = table(report), tmp_path_factory.mktemp("hostile")
    files = labelled_files(report, records)
    for name in READERS:
        holds(report, records, files, name, folder)


@given(
    st.lists(
        TEXT | st.sampled_from(["with", "With", "WITH", "v_with", "a" * 40, "a" * 41, "str9", "int"]),
        unique=True,
    )
)
def test_names_are_what_both_programs_take_and_all_different(columns: list[str]) -> None:
    entries = [ColumnEntry(name, "", (), (), (), None, ()) for name in columns]
    found = [name for given in names(entries).values() for name in (given.codes, given.numbers) if name]
    assert len({name.lower() for name in found}) == 2 * len(columns)
    for name in found:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name)
        assert not name.endswith("_")
        assert name.lower() not in ("with", "int", "str9")


def test_a_name_that_both_take_is_kept() -> None:
    assert [given.codes for given in names(BIRTHS.columns).values()] == [c.name for c in BIRTHS.columns]


def test_the_same_records_give_the_same_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's clock cannot be set: what it stamps is changed as another minute would change it."""
    report = small(BIRTHS)
    once = labelled_files(report, table(report))
    assert b"<timestamp>\x1114 Nov 2026 00:00<" in once[STATA]
    assert once[SPSS][92:109] == b"14 Nov 2600:00:00"

    def at_another_time(write: Callable[..., None]) -> Callable[..., None]:
        def writes(frame: object, path: Path, **told: Any) -> None:
            write(frame, path, **told)
            content = path.read_bytes()
            stamp = re.search(rb"\d\d [A-Z][a-z]{2} (?:\d{4} \d\d:\d\d|\d\d\d\d:\d\d:\d\d)", content)
            assert stamp
            other = stamp[0].translate(bytes.maketrans(b"0123456789", b"1234567890"))
            path.write_bytes(content.replace(stamp[0], other, 1))

        return writes

    for name in ("write_dta", "write_sav"):
        monkeypatch.setattr(pyreadstat, name, at_another_time(getattr(pyreadstat, name)))
    assert labelled_files(report, table(report)) == once
    other = labelled_files(replace(report, day="2020-02-29"), table(report))
    assert b"29 Feb 2020 00:00" in other[STATA]
    assert other[SPSS][92:101] == b"29 Feb 20"


@pytest.mark.parametrize("name", [STATA, SPSS])
@pytest.mark.parametrize("report", [BIRTHS, ODD], ids=["release", "rehearsal"])
def test_a_file_carries_the_warning_and_the_bounds(report: Report, name: str, tmp_path: Path) -> None:
    report = small(report)
    _, meta = read(labelled_files(report, table(report)), name, tmp_path)
    notes = " ".join(meta.notes)
    if report.rehearsal:
        assert meta.file_label.startswith("REHEARSAL, not for publication")
        assert REHEARSAL in notes
        assert "No error of this table has a bound." in notes
    else:
        assert meta.file_label == "Synthetic (epsilon 1.95): Live births of 2014, singletons"
        assert "No row is a person" in notes
        assert "mean-parity: at most 0.07173" in notes
        assert "All 8 bounds hold together with a probability of at least 95 %." in notes


def test_orders_are_told_to_spss(tmp_path: Path) -> None:
    report = small(ODD)
    _, meta = read(labelled_files(report, table(report)), SPSS, tmp_path)
    assert meta.variable_measure == {"v_a_b": "nominal", "empty": "ordinal", "empty_number": "scale"}


def test_the_notes_have_every_name_and_label_in_full() -> None:
    report = small(REPORTS["hostile"])
    files = labelled_files(report, table(report))
    text = files[NOTES].decode()
    for column, called in zip(report.columns, names(report.columns).values(), strict=True):
        assert f"\n{called.codes} = {column.name}: " in text
        assert (called.numbers is None) or f"\n{called.numbers} = " in text
        for label in column.labels:
            assert label in text


def test_a_folder_that_cannot_be_written_to_is_found_at_once(tmp_path: Path) -> None:
    try_writing(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError):
        try_writing(tmp_path / "missing")


def test_spss_shows_every_number_in_full(tmp_path: Path) -> None:
    report = small(BIRTHS)
    columns = (replace(report.columns[4], numbers=(-1234567890.25, 3.0)), *report.columns[:4])
    changed = replace(report, columns=columns)
    _, meta = read(labelled_files(changed, table(changed)), SPSS, tmp_path)
    assert meta.original_variable_types["birth_sex_number"] == "F14.2"
    assert meta.original_variable_types["birth_sex"] == "F8.0"


def test_rows_are_those_of_the_csv(tmp_path: Path) -> None:
    report = small(BIRTHS)
    records = table(report)
    files = labelled_files(report, records)
    written(tmp_path, records, files)
    with (tmp_path / "data.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    frame, meta = pyreadstat.read_dta(tmp_path / STATA, apply_value_formats=True)
    for column in report.columns:
        words = {
            wording(label, meaning): label
            for label, meaning in zip(column.labels, column.meanings, strict=True)
        }
        assert [words[str(word)] for word in frame[column.name]] == [row[column.name] for row in rows]
    assert meta.number_rows == len(rows)
