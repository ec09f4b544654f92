from __future__ import annotations

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.risk.people import PART, People
from facsimile.table.table import Codes, Table
from risk.towns import domain, town


def rows(codes: Codes) -> set[tuple[int, ...]]:
    return set(map(tuple, codes.tolist()))


def numbered(n: int) -> People:
    """Everyone is different, so that everyone can be found again."""
    table = Table.from_rows(domain(n), np.arange(n)[:, None])
    return People.split(table, np.random.default_rng(3))


def test_everyone_has_one_place_and_controls_are_in_no_table() -> None:
    people = numbered(103)
    groups = [rows(group) for group in (people.rest.codes, people.targets, people.controls, people.standins)]
    assert sum(map(len, groups)) == 103 and set[tuple[int, ...]]().union(*groups) == {(i,) for i in range(103)}
    assert {len(group) for group in groups[1:]} == {103 // PART}
    rest, targets, controls, standins = groups
    assert rows(people.members.codes) == rest | targets
    assert rows(people.strangers.codes) == rest | standins
    assert not controls & (rows(people.members.codes) | rows(people.strangers.codes))
    assert people.members.n == people.strangers.n == people.n


def test_the_split_is_random_and_the_same_for_a_seed() -> None:
    first, again, other = (town(seed=1), town(seed=1), town(seed=2))
    assert np.array_equal(first.targets, again.targets) and not np.array_equal(first.targets, other.targets)
    assert sorted(first.targets[:, 0].tolist()) != first.targets[:, 0].tolist()


def test_a_coin_decides_who_is_in_the_table() -> None:
    people = numbered(100)
    inside = np.arange(10) % 2 == 0
    held = rows(people.table(inside).codes)
    assert rows(people.targets[inside]) <= held and rows(people.standins[~inside]) <= held
    assert not held & (rows(people.targets[~inside]) | rows(people.standins[inside]))
    assert people.table(inside).n == people.n


def test_other_alternatives_join_codes() -> None:
    people = town(sizes=(4, 3))
    coarse = people.recoded(domain(2, 3), {"a": (0, 0, 1, 1)})
    assert np.array_equal(coarse.targets[:, 0], people.targets[:, 0] // 2)
    assert np.array_equal(coarse.controls[:, 1], people.controls[:, 1])
    assert coarse.rest.n == people.rest.n and coarse.rest.domain.shape == (2, 3)


def test_a_small_file_is_refused() -> None:
    with pytest.raises(FacsimileError, match=r"^E152 "):
        numbered(49)
