"""Face privacy: what a table looks like to somebody who searches it for rare people.

It reads the released table only, so it costs no budget.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def face_privacy(table: Table, k: int, b: int, sensitive: Sequence[str] | None = None) -> FacePrivacy:
    """Look at every sensitive column against every set of b others (default: all columns are sensitive)."""
    names = table.domain.names
    quasi = {
        clique
        for column in sensitive or names
        for clique in combinations([name for name in names if name != column], min(b, len(names) - 1))
    }
    smallest = min(
        (int(table.project(clique).counts.min()) for clique in sorted(quasi) if clique), default=table.n
    )
    counts = table.counts
    return FacePrivacy(int(counts.min(initial=table.n)), int((counts == 1).sum()), k, b, smallest)
