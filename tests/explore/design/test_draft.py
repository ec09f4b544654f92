"""Drafts: the family reads what a draft writes, and a draft what a specification has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from facsimile.explore.design.draft import LEAST, Draft
from facsimile.synthesizers.measurements import items, shares
from workloads import EPSILON, domain_of, drafts


@settings(max_examples=40)
@given(drafts())
def test_the_family_reads_what_a_draft_writes(draft: Draft) -> None:
    domain, own = domain_of(draft), draft.own
    every = items(own["measurements"], domain, 3000, EPSILON)
    found = [share for item in shares(own["weights"], every, domain, 3000, EPSILON) for share in item]
    assert sum(found) == EPSILON and sum(draft.shares) == pytest.approx(1)
    assert sorted(float(share / EPSILON) for share in found) == pytest.approx(sorted(draft.shares), rel=0.02)
    read = Draft.read(own, domain, 3000, EPSILON)
    assert read is not None and set(read.tables) == set(draft.tables)
    parts = dict(zip(read.every, read.shares, strict=True))
    for table, share in zip(draft.every, draft.shares, strict=True):
        assert parts[table] == pytest.approx(share, rel=0.02, abs=LEAST)


@settings(max_examples=40)
@given(drafts())
def test_a_change_keeps_the_shares_whole(draft: Draft) -> None:
    changed = [draft.with_score("mean", 0.1)]
    for place in range(len(draft.tables)):
        changed += [draft.without(place), draft.resized(place, 0, 1), draft.resized(place, 1, 2)]
    if len(draft.tables) > 1:
        changed.append(draft.merged(0, 1))
        assert len(changed[-1].tables) == len(draft.tables) - 1
    for one in changed:
        assert len(one.shares) == len(one.every) + len(one.scores)
        assert sum(one.shares) == pytest.approx(1) and min(one.shares) > LEAST / 2
    again = changed[0].without_score("mean")
    assert again.scores == () and again.shares == pytest.approx(draft.shares, rel=0.05)


def test_words_that_stand_for_tables_are_no_draft() -> None:
    draft = Draft(("a", "b"), (3, 4)).shared([1, 1])
    assert Draft.read({"measurements": "each; all@2"}, domain_of(draft), 3000, EPSILON) is None
    assert Draft.read({}, domain_of(draft), 3000, EPSILON) is None


def test_scores_and_fine_tables_have_their_place_in_the_text() -> None:
    draft = Draft(("a", "b"), (3, 4), ((2, 2), (3, 4)), ("mean-b",), (0.1, 0.2, 0.3, 0.3, 0.1))
    assert draft.own == {
        "measurements": "each; a*b; a@2*b@2",
        "weights": "10,20; 30; 30",
        "scores": "mean-b 10",
    }


def test_a_table_too_long_to_write_or_too_large_to_fill_makes_no_sense() -> None:
    draft = Draft(("a", "b"), (40, 40)).shared([1, 1])
    assert draft.sensible(10) and not draft.with_table((40, 40)).sensible(1000)
    assert not draft.with_table((2, 2)).with_table((2, 2)).sensible(1000)
    names = tuple(f"{'x' * 60}{i}" for i in range(20))
    wide = Draft(names, (2,) * 20).shared([1] * 20)
    for place in range(9):
        wide = wide.with_table(tuple(2 if i in (place, place + 1) else 1 for i in range(20)))
    assert len(wide.own["measurements"]) > 1000 and not wide.sensible(10**9)
