"""Each bad input of docs/errors.md is answered as the page says, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import itertools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bad_inputs import CASES, NUMBER, PAGE, SENTINEL, Case, page
from facsimile import storage
from programs import Program


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a lock."""
    days = itertools.count(0, 86_400)
    monkeypatch.setattr(storage, "time", SimpleNamespace(monotonic=lambda: next(days), sleep=time.sleep))


def files(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.group}: {case.what}")
def test_a_bad_input_is_answered(
    case: Case, run: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    arguments = case.make(tmp_path / "here")
    before = files(tmp_path / "here")
    during: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    with case.during(tmp_path / "here") if case.during else during:
        found = run(*arguments)
    told = [line for line in found.err.splitlines() if not line.endswith(" …")]
    place = f" line {case.line}: " if case.line else " "
    assert f"{told[0]} ".startswith(f"{case.code}{place}"), found.err
    assert ("line" in told[0].split()[:2]) == bool(case.line), found.err
    assert (found.code, found.out) == (case.exit, "")
    assert len(told) == case.several, found.err
    assert SENTINEL not in found.err and NUMBER not in found.err
    assert "Input should" not in found.err
    assert files(tmp_path / "here") == before, "nothing was charged, made or changed"


def test_enough_bad_inputs_and_no_two_the_same() -> None:
    assert len(CASES) >= 100
    assert len({(case.group, case.what) for case in CASES}) == len(CASES)


def test_the_page_lists_them() -> None:
    """`python tests/bad_inputs.py` writes it."""
    content = PAGE.read_text(encoding="utf-8")
    assert page(content) == content
