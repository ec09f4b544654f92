"""Results: what a command found, for people, machines and notebooks.

A result says it all as plain data (`as_json`) and as a page of headings, lines and tables (`page`). A command
prints the page, a notebook shows it as HTML; words of a specification are escaped there, never markup.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from facsimile.errors import refusal

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 100


@dataclass(frozen=True)
class Listing:
    """A table of texts. `heads`: each column's name, and whether it holds numbers."""

    title: str
    heads: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]

    def html(self) -> str:
        """As a table of a page."""
        sides = ["right" if number else "left" for _, number in self.heads]
        styles = [f' style="text-align: {side}; padding: 0 1em 0 0"' for side in sides]

        def row(tag: str, cells: Iterable[str]) -> str:
            made = (f"<{tag}{s}>{escape(c)}</{tag}>" for s, c in zip(styles, cells, strict=True))
            return f"<tr>{''.join(made)}</tr>"

        head, body = row("th", (name for name, _ in self.heads)), "".join(row("td", r) for r in self.rows)
        caption = f'<caption style="text-align: left; font-weight: bold">{escape(self.title)}</caption>'
        top = f'{caption}<thead style="border-bottom: 1px solid">{head}</thead>'
        return f'<table style="margin: 1em 0; border-collapse: collapse">{top}<tbody>{body}</tbody></table>'


@dataclass
class Page:
    """A heading, then lines and tables in their order.

    >>> page = Page("Births <2014>")
    >>> page.line("5 records")
    >>> page.html()
    '<div><h4>Births &lt;2014&gt;</h4><p>5 records</p></div>'
    """

    heading: str | None = None
    parts: list[str | Listing] = field(default_factory=list)

    def line(self, text: str) -> None:
        """A line; a line break before it keeps it apart."""
        self.parts.append(text)

    def table(self, title: str, columns: str, rows: Iterable[tuple[str, ...]]) -> None:
        """A table; names of columns stand between bars, numbers begin with >, and _ is no name."""
        heads = tuple((name.strip(">_"), name.startswith(">")) for name in columns.split("|"))
        self.parts.append(Listing(title, heads, tuple(rows)))

    def html(self) -> str:
        """The page for a notebook."""
        heading = "" if self.heading is None else f"<h4>{escape(self.heading)}</h4>"
        parts = (p.html() if isinstance(p, Listing) else f"<p>{escape(p.strip())}</p>" for p in self.parts)
        return f"<div>{heading}{''.join(parts)}</div>"


class Result(ABC):
    """What a call returns: short in a terminal, a page in a notebook, plain data for programs."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """What the command prints with --json."""

    @abstractmethod
    def page(self) -> Page:
        """What the command prints."""

    def __repr__(self) -> str:
        """The heading and the first line, cut short."""
        page = self.page()
        lines = [part.strip() for part in page.parts if isinstance(part, str)]
        text = "; ".join([page.heading or "", *lines[:1]]).strip("; ")
        return f"<{type(self).__name__}: {text[: LONGEST - 1] + '…' if len(text) > LONGEST else text}>"

    def _repr_html_(self) -> str:
        return self.page().html()


class Tabular(ABC):
    """What can be taken as a table: by name, or by anything that reads Arrow's stream."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""

    def to_pandas(self) -> Any:
        """As a pandas frame."""
        with _installed("pandas"):
            return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """As a Polars frame."""
        with _installed("polars"):
            return import_module("polars").from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


@contextmanager
def _installed(package: str) -> Iterator[None]:
    """A package that is not installed is told in one line."""
    try:
        yield
    except ImportError:
        raise refusal("E002", package=package) from None
