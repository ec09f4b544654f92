"""Errors of means: sizes, centres and errors of groups, against records that are looked at one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import FloorMeans, ResizedMeans, checks
from facsimile.privacy.queries.means import Group
from facsimile.table.table import Table
from facsimile.testing.neighbours import numbered_domain

NUMBERS = (Fraction(-1), Fraction(1, 2), Fraction(5))
DOMAIN = numbered_domain(NUMBERS, (0, 1, 2))
BOUNDS = (Fraction(-2), Fraction(5))
GROUPS = (("b", (1, 0, 1)), ("a", (0, 0, 1)))
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=8, max_size=8)
NOISE = RehearsalNoise(1)


def members(rows: list[tuple[int, int]]) -> list[list[Fraction]]:
    """The numbers of all records, and of those in each group: 0 and 1 of b, then 0 and 1 of a."""
    inside = [(True, b == 1, b != 1, a < 2, a == 2) for a, b in rows]
    return [
        [NUMBERS[a] for (a, _), held in zip(rows, inside, strict=True) if held[place]] for place in range(5)
    ]


def near(value: Fraction) -> Fraction:
    """On the grid of 2^-20."""
    return Fraction(round(value * 2**20), 2**20)


@given(ROWS, ROWS, st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 5)]), st.integers(1, 5))
def test_every_group_has_its_centre_size_error_and_step(
    r: list[tuple[int, int]], s: list[tuple[int, int]], slack: Fraction, fill_to: int
) -> None:
    query = FloorMeans(Table.from_rows(DOMAIN, s), "a", GROUPS, BOUNDS, slack, fill_to)
    query.check(DOMAIN, 8)
    groups = [
        Group(
            near(sum(own, Fraction(0)) / len(own)) if own else Fraction(3, 2),
            (max(1, int(len(own) - 8 * slack), fill_to) if own else fill_to) if place else 8,
        )
        for place, own in enumerate(members(s))
    ]
    assert list(query.groups) == groups
    errors = [
        abs(sum((x - group.centre for x in own), Fraction(0))) / max(len(own), group.size)
        for own, group in zip(members(r), groups, strict=True)
    ]
    steps = [7 / Fraction(group.size) for group in groups]
    table, threshold = Table.from_rows(DOMAIN, r), Fraction(1, 3)
    assert query.value(table, NOISE) == max(errors)
    assert query.steps(threshold) == steps and query.sensitivity() == max(steps)
    excess = max((error - threshold) / step for error, step in zip(errors, steps, strict=True))
    assert query.excess(table, threshold, NOISE) == excess
    filled = ResizedMeans(query.candidate, "a", GROUPS, BOUNDS, slack, 8)
    assert [group.size for group in filled.groups] == [8] * 5
    apart = [
        sum((x - group.centre for x in own), Fraction(0)) for own, group in zip(members(r), groups, strict=True)
    ]
    assert filled.value(table, NOISE) == max(map(abs, apart)) / 8


def test_a_resized_group_is_drawn_from_where_it_is_larger() -> None:
    """Four records of a group of two: the error is that of two of them, or of no two."""
    s = Table.from_rows(DOMAIN, [(0, 0), (0, 0), (0, 1), (2, 1)])
    query = ResizedMeans(s, "a", (("b", (0, 1, 1)),), BOUNDS, Fraction(0))
    assert [group.size for group in query.groups] == [4, 2, 2]
    table = Table.from_rows(DOMAIN, [(0, 0), (0, 0), (2, 0), (2, 0)])
    drawn = {query.errors(table, RehearsalNoise(seed))[1][0] for seed in range(60)}
    assert drawn == {Fraction(0), Fraction(3), Fraction(6)}


@pytest.mark.parametrize(
    "changed",
    [
        {"groupings": (("b", (0, 1)),)}, {"groupings": (("z", (0, 1, 1)),)}, {"of": "z"}, {"slack": 0.5},
        {"bounds": (Fraction(-1, 2), Fraction(5))}, {"bounds": (Fraction(-1), Fraction(4))}, {"fill_to": 0},
        {"groupings": (("b", (0, 1, -1)),)}, {"groupings": (("b", (0, 1, 2**20 + 1)),)}, {"slack": Fraction, },
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(changed: dict[str, Any]) -> None:
    s = Table.from_rows(DOMAIN, [(0, 0), (2, 1)])
    given_ = {"of": "a", "groupings": GROUPS, "bounds": BOUNDS, "slack": Fraction(0), "fill_to": 1}
    FloorMeans(s, **(given_ | {"bounds": (NUMBERS[0], NUMBERS[-1])})).check(DOMAIN, 2)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        FloorMeans(s, **(given_ | changed)).check(DOMAIN, 2)  # type: ignore[arg-type]


def test_a_grouping_has_no_more_cells_than_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    s = Table.from_rows(DOMAIN, [(0, 0), (2, 1)])
    asked = FloorMeans(s, "a", GROUPS, (NUMBERS[0], NUMBERS[-1]), Fraction(0))
    cells = max(DOMAIN.size(tuple(dict.fromkeys(("a", name)))) for name, _ in GROUPS)
    monkeypatch.setattr(checks, "MOST_CELLS", cells)
    asked.check(DOMAIN, 2)
    monkeypatch.setattr(checks, "MOST_CELLS", cells - 1)
    with pytest.raises(ValueError, match="cells"):
        asked.check(DOMAIN, 2)
