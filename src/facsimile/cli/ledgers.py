"""The commands about a budget ledger: ledger new, ledger show, ledger verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from facsimile.cli.options import AsJson, DatasetKey, source
from facsimile.cli.page import Page, print_json
from facsimile.sources.address import Address

if TYPE_CHECKING:
    from facsimile.privacy.ledger import State

app = typer.Typer(name="ledger", no_args_is_help=True, rich_markup_mode=None)
LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.")]
AnchorFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Its anchor; default: FILE.anchor beside it.")
]
BACKUP = "Back up the ledger, its anchor and the dataset key together; keep the anchor in another place."
OUTCOMES = {
    "done": "released",
    "halted": "no release: none was accepted",
    "stopped": "no release: stopped by an error",
    "incident": "no release: stopped by force",
    "decided": "decided, not finished: run it again",
    "open": "not finished: run it again",
}


@app.callback()
def ledger_program() -> None:
    """Look at a budget ledger.

    Example: facsimile ledger show births.ledger
    """


@app.command("new")
def ledger_new(
    file: LedgerFile,
    data: Annotated[Address, source("The confidential data it counts for.")],
    cap: Annotated[str, typer.Option(metavar="EPSILON", help="What may be spent in all; it never changes.")],
    anchor: AnchorFile = None,
    dataset_key: DatasetKey = None,
    again: Annotated[
        bool, typer.Option("--again", help="The data has a ledger: open another one, on purpose.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a ledger for confidential data: how much may be spent on it in all.

    Data has one ledger. With --again it gets another: what the earlier ones had spent is carried into its first
    entry and stands in every later document.

    Example: facsimile ledger new births.ledger --data births.csv --cap 2 --anchor /safe/births.anchor
    """
    from facsimile.privacy.ledger import shown
    from facsimile.release.opening import Opening, cap_of
    from facsimile.sources.source import openable

    opening, most = Opening.of(data, file, anchor, dataset_key), cap_of(cap)
    opening.refuse_known(again)
    openable(data)
    state = opening.anew(most, again)
    if as_json:
        print_json(_ledger_as_json(state))
        return
    page = Page()
    page.heading(f"Ledger {state.identifier}")
    page.line(
        f"{shown(state.cap)} may be spent on {state.data}. The cap never changes; nothing is ever refunded."
    )
    if state.before:
        page.line(f"Earlier ledgers of this data had spent {shown(state.before)}; every release will say so.")
    page.line(f"From now on {state.data} is confidential: commands for public data refuse it.")
    page.line(BACKUP)


@app.command("show")
def ledger_show(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Show what was charged, for what, and what remains; the ledger is verified first.

    Example: facsimile ledger show births.ledger
    """
    from facsimile.privacy.ledger import Ledger, shown

    state = Ledger.at(file, anchor).state()
    if as_json:
        print_json({**_ledger_as_json(state), "charges": _charges(state), "entries": state.entries})
        return
    page = Page()
    page.heading(f"Ledger {state.identifier}")
    page.line(f"Opened for {state.data or 'data whose name it does not say'}.")
    page.line(f"spent {shown(state.spent)} of {shown(state.cap)}, {shown(state.remaining)} remain")
    if state.before:
        page.line(f"Earlier ledgers of this data had spent {shown(state.before)}.")
    rows = [(*(str(value) for value in list(c.values())[:-1]), c["plan_hash"][:16]) for c in _charges(state)]
    if rows:
        page.table("Charges", ">entry|day|>epsilon|outcome|release|plan", rows)
    else:
        page.line("Nothing was charged yet.")


def _charges(state: State) -> list[dict[str, Any]]:
    """Every charge: its number, day and cost, what became of it in words, and which release it paid for."""
    from facsimile.privacy.ledger import shown

    ended = {entry["charge"]: entry["kind"] for entry in state.entries if "charge" in entry}
    found = []
    for charge in (entry for entry in state.entries if entry["kind"] == "charge"):
        kind, _, rest = charge["purpose"].partition(" ")
        plan, _, title = rest.partition(" ") if kind == "release" else ("", "", charge["purpose"])
        end = ended.get(charge["seq"], "open")
        outcome = OUTCOMES[end] if kind == "release" else end
        line = {"number": charge["seq"], "day": charge["day"], "epsilon": shown(charge["micro"])}
        found.append({**line, "outcome": outcome, "title": title, "plan_hash": plan})
    return found


@app.command("verify")
def ledger_verify(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Verify every line, number and hash of a ledger, and that its anchor fits.

    Example: facsimile ledger verify births.ledger
    """
    from facsimile.privacy.ledger import Ledger

    state = Ledger.at(file, anchor).state()
    if as_json:
        print_json(_ledger_as_json(state))
    else:
        typer.echo(f"The ledger is whole: {state.sequence + 1} entries, head {state.head[:16]}.")


def _ledger_as_json(state: State) -> dict[str, Any]:
    from facsimile.privacy.ledger import shown

    return {
        "id": state.identifier,
        "data": state.data,
        "sequence": state.sequence,
        "head": state.head,
        "cap": shown(state.cap),
        "spent": shown(state.spent),
        "before": shown(state.before),
        "remaining": shown(state.remaining),
    }
