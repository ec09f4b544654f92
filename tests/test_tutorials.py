"""The tutorials, walked from top to bottom, each in a folder of its own: every command prints what is shown."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import EXAMPLES, ROOT
from programs import Program, Ran
from test_docs import SKIPPED, environment

PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
READERS = {"curator", "stakeholder", "data-user", "reviewer"}
REFUSED = re.compile(r"^E\d{3} ", re.MULTILINE)
STEP = re.compile(r"^```(console|sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A command of a tutorial, or a piece of Python, and what is shown under it."""

    command: str
    shown: str = ""
    python: bool = False


def steps(text: str) -> list[Step]:
    """Everything that a reader does, in the order of the page."""
    found = []
    for kind, block in STEP.findall(text):
        if kind == "python":
            found.append(Step(block, python=True))
        elif kind == "sh":
            found += [Step(line) for line in block.splitlines()]
        else:
            parts = (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
            found += [Step(command, shown) for command, _, shown in parts]
    return found


def plain(text: str) -> str:
    """Words and numbers, however they are set on lines."""
    return " ".join(text.split())


def missing(shown: str, printed: str) -> str | None:
    """The first piece between two marks that was not printed in its place."""
    rest = plain(printed)
    for piece in filter(None, map(plain, shown.split(SKIPPED))):
        if piece not in rest:
            return f"{piece!r} but {rest!r}"
        rest = rest.partition(piece)[2]
    return None


def done(step: Step, folder: Path, run: Program) -> Ran:
    """A command of ours in this process, which saves its start; anything else in one of its own."""
    if not step.python and step.command.startswith("facsimile ") and not set(step.command) & set("|>&;"):
        return run(*shlex.split(step.command)[1:])
    command = [sys.executable, "-c", step.command] if step.python else shlex.split(step.command)
    command[0] = shutil.which(command[0], path=environment()["PATH"]) or command[0]
    found = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False, env=environment()
    )
    return Ran(found.returncode, found.stdout, found.stderr)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(
    page: Path, tmp_path: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    for step in steps(page.read_text(encoding="utf-8")):
        ran = done(step, tmp_path, run)
        assert (ran.code != 0) == bool(REFUSED.search(step.shown)), f"`{step.command}`: {ran.out}{ran.err}"
        lost = missing(step.shown, ran.out + ran.complaints)
        assert lost is None, f"`{step.command}` does not print {lost}"


def test_every_reader_has_one_with_steps_and_a_refusal() -> None:
    assert {page.stem.removeprefix("tutorial-") for page in PAGES} == READERS
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(steps(text)) >= 5, page.name
        assert any(REFUSED.search(step.shown) for step in steps(text)), page.name
        assert [line for line in text.splitlines() if line.startswith("## ")][-1] == "## When it is refused"


@pytest.mark.parametrize("example", ["births", "discharges"])
def test_both_examples_are_walked(example: str) -> None:
    walked = [step.command for page in PAGES for step in steps(page.read_text(encoding="utf-8"))]
    assert any(f"examples/{example}/" in command for command in walked)


def test_what_is_not_printed_is_noticed() -> None:
    printed = "total  9.98\nof 10,\n0.02 remain"
    assert missing("total 9.98 … 0.02 remain", printed) is None
    assert missing("0.02 remain … total", printed) is not None
    assert missing("total 9.99", printed) is not None
