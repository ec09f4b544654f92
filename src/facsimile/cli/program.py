"""The program: all commands, and what becomes of their errors. A command imports what it needs when it runs."""

from __future__ import annotations

import io
import sys
from functools import cache
from typing import Annotated, Any, cast

import typer

from facsimile import __version__
from facsimile.cli import (
    answers,
    audits,
    deciding,
    dossiers,
    drafts,
    exploring,
    ledger,
    public,
    release,
    replicates,
    risks,
    spec,
    specification,
    workbench,
)
from facsimile.cli.options import refuse_passwords
from facsimile.cli.page import Screen, Unprinted, print_json, said_or
from facsimile.errors import FacsimileError, refusal

_PLAIN = {
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
    "Input should be greater than or equal to": "it must be at least",
    "Input should be less than or equal to": "it must be at most",
    "Input should be": "it must be",
    "Value error, ": "",
}
GROUPS = (
    specification,
    drafts,
    public,
    release,
    answers,
    dossiers,
    replicates,
    exploring,
    audits,
    risks,
    workbench,
)
UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="facsimile",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Differentially private releases of microdata.

    Example: facsimile check examples/births/release.yaml
    """
    if version:
        typer.echo(f"facsimile {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


for group in GROUPS:
    for name, command in group.COMMANDS.items():
        app.command(name)(command)
for name, command in deciding.COMMANDS.items():
    spec.app.command(name)(command)
app.add_typer(spec.app)
app.add_typer(ledger.app)


@cache
def _whole() -> Any:
    """The program with all its commands, made once."""
    return typer.main.get_command(app)


def run() -> int:
    """Run the command that was typed; its exit code."""
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = Screen.of(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8")
    try:
        refuse_passwords(sys.argv[1:])
        return _whole()(standalone_mode=False) or 0
    except FacsimileError as error:
        return _fail(error)
    except UsageError as error:
        return _fail(refusal("E001", problem=_one_line(error), command=_command(error)))
    except Unprinted as unprinted:
        return 0 if unprinted.unwanted else _fail(refusal("E406"))
    except Exception:
        return _fail(refusal("E700"))


def _one_line(error: Any) -> str:
    words = " ".join(str(error.format_message()).split())
    for theirs, ours in _PLAIN.items():
        words = words.replace(theirs, ours)
    return words if words.endswith((".", "?")) else f"{words}."


def _command(error: Any) -> str:
    return error.ctx.command_path if error.ctx else "facsimile"


def _fail(error: FacsimileError) -> int:
    if "--json" in sys.argv:
        with said_or(str(error)):
            print_json(error.as_json())
    else:
        typer.echo(str(error), err=True)
    return error.exit_code
