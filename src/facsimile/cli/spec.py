"""The commands about a specification's text: spec diff, spec fmt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, SpecFile
from facsimile.cli.page import show

app = typer.Typer(name="spec", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def spec_program(context: typer.Context) -> None:
    """Compare specifications, and work on their text.

    Example: facsimile spec diff draft.yaml release.yaml
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("diff")
def spec_diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A specification.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The one it is compared with.")],
    as_json: AsJson = False,
) -> None:
    """Say in words what differs between two specifications; comments and layout do not count.

    Columns, criteria and families are matched by their names, rules by their words.

    Example: facsimile spec diff examples/births/half.yaml examples/births/ours.yaml
    """
    from facsimile.api.agreements import compared

    show(compared(before, after), as_json)


@app.command("fmt")
def spec_fmt(
    spec: SpecFile,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; refuse the file where it has another layout.")
    ] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the text; leave the file as it is.")] = False,
    as_json: AsJson = False,
) -> None:
    """Give a specification the layout that all have; what it says and its comments stay.

    Sections and keys of columns get one order, short lists stand in one line, long ones are wrapped. The hash
    of the plan stays. A file that cannot be laid out so is refused and stays as it is.

    Example: facsimile spec fmt --stdout examples/births/ours.yaml
    """
    from facsimile.api.agreements import formatted, refuse_another_layout

    if check:
        refuse_another_layout(spec)
    found = formatted(spec, write=not (check or stdout))
    if stdout and not as_json:
        typer.echo(found.text, nl=False)
    else:
        show(found, as_json)
