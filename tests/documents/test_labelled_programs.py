"""The labelled files, read by the programs that they are for: R alone, R with haven, PSPP."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from documents.described import REPORTS, small, table, written
from facsimile.documents.facts import warning
from facsimile.documents.labelled import labelled_files, names
from facsimile.documents.report import Report
from facsimile.documents.script import companions
from needs import needs

pytestmark = pytest.mark.statistics
EVERY = pytest.mark.parametrize("report", [small(report) for report in REPORTS.values()], ids=REPORTS)
SAID = """
said <- function(x) writeLines(enc2utf8(as.character(x)), con, useBytes = TRUE)
con <- stdout()
"""


def bundle(report: Report, folder: Path) -> Path:
    records = table(report)
    return written(folder, records, labelled_files(report, records))


def run(*command: str, folder: Path, locale: str = "C.UTF-8") -> str:
    if shutil.which(command[0]) is None:
        needs(f"{command[0]} is not installed")
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": locale, "HOME": str(folder)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr.decode() + ended.stdout.decode()
    return ended.stdout.decode()


def r(code: str, folder: Path, locale: str = "C.UTF-8") -> list[str]:
    return run("Rscript", "--vanilla", "-e", code, folder=folder, locale=locale).splitlines()


def one_line(text: str) -> str:
    return text.replace("\n", "|")


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@EVERY
def test_r_reads_the_table_with_base_r_alone(report: Report, locale: str, tmp_path: Path) -> None:
    folder, records = bundle(report, tmp_path), table(report)
    called = companions(report.columns)
    code = (
        'suppressMessages(source("labelled/data.R"))'
        + SAID
        + "said(attr(data, 'warning'))\nsaid(names(data))\n"
    )
    code += "flat <- function(x) gsub('\\n', '|', x, fixed = TRUE)\n"
    for place in range(1, len(report.columns) + 1):
        code += f"said(is.ordered(data[[{place}]])); said(flat(levels(data[[{place}]])))\n"
        code += f"said(flat(as.character(data[[{place}]])))\n"
        code += f"said(flat(attr(data[[{place}]], 'label')))\n"
    numbered = [column for column in report.columns if column.numbers is not None]
    for place, _ in enumerate(numbered, len(report.columns) + 1):
        code += f"said(format(data[[{place}]], digits = 17, trim = TRUE))\n"
    lines = iter(r(code, folder, locale))
    assert next(lines) == warning(report)
    expected = [c.name for c in report.columns] + [called[c.name] for c in numbered]
    assert [next(lines) for _ in expected] == expected
    for column in report.columns:
        assert next(lines) == ("FALSE" if column.numbers is None else "TRUE")
        assert [next(lines) for _ in column.labels] == [one_line(label) for label in column.labels]
        values = records.column(column.name).to_pylist()
        assert [next(lines) for _ in values] == [one_line(value) for value in values]
        assert next(lines) == one_line(column.description)
    for column in numbered:
        assert column.numbers is not None
        known = dict(zip(column.labels, column.numbers, strict=True))
        values = records.column(column.name).to_pylist()
        assert [float(next(lines)) for _ in values] == [known[value] for value in values]


def test_r_finds_the_csv_from_any_folder(tmp_path: Path) -> None:
    folder = bundle(small(REPORTS["births"]), tmp_path)
    (tmp_path / "elsewhere").mkdir()
    for started in (["labelled/data.R"], ["../labelled/data.R"]):
        place = folder if started == ["labelled/data.R"] else folder / "elsewhere"
        run("Rscript", "--vanilla", *started, folder=place)
    code = 'suppressMessages(source("../labelled/data.R")); stopifnot(nrow(data) == 300)'
    r(code, folder / "elsewhere")


def test_a_changed_csv_is_refused_by_r(tmp_path: Path) -> None:
    folder = bundle(small(REPORTS["births"]), tmp_path)
    text = (folder / "data.csv").read_text("utf-8")
    (folder / "data.csv").write_text(text.replace("18-19", "18-20", 1), "utf-8")
    with pytest.raises(AssertionError, match=r"is not TRUE|are not all TRUE"):
        r('source("labelled/data.R")', folder)


@pytest.mark.parametrize(("reader", "file"), [("read_dta", "data.dta"), ("read_sav", "data.sav")])
@EVERY
def test_haven_reads_codes_words_and_numbers(report: Report, reader: str, file: str, tmp_path: Path) -> None:
    folder, records = bundle(report, tmp_path), table(report)
    code = f"library(haven); data <- {reader}('labelled/{file}')" + SAID + "said(names(data))\n"
    code += (
        "for (x in data) { said(as.numeric(x)); said(length(attr(x, 'labels'))); said(attr(x, 'labels')) }\n"
    )
    lines = iter(r(code, folder))
    called = names(report.columns)
    every = [name for given in called.values() for name in (given.codes, given.numbers) if name is not None]
    assert [next(lines) for _ in every] == every
    for column in report.columns:
        codes = {label: place for place, label in enumerate(column.labels, 1)}
        expected = [codes[value] for value in records.column(column.name).to_pylist()]
        assert [int(next(lines)) for _ in expected] == expected
        assert int(next(lines)) == len(column.labels)
        assert [int(next(lines)) for _ in column.labels] == list(range(1, len(column.labels) + 1))
        if column.numbers is not None:
            assert [float(next(lines)) for _ in expected] == pytest.approx(
                [column.numbers[code - 1] for code in expected], rel=1e-14
            )
            assert int(next(lines)) == 0


@EVERY
def test_pspp_reads_the_spss_file(report: Report, tmp_path: Path) -> None:
    folder, records = bundle(report, tmp_path), table(report)
    called = names(report.columns)
    syntax = "GET FILE='labelled/data.sav'.\nDISPLAY DICTIONARY.\nDISPLAY DOCUMENTS.\n"
    syntax += "SAVE TRANSLATE /OUTFILE='back.csv' /TYPE=CSV /REPLACE /FIELDNAMES /CELLS=VALUES.\n"
    (folder / "read.sps").write_text(syntax, "utf-8")
    told = run("pspp", "-O", "format=txt", "-o", "-", "read.sps", folder=folder)
    assert ("REHEARSAL" if report.rehearsal else "No row is a person") in told
    rows = list(csv.DictReader(io.StringIO((folder / "back.csv").read_text("utf-8"))))
    for column in report.columns:
        codes = {label: place for place, label in enumerate(column.labels, 1)}
        expected = [codes[value] for value in records.column(column.name).to_pylist()]
        assert [int(row[called[column.name].codes]) for row in rows] == expected
