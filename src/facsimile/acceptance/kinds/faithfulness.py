"""Faithfulness: records of the release without a partner of their own in the original."""

from __future__ import annotations

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.groups import likeness
from facsimile.acceptance.kind import ShareKind, listed
from facsimile.privacy.queries import Query, Unmatched
from facsimile.spec.criteria import Faithfulness


class FaithfulnessKind(ShareKind[Faithfulness]):
    """The share of records without a partner, by a maximum matching."""

    expense = 4
    topic, about, title = "rows", "match", "Rows without a partner"
    sentence = (
        "The share of records of the release without a partner of their own in the original: "
        "{equal}at most {steps} off in one other column."
    )

    def query(self, candidate: Candidate) -> Query:
        table = candidate.table
        return Unmatched(table, likeness(candidate.specification, self.criterion, table.domain))

    def words(self) -> dict[str, str]:
        c = self.criterion
        equal = f"equal in {listed(c.match)} and " if c.match else ""
        return {"equal": equal, "steps": "1 bin" if c.within == 1 else f"{c.within} bins"}
