"""Opened: what a bundle holds, read and found whole; for whoever works with a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facsimile.release import bundle, verify
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Opened:
    """A bundle's promise, for as many records as it has; what was drawn; the released table; and its report."""

    specification: Specification
    configuration: Configuration
    table: Table
    report: Mapping[str, Any]


def opened(folder: Path) -> Opened:
    """The bundle in a folder: its hashes hold and its data follow its rules. `verify` looks further."""
    files = verify._read(folder)
    specification, configuration = verify._promised(files)
    table = verify._data(files, specification, configuration)
    said = verify._json(files, bundle.REPORT)
    return Opened(specification.sized(table.n), configuration, table, said)
