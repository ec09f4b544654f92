"""Drafts: the family reads what a draft writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from facsimile.explore.learning.draft import Draft
from facsimile.synthesizers.measurements import items, shares
from workloads import EPSILON, domain_of, drafts


@settings(max_examples=40)
@given(drafts())
def test_the_family_reads_what_a_draft_writes(draft: Draft) -> None:
    measurements, weights = draft.texts
    domain = domain_of(draft)
    every = items(measurements, domain, 3000, EPSILON)
    found = [share for item in shares(weights, every, domain, 3000, EPSILON) for share in item]
    assert sum(found) == EPSILON
    given_weights = [*draft.each, *draft.weights]
    for share, weight in zip(found, given_weights, strict=True):
        assert float(share / EPSILON) == pytest.approx(weight / sum(given_weights), rel=0.02)
    read = [dict(item.columns) for item in every if len(item.columns) > 1]
    for table, columns in zip(draft.tables, read, strict=True):
        wanted = zip(draft.names, table, draft.codes, strict=True)
        assert columns == {name: None if size == codes else size for name, size, codes in wanted if size > 1}


def test_a_table_too_long_to_write_or_too_large_to_fill_makes_no_sense() -> None:
    draft = Draft(("a", "b"), (40, 40), (1.0, 1.0))
    assert draft.makes_sense(10) and not draft.with_table((40, 40)).makes_sense(1000)
    assert not draft.with_table((2, 2)).with_table((2, 2)).makes_sense(1000)
    names = tuple(f"{'x' * 60}{i}" for i in range(20))
    wide = Draft(names, (2,) * 20, (1.0,) * 20)
    for place in range(9):
        wide = wide.with_table(tuple(2 if i in (place, place + 1) else 1 for i in range(20)))
    assert len(wide.texts[0]) > 1000 and not wide.makes_sense(10**9)
