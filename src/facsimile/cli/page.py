"""What commands print: headings, tables and JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import typer

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


class Page:
    """Headings, lines and tables that fit 80 columns; words of a specification are never markup."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PAGE)

    def heading(self, text: str) -> None:
        """A line in bold."""
        from rich.text import Text

        self.console.print(Text(text, "bold"))

    def line(self, text: str = "") -> None:
        """A line."""
        self.console.print(text)

    def table(self, title: str, columns: str, rows: Iterable[tuple[str, ...]]) -> None:
        """A table; columns whose name starts with > are numbers, those whose name is _ have no header."""
        from rich.table import Table as Grid

        grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        for name in columns.split("|"):
            number = name.startswith(">")
            grid.add_column(
                name.strip("_>"), justify="right" if number else "left", no_wrap=number or not grid.columns
            )
        for row in rows:
            grid.add_row(*row, style="bold" if row[0] in ("all", "total") else None)
        self.line()
        self.heading(title)
        with self.console.capture() as drawn:
            self.console.print(grid)
        for line in drawn.get().splitlines():
            typer.echo(line.rstrip())


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
