"""What became of bins, in words: every change of a partition is told, and by the word that people use."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.agreement.partitions import regrouped
from facsimile.spec.bins import CategoryBin, NumberBin, labelled_bins, parse_bins

ONE = Fraction(1)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1 2-6 7-10 10<", "1 2-6 6<", ["7-10 and 10< joined as 6<"]),
        ("0-9 9<", "0-4 5-9 9<", ["0-9 split into 0-4 and 5-9"]),
        (
            "<18 18-24 25-44 44<",
            "<18 18-29 30-44 44<",
            ["the edge between 18-24 and 25-44 moved: 18-29 and 30-44"],
        ),
        ("0-3 4-6 7-9", "0-2 3-4 5-9", ["0-3, 4-6 and 7-9 became 0-2, 3-4 and 5-9"]),
        ("0-3 4-9", "0-3 4-10", ["4-9 → 4-10"]),
        ("0-3 4-9", "0-3 4-9 10-12", ["10-12 added"]),
        ("0-3 4-9 10-12", "0-3 4-9", ["10-12 removed"]),
        ("0..9", "0..4 5-9", ["5, 6, 7, 8 and 9 joined as 5-9"]),
        ("0 1 2 3", "0-1 2-3", ["0 and 1 joined as 0-1", "2 and 3 joined as 2-3"]),
        ("0..3", "0 1 2 3", []),
    ],
)
def test_bins_of_numbers(old: str, new: str, words: list[str]) -> None:
    one, other = (parse_bins(text.split(), ONE) for text in (old, new))
    assert regrouped(one, other) == words


def test_labels_are_described_where_they_do_not_say_what_they_hold() -> None:
    one = labelled_bins({"Q1": "1-3", "Q2": "4-6"}, ONE)
    moved = labelled_bins({"Q1": "1-4", "Q2": "5-6"}, ONE)
    assert regrouped(one, moved) == ["the edge between Q1 and Q2 moved: Q1 (1-4) and Q2 (5-6)"]
    assert regrouped(one, labelled_bins({"spring": "1-3", "Q2": "4-6"}, ONE)) == ["label Q1 → spring"]
    assert regrouped(one, labelled_bins({"Q1": "1-3", "Q2": "4-7"}, ONE)) == ["Q2 (4-6) → Q2 (4-7)"]


def categories(**bins: str) -> tuple[CategoryBin, ...]:
    return tuple(CategoryBin(label, frozenset(values)) for label, values in bins.items())


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (categories(x="abc", z="d"), ["x and y joined as x"]),
        (categories(x="ab", y="c", d="d"), ["label z → d"]),
        (categories(a="a", b="b", y="c", z="d"), ["x split into a and b"]),
        (categories(x="a", y="bc", z="d"), ["x (a, b) and y (c) became x (a) and y (b, c)"]),
        (categories(x="abe", y="c", z="d"), ["x: e added"]),
        (categories(w="a", y="c", z="d"), ["x → w: b removed"]),
        (categories(x="ab", y="c", z="d", w="e"), ["w added"]),
        (categories(x="ab", y="c"), ["z removed"]),
        (categories(z="d", x="ab", y="c"), ["bins in another order: z, x and y"]),
        (categories(x="ab", y="c", z="d"), []),
    ],
)
def test_bins_of_categories(new: tuple[CategoryBin, ...], words: list[str]) -> None:
    assert regrouped(categories(x="ab", y="c", z="d"), new) == words


def cut(edges: set[int]) -> tuple[NumberBin, ...]:
    ends = [0, *sorted(edges), 12]
    return parse_bins([f"{low}-{high - 1}" for low, high in pairwise(ends)], ONE)


@given(st.sets(st.integers(1, 11)), st.sets(st.integers(1, 11)))
def test_nothing_is_said_of_the_same_bins_and_something_of_others(one: set[int], other: set[int]) -> None:
    assert bool(regrouped(cut(one), cut(other))) == (one != other)


LABELS = st.lists(st.sampled_from("xyz"), min_size=5, max_size=5)


@given(LABELS, LABELS)
def test_categories_that_move_are_always_told(one: list[str], other: list[str]) -> None:
    def placed(labels: list[str]) -> tuple[CategoryBin, ...]:
        return categories(
            **{x: "".join(v for v, y in zip("abcde", labels, strict=True) if x == y) for x in labels}
        )

    assert bool(regrouped(placed(one), placed(other))) == (placed(one) != placed(other))
