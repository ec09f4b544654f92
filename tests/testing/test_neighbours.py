"""Neighbours differ in one record: a generator of pairs that are equal, or of none, would measure nothing."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from facsimile.testing.neighbours import Neighbours, every_pair, heavy_pairs, random_pairs, small_domain


def apart(pair: Neighbours) -> int:
    """How many records differ: half the L1 distance of the counts of all rows."""
    one, other = (table.marginal(table.domain.names) for table in pair)
    assert one.sum() == other.sum(), "n is public"
    return int(np.abs(one - other).sum()) // 2


@pytest.mark.parametrize(("shape", "n"), [((2,), 1), ((3,), 4), ((2, 3), 3)])
def test_every_pair_is_there_and_differs_in_one_record(shape: tuple[int, ...], n: int) -> None:
    domain = small_domain(*shape)
    pairs, cells = list(every_pair(domain, n)), int(np.prod(shape))
    assert len(pairs) == comb(cells + n - 2, n - 1) * comb(cells, 2)
    assert all(apart(pair) == 1 and pair[0].n == n for pair in pairs)


def test_random_pairs_differ_in_at_most_one_record_and_nearly_all_in_one() -> None:
    pairs = list(random_pairs(small_domain(3, 4), 20, 60))
    moved = [apart(pair) for pair in pairs]
    assert len(pairs) == 60 and max(moved) == 1 and sum(moved) > 45
    corners = [len(table.counts) == 1 for pair in pairs for table in pair]
    assert any(corners), "some tables lie in one corner"


def test_heavy_pairs_move_one_of_very_many_records() -> None:
    size, n = 10**6, 2**50
    pairs = list(heavy_pairs(small_domain(3), n, (size,)))
    assert pairs and all(apart(pair) == 1 and pair[0].n == n for pair in pairs)
    assert {int(k) * size // 2**62 for pair in pairs for table in pair for k in table.counts} >= {0, 1, 2}
