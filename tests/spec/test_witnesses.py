"""Witnesses: few values decide what all values of bins would (compared in tests/table/test_conditions.py)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Condition, names, parse_condition, resolve
from facsimile.spec.witnesses import asked, cases, witnesses

AXES = {name: Axis(name, parse_bins(["<0", "0..9"], Fraction(1))) for name in ("a", "b", "c", "d")}


def condition(text: str) -> Condition:
    return resolve(parse_condition(text), tuple(AXES))


def leaves(text: str) -> list[tuple[str, ...]]:
    """The columns of each leaf."""
    found: list[tuple[str, ...]] = []
    asked(condition(text), lambda leaf: found.append(names(leaf)), lambda _: None, lambda _: None)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < 1 and b < 1 and c < 1", [("a",), ("b",), ("c",)]),
        ("a < 1 and b < 1 or a > 3 and c > 3", [("a",), ("b",), ("a",), ("c",)]),
        ("a < 5 and a > 10", [("a",)]),
        ("a < b and c < 1", [("c",), ("a", "b")]),
        ("a < b and b < c and d = 1", [("d",), ("a", "b", "c")]),
        ("(a < 1 or b < 1) and (b > 3 or c > 3)", [("a", "b", "c")]),
        ("any column is missing", [("a",), ("b",), ("c",), ("d",)]),
    ],
)
def test_only_columns_that_a_condition_ties_together_are_asked_together(
    text: str, expected: list[tuple[str, ...]]
) -> None:
    assert sorted(leaves(text)) == sorted(expected)


def test_witnesses_are_few_and_those_of_compared_columns_are_as_many_as_there_are_columns() -> None:
    wide = Axis("a", parse_bins(["0-999"], Fraction(1))), Axis("b", parse_bins(["0-999"], Fraction(1)))
    assert [len(found) for found in witnesses(condition("a < 500"), wide[:1])] == [3]
    assert [len(found) for found in witnesses(condition("a < b"), wide)] == [2, 2]
    assert [int(v or 0) for v, _ in witnesses(condition("a < b and b < 500"), wide)[0]] == [0, 1, 500, 501, 502]


def test_cases_are_those_of_the_largest_leaf() -> None:
    alone = cases(condition("a < 1"), AXES)
    assert cases(condition("a < 1 and b < 1"), AXES) == alone < 20
    assert cases(condition("(a < 1 or b < 1) and (a > 3 or b > 3)"), AXES) > alone**2 / 2
