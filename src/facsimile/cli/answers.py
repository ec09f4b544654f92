"""The command for data users: answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, PriorFile
from facsimile.cli.page import show
from facsimile.cli.progress import busy


def answer_command(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of a release.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In words; quote it.")],
    confidence: Annotated[str, typer.Option(metavar="SHARE", help="How sure the interval is.")] = "0.95",
    together: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many such questions shall hold together.")
    ] = 1,
    replicates: Annotated[
        int,
        typer.Option(min=0, max=10_000, help="Estimate what nothing guarantees by so many."),
    ] = 0,
    prior: PriorFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask a release: its own figure, and what the original's lies between, by which rule.

    Questions: count where C; proportion C given C; mean COLUMN where C; median COLUMN; quantile 0.9 COLUMN;
    table A by B; regress Y on A B c(D); logit C on A B. Conditions C are those of a specification.

    Example: facsimile answer bundle "count where mother_age = '<18' and parity = 1"
    """
    from facsimile.api.answers import answer

    with busy("Answering", as_json):
        found = answer(
            folder, question, confidence=confidence, together=together, replicates=replicates, prior=prior
        )
    show(found, as_json)


COMMANDS = {"answer": answer_command}
