"""The text of a draft: a specification that loads, with a comment where a person has to look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from facsimile.draft.lines import WIDTH, block, folded, item, prose, scalar
from facsimile.draft.part import DraftColumn, LeftOut, Part
from facsimile.draft.rules import Rule

CONFIRM = "TO BE CONFIRMED"
AGREED = "Nobody has agreed on anything in it. A person has to look at every `# check:`."
COLUMNS = "Of each column the alternative under `use` is released. List several there, and a search chooses."
POLICY = "declared: implausible records are left out, and records.count is the number of the others."
RULES = (
    "check: the public file breaks none of these rules, though so many records would by chance. A rule comes "
    "from knowledge: remove the `# ` before `raw` and before each rule that somebody can name a source for."
)
TABLES = "Every column by itself, and pairs that criteria speak of or that the public file ties together."
CRITERIA = "A first promise; docs/specification.md has fourteen kinds of criteria for what users ask."
PUBLISH = ("tables", "explorer", "labelled", "metadata")
FREE = "Free of budget: the noisy tables, a page to explore, labelled files, and descriptions for portals."
PLANNING = "Records in the smallest group of a column; used by `facsimile check` without a public file."


@dataclass(frozen=True)
class Draft:
    """Everything that a draft says, in the order of its text."""

    file: str
    public_records: int
    every: int
    origin: str
    head: Part
    records: Part
    columns: tuple[DraftColumn, ...]
    left: tuple[LeftOut, ...]
    rules: tuple[Rule, ...]
    families: tuple[Mapping[str, Any], ...]
    projection: Part
    criteria: tuple[Part, ...]
    selection: Part
    budget: Part
    planning: Part | None
    remarks: tuple[str, ...] = ()

    def data(self, confirmed: bool = False) -> dict[str, Any]:
        """The specification as plain data; `confirmed` with the rules that are offered."""
        rules = [{"never": rule.never, "source": CONFIRM} for rule in self.rules]
        return {
            **self.head.data,
            "records": dict(self.records.data),
            "columns": [dict(column.data) for column in self.columns],
            "constraints": {"policy": "declared", **({"raw": rules} if confirmed and rules else {})},
            "families": [dict(family) for family in self.families],
            "projection": dict(self.projection.data),
            "statistic": "sharp",
            "criteria": [dict(criterion.data) for criterion in self.criteria],
            "publish": list(PUBLISH),
            "scheme": "test-then-measure",
            "selection": dict(self.selection.data),
            "budget": dict(self.budget.data),
            **({} if self.planning is None else {"planning": dict(self.planning.data)}),
        }

    def text(self) -> str:
        """The specification as a file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from (*self._begin(), *block(self.head), "")
        yield from ("records:", *block(self.records, 2), "")
        yield from (*prose(COLUMNS), "columns:")
        for column in self.columns:
            yield from (*item(column.short, 2), "")
        yield from (*self._left(), *self._constraints(), "")
        yield from ("families:", *prose(TABLES, 2))
        for family in self.families:
            yield from _family(family)
        yield from ("", "projection:", *block(self.projection, 2), "")
        yield from ("statistic: sharp", *prose(CRITERIA), "criteria:")
        for criterion in self.criteria:
            yield from item(criterion, 2)
        yield from ("", *prose(FREE), f"publish: [{', '.join(PUBLISH)}]", "")
        yield from ("scheme: test-then-measure", "selection:", *block(self.selection, 2))
        yield from ("budget:", *block(self.budget, 2))
        if self.planning is not None:
            yield from ("", "planning:", *prose(PLANNING, 2), *block(self.planning, 2))

    def _begin(self) -> Iterator[str]:
        """What this is, from what, and what to do next."""
        columns = f"{len(self.columns)} of {len(self.columns) + len(self.left)} columns"
        made = f"A draft, made by `facsimile init` from the public file {self.file}"
        said = f", described by {self.origin}" if self.origin else ""
        yield from prose(f"{made}{said}: {self.public_records:,} records, {columns}. {AGREED}")
        if self.every > 1:
            number = {2: "second", 3: "third"}.get(self.every, f"{self.every}th")
            yield from prose(f"check: only every {number} record was looked at.")
        for remark in self.remarks:
            yield from prose(remark)
        yield f"# Next: facsimile check SPEC --public {self.file}"
        yield f"# Then: facsimile explore SPEC --data {self.file} --public -o first.study"

    def _left(self) -> Iterator[str]:
        """The columns that are left out, and why."""
        if self.left:
            yield "  # check: left out:"
            for one in self.left:
                yield from prose(f"- {scalar(one.raw)}: {one.why}", 2)
            yield ""

    def _constraints(self) -> Iterator[str]:
        """The policy; rules are offered as comments that are YAML behind `# `."""
        yield from ("constraints:", *prose(POLICY, 2), "  policy: declared")
        if self.rules:
            yield from (*prose(RULES, 2), "  # raw:")
        for rule in self.rules:
            begun = "  #   - never:"
            line = f"{begun} {_condition(rule.never)}"
            longer = (f"  #{text[3:]}" for text in folded(begun, rule.never, 9))
            yield from (line,) if len(line) <= WIDTH else longer
            yield f"  #     source: {CONFIRM}  # check: {rule.expected:,.0f} by chance"


def _condition(text: str) -> str:
    """A condition in a line of its own: brackets, commas and signs need no quotes there."""
    bare = re.sub(r"[][,=!>]", "", text)
    return text if scalar(bare) == bare else scalar(text)


def _family(family: Mapping[str, Any]) -> Iterator[str]:
    """A family with its grid; texts of hyperparameters are long."""
    grid: Mapping[str, Sequence[str]] = family.get("grid", {})
    yield f"  - family: {family['family']}"
    yield from ("    grid:",) if grid else ()
    for name, values in grid.items():
        yield f"      {name}:"
        for text in values:
            yield from folded("        -", text, 10)
