"""The commands about a budget ledger: ledger new, ledger show, ledger verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, DatasetKey, source
from facsimile.cli.page import print_json, print_page, show
from facsimile.sources.address import Address

app = typer.Typer(name="ledger", rich_markup_mode=None)
LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.")]
AnchorFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Its anchor; default: FILE.anchor beside it.")
]


@app.callback(invoke_without_command=True)
def ledger_program(context: typer.Context) -> None:
    """Open a budget ledger, or look at one.

    Example: facsimile ledger show births.ledger
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("new")
def ledger_new(
    file: LedgerFile,
    data: Annotated[Address, source("The confidential data it counts for.")],
    cap: Annotated[str, typer.Option(metavar="EPSILON", help="What may be spent in all; it never changes.")],
    delta: Annotated[
        str | None,
        typer.Option(metavar="DELTA", help="The delta that may be spent in all; it never changes."),
    ] = None,
    rho: Annotated[
        str | None, typer.Option(metavar="RHO", help="Set this much rho aside, at half of the delta.")
    ] = None,
    anchor: AnchorFile = None,
    dataset_key: DatasetKey = None,
    again: Annotated[
        bool, typer.Option("--again", help="The data has a ledger: open another one, on purpose.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a ledger for confidential data: how much may be spent on it in all.

    Data has one ledger. With --again it gets another: what the earlier ones had spent is carried into its first
    entry and stands in every later document. A release with `budget.delta` needs a ledger with --delta.

    Example: facsimile ledger new births.ledger --data births.csv --cap 2 --anchor /safe/births.anchor
    """
    from facsimile.api.ledgers import begun

    book = begun(file, data, cap, anchor, dataset_key, again, delta, rho)
    if as_json:
        print_json(book.summary())
    else:
        print_page(book.opening())


@app.command("show")
def ledger_show(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Show what was charged, for what, and what remains; the ledger is verified first.

    Example: facsimile ledger show births.ledger
    """
    from facsimile.api.ledgers import ledger

    show(ledger(file, anchor), as_json)


@app.command("verify")
def ledger_verify(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Verify every line, number and hash of a ledger, and that its anchor fits.

    Example: facsimile ledger verify births.ledger
    """
    from facsimile.api.ledgers import ledger

    book = ledger(file, anchor)
    if as_json:
        print_json(book.summary())
    else:
        typer.echo(f"The ledger is whole: {book.state.sequence + 1} entries, head {book.state.head[:16]}.")
        for line in book.lines() if book.caps() else ():
            typer.echo(line)
