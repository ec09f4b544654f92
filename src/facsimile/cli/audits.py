"""The command that looks for evidence on this machine: audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson
from facsimile.cli.page import show
from facsimile.cli.progress import telling
from facsimile.documents.evidence import KINDS
from facsimile.errors import refusal


def audit_command(
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The page: a new HTML file, or JSON by its ending."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Only this kind, of {', '.join(KINDS)}; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try every privacy claim on this machine, with the versions installed here; no data is read.

    Example: facsimile audit -o audit.html
    """
    from facsimile.api.audits import audit
    from facsimile.release.writing import refuse_taken

    chosen = [kind for kind in KINDS if only is None or kind in only]
    if only is not None and not {*only} <= {*KINDS}:
        raise refusal("E001", problem=f"Kinds are {', '.join(KINDS)}.", command="facsimile audit")
    if out is not None:
        refuse_taken(out)
    with telling("Starting", as_json) as tell:
        found = audit(chosen, tell=tell)
    if out is not None:
        found.save(out)
    show(found, as_json, *([] if out is None else [f"The page to read: {out}"]))
    if not found.passed:
        raise refusal("E520")


COMMANDS = {"audit": audit_command}
