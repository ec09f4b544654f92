"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from facsimile.sources.address import Address

SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The specification, a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Public = Annotated[bool, typer.Option("--public", help="The file is public: nothing is protected.")]
DatasetKey = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where the key of data that is no file lies; a file's lies beside it."),
]


def source(words: str) -> Any:
    """An option that takes the address of a source: a file, a database's table, PostgreSQL or Spark."""
    return typer.Option(metavar="SOURCE", parser=Address.of, help=words)
