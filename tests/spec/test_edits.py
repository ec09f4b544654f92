"""Edits of a text: the data are as meant, and everything beside the changed place is as it was, to the byte."""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from facsimile.errors import FacsimileError
from facsimile.spec.edits import removed, replaced
from facsimile.spec.mistakes import Place
from facsimile.spec.written import Blocks, inline, lines, scalar
from spec.yamls import MAPPINGS, RANDOM, TEXTS, VALUES, Writer, at, data_of, places


def changed(data: Any, place: Place, value: Any) -> Any:
    """Data with a value set (`...`: removed)."""
    whole = copy.deepcopy(data)
    here = at(whole, place[:-1])
    if value is ...:
        del here[place[-1]]
    elif isinstance(here, list) and place[-1] == len(here):
        here.append(value)
    else:
        here[place[-1]] = value
    return whole


def within(place: Place, other: Place) -> bool:
    return place[: len(other)] == other


def check_rest(written: Writer, new: str, place: Place) -> None:
    """Lines that show nothing of a place or around it are there, in order; so are comments of other places."""
    found = [line.rstrip("\r\ufeff").lstrip("\ufeff") for line in new.split("\n")]
    rest = iter(found)
    for line, owners in written.lines:
        if line and not any(within(o, place) or within(place, o) for o in owners):
            assert any(
                line == other or line.strip().lstrip("- ") == other.strip().lstrip("- ") for other in rest
            )
    for comment, owner in written.comments.items():
        assert comment in new or within(owner, place)


@settings(max_examples=100)
@given(MAPPINGS, VALUES, RANDOM)
def test_a_value_is_replaced_and_nothing_else(data: dict[str, Any], value: Any, random: Random) -> None:
    written = Writer(random)
    text = written.text(data)
    assert data_of(text) == data
    place = random.choice(places(data))
    new = replaced(text, place, value)
    assert data_of(new) == changed(data, place, value)
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    assert new.count("\r\n") == (new.count("\n") if "\r\n" in text else 0)
    check_rest(written, new, place)
    assert data_of(replaced(new, place, at(data, place))) == data


@settings(max_examples=100)
@given(MAPPINGS, VALUES, RANDOM)
def test_of_a_larger_value_only_what_differs_is_written(
    data: dict[str, Any], value: Any, random: Random
) -> None:
    """The same edit, said by a value around it: what is the same in both stays as it is written."""
    written = Writer(random)
    text = written.text(data)
    place = random.choice(places(data))
    outer = place[: random.randint(1, len(place))]
    new = replaced(text, outer, at(changed(data, place, value), outer))
    assert new == (replaced(text, place, value) if at(data, place) != value else text)
    gone = changed(data, place, ...)
    whole = at(gone, outer) if outer != place else value
    new = replaced(text, outer, whole)
    assert data_of(new) == (gone if outer != place else changed(data, place, value))
    if whole and isinstance(place[-1], str):
        check_rest(written, new, place)


@settings(max_examples=100)
@given(MAPPINGS, VALUES, TEXTS, RANDOM)
def test_a_key_or_an_item_is_added_and_removed_again(
    data: dict[str, Any], value: Any, key: str, random: Random
) -> None:
    written = Writer(random)
    text = written.text(data)
    holders = [p for p in ((), *places(data)) if isinstance(at(data, p), dict | list)]
    holder = random.choice(holders)
    here = at(data, holder)
    if key in here and isinstance(here, dict):
        return
    place = (*holder, len(here) if isinstance(here, list) else key)
    new = replaced(text, place, value)
    assert data_of(new) == changed(data, place, value)
    check_rest(written, new, place)
    assert data_of(removed(new, place)) == data


@settings(max_examples=100)
@given(MAPPINGS, RANDOM)
def test_what_is_removed_is_gone_and_nothing_else(data: dict[str, Any], random: Random) -> None:
    written = Writer(random)
    text = written.text(data)
    place = random.choice(places(data))
    new = removed(text, place)
    assert data_of(new) == changed(data, place, ...)
    check_rest(written, new, place)
    value = at(data, place)
    last = not isinstance(place[-1], int) or place[-1] + 1 == len(at(data, place[:-1]))
    assert not last or data_of(replaced(new, place, value)) == data


@given(VALUES, TEXTS)
def test_what_is_written_is_read_again(value: Any, key: str) -> None:
    likes: list[Blocks] = [{}, [], None]
    for like in likes:
        first, *rest = lines(value, 0, 2, like)
        assert data_of("\n".join([f"k:{first}", *rest, ""])) == {"k": value}
    assert data_of(f"{{{scalar(key, True)}: {inline(value)}}}") == {key: value}


