"""The package: its names, what importing it costs, and folders that are commands."""

from __future__ import annotations

import inspect
import json
import pydoc
import subprocess
import sys

import pytest

import facsimile

COMMANDS = {
    "answer", "audit", "check", "combine", "comment", "decisions", "design", "dossier", "evaluate", "explore",
    "fit", "init", "ledger", "load", "note", "open", "plan", "plan_hash", "release", "replicate", "report",
    "risk", "set_item", "sign", "simulate", "verify",
}  # fmt: skip
HEAVY = ("numpy", "scipy", "pydantic", "ibis", "duckdb", "pyarrow", "opendp", "rich", "yaml", "typer")


def fresh(code: str, *arguments: str) -> str:
    """What a new Python prints."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_names_are_listed() -> None:
    assert {*dir(facsimile)} == {*facsimile.__all__} == {*COMMANDS, "FacsimileError", "Fitted", "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'relase'"):
        _ = facsimile.relase


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_name_is_a_call_with_an_example(name: str) -> None:
    call = getattr(facsimile, name)
    assert callable(call)
    assert ">>> " in str(call.__doc__) and f"facsimile.{name}(" in str(call.__doc__)
    assert f"facsimile.{name}(" in pydoc.render_doc(call)
    needed = [p for p in inspect.signature(call).parameters.values() if p.default is p.empty]
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_KEYWORD) for p in needed)


def test_importing_the_package_and_asking_for_a_name_is_light() -> None:
    code = f"""
import json, sys, facsimile
dir(facsimile); facsimile.fit; facsimile.check; facsimile.plan
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"""
    assert json.loads(fresh(code)) == []


def test_the_version_is_told_without_a_single_dependency() -> None:
    code = f"""
import sys
sys.argv = ["facsimile", "--version"]
from facsimile.cli import main
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules])"""
    assert fresh(code) == f"facsimile {facsimile.__version__}\n[]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="resource is a module of Unix")
def test_the_version_takes_no_third_of_a_second() -> None:
    """CPU, not clock, and the least of three: whatever else the machine does has no say."""
    code = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "facsimile", "--version"], check=True, capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)"""
    assert min(float(fresh(code)) for _ in range(3)) <= 0.3


@pytest.mark.parametrize("first", ["facsimile.release", "facsimile.explore", "facsimile"])
def test_a_folder_that_is_a_command_stays_a_folder(first: str) -> None:
    code = f"""
import {first}, facsimile, sys
called = callable(facsimile.release), callable(facsimile.explore)
import facsimile.release as folder
print(called, folder is facsimile.release is sys.modules["facsimile.release"], len(folder.__path__))"""
    assert fresh(code) == "(True, True) True 1\n"
