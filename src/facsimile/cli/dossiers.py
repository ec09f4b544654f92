"""The command for regulators: dossier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson
from facsimile.cli.page import show
from facsimile.cli.progress import busy
from facsimile.errors import refusal


def dossier_command(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of a release.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The PDF: a new file.")
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `facsimile audit --json` wrote on that machine.")
    ] = None,
    risk: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `facsimile risk --json` wrote about this plan.")
    ] = None,
    allow_rehearsal: Annotated[
        bool, typer.Option("--allow-rehearsal", help="Do not refuse a bundle for being a rehearsal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Assemble the regulator's file about a release, every statement with its source; blanks are marked.

    Example: facsimile dossier bundle -o dossier.pdf --audit audit.json --risk risk.json
    """
    from facsimile.api.dossiers import dossier

    if out is None and not as_json:
        problem = "A dossier needs --out, or --json to be printed."
        raise refusal("E001", problem=problem, command="facsimile dossier")
    with busy("Assembling", as_json):
        found = dossier(folder, out, audit=audit, risk=risk, allow_rehearsal=allow_rehearsal)
    show(found, as_json)


COMMANDS = {"dossier": dossier_command}
