"""Questions before the charge: what no memory holds is refused there."""

from __future__ import annotations

from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.release.check import check
from facsimile.spec.load import validated
from workloads import plain


def crossed(groups: int, scores: str) -> dict[str, Any]:
    """A mean within so many × so many groups, whose scores a workload asks for."""
    by = {"criterion": "mean", "of": "y", "by": [["s", "t"]], "threshold": "5", "fill_to": "100"}
    whole = plain({"y": 4, "s": groups, "t": groups}, [by])
    for column in whole["columns"][1:]:
        column["groups"] = [str(place + 1) for place in range(groups)]
    whole["families"] = [{"family": "workload", "grid": {"scores": [scores]}}]
    return whole


def test_more_scores_than_a_memory_holds_are_refused_before_the_charge() -> None:
    """24 × 24 groups are more than 512; without scores, or with fewer groups, nothing is refused."""
    check(validated(crossed(20, "mean-y 20")))
    check(validated(crossed(24, "none")))
    with pytest.raises(FacsimileError, match="more scores than a memory holds"):
        check(validated(crossed(24, "mean-y 20")))


def test_scores_of_every_cell_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 × 20 groups on 4 × 20 × 20 cells: 640,000 numbers."""
    monkeypatch.setattr("facsimile.release.questions.MOST_ENTRIES", 640_000)
    check(validated(crossed(20, "mean-y 20")))
    monkeypatch.setattr("facsimile.release.questions.MOST_ENTRIES", 639_999)
    with pytest.raises(FacsimileError, match="more scores than a memory holds"):
        check(validated(crossed(20, "mean-y 20")))
