"""Agreements: what the commands about a specification's text do, as functions."""

from __future__ import annotations

from facsimile.api.agreements import compared
from specs import small


def test_differences_are_a_page_and_a_table() -> None:
    found = compared(small(), small("budget.total", "4"))
    assert found.page().parts == ["total 5 → 4"]
    assert found.to_arrow().to_pylist() == [{"item": "budget.total", "words": "total 5 → 4"}]
    assert compared(small(), small()).to_arrow().num_rows == 0
    assert (
        repr(compared(small(), small())) == "<Compared: The same: nothing but comments and layout may differ.>"
    )
