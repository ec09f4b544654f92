"""The commands about a specification's text: spec diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson
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
