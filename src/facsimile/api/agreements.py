"""Agreements: what people do with the text of a specification before it is signed: compare it, lay it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from facsimile.api.given import specified
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.agreement.words import Difference
    from facsimile.spec.release import Specification


WIDTH = 100


def compared(before: Specification | Path | str, after: Specification | Path | str) -> Compared:
    """What differs between two specifications, in words."""
    from facsimile.agreement.words import differences

    return Compared(differences(specified(before), specified(after)))


@dataclass(frozen=True, repr=False)
class Compared(Result, Tabular):
    """The differences of two specifications; as a table: a line for each."""

    found: tuple[Difference, ...]

    def to_arrow(self) -> pa.Table:
        """A line for each difference: its item and what is said of it."""
        import pyarrow as pa

        columns = {"item": [one.item for one in self.found], "words": [one.words for one in self.found]}
        return pa.table(columns, pa.schema([("item", pa.string()), ("words", pa.string())]))

    def as_json(self) -> dict[str, Any]:
        return {"same": not self.found, "differences": [one.as_json() for one in self.found]}

    def page(self) -> Page:
        page = Page()
        for one in self.found:
            page.line(fill(one.words, WIDTH, subsequent_indent="  "))
        if not self.found:
            page.line("The same: nothing but comments and layout may differ.")
        return page
