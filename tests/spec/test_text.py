"""Texts that nobody writes in good faith are refused in little time and memory."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from conftest import ROOT
from facsimile.errors import SpecRefused
from facsimile.release.check import mistakes, thorough
from facsimile.spec.load import loads
from facsimile.spec.mistakes import MOST_SHOWN, MOST_TOLD
from facsimile.spec.text import LARGEST, MOST_VALUES, read

LOANS = (ROOT / "tests" / "loans" / "release.yaml").read_text(encoding="utf-8")
MANY = MOST_VALUES * 9 // 20
BINS = "      coarse: [0-13, 14-27, 28-60]"


def changed(old: str, new: str) -> str:
    assert LOANS.count(old) == 1
    return LOANS.replace(old, new)


def joined(pattern: str, count: int = MANY) -> str:
    return ", ".join(pattern.format(i) for i in range(count))


def column(i: int) -> str:
    return f"  - {{name: c{i}, description: x, nmae: y, bounds: [0, 9], alternatives: {{a: [0-4, 5-9]}}}}\n"


def query(i: int) -> str:
    return f"  - {{criterion: query, query: q{i}, where: c{i} > 1, threshold: 1, epsilon: 1}}\n"


def clamp(i: int) -> str:
    return f"    - {{never: age > {i} and days > {i}, source: x, clamp: {{age: {i % 99}}}}}\n"


def rule(i: int) -> str:
    return f"    - {{never: '{' or '.join(f'agee = {j}' for j in range(120))} or days < {i}', source: x}}\n"


LISTED = "  - {family: workloads, hyperparameters: {theta: 4, degree: 9}}\n"
RULE = "    - never: age > 120\n      source: nobody is so old\n"
CLAMPING = LOANS.replace("policy: declared", "policy: clamp").replace("drop", "refuse")
HOSTILE = {
    "unknown keys": LOANS + "".join(f"k{i}: 1\n" for i in range(MANY)),
    "misspelled keys": LOANS + "".join(f"colums{i}: 1\n" for i in range(MANY)),
    "keys given twice": LOANS + "title: x\n" * MANY,
    "columns": changed("constraints:\n", "".join(map(column, range(490))) + "constraints:\n"),
    "criteria": changed("selection:\n", "".join(map(query, range(490))) + "selection:\n"),
    "rules": changed(RULE, "".join(map(rule, range(190)))),
    "bins": changed(BINS, f"      coarse: [0..{2 * MANY}]"),
    "bins one by one": changed(BINS, f"      coarse: [{joined('{}')}, 7]"),
    "bins and groups": changed(BINS, f"      coarse: [{joined('{}')}]\n    groups: [{joined('{}')}]"),
    "categories": changed("values: [north, south]", f"values: [{joined('x{}')}]"),
    "categories in bins": changed("coarse: [north, south]", f"coarse: [{joined('x{}')}]"),
    "a grid": LOANS.replace("[4, 8]", f"[{joined('{}')}]").replace("[1, 2]", f"[{joined('{}')}]"),
    "names": changed("of: days", f"of: [{joined('dayz')}]"),
    "references": changed("by: [branch]", f"by: [{joined('brunch')}]"),
    "planning": changed("{branch: 15}", f"{{{joined('c{}: 1')}}}"),
    "minimal counts": changed("min_count: [2]", f"min_count: [{joined('0')}]"),
    "configurations": changed("criteria:\n", f"configurations:\n{LISTED * 990}criteria:\n"),
    "clamps": CLAMPING.replace(RULE, "".join(map(clamp, range(100, 290)))),
    "a long word": changed("of: days", f"of: {'x' * 900_000}"),
    "a long title": changed("Loans of a town library\nunit", f"{'x' * 900_000}\nunit"),
    "large numbers": changed("total: 3", "total: 1e-99").replace("[0, 60]", "[0, 1e99]"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_in_a_second(name: str) -> None:
    taken: list[float] = []
    while not taken or (taken[-1] > 1 and len(taken) < 3):
        start = time.process_time()
        with pytest.raises(SpecRefused) as caught:
            loads(HOSTILE[name], mistakes, thorough)
        taken.append(time.process_time() - start)
    assert min(taken) < 1
    error = caught.value
    assert error.code != "E210", "the mistakes are told"
    assert len(error.others) < MOST_SHOWN
    assert error.more < MOST_VALUES
    assert len(str(error)) < 20_000


def test_no_more_mistakes_are_told_than_people_read() -> None:
    with pytest.raises(SpecRefused) as caught:
        loads(HOSTILE["unknown keys"])
    lines = str(caught.value).splitlines()
    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1] == f"… and at least {MOST_TOLD - MOST_SHOWN} more."
    assert caught.value.as_json()["more"] == MOST_TOLD - MOST_SHOWN
    few = LOANS + "".join(f"k{i}: 1\n" for i in range(MOST_SHOWN + 7))
    with pytest.raises(SpecRefused) as caught:
        loads(few)
    assert str(caught.value).splitlines()[-1] == "… and 7 more."


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_hostile_texts_take_little_memory() -> None:
    """Those that hold most, one after the other, in a fresh process."""
    program = """
import re
from spec.test_text import HOSTILE, loads, mistakes, thorough, SpecRefused
for name in ("keys given twice", "rules", "bins and groups"):
    try:
        loads(HOSTILE[name], mistakes, thorough)
    except SpecRefused:
        pass
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT / "tests"
    )
    assert int(found.stdout) < 200


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x" * (LARGEST + 1), None, "more than 1 MB"),
        ("a: 1\n---\nb: 2", 2, "several documents"),
        ("a: 1\nb: &x 2", 2, "anchor"),
        ("a: 1\nb: *x", 2, "anchor"),
        ("a: 1\nb: !x 2", 2, "tag"),
        ("a: 1\n? [b]\n: 2", 2, "key"),
        ("a: " + "[" * 40 + "]" * 40, 1, "deep"),
        ("a: 1\nb: [1", 2, "syntax"),
        ("a: 0..19999", 1, "values"),
        (b"\xff", None, "UTF-8"),
    ],
)
def test_each_refusal_of_a_text_says_where_and_what_to_do(
    text: str | bytes, line: int | None, words: str
) -> None:
    with pytest.raises(SpecRefused) as caught:
        read(text)
    assert (caught.value.code, caught.value.line) == ("E210", line)
    assert words in str(caught.value)
    assert "without" not in str(caught.value).split(words)[0]


def test_a_key_given_twice_keeps_its_first_value_and_each_is_told() -> None:
    found = read("a: 1\nb: 2\na: 3\na: 4\n")
    assert found.data == {"a": "1", "b": "2"}
    assert [found.lines[mistake.place] for mistake in found.twice] == [3, 4]
