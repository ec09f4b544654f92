"""Reports of every sort to describe, and tables that have their counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from conftest import ROOT
from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents.report import ColumnEntry, FitEntry, Report
from facsimile.release.reporting import _column
from facsimile.spec.load import loads
from facsimile.table.domain import Domain
from facsimile.table.table import Table

SIZES = {
    "data.csv": (12, "a" * 64),
    "data.parquet": (7, "b" * 64),
    "labelled/data.dta": (8, "c" * 64),
    "labelled/data.sav": (9, "d" * 64),
    "tables/one.csv": (3, "e" * 64),
    "report.json": (4, "f" * 64),
}
LONG = "x" * 70
HOSTILE = (
    "plain",
    'say "hi"',
    "it's \\ back\\n",
    "ends in \\",
    "a,b;c\td",
    "two\nlines",
    "שלום",
    "\U0001f600 née ≤ 5",
    "</script><!-- & ]]>",
    "${x} {{ y }} %s `z`",
    "#no comment",
    "NA",
    "ש" * 120,
    "ש" * 119 + "ת",
)


@cache
def discharges() -> Report:
    """The columns of the example, with a made-up table."""
    specification = loads((ROOT / "examples/discharges/release.yaml").read_text("utf-8"))
    configuration = specification.drawable.configuration(0)
    domain = Domain(specification.axes(configuration.alternatives))
    draw = np.random.default_rng(1)
    codes = np.column_stack([draw.integers(0, size, 200) for size in domain.shape])
    table = Table.from_rows(domain, codes)
    columns = tuple(_column(specification, table, name) for name in domain.names)
    return replace(BIRTHS, title=specification.title, unit=specification.unit, columns=columns, records=200)


def hostile() -> Report:
    """Labels that try to leave the place they are in, and names that no program takes."""
    labels = HOSTILE
    counts = tuple(range(1, len(labels) + 1))
    numbers = tuple(place / 2 for place in range(len(labels)))
    names = (
        "with",
        "age",
        "age_number",
        "AGE",
        "1st",
        "été",
        f"{LONG}_one",
        f"{LONG}_two",
        "_",
        'q"uote',
        "str5",
    )
    columns = tuple(
        ColumnEntry(
            name,
            f"{HOSTILE[place]} {LONG * 5}",
            labels,
            labels[::-1],
            numbers if place % 2 else None,
            "NA",
            counts,
        )
        for place, name in enumerate(names)
    )
    return replace(ODD, columns=columns, records=sum(counts))


def approximate() -> Report:
    """One with δ and Gaussian noise."""
    return replace(PUBLISHED, delta="0.000000001", fit=FitEntry("0.5", "0.0000000001", "0.012"))


REPORTS = {
    "births": BIRTHS,
    "odd": ODD,
    "published": PUBLISHED,
    "published rehearsal": replace(PUBLISHED, rehearsal=True, ledger=None),
    "delta": approximate(),
    "discharges": discharges(),
    "hostile": hostile(),
}


def small(report: Report, rows: int = 300) -> Report:
    """The same with fewer records, and counts to match."""
    columns = tuple(
        replace(
            c, counts=tuple(rows // len(c.labels) + (i < rows % len(c.labels)) for i in range(len(c.labels)))
        )
        for c in report.columns
    )
    return replace(report, columns=columns, records=rows)


def table(report: Report) -> pa.Table:
    """Records with the counts of the report, each column in an order of its own."""
    draw = np.random.default_rng(2)
    columns = {}
    for column in report.columns:
        codes = draw.permutation(np.repeat(np.arange(len(column.labels)), column.counts))
        labels = pa.array(column.labels, pa.string())
        columns[column.name] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), labels).cast(
            pa.string()
        )
    return pa.table(columns)


def written(folder: Path, records: pa.Table, files: dict[str, bytes]) -> Path:
    """A bundle's folder with data.csv and these files."""
    pa_csv.write_csv(records, folder / "data.csv", pa_csv.WriteOptions(quoting_style="needed"))
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder
