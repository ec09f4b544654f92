"""The command line: a command parses, calls one function, prints.

Exit codes: 0 done, 1 internal, 2 refused, 3 budget, 4 ledger, 5 verify, 6 no release, 130 stopped.
A command imports what it needs when it runs, so that `--help` is quick.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, cast

import typer

from facsimile import __version__
from facsimile.cli import checking, exploring, ledgers, releasing, trying
from facsimile.cli.page import print_json
from facsimile.errors import FacsimileError, refusal

STOPPED = 130
_PLAIN = {
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
    "Input should be greater than or equal to": "it must be at least",
    "Input should be less than or equal to": "it must be at most",
    "Input should be": "it must be",
    "Value error, ": "",
}
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


for group in (checking, trying, releasing, exploring):
    for name, command in group.COMMANDS.items():
        app.command(name)(command)
app.add_typer(ledgers.app)


def main() -> None:
    """Run the program; every error becomes one line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        code = app(standalone_mode=False) or 0
    except FacsimileError as error:
        code = _fail(error)
    except UsageError as error:
        code = _fail(refusal("E001", problem=_one_line(error), command=_command(error)))
    except Exception:
        code = _fail(refusal("E700"))
    if code == STOPPED:
        typer.echo("Stopped.", err=True)
    sys.exit(code)


def _one_line(error: Any) -> str:
    words = " ".join(str(error.format_message()).split())
    for theirs, ours in _PLAIN.items():
        words = words.replace(theirs, ours)
    return words if words.endswith((".", "?")) else f"{words}."


def _command(error: Any) -> str:
    return error.ctx.command_path if error.ctx else "facsimile"


def _fail(error: FacsimileError) -> int:
    if "--json" in sys.argv:
        print_json(error.as_json())
    else:
        typer.echo(str(error), err=True)
    return error.exit_code
