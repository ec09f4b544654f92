"""Agreements: what people do with the text of a specification before it is signed: compare it, lay it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from facsimile.api.given import path_of, specified
from facsimile.errors import refusal
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


def formatted(path: Path | str, write: bool = True) -> Formatted:
    """A specification's file in the one layout; written, in one step, only where that changes something."""
    from facsimile.agreement.layout import laid_out
    from facsimile.release.writing import rewrite
    from facsimile.spec.text import read_limited

    path = path_of(path)
    before = read_limited(path)
    text = laid_out(_decoded(before), path.name)
    changed = text.encode() != before
    if write and changed:
        rewrite(path, text.encode())
    return Formatted(path.name, text, changed, write and changed)


def refuse_another_layout(path: Path | str) -> None:
    """Refuse a specification that has another layout."""
    found = formatted(path, write=False)
    if found.changed:
        raise refusal("E222", file=found.name)


def _decoded(content: bytes) -> str:
    """The text of a file; what is no text is refused as it is by the loader."""
    from facsimile.spec.text import read

    read(content)
    return content.decode("utf-8-sig")


@dataclass(frozen=True, repr=False)
class Formatted(Result):
    """A specification in the one layout: its text, whether it is another one, and whether it was written."""

    name: str
    text: str
    changed: bool
    written: bool

    def as_json(self) -> dict[str, Any]:
        return {"file": self.name, "changed": self.changed, "written": self.written, "text": self.text}

    def page(self) -> Page:
        page = Page()
        page.line(f"{self.name} is laid out anew." if self.written else f"{self.name} has this layout already.")
        return page
