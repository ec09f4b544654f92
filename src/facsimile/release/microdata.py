"""Microdata: records that anybody may see, for notebooks and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from facsimile.release.writing import save
from facsimile.results import Listing, Page, Result, Tabular

FIRST = 10


@dataclass(frozen=True, repr=False)
class Microdata(Result, Tabular):
    """One row for each record: simulated, or sampled from a model of public data."""

    title: str
    table: pa.Table
    about: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_arrow(self) -> pa.Table:
        return self.table

    def save(self, path: Path | str) -> None:
        """Write CSV or Parquet, by the ending; an existing file is never touched."""
        save(self.table, Path(path))

    def as_json(self) -> dict[str, Any]:
        """What it is, without its records."""
        return {"title": self.title, "records": len(self), **self.about}

    def page(self) -> Page:
        """The first records."""
        page = Page(self.title)
        page.line(f"{len(self):,} records, {self.table.num_columns} columns")
        rows = (tuple(row.values()) for row in self.table.slice(0, FIRST).to_pylist())
        texts = tuple(tuple("" if value is None else str(value) for value in row) for row in rows)
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        heads = tuple((f.name, any(kind(f.type) for kind in kinds)) for f in self.table.schema)
        page.parts.append(Listing("First records", heads, texts))
        return page
