"""Structures: moves make sense, and a planted dependence is found."""

from __future__ import annotations

import numpy as np
import pytest

from facsimile.explore.design import searched
from facsimile.explore.design.draft import Draft
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.design.structures import Structures
from workloads import EPSILON, small


@pytest.fixture
def structures() -> Structures:
    specification, table = small()
    found = searched(
        Rehearsals(specification, table, specification.alternatives_named(""), EPSILON),
        True,
        60,
        lambda _: None,
    )
    assert found is not None
    return found


def test_every_move_is_another_sensible_draft(structures: Structures) -> None:
    draft = structures.starts()[-1].with_score("mean-b", 0.1)
    moves = dict(structures.moves(draft))
    assert {name.split()[0] for name in moves} >= {"add", "drop", "finer", "coarser", "no"}
    for changed in moves.values():
        assert changed != draft and changed.sensible(3000)
        assert len(changed.shares) == len(changed.every) + len(changed.scores)


def test_a_planted_dependence_is_found(structures: Structures) -> None:
    alone = Draft.of(structures.moments.table.domain)
    found = structures.climb(alone)
    assert found is not None and structures.tried <= 60 + 2
    assert any(table[0] > 1 and table[1] > 1 for table in found.draft.tables)
    first = structures.weighed(alone, 0.0, 3)
    assert found.value > first.value + 0.5 and found.chance(EPSILON) > first.chance(EPSILON)


def test_a_draft_that_no_model_can_hold_is_left(structures: Structures) -> None:
    structures.fitted = lambda draft: None
    assert structures.climb(Draft.of(structures.moments.table.domain)) is None
    structures.fitted = lambda draft: None if draft.tables else np.zeros(len(structures.moments.mean(None)))
    found = structures.climb(Draft.of(structures.moments.table.domain))
    assert found is not None and not found.draft.tables
