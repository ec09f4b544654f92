"""Proposals: moves make sense, and what fits badly comes first."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore.learning.draft import Draft
from facsimile.explore.learning.proposals import Proposals
from facsimile.table.table import Table
from workloads import ABSOLUTE, EPSILON, domain_of, drafts, small


@settings(max_examples=20)
@given(drafts(), st.sampled_from([2.0, 1.25]))
def test_moves_change_a_draft_and_make_sense(draft: Draft, step: float) -> None:
    domain = domain_of(draft)
    random = np.random.default_rng(0)
    table, made = (
        Table.from_rows(domain, random.integers(0, domain.shape, (3000, len(domain.shape)))) for _ in "12"
    )
    moves = Proposals.of(table, EPSILON, (ABSOLUTE,)).moves(draft, made, (0.1,), step)
    names = [move.name for move in moves]
    assert all(move.draft != draft and move.draft.makes_sense(3000) for move in moves)
    assert all(len(move.draft.columns(sizes)) > 1 for move in moves for sizes in move.draft.tables)
    assert {move.kind for move in moves} >= {"weight", "table"}
    assert len(names) == len(set(names)) or len(set(map(draft.columns, draft.tables))) < len(draft.tables)


def test_dependent_pairs_are_seen_and_those_that_fit_badly_come_first() -> None:
    specification, table = small()
    proposals = Proposals.of(table, EPSILON, specification.criteria)
    assert next(iter(proposals.dependences)) == ("a", "b") == proposals.named[0]
    shuffled = table.records().copy()
    np.random.default_rng(0).shuffle(shuffled[:, 1])
    alone = proposals.drafts()[0]
    moves = proposals.moves(alone, Table.from_rows(table.domain, shuffled), (0.5, 0.1), 2.0)
    singles = [move for move in moves if move.name.startswith("add a ")]
    assert singles[0].name == "add a fine a*b"
