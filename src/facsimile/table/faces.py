"""Face privacy: what a table looks like to somebody who searches it for rare people.

It reads the released table only, so it costs no budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from facsimile.table.table import Table


@dataclass(frozen=True)
class FacePrivacy:
    """The smallest count of a full row, unique rows, and k-anonymity against every set of `b` columns."""

    min_count: int
    unique_rows: int
    k: int
    b: int
    smallest_group: int

    @property
    def k_anonymous(self) -> bool:
        """Whether every combination of any b columns that occurs occurs at least k times."""
        return self.smallest_group >= self.k


def face_privacy(table: Table, k: int, b: int) -> FacePrivacy:
    """Look at every set of b columns, of all but one where there are no more.

    >>> from facsimile.spec.columns import Axis, CategoryBin
    >>> from facsimile.table.domain import Domain
    >>> sexes = tuple(CategoryBin(label, frozenset(label)) for label in "FM")
    >>> pairs = Table.from_rows(Domain((Axis("one", sexes), Axis("other", sexes))), [[0, 0], [0, 1], [1, 1]])
    >>> face_privacy(pairs, k=2, b=1)
    FacePrivacy(min_count=1, unique_rows=3, k=2, b=1, smallest_group=1)
    """
    names, counts = table.domain.names, table.counts
    quasi = (clique for clique in combinations(names, min(b, len(names) - 1)) if clique)
    smallest = min((int(table.project(clique).counts.min()) for clique in quasi), default=table.n)
    return FacePrivacy(int(counts.min(initial=table.n)), int((counts == 1).sum()), k, b, smallest)
