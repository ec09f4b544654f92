"""The guarantee and the known vulnerabilities: every statement names its code and its test, which exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = ("guarantee", "known-vulnerabilities")
SOURCE, INDEX = ROOT / "src" / "facsimile", ROOT / "src" / "facsimile" / "privacy" / "README.md"
NAMED = re.compile(r"`([^`]+)`")
IDENTIFIED = re.compile(r"([A-Z])(\d+)\. \S")


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a page, or a row of its table of theorems: what it points to."""

    title: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    none: str
    """Why no test holds it, where it says so."""


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def statements(text: str) -> Iterator[Statement]:
    """Every section of the third level, which ends with the lines **code** and **test**."""
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
        last = re.search(r"^- \*\*code\*\* (.*?)^- \*\*test\*\* (.*?)\Z", body, re.DOTALL | re.MULTILINE)
        code, test = last.groups() if last else ("", "")
        assert test.count("\n\n") <= 1, f"{title}: the pointers end it"
        none = test.partition("none: ")[2] if test.startswith("none: ") else ""
        yield Statement(title, tuple(NAMED.findall(code)), tuple(NAMED.findall(test)), none)


def theorems(text: str) -> Iterator[Statement]:
    """The rows of the table of theorems."""
    for code, tests in re.findall(r"^\| `(privacy/[^`]+)` \|(.*)\|$", text, re.MULTILINE):
        yield Statement(code, (code,), tuple(NAMED.findall(tests)), "")


@cache
def names(path: Path) -> frozenset[str]:
    """What a module defines: functions, classes, and their methods as CLASS.METHOD; names bound at its top."""
    found = set[str]()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            inside = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{one.name}" for one in inside if isinstance(one, ast.FunctionDef)}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def missing(pointer: str, root: Path) -> bool:
    """Whether a pointer `FILE::NAME`, or `FILE` of something that is no module, leads nowhere."""
    file, _, name = pointer.partition("::")
    if not (root / file).is_file():
        return True
    return name not in names(root / file) if file.endswith(".py") else bool(name)


def wrong(text: str) -> list[str]:
    """All that is wrong with a page."""
    found, numbers = [], list[tuple[str, int]]()
    for one in statements(text):
        said = IDENTIFIED.match(one.title)
        found += [] if said else [f"{one.title}: no number"]
        numbers += [(said[1], int(said[2]))] if said else []
    letters = dict.fromkeys(letter for letter, _ in numbers)
    counted = [(a, i + 1) for a in letters for i in range(sum(b == a for b, _ in numbers))]
    found += [] if numbers == counted else ["numbers are not 1, 2, 3, …"]
    for one in (*statements(text), *theorems(text)):
        found += [] if one.code else [f"{one.title}: no code"]
        found += [] if one.tests or one.none.strip() else [f"{one.title}: no test and no reason"]
        found += [f"{one.title}: {name}" for name in one.code if missing(name, SOURCE)]
        found += [f"{one.title}: {name}" for name in one.tests if missing(name, ROOT) or "::test_" not in name]
    return found


def unreachable(text: str, index: str) -> set[str]:
    """Theorems of the index that no row of the table of theorems leads to; `a.b.C` is `privacy/a/b.py::…C`."""
    rows = {one.title for one in theorems(text)}
    reached = {(file, name.rpartition(".")[2]) for file, _, name in (row.partition("::") for row in rows)}
    listed = re.findall(r"^\| `([\w.]+)` \|", index.split("## Index of theorems")[1], re.MULTILINE)
    pairs = {name: name.rpartition(".") for name in listed}
    return {n for n, (a, _, b) in pairs.items() if (f"privacy/{a.replace('.', '/')}.py", b) not in reached}


@pytest.mark.parametrize("name", PAGES)
def test_every_statement_is_numbered_and_points_to_code_and_tests_that_exist(name: str) -> None:
    assert len(list(statements(page(name)))) > 10
    assert wrong(page(name)) == []


def test_every_theorem_of_the_index_is_reachable() -> None:
    index = INDEX.read_text("utf-8")
    assert unreachable(page("guarantee"), index) == set()
    assert len(list(theorems(page("guarantee")))) == len(
        re.findall(r"^\| `[\w.]+` \| ", index.split("## Index")[1], re.M)
    )


BROKEN = {
    "a code name is gone": ("::State.refuse_beyond` ·", "::State.refuse_what` ·"),
    "a test is gone": ("::test_no_pair_of_laws_beats_the_capped_coin", "::test_no_pair_of_laws"),
    "a file is gone": ("`privacy/curator.py::Search.find`", "`privacy/search.py::Search.find`"),
    "a statement without code": ("- **code** `documents/readme.py::_approximate`\n", ""),
    "a statement without a test": (" `tests/documents/test_readme.py::test_a_person", " `test_a_person"),
    "a statement without a number": ("### H4. ", "### "),
    "a number twice": ("### H5. ", "### H4. "),
    "a row without a test": (
        "| `tests/privacy/test_modes.py::test_no_pair_of_laws_beats_the_capped_coin` |",
        "| |",
    ),
}


@pytest.mark.parametrize("old, new", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_found(old: str, new: str) -> None:
    text = page("guarantee")
    assert old in text
    assert wrong(text.replace(old, new, 1))


def test_a_theorem_that_is_not_on_the_page_is_found() -> None:
    index = INDEX.read_text("utf-8") + "| `modes.FairCoin` | nothing |\n"
    assert unreachable(page("guarantee"), index) == {"modes.FairCoin"}


def test_no_reason_is_no_excuse() -> None:
    text = page("known-vulnerabilities")
    assert wrong(re.sub(r"none: no program can test .*", "none:", text))


@pytest.mark.parametrize(
    "path", ["SECURITY.md", "docs/index.md", "docs/tutorial-reviewer.md", "src/facsimile/privacy/README.md"]
)
def test_reviewers_are_led_to_both_pages(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert all(f"{name}.md)" in text for name in PAGES), path
