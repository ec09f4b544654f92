"""Every error has a code, one sentence and one next step, and belongs to its branch of the tree."""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from conftest import ROOT
from facsimile import errors
from facsimile.errors import (
    CATALOGUE,
    BudgetRefused,
    DataRefused,
    FacsimileError,
    LedgerRefused,
    MechanismFailed,
    NoRelease,
    Refused,
    SpecRefused,
    VerifyFailed,
    refusal,
)

# Items of a specification, of a command, of a budget: nothing that is read from a data file.
ITEMS = {
    "asked", "buys", "call", "choice", "column", "columns", "command", "construct", "extra", "family", "file",
    "fresh", "given", "item", "key", "name", "needed", "package", "parts", "port", "problem", "remaining",
    "span", "suggestion", "total", "wish",
}  # fmt: skip
BRANCHES: list[tuple[str, type[FacsimileError], int]] = [
    ("E302", MechanismFailed, 1),
    ("E304", MechanismFailed, 1),
    ("E305", MechanismFailed, 1),
    ("E306", MechanismFailed, 1),
    ("E0", Refused, 2),
    ("E1", DataRefused, 2),
    ("E2", SpecRefused, 2),
    ("E30", BudgetRefused, 3),
    ("E3", LedgerRefused, 4),
    ("E4", Refused, 2),
    ("E5", VerifyFailed, 5),
    ("E6", NoRelease, 6),
    ("E7", MechanismFailed, 1),
]


def places(code: str) -> set[str]:
    """The named places of an entry."""
    entry = CATALOGUE[code]
    return {name for _, name, _, _ in Formatter().parse(entry.sentence + entry.next_step) if name}


def raised() -> Iterator[tuple[str, int, str, set[str] | None]]:
    """Every `refusal("E…", …)` in the source: file, line, code and items (None: not spelled out)."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refusal"):
                continue
            code = node.args[0]
            if isinstance(code, ast.Constant):
                names = [keyword.arg for keyword in node.keywords]
                items = None if None in names else {str(name) for name in names} - {"line"}
                yield path.name, node.lineno, str(code.value), items


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_error_is_a_sentence_and_a_next_step(code: str) -> None:
    entry = CATALOGUE[code]
    assert re.fullmatch(r"E\d{3}", code)
    for text in (entry.sentence, entry.next_step):
        assert text.endswith((".", "}")), text
        assert "\n" not in text
        assert "|" not in text, "the table of docs/errors.md could not hold it"
    assert places(code) <= ITEMS


def test_no_code_stands_twice_in_the_catalogue() -> None:
    codes = re.findall(r"^E\d{3}", errors._CATALOGUE, re.MULTILINE)
    assert codes == list(CATALOGUE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_an_error_belongs_to_its_branch(code: str) -> None:
    kind, exit_code = next((k, e) for prefix, k, e in BRANCHES if code.startswith(prefix))
    error = refusal(code, line=None, **dict.fromkeys(places(code), "x"))
    assert type(error) is kind
    assert error.exit_code == exit_code
    assert "{" not in str(error)


def test_what_the_source_raises_is_in_the_catalogue_and_complete() -> None:
    found = list(raised())
    assert len(found) > 30
    for file, line, code, items in found:
        assert code in CATALOGUE, f"{file}:{line} raises {code}"
        assert items is None or places(code) <= items, f"{file}:{line} leaves {places(code) - items} open"


def test_the_line_of_a_specification_comes_first() -> None:
    error = refusal("E202", line=12, key="title")
    assert str(error) == "E202 line 12: The key title is given twice. Keep one of them."
    assert error.as_json() == {
        "error": {
            "code": "E202",
            "message": "The key title is given twice.",
            "next": "Keep one of them.",
            "line": 12,
        }
    }


def test_without_a_line_none_is_shown() -> None:
    assert str(refusal("E208")).startswith("E208 This command shows exact figures")
    assert "line" not in str(refusal("E208").as_json())


def test_the_docstring_draws_every_class() -> None:
    text = (ROOT / "src" / "facsimile" / "errors.py").read_text(encoding="utf-8")
    tree = text[: text.index("from __future__")]
    for _, kind, exit_code in BRANCHES:
        line = next(line for line in tree.splitlines() if f" {kind.__name__} " in line)
        assert kind in (DataRefused, SpecRefused) or f"exit {exit_code}" in line


def test_items_are_not_read_as_places() -> None:
    """A key such as {x} of a specification is shown, never filled in."""
    assert "{x}" in str(refusal("E202", key="{x}"))


def test_no_source_file_prints_or_logs() -> None:
    """What people read goes through the command line; nothing else writes."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found = re.search(r"^\s*(print\(|import logging|from logging)", text, re.MULTILINE)
        assert not found or path.match("audit/replay.py"), path.name  # which listens to what others log
