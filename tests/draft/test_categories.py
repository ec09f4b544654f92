"""Columns of categories: labels, order, and coarser ways that join what is rare."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.categories import Categories
from facsimile.spec.columns import Column

WORDS = st.sampled_from(
    ["a", "b", "Other", "other", "?", "NA", "unknown", "=x", "@", "low", "high", "1", "2", "10"]
)


def column(found: Categories) -> Column:
    return Column.model_validate({"name": "x", "description": "X", **found.keys()})


@given(
    st.dictionaries(st.one_of(WORDS, st.text(min_size=1, max_size=5)), st.integers(1, 400), min_size=2),
    st.dictionaries(WORDS, st.text(min_size=1, max_size=9), max_size=3),
    st.booleans(),
)
def test_what_is_written_is_a_column(counts: dict[str, int], said: dict[str, str], sampled: bool) -> None:
    counts = {text.strip(): n for text, n in counts.items() if text.strip()}
    if len(counts) < 2:
        return
    found = Categories.of(counts, said, (), sampled)
    if found is None or len(found.counts) < 2:
        return
    made = column(found)
    sizes = [made.axis(name).size for name in made.alternatives]
    assert sizes == sorted(set(sizes), reverse=True) and sizes[-1] >= 2
    assert made.finest.size == sizes[0]
    assert sum(found.counts.values()) == sum(counts.values()) or not sampled
    for text in counts:
        value = made.map.get(text) if made.map else text
        assert value in (made.values or ()) or made.outside in (made.values or ())


def test_words_of_a_scale_keep_their_order_and_neighbours_are_joined() -> None:
    counts = {"bad": 300, "fair": 400, "good": 300, "very bad": 90, "very good": 100}
    keys = Categories.of(counts, {}, (), False).keys()  # type: ignore[union-attr]
    assert keys["values"] == ["very bad", "bad", "fair", "good", "very good"]
    assert list(keys["alternatives"]["coarse"]) == ["very bad to bad", "fair", "good to very good"]
    assert list(keys["alternatives"]["coarsest"]) == ["very bad to fair", "good to very good"]


def test_numbered_texts_are_ordered_by_their_numbers() -> None:
    counts = dict.fromkeys(["10-19", "100 or more", "20-99", "0-9"], 100)
    assert Categories.of(counts, {}, (), False).keys()["values"] == ["0-9", "10-19", "20-99", "100 or more"]  # type: ignore[union-attr]


def test_rare_ones_are_joined_and_frequent_ones_come_first() -> None:
    counts = {"a": 500, "b": 3, "c": 700, "d": 5, "e": 60}
    keys = Categories.of(counts, {}, (), False).keys()  # type: ignore[union-attr]
    assert keys["values"] == ["c", "a", "e", "d", "b"]
    assert keys["alternatives"]["released"] == {"c": "c", "a": "a", "other": ["e", "d", "b"]}


def test_of_many_texts_the_frequent_ones_are_listed_and_all_others_are_one() -> None:
    counts = {f"town {place}": 1000 // place for place in range(1, 200)}
    found = Categories.of(counts, {}, (), False)
    assert found is not None and found.open_ == "other" and len(found.counts) <= 30
    assert sum(found.counts.values()) == sum(counts.values())


def test_many_texts_of_which_none_is_frequent_are_nothing() -> None:
    assert Categories.of({f"town {place}": 2 for place in range(900)}, {}, (), False) is None


def test_a_description_gives_labels_their_order_and_codes_for_no_value() -> None:
    found = Categories.of({"1": 90, "2": 80, "9": 5}, {"2": "woman", "1": "man", "9": "refused"}, ("9",), False)
    assert found is not None
    assert dict(found.texts) == {"2": "woman", "1": "man", "9": "unknown"}
    assert list(found.counts) == ["woman", "man", "unknown"]


def test_values_of_a_description_that_the_file_lacks_are_listed() -> None:
    found = Categories.of({"1": 90, "2": 80}, {"1": "one", "2": "two", "3": "three"}, (), False)
    assert found is not None and found.counts == {"one": 90, "two": 80, "three": 0}
