from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin
from facsimile.spec.constraints import (
    Compare,
    Condition,
    fold,
    holds,
    holds_on_bins,
    names,
    parse_condition,
    resolve,
)

KNOWN = ("x", "y", "sex")


def condition(text: str) -> Condition:
    return resolve(parse_condition(text), KNOWN)


def on_bins(text: str, bins: Mapping[str, Bin]) -> bool:
    return fold(condition(text), lambda atom: holds_on_bins(atom, bins), all, any)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x < 23 and y > 6", True),
        ("x >= 23 or y ≤ 6", False),
        ("not (x < 23 and y > 6)", False),
        ("23 > x", True),
        ("x = 20", True),
        ("x == 20 and x != 21", True),
        ("x in [19, 20]", True),
        ("x not in {19, 20}", False),
        ("sex = F", True),
        ('sex = "F"', True),
        ("sex in [M, 'X']", False),
        ("x > y", True),
        ("y is missing", False),
        ("any column is missing", False),
        ("not any column is missing", True),
        ("x is not missing and (y < 3 or y > 6)", True),
    ],
)
def test_a_condition_reads_as_people_say_it(text: str, expected: bool) -> None:
    assert holds(condition(text), {"x": Fraction(20), "y": Fraction(7), "sex": "F"}) is expected


@pytest.mark.parametrize("text", ["x < 1", "x >= 1", "not x < 1", "x = y", "x in [1]", "x not in [1]"])
def test_no_comparison_holds_on_a_missing_value(text: str) -> None:
    assert not holds(condition(text), {"x": None, "y": Fraction(1), "sex": "F"})
    assert not on_bins(text, {"x": MissingBin("?"), "y": NumberBin("1", Fraction(1), Fraction(1), Fraction(1))})


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "x <", "< 3", "x < 3 and", "x << 3", "x < 3)", "(x < 3", "x in []", "x in 3",
        "__import__('os')", "x < 3; y < 2", "x is 3", "not", "any column", "x ~ 3", "lambda: 0",
        "x.__class__ < 3 ]", "3 < 4",
        "(" * 50 + "x < 1" + ")" * 50, "x < 1 or " * 400 + "x < 1",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("x < 23", 20, 22, True),
        ("x < 23", 20, 23, False),
        ("x <= 23", 20, 23, True),
        ("x < 23", None, 22, True),
        ("x > 6", 7, None, True),
        ("x > 6", None, 9, False),
        ("x = 5", 5, 5, True),
        ("x = 5", 5, 6, False),
        ("x != 5", 6, None, True),
        ("x in [1, 2]", 2, 2, True),
        ("x not in [1, 2]", 3, 9, True),
        ("x not in [1, 5]", 3, 9, False),
    ],
)
def test_on_a_bin_a_comparison_holds_when_every_value_satisfies_it(
    text: str, low: int | None, high: int | None, expected: bool
) -> None:
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    assert on_bins(text, {"x": NumberBin("b", ends[0], ends[1], Fraction(0))}) is expected


def test_on_a_set_of_categories_every_one_must_satisfy_it() -> None:
    both = CategoryBin("both", frozenset(["M", "F"]))
    assert not on_bins("sex = F", {"sex": both})
    assert on_bins("sex in [F, M, X]", {"sex": both})
    assert on_bins("sex != X", {"sex": both})


numbers = st.integers(0, 6)
comparisons = st.builds(
    lambda name, sign, other: f"{name} {sign} {other}",
    st.sampled_from(["x", "y"]),
    st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    st.one_of(numbers.map(str), st.sampled_from(["x", "y"])),
)
texts = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        inner.map(lambda t: f"not ({t})"),
        st.builds(lambda a, b: f"({a}) and ({b})", inner, inner),
        st.builds(lambda a, b: f"({a}) or ({b})", inner, inner),
    ),
    max_leaves=6,
)


@given(texts, numbers, numbers)
def test_printing_and_parsing_keep_the_meaning(text: str, x: int, y: int) -> None:
    record: dict[str, Fraction | str | None] = {"x": Fraction(x), "y": Fraction(y), "sex": "F"}
    assert holds(condition(str(condition(text))), record) is holds(condition(text), record)


@given(texts, numbers, numbers)
def test_negation_is_exact_on_present_values(text: str, x: int, y: int) -> None:
    record: dict[str, Fraction | str | None] = {"x": Fraction(x), "y": Fraction(y), "sex": "F"}
    assert holds(condition(f"not ({text})"), record) is not holds(condition(text), record)


@given(texts, numbers, numbers, numbers, numbers)
def test_what_holds_on_bins_holds_on_all_their_values(text: str, x: int, y: int, dx: int, dy: int) -> None:
    bins = {
        "x": NumberBin("x", Fraction(x), Fraction(x + dx), Fraction(0)),
        "y": NumberBin("y", Fraction(y), Fraction(y + dy), Fraction(0)),
    }
    if on_bins(text, bins):
        for a in range(x, x + dx + 1):
            for b in range(y, y + dy + 1):
                assert holds(condition(text), {"x": Fraction(a), "y": Fraction(b), "sex": "F"})


def test_names_are_listed_once() -> None:
    assert names(condition("x < 1 and y > 2 and x > 0")) == ("x", "y")


def test_two_categories_are_equal_where_neither_bin_holds_another() -> None:
    one, both = CategoryBin("A", frozenset("A")), CategoryBin("AB", frozenset("AB"))
    same, other = Compare("x", "=", "y", True), Compare("x", "!=", "y", True)
    found = [holds_on_bins(same, {"x": x, "y": y}) for x in (one, both) for y in (one, both)]
    assert found == [True, False, False, False]
    assert not holds_on_bins(other, {"x": one, "y": both})
    assert holds_on_bins(other, {"x": one, "y": CategoryBin("C", frozenset("C"))})
