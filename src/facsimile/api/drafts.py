"""Drafts: a first specification from a public file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import refuse_unless_whole, source
from facsimile.errors import refusal
from facsimile.results import Page, Result

if TYPE_CHECKING:
    from facsimile.draft.whole import Found

CHECK = "# check:"


def init(
    public: Any,
    out: Path | str | None = None,
    *,
    records: int | None = None,
    title: str | None = None,
    seed: int = 1,
    tell: Callable[[str], None] = lambda doing: None,
) -> Drafted:
    """A draft specification from a public file: columns, bins, rules to confirm, criteria, a first budget.

    `public` is a source, a file that describes one, or a frame; a confidential file is refused (E207) before it
    is opened. What was guessed is marked `# check:` in the text. `records` is the number of confidential
    records (default: that of the file), `out` a new file for the text. The draft follows from the seed.

    >>> facsimile.init("births.csv", "draft.yaml", records=165915)  # doctest: +SKIP
    """
    from facsimile.draft.description import Description, described
    from facsimile.draft.whole import draft
    from facsimile.privacy.dataset import refuse_confidential
    from facsimile.sources.address import Address

    least = {"seed": (seed, 0)} | ({} if records is None else {"records": (records, 2)})
    refuse_unless_whole("facsimile.init", **least)
    if out is not None and Path(out).exists():
        raise refusal("E401")
    data = source(public)
    refuse_confidential(data)
    description = described(data) if isinstance(data, Address) else Description(data)
    found = Drafted(draft(description, records=records, title=title, seed=seed, tell=tell))
    if out is not None:
        found.save(out)
    return found


@dataclass(frozen=True, repr=False)
class Drafted(Result):
    """A draft: its text, and what it was made of."""

    found: Found

    @property
    def text(self) -> str:
        """The specification, with a comment at every guess."""
        return self.found.text

    @property
    def checks(self) -> int:
        """How many lines a person has to look at."""
        return self.text.count(CHECK)

    def save(self, out: Path | str) -> None:
        """Write the specification to a new file."""
        from facsimile.release.writing import write_text

        write_text(Path(out), self.text)

    def as_json(self) -> dict[str, Any]:
        found, spec = self.found, self.found.specification
        from facsimile.spec.decimals import show_decimal

        parts = {"total": spec.budget.total, "generator": spec.budget.generator, "test": spec.budget.test}
        return {
            "file": found.draft.file,
            "public_records": found.draft.public_records,
            "records": spec.n,
            "columns": self._columns(),
            "left_out": [{"source": one.raw, "why": one.why} for one in found.draft.left],
            "rules": [{"never": one.never, "by_chance": one.expected} for one in found.draft.rules],
            "criteria": [
                {"name": c.name, "threshold": show_decimal(c.threshold), "epsilon": show_decimal(c.epsilon)}
                for c in spec.criteria
            ],
            "budget": {name: show_decimal(value) for name, value in parts.items() if value is not None},
            "trials": {"accepted": found.tried.accepted, "of": found.tried.of},
            "checks": self.checks,
            "text": self.text,
        }

    def _columns(self) -> list[dict[str, Any]]:
        """Each column with the number of bins under each of its alternatives."""
        spec = self.found.specification
        return [
            {
                "name": one.name,
                "source": one.raw,
                "kind": one.kind,
                "bins": {name: spec.column(one.name).axis(name).size for name in one.data["alternatives"]},
            }
            for one in self.found.draft.columns
        ]

    def page(self) -> Page:
        """What became of each column, what is promised, and what is left to a person."""
        found, told = self.found, self.as_json()
        page = Page(found.specification.title)
        page.line(f"A draft from {told['file']}: {told['public_records']:,} public records")
        bins = {c["name"]: ", ".join(map(str, c["bins"].values())) for c in told["columns"]}
        rows = [(c["name"], c["source"], c["kind"], bins[c["name"]]) for c in told["columns"]]
        page.table("Columns", "column|source|kind|>bins, then coarser", rows)
        if told["left_out"]:
            page.table("Left out", "column|_", ((one["source"], one["why"]) for one in told["left_out"]))
        promised = [(c["name"], c["threshold"], c["epsilon"]) for c in told["criteria"]]
        page.table("Criteria", "criterion|>threshold|>epsilon", promised)
        budget, passed = told["budget"], "{accepted} of {of} trials accepted".format(**told["trials"])
        page.line(f"\nGenerator epsilon {budget['generator']}: {passed}.")
        page.line(f"Total epsilon {budget['total']}. Rules offered, to be confirmed: {len(told['rules'])}.")
        page.line(f"{self.checks} lines of it are marked `{CHECK}` and need a person.")
        return page
