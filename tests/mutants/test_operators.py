"""Generated mutants: what is changed, what is left alone, and that the equivalent ones fit the source."""

from __future__ import annotations

import ast

from mutants.generated import equivalent, everyone
from mutants.operators import changes
from mutants.reach import Reach, files

TEXT = '''
def f(x: int = 1, *, deep: bool) -> int:
    """Not 1 but 2."""
    if not x < 2 and deep:
        raise ValueError(f"{x + 1} is too small")
    held = sorted(y, reverse=True) + zip(x, y, strict=True)
    return max(x, 3) * floor(x / 2)
'''


def test_every_slip_of_the_hand_is_made_and_words_are_left_alone() -> None:
    found = {(change.old, change.new) for change in changes(TEXT)}
    assert {
        ("1", "0"), ("1", "2"), ("x < 2", "(x <= 2)"), ("not x < 2", "(x < 2)"), ("2", "3"), ("2", "1"),
        ("not x < 2 and deep", "(not x < 2 or deep)"), ("not x < 2 and deep", "deep"),
        ("not x < 2 and deep", "(not x < 2)"), ("True", "False"),
        ("sorted(y, reverse=True)", "sorted(y)"), ("max(x, 3)", "min(x, 3)"), ("3", "4"), ("3", "2"),
        ("max(x, 3) * floor(x / 2)", "(max(x, 3) // floor(x / 2))"), ("floor(x / 2)", "ceil(x / 2)"),
        ("x / 2", "(x * 2)"), ('raise ValueError(f"{x + 1} is too small")', "pass"),
    } <= found  # fmt: skip
    assert not any("Not 1" in old or "too small" in new for old, new in found)
    assert not any(old.startswith("zip") for old, new in found)
    assert [change.old for change in changes(TEXT)].count("True") == 1
    assert len({change.key for change in changes(TEXT)}) == len(changes(TEXT))
    for change in changes(TEXT):
        assert ast.dump(ast.parse(change.applied(TEXT))) != ast.dump(ast.parse(TEXT)), change.key


def test_equivalent_mutants_are_there_each_with_a_reason() -> None:
    every = [one.name for one in everyone()]
    assert len(every) == len(set(every)) > 4000
    assert set(equivalent()) <= set(every)
    assert all(len(reason.split()) > 3 for reason in equivalent().values())


def test_every_file_of_the_auditor_is_reached_by_some_test() -> None:
    reach = Reach.read()
    mutated = {one.file for one in everyone()}
    assert mutated <= set(files())
    assert all(reach.tests(file, "", 20.0, 3) for file in mutated)
