"""Labels in words: true of exactly the values that the bin holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin, MissingBin, NumberBin, parse_bin
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.meanings import coarse, meaning

STEPS = st.sampled_from([Fraction(1), Fraction(1, 10)])
NUMBERS = st.integers(-50, 50)


@st.composite
def bins(draw: st.DrawFn) -> tuple[NumberBin, Fraction]:
    """A bin in any notation, with its own label or without."""
    step = draw(STEPS)
    low = draw(NUMBERS)
    high = low + draw(st.integers(0, 9))
    forms = [f"<{low}", f"≤{low}", f"<={low}", f"{low}<", f"{low}≤", f"{low}<=", f"{low}-{high}", f"{low}"]
    label = draw(st.sampled_from([None, "a name", "<7", "2-3", "x-y"]))
    return parse_bin(draw(st.sampled_from(forms)), step, label), step


def told(words: str, value: Fraction) -> bool:
    """Whether the words speak of the value, read as a person would."""
    words = words[words.rindex("(") + 1 : -1] if words.endswith(")") else words
    forms: dict[str, Callable[[Fraction], bool]] = {
        r"less than (\S+)": lambda x: value < x,
        r"more than (\S+)": lambda x: value > x,
        r"(\S+) or less": lambda x: value <= x,
        r"(\S+) or more": lambda x: value >= x,
    }
    for form, holds in forms.items():
        if match := re.fullmatch(form, words):
            return holds(parse_decimal(match[1]))
    low, _, high = words.partition(" to ")
    return parse_decimal(low) <= value <= parse_decimal(high or low)


@given(bins(), st.integers(-600, 600))
def test_the_words_hold_for_the_values_of_the_bin_and_no_other(
    found: tuple[NumberBin, Fraction], at: int
) -> None:
    b, step = found
    value = at * step
    assert told(meaning(b, step), value) is b.contains(value)


@given(bins())
def test_a_label_of_its_own_stays_in_sight(found: tuple[NumberBin, Fraction]) -> None:
    b, step = found
    if b.label in ("a name", "x-y"):
        assert meaning(b, step).startswith(f"{b.label} (")


def test_categories_and_codes() -> None:
    step = Fraction(1)
    assert meaning(CategoryBin("M", frozenset("M")), step) == "M"
    assert meaning(CategoryBin("family", frozenset({"a", "b", "c"})), step) == "family (a, b or c)"
    assert meaning(CategoryBin("boys", frozenset({"M"})), step) == "boys (M)"
    assert meaning(MissingBin("unknown"), step) == "unknown"


@pytest.mark.parametrize(("text", "several"), [("7", False), ("7-7", False), ("7-8", True), ("<7", True)])
def test_a_bin_is_coarse_when_it_may_hold_several_values(text: str, several: bool) -> None:
    assert coarse(parse_bin(text, Fraction(1))) is several
    assert not coarse(CategoryBin("a", frozenset({"a"})))
    assert coarse(CategoryBin("a", frozenset({"a", "b"})))
    assert not coarse(MissingBin("unknown"))
