"""Arguments and options that several commands take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from facsimile.errors import FacsimileError, refusal
from facsimile.sources.address import Address

SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The specification, a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Public = Annotated[bool, typer.Option("--public", help="The file is public: nothing is protected.")]
DatasetKey = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where the key of data that is no file lies; a file's lies beside it."),
]
PriorFile = Annotated[
    Path | None,
    typer.Option("--prior", metavar="FILE", help="The public file that the release leans on, if it does."),
]
Alternatives = Annotated[
    str | None, typer.Option(metavar="NAME", help="The alternative of every column; default: the first.")
]
SECONDS = {"s": 1, "m": 60, "h": 3600}
EPSILON = "Epsilon is a decimal number above 0."
_PASSWORD = re.compile(
    r"postgres(ql)?://[^@]*:[^@]+@|[a-z][a-z0-9+.-]*://[^/@#]*:[^/@#]+@|://.*\bpassword=", re.IGNORECASE
)
"""A login with a password; also one that holds what an address does not take."""


def source(words: str) -> Any:
    """An option that takes the address of a source: a file, a database's table, PostgreSQL or Spark."""
    return typer.Option(metavar="SOURCE", parser=Address.of, help=words)


def refuse_passwords(words: Sequence[str]) -> None:
    """Every user of a machine can read the words that a program was started with.

    >>> refuse_passwords(["check", "--data=postgres://me:secret@host/registry#births"])
    Traceback (most recent call last):
    facsimile.errors.Refused: E004 A password stands in the command line, ...
    """
    if any(_PASSWORD.search(word) for word in words):
        raise refusal("E004")


def refuse_unless(public: bool) -> None:
    """A command that shows exact figures takes public files only."""
    if not public:
        raise refusal("E208")


def epsilon_of(text: str, otherwise: FacsimileError) -> Fraction:
    """An epsilon as it is typed, or the refusal."""
    from facsimile.api.given import exact

    try:
        return exact(text)
    except FacsimileError:
        raise otherwise from None


def seconds_of(text: str) -> float:
    """A time limit as it is typed: 90s, 30m, 2h."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text.strip())
    if found is None:
        problem = "A time limit is a number with s, m or h."
        raise refusal("E001", problem=problem, command="facsimile")
    return float(found[1]) * SECONDS[found[2]]
