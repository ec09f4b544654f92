"""The list of mutants fits the source: a mutant that no longer applies would be a test that never fails."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache

import pytest

from mutants.items import BUILT, LISTS, PAGE, REVIEWED, SEEDED, answered, page
from mutants.listed import LISTED
from mutants.mutant import ROOT, Mutant, Stale, source


@cache
def functions(path: str) -> set[str]:
    return {node.name for node in ast.parse(source(path)).body if isinstance(node, ast.FunctionDef)}


def test_every_mutant_still_applies_in_one_place_and_is_python() -> None:
    for mutant in LISTED:
        ast.parse(mutant.applied(source(mutant.path)))


def test_every_test_that_could_kill_one_is_there() -> None:
    for mutant in LISTED:
        for test in mutant.tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).is_file(), (mutant.name, path)
            assert not name or name in functions(path), (mutant.name, test)


def test_names_are_distinct_and_each_says_why() -> None:
    assert max(Counter(mutant.name for mutant in LISTED).values()) == 1
    assert all(len(mutant.why.split()) > 2 and mutant.tests for mutant in LISTED)


def test_every_item_of_every_list_has_a_mutant_and_the_page_says_which() -> None:
    assert (len(SEEDED), len(REVIEWED), len(BUILT)) == (32, 20, 8)
    for items in LISTS.values():
        for item, begins in items.items():
            assert all(answered((begin,)) for begin in begins), item
    assert PAGE.read_text("utf-8") == page(), "python -m mutants --table"


@pytest.mark.parametrize(("text", "times"), [("nothing here", 0), ("old and old", 2)])
def test_a_text_that_does_not_occur_once_is_refused(text: str, times: int) -> None:
    mutant = Mutant("a mutant", "line.py", "old", "new", ("tests/test_errors.py",), "it would be skipped")
    with pytest.raises(Stale, match=f"occurs {times} times"):
        mutant.applied(text)
