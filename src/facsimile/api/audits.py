"""Audits: evidence for the privacy claims on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.documents.evidence import Audit, Kind


def audit(only: Collection[Kind] | None = None, *, tell: Callable[[str], None] = lambda doing: None) -> Audited:
    """Try every theorem of the privacy core with the versions that are installed here; no data is read.

    It takes a minute or two; `only` names kinds of evidence to look for. What was found against a claim is in
    the result, which says whether it `passed`.

    >>> facsimile.audit().save("audit.html")  # doctest: +SKIP
    """
    from facsimile.audit.run import audit
    from facsimile.documents.evidence import KINDS

    wanted = KINDS if only is None else only
    if not wanted or not set(wanted) <= set(KINDS):
        raise refusal("E003", problem=f"Kinds of evidence are {', '.join(KINDS)}.", call="facsimile.audit")
    return Audited(audit(tell, wanted))


@dataclass(frozen=True, repr=False)
class Audited(Result, Tabular):
    """What was found; as a table: a line for each test."""

    found: Audit

    @property
    def passed(self) -> bool:
        """Whether nothing was found against any claim."""
        return self.found.passed

    def save(self, out: Path | str) -> None:
        """Write the page to a new file, or, where the name ends with .json, the same as data."""
        from facsimile.audit.page import page
        from facsimile.release.writing import write_told

        write_told(Path(out), self.as_json(), lambda: page(self.found))

    @classmethod
    def load(cls, path: Path | str) -> Audited:
        """An audit that `save` wrote as data; any other file is refused."""
        from facsimile.documents.evidence import Audit
        from facsimile.spec.text import read_limited

        try:
            return cls(Audit.of_json(json.loads(read_limited(Path(path)))))
        except (ValueError, RecursionError):
            raise refusal("E425") from None

    def to_arrow(self) -> pa.Table:
        """A line for each test."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(found) for found in self.found.evidence])

    def as_json(self) -> dict[str, Any]:
        return self.found.as_json()

    def page(self) -> Page:
        from facsimile.audit.page import figure, sections

        found, page = self.found, Page(f"Audit of facsimile {self.found.version}")
        for section in sections(found):
            rows = [
                (e.theorem, e.case, figure(e.declared), figure(e.found), e.result) for e in section.evidence
            ]
            page.table(section.title, "claim|tried with|>declared|>found|result", rows)
        failed = sum(not e.passed for e in found.evidence)
        said = "nothing was found against any claim" if found.passed else f"{failed} FAILED"
        page.line(f"\n{len(found.evidence)} tests: {said}.")
        if not found.whole:
            page.line("Some kinds of evidence were not looked for.")
        return page
