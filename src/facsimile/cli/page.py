"""What commands print: pages and JSON, on a standard output that may fail."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from facsimile.results import Listing, Page, Result

PAGE = 100


class Unprinted(Exception):
    """Standard output cannot be written; `unwanted` where its reader has left (a closed pipe)."""

    def __init__(self, unwanted: bool) -> None:
        self.unwanted = unwanted


class Screen(io.TextIOWrapper):
    """Standard output, whose failures are told apart from those of the command's own work.

    Once it has failed, nothing more is printed: every further word fails the same way.
    """

    lost: Unprinted | None = None

    @classmethod
    def of(cls, stream: io.TextIOWrapper) -> Screen:
        """The same stream, in UTF-8."""
        return cls(stream.detach(), encoding="utf-8", line_buffering=True)

    def write(self, text: str) -> int:
        """Write, or say that it cannot be."""
        if self.lost is not None:
            raise self.lost
        with self._told():
            return super().write(text)

    def flush(self) -> None:
        """Flush, or say that it cannot be."""
        with self._told():
            super().flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # what is still held back must not fail again at the end
            os.close(nowhere)
            self.lost = Unprinted(isinstance(error, BrokenPipeError))
            raise self.lost from None


@contextlib.contextmanager
def said_or(otherwise: str) -> Iterator[None]:
    """What was done stands, whether it can be told on standard output or not; then it is said in one line."""
    try:
        yield
    except Unprinted as unprinted:
        if not unprinted.unwanted:
            typer.echo(otherwise, err=True)


def show(found: Result, as_json: bool, *lines: str) -> None:
    """A result as JSON, or as its page and what the command adds to it."""
    if as_json:
        print_json(found.as_json())
    else:
        print_page(found.page(), *lines)


def print_page(page: Page, *lines: str) -> None:
    """Headings, lines and tables that fit 80 columns; words of a specification are never markup."""
    from rich.console import Console
    from rich.text import Text

    from facsimile.results import Listing

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PAGE)
    if page.heading is not None:
        console.print(Text(page.heading, "bold"))
    for part in (*page.parts, *lines):
        if isinstance(part, Listing):
            console.print()
            console.print(Text(part.title, "bold"))
            with console.capture() as drawn:
                console.print(_drawn(part))
            for line in drawn.get().splitlines():
                typer.echo(line.rstrip())
        else:
            console.print(part)


def _drawn(grid: Listing) -> Any:
    from rich.table import Table

    found = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name, number in grid.heads:
        justify, whole = "right" if number else "left", number or not found.columns
        found.add_column(name, justify=justify, no_wrap=whole)  # type: ignore[arg-type]
    for row in grid.rows:
        found.add_row(*row, style="bold" if row[0] in ("all", "total") else None)
    return found


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
