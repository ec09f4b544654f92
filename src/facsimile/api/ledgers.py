"""Ledgers: open one for confidential data, and look at it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.privacy.ledger import State
    from facsimile.sources.address import Address

BACKUP = "Back up the ledger, its anchor and the dataset key together; keep the anchor in another place."
OUTCOMES = {
    "done": "released",
    "halted": "no release: none was accepted",
    "stopped": "no release: stopped by an error",
    "incident": "no release: stopped by force",
    "decided": "decided, not finished: run it again",
    "open": "not finished: run it again",
}


def ledger(path: Path | str, anchor: Path | str | None = None) -> Book:
    """What was charged to a ledger and what remains; every line, number and hash of it is verified first.

    >>> facsimile.ledger("births.ledger")  # doctest: +SKIP
    """
    from facsimile.privacy.ledger import Ledger

    return Book(Ledger.at(Path(path), None if anchor is None else Path(anchor)).state())


def begun(
    path: Path, data: Address, cap: str, anchor: Path | None, dataset_key: Path | None, again: bool
) -> Book:
    """A new ledger for confidential data; with `again` for data that has one."""
    from facsimile.release.opening import Opening, cap_of
    from facsimile.sources.source import openable

    opening, most = Opening.of(data, path, anchor, dataset_key), cap_of(cap)
    opening.refuse_known(again)
    openable(data)
    return Book(opening.anew(most, again))


@dataclass(frozen=True, repr=False)
class Book(Result, Tabular):
    """A verified ledger; as a table: a line for each charge."""

    state: State

    def to_arrow(self) -> pa.Table:
        """A line for each charge."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.charges())

    def charges(self) -> list[dict[str, Any]]:
        """Every charge: its number, day and cost, what became of it in words, and which release it paid for."""
        from facsimile.privacy.ledger import shown

        entries = self.state.entries
        ended = {entry["charge"]: entry["kind"] for entry in entries if "charge" in entry}
        found = []
        for charge in (entry for entry in entries if entry["kind"] == "charge"):
            kind, _, rest = charge["purpose"].partition(" ")
            plan, _, title = rest.partition(" ") if kind == "release" else ("", "", charge["purpose"])
            end = ended.get(charge["seq"], "open")
            outcome = OUTCOMES[end] if kind == "release" else end
            line = {"number": charge["seq"], "day": charge["day"], "epsilon": shown(charge["micro"])}
            found.append({**line, "outcome": outcome, "title": title, "plan_hash": plan})
        return found

    def summary(self) -> dict[str, Any]:
        """What `ledger new` and `ledger verify` print with --json."""
        from facsimile.privacy.ledger import shown

        state = self.state
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

    def as_json(self) -> dict[str, Any]:
        return {**self.summary(), "charges": self.charges(), "entries": self.state.entries}

    def page(self) -> Page:
        from facsimile.privacy.ledger import shown

        state, page = self.state, Page(f"Ledger {self.state.identifier}")
        page.line(f"Opened for {state.data or 'data whose name it does not say'}.")
        page.line(f"spent {shown(state.spent)} of {shown(state.cap)}, {shown(state.remaining)} remain")
        if state.before:
            page.line(f"Earlier ledgers of this data had spent {shown(state.before)}.")
        rows = [(*map(str, list(c.values())[:-1]), c["plan_hash"][:16]) for c in self.charges()]
        if rows:
            page.table("Charges", ">entry|day|>epsilon|outcome|release|plan", rows)
        else:
            page.line("Nothing was charged yet.")
        return page

    def opening(self) -> Page:
        """What `ledger new` prints."""
        from facsimile.privacy.ledger import shown

        state, page = self.state, Page(f"Ledger {self.state.identifier}")
        cap = f"{shown(state.cap)} may be spent on {state.data}."
        page.line(f"{cap} The cap never changes; nothing is ever refunded.")
        if state.before:
            page.line(
                f"Earlier ledgers of this data had spent {shown(state.before)}; every release will say so."
            )
        page.line(f"From now on {state.data} is confidential: commands for public data refuse it.")
        page.line(BACKUP)
        return page
