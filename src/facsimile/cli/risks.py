"""The command that attacks a public file: risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, SpecFile, source
from facsimile.cli.page import show
from facsimile.cli.progress import telling
from facsimile.sources.address import Address


def risk_command(
    spec: SpecFile,
    public: Annotated[Address, source("A public source of the same form; it is attacked.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The page: a new HTML file, or JSON by its ending."),
    ] = None,
    attacks: Annotated[
        int | None, typer.Option(min=1, max=10**7, help="People of each group to attack; default 20,000.")
    ] = None,
    releases: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Rehearsals to attack; default 4.")
    ] = None,
    shadows: Annotated[
        int | None, typer.Option(min=2, max=100_000, help="Shadow runs of the scheme; default 60.")
    ] = None,
    watched: Annotated[
        int | None, typer.Option(min=2, max=100_000, help="People watched in each of them; default 200.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Attack a public file: as it is, as it would be released, and without the attacked people.

    Example: facsimile risk examples/births/ours.yaml --public births.csv -o risk.html
    """
    from facsimile.api.risks import risk
    from facsimile.release.writing import refuse_taken

    if out is not None:
        refuse_taken(out)
    with telling("Reading", as_json) as tell:
        found = risk(
            spec, public, public=True, attacks=attacks, releases=releases, shadows=shadows, watched=watched,
            seed=seed, tell=tell,
        )  # fmt: skip
    if out is not None:
        found.save(out)
    show(found, as_json, *([] if out is None else [f"\nThe page to read: {out}"]))


COMMANDS = {"risk": risk_command}
