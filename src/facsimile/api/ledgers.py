"""Ledgers: open one for confidential data, and look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
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
    path: Path,
    data: Address,
    cap: str,
    anchor: Path | None,
    dataset_key: Path | None,
    again: bool,
    delta: str | None = None,
    rho: str | None = None,
) -> Book:
    """A new ledger for confidential data; with `again` for data that has one."""
    from facsimile.release.opening import Opening, beside_of, cap_of
    from facsimile.sources.source import openable

    opening, most = Opening.of(data, path, anchor, dataset_key), cap_of(cap)
    beside = beside_of(delta, rho, most)
    opening.refuse_known(again)
    openable(data)
    return Book(opening.anew(most, again, *beside))


@dataclass(frozen=True, repr=False)
class Book(Result, Tabular):
    """A verified ledger; as a table: a line for each charge. Of δ and ρ it speaks where there are some."""

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
            line = {"number": charge["seq"], "day": charge["day"], "epsilon": shown(charge.get("micro", 0))}
            line |= self._beside(charge)
            found.append({**line, "outcome": outcome, "title": title, "plan_hash": plan})
        return found

    def _beside(self, charge: Mapping[str, Any]) -> dict[str, str]:
        """The δ and the ρ of a charge, where the ledger has some."""
        from facsimile.privacy.ledger import PICO
        from facsimile.spec.decimals import show_decimal

        amounts = {"delta": Fraction(charge.get("delta", 0)), "rho": Fraction(charge.get("rho", 0), PICO)}
        caps = {"delta": self.state.delta, "rho": self.state.rho}
        return {name: show_decimal(amount) for name, amount in amounts.items() if caps[name]}

    def caps(self) -> dict[str, Any]:
        """The δ and the ρ that the ledger was opened with, where there are some: the cap, spent, remaining; and
        what was set aside for the ρ at the opening."""
        from facsimile.privacy.ledger import PICO, shown
        from facsimile.spec.decimals import show_decimal

        state, found = self.state, dict[str, Any]()
        first, spent = state.entries[0], state.upto(state.sequence)[2]
        if state.delta:
            parts = {"cap": state.delta, "spent": spent, "remaining": state.delta - spent}
            found["delta"] = {name: show_decimal(value) for name, value in parts.items()}
        if state.rho:
            charged = Fraction(sum(entry.get("rho", 0) for entry in state.entries), PICO)
            parts = {"cap": state.rho, "spent": charged, "remaining": state.rho - charged}
            aside = {"epsilon": shown(first["micro"]), "delta": show_decimal(Fraction(first["delta"]))}
            found["rho"] = {name: show_decimal(value) for name, value in parts.items()} | {"set_aside": aside}
        return found | ({"before_delta": show_decimal(state.before_delta)} if state.before_delta else {})

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
            **self.caps(),
        }

    def as_json(self) -> dict[str, Any]:
        return {**self.summary(), "charges": self.charges(), "entries": self.state.entries}

    def page(self) -> Page:
        state, page = self.state, Page(f"Ledger {self.state.identifier}")
        page.line(f"Opened for {state.data or 'data whose name it does not say'}.")
        for line in self.lines():
            page.line(line)
        if state.before:
            page.line(f"Earlier ledgers of this data had spent {self._before()}.")
        charges = self.charges()
        rows = [(*map(str, list(c.values())[:-1]), c["plan_hash"][:16]) for c in charges]
        if rows:
            beside = "".join(f"|>{name}" for name in ("delta", "rho") if name in charges[0])
            page.table("Charges", f">entry|day|>epsilon{beside}|outcome|release|plan", rows)
        else:
            page.line("Nothing was charged yet.")
        return page

    def lines(self) -> Iterator[str]:
        """What was spent of each cap, and what remains."""
        from facsimile.privacy.ledger import shown

        state, caps = self.state, self.caps()
        yield f"spent {shown(state.spent)} of {shown(state.cap)}, {shown(state.remaining)} remain"
        for name in ("delta", "rho"):
            if name in caps:
                part = caps[name]
                yield f"{name}: spent {part['spent']} of {part['cap']}, {part['remaining']} remain"
        if "rho" in caps:
            yield f"For the rho, {_aside(caps)} were set aside at the opening: they count as spent."

    def _before(self) -> str:
        """What earlier ledgers of the same data had spent."""
        from facsimile.privacy.ledger import shown

        delta = self.caps().get("before_delta")
        return shown(self.state.before) + ("" if delta is None else f" and delta {delta}")

    def opening(self) -> Page:
        """What `ledger new` prints."""
        from facsimile.privacy.ledger import shown

        state, caps, page = self.state, self.caps(), Page(f"Ledger {self.state.identifier}")
        delta = f", with delta {caps['delta']['cap']}," if "delta" in caps else ""
        cap = f"{shown(state.cap)}{delta} may be spent on {state.data}."
        page.line(f"{cap} The cap never changes; nothing is ever refunded.")
        if "rho" in caps:
            page.line(f"For a rho of {caps['rho']['cap']}, {_aside(caps)} of that are set aside.")
        if state.before:
            page.line(f"Earlier ledgers of this data had spent {self._before()}; every release will say so.")
        page.line(f"From now on {state.data} is confidential: commands for public data refuse it.")
        page.line(BACKUP)
        return page


def _aside(caps: Mapping[str, Any]) -> str:
    aside = caps["rho"]["set_aside"]
    return f"epsilon {aside['epsilon']} and delta {aside['delta']}"
