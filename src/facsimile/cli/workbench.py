"""The command for people who agree on a specification: workbench."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, source
from facsimile.cli.page import print_json
from facsimile.sources.address import Address


def workbench_command(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC", help="The specification; a new name begins with a draft.")
    ],
    public: Annotated[Address | None, source("A public source of the same form, to try everything on.")] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on this machine; default: a free one.")
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in this machine's browser.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read, change, try and sign a specification on a page of this machine; Ctrl-C ends it.

    The page answers to 127.0.0.1 only, and lets in who comes by the link that is shown; a link works once.

    Example: facsimile workbench release.yaml --public births.csv
    """
    import webbrowser

    from facsimile.workbench.door import Door
    from facsimile.workbench.server import bench_of, listening, server

    bench = bench_of(spec, public)
    socket = listening(port)
    door = Door(socket.getsockname()[1])
    link = door.link()
    if as_json:
        print_json({"link": link, "specification": spec.name})
    else:
        typer.echo(f"The workbench of {spec.name} is open on this machine. The link works once:\n\n  {link}\n")
        typer.echo("Whoever else shall take part gets a link on the page. Ctrl-C ends the workbench.")
    try:
        page = door.page(link).as_uri() if open_browser else None
        with contextlib.suppress(KeyboardInterrupt):
            server(bench, door, lambda: page and webbrowser.open(page)).run(sockets=[socket])
    finally:
        door.close()
    if not as_json:
        typer.echo("The workbench is closed.")


COMMANDS = {"workbench": workbench_command}