def test_an_edit_of_an_example_changes_its_own_lines(births: Path) -> None:
    random = Random(1)
    for path in sorted(births.parent.rglob("*.yaml")):
        text = path.read_text()
        data = data_of(text)
        for place in random.sample(places(data), 2):
            assert replaced(text, place, at(data, place)).count("#") <= text.count("#")
            new = removed(text, place)
            assert data_of(new) == changed(data, place, ...)
            kept = new.splitlines()
            same = [line for line in text.splitlines() if line in kept]
            assert len(same) >= len(text.splitlines()) - len(inline(at(data, place))) // 4 - 12


PAGE = """\
# Head.

columns:
  # About age.
  - name: age  # in years
    bounds: [0, 90]

    # What is not known.
    missing: {code: unknown}  # agreed
  # About sex.
  - name: sex
    values: [
      M,  # male
      F]
title: Births
"""


@pytest.mark.parametrize(
    ("place", "value", "old", "new"),
    [
        (("title",), "true", "title: Births", "title: 'true'"),
        (("columns", 0, "name"), "mother_age", "age  # in", "mother_age  # in"),
        (("columns", 0, "missing"), "drop", "{code: unknown}  # agreed", "drop  # agreed"),
        (("columns", 0, "missing", "number"), "0.5", "unknown}", "unknown, number: 0.5}"),
        (("columns", 0, "decimals"), "1", "    bounds", "    decimals: 1\n    bounds"),
        (("columns", 1, "values", 2), "X", "      F]", "      F,\n      X]"),
        (("columns", 1, "values", 0), ..., "      M,  # male\n", "      # male\n"),
        (("columns", 0, "missing"), ..., PAGE[PAGE.index("    # What") : PAGE.index("  # About sex")], ""),
        (("columns", 1, "name"), ..., "- name: sex\n    values", "- values"),
        (("unit",), "one birth", "title: Births\n", "title: Births\nunit: one birth\n"),
    ],
)  # fmt: skip
def test_edits_look_as_people_write(place: Place, value: Any, old: str, new: str) -> None:
    found = removed(PAGE, place) if value is ... else replaced(PAGE, place, value)
    assert found == PAGE.replace(old, new)


def test_a_comment_apart_by_a_blank_line_stays() -> None:
    assert removed("# Head.\n\n# Of a.\na: 1\nb: 2\n", ("a",)) == "# Head.\n\nb: 2\n"
    assert removed("a: 1\n  # Of no key.\nb: 2\nc: 3\n", ("b",)) == "a: 1\n  # Of no key.\nc: 3\n"


def test_a_long_list_is_written_in_lines_that_fit() -> None:
    new = replaced("a: 1\n", ("b",), [f"value {i}" for i in range(40)])
    assert max(map(len, new.splitlines())) <= 112 and new.count("\n") == 6
    new = replaced("a: 1\n", ("b",), [{"name": "x" * 60, "more": "y" * 60}])
    assert new == f"a: 1\nb:\n  - name: {'x' * 60}\n    more: {'y' * 60}\n"


@pytest.mark.parametrize("text", ["", "- a\n", "word\n", "null\n", "a: &b 1\n", "a: [\n"])
def test_what_is_no_specification_is_not_edited(text: str) -> None:
    with pytest.raises(FacsimileError) as caught:
        replaced(text, ("a",), "1")
    assert caught.value.code == "E210"


@pytest.mark.parametrize("place", [("b", "c"), ("a", 3), ("a", "x"), ("title", 0), ("a", 0, "d")])
def test_a_place_that_is_not_there_is_named(place: Place) -> None:
    text = "a: [x]\ntitle: T\n"
    for edit in (partial(replaced, text, place, "1"), partial(removed, text, place)):
        with pytest.raises(FacsimileError) as caught:
            edit()
        assert caught.value.code == "E213" and str(place[0]) in caught.value.sentence


def test_odd_yaml_is_edited_with_what_is_around_it() -> None:
    assert data_of(removed("a:\n  ? b\n  : 1\n  c: 2\n", ("a", "b"))) == {"a": {"c": "2"}}
    assert data_of(replaced("a: [b: 1, c]\n", ("a", 0, "d"), "2")) == {"a": [{"b": "1", "d": "2"}, "c"]}
    assert data_of(removed("a: {b: 1, b: 2}\nc: 3\n", ("a", "b"))) == {"a": {}, "c": "3"}


def test_the_whole_is_changed_key_by_key_or_not_at_all() -> None:
    text = "a: 1  # one\nb: 2  # two\n"
    assert replaced(text, (), {"a": "1", "b": "3"}) == "a: 1  # one\nb: 3  # two\n"
    with pytest.raises(FacsimileError, match="not replaced as a whole"):
        replaced(text, (), {"c": "1"})
