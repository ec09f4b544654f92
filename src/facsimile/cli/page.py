"""What commands print: headings, tables, JSON, and a sign of life."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

PAGE = 100


class Page:
    """Headings, lines and tables that fit 80 columns; words of a specification are never markup."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PAGE)

    def heading(self, text: str) -> None:
        """A line in bold."""
        self.console.print(Text(text, "bold"))

    def line(self, text: str = "") -> None:
        """A line."""
        self.console.print(text)

    def table(self, title: str, columns: str, rows: Iterable[tuple[str, ...]]) -> None:
        """A table; columns whose name starts with > are numbers, those whose name is _ have no header."""
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


@contextlib.contextmanager
def busy(doing: str, as_json: bool) -> Iterator[None]:
    """A sign of life on standard error while something takes its time."""
    console = Console(stderr=True)
    if as_json or not console.is_terminal:
        yield
    else:
        with console.status(doing):
            yield


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
