"""The guide "How to add a command" of docs/design.md, followed with one."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import test_docs
from facsimile.cli import public
from facsimile.cli.options import AsJson, SpecFile
from facsimile.cli.page import show
from facsimile.results import Page, Result
from programs import Program

# --- step 1, a file of api/: what it does, and what it found


def columns(specification: Path) -> Columns:
    from facsimile.api.given import specified

    return Columns(specified(specification).names)


@dataclass(frozen=True, repr=False)
class Columns(Result):
    names: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"columns": list(self.names)}

    def page(self) -> Page:
        page = Page("Columns")
        page.table("In their order", "name", ((name,) for name in self.names))
        return page


# --- step 2, a file of cli/: how it is typed


def columns_command(spec: SpecFile, as_json: AsJson = False) -> None:
    """Name the columns of a specification.

    Example: facsimile columns release.yaml
    """
    show(columns(spec), as_json)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program as it starts with the new command in the table of its noun."""
    monkeypatch.setitem(public.COMMANDS, "columns", columns_command)
    monkeypatch.delitem(sys.modules, "facsimile.cli.program")
    return importlib.import_module("facsimile.cli.program")


def test_a_command_that_follows_the_guide_is_whole(program: Any, run: Program, births: Path) -> None:
    names = ["birth_month", "mother_age", "parity", "gestation_week", "birth_sex", "birth_weight"]
    found = run("columns", births / "ours.yaml", "--json")
    assert (found.code, json.loads(found.out)) == (0, {"columns": names})
    assert run("columns", births / "ours.yaml").out == "\n".join(
        ["Columns", "", "In their order", "name", *names, ""]
    )
    assert "Example: facsimile columns release.yaml" in run("columns", "--help").out
    assert run("columns", "nowhere.yaml").err.startswith("E212 ")
    assert repr(columns(births / "ours.yaml")) == "<Columns: Columns>"


def test_step_3_is_asked_for(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_docs, "commands", program)
    with pytest.raises(AssertionError, match="no section on columns"):
        test_docs.test_every_command_and_option_is_explained()
