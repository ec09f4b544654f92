"""The command that begins: a draft specification from a public file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, source
from facsimile.cli.page import show
from facsimile.cli.progress import telling
from facsimile.sources.address import Address


def init_command(
    public: Annotated[Address, source("A public file of the same form, or a description of one.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="SPEC", help="Write the draft to a new file; default: print it."),
    ] = None,
    records: Annotated[
        int | None, typer.Option(min=2, max=10**9, help="The confidential records; default: the public ones.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The name of the release.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same draft.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Draft a specification from a public file: what was guessed is marked for a person to check.

    Columns, bins with coarser alternatives, rules to confirm, criteria, thresholds and a first budget.

    Example: facsimile init --public births.csv -o draft.yaml
    """
    from facsimile.api.drafts import init

    with telling("Reading the public file", as_json) as tell:
        found = init(public, out, records=records, title=title, seed=seed, tell=lambda now: tell(_begun(now)))
    if out is None and not as_json:
        typer.echo(found.text, nl=False)
        return
    written = [] if out is None else [f"Written: {out}. Next: facsimile check {out} --public {_typed(public)}"]
    show(found, as_json, *written)


def _begun(doing: str) -> str:
    return doing[:1].upper() + doing[1:]


def _typed(public: Address) -> str:
    """A file as it was named; of any other source its name."""
    return public.name if public.path is None else str(public.path)


COMMANDS = {"init": init_command}
