"""The tutorials of docs/, walked as their readers do: every step shows what the page shows."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import EXAMPLES, ROOT
from programs import Program, Ran, environment
from tutorials import PAGES, Step, steps

CHECKOUT = ("tests", "src", "pyproject.toml")
INNER = re.compile(r"\$\(facsimile ([^)]*)\)")
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(
    page: Path, tmp_path: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for name in CHECKOUT:
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    names: dict[str, Any] = {}
    for step in steps(page.read_text(encoding="utf-8")):
        if step.python:
            answer(step.text, names)
            continue
        ran = done(step, run)
        assert (ran.code != 0) == step.refused, f"`{step.text}`: {ran.out}{ran.err}"
        lost = step.missing(ran.out + ran.complaints)
        assert lost is None, f"`{step.text}` prints no {lost!r} in its place:\n{ran.out}{ran.complaints}"


def answer(text: str, names: dict[str, Any]) -> None:
    """Examples of Python answer what is shown; the next ones know what these have named."""
    told: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, names, "tutorial", None, 0)
    doctest.DocTestRunner(optionflags=LOOSELY).run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert told == [], "".join(told)


def done(step: Step, run: Program) -> Ran:
    """A command of ours runs in this process, which saves its start; a shell does anything else."""
    text = INNER.sub(lambda inner: run(*shlex.split(inner[1])).out.strip(), step.text)
    name, *arguments = shlex.split(text)
    if name == "facsimile":
        return run(*arguments)
    found = subprocess.run(
        text, shell=True, capture_output=True, encoding="utf-8", check=False, env=environment()
    )
    return Ran(found.returncode, found.stdout, found.stderr)
