"""The command for who works with a release: replicate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from facsimile.cli.options import AsJson, PriorFile
from facsimile.cli.page import show
from facsimile.cli.progress import telling


def replicate_command(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of a release.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="A new folder for the replicates.")],
    replicates: Annotated[int, typer.Option("-R", "--replicates", min=2, max=10_000, help="How many.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same replicates.")] = 1,
    ending: Annotated[
        Literal["csv", "parquet"], typer.Option("--format", help="The format of the files.")
    ] = "parquet",
    workers: Annotated[int, typer.Option(min=1, max=256, help="Replicates made at the same time.")] = 1,
    prior: PriorFile = None,
    as_json: AsJson = False,
) -> None:
    """Run a release's scheme again on the release itself: standard errors for any statistic, no epsilon.

    Example: facsimile replicate bundle -o replicates
    """
    from facsimile.api.replicates import replicate
    from facsimile.release.bundle import refuse_output

    refuse_output(out, folder, folder.resolve())
    with telling("Replicating", as_json) as tell:
        made = replicate(
            folder,
            replicates,
            seed=seed,
            workers=workers,
            prior=prior,
            watch=lambda done: tell(f"{done} of {replicates} replicates"),
        )
        made.save(out, ending)
    show(made, as_json)


COMMANDS = {"replicate": replicate_command}
