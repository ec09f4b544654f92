"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The specification, a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Public = Annotated[bool, typer.Option("--public", help="The file is public: nothing is protected.")]
