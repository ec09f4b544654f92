"""The project: what it installs, how its tests are named, what it says of itself, what a change touches."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import sys
import tomllib
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType

import yaml

import facsimile
from conftest import ROOT
from facsimile.api import ledgers

PACKAGES = {
    "ibis": "ibis-framework",
    "yaml": "pyyaml",
    "pydantic_core": "pydantic",
}
EXTRAS = {"psycopg", "pyspark", "distributed"}


def imported() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"facsimile"}


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {line.split("[")[0].split(" ")[0] for line in project["dependencies"]}
    assert {PACKAGES.get(name, name) for name in imported() - EXTRAS} <= declared
    optional = " ".join(line for lines in project["optional-dependencies"].values() for line in lines)
    assert all(name in optional for name in EXTRAS & imported())


# --- tests mirror src

BROAD = {
    "contracts": "what every mechanism, query, synthesizer and kind must keep, beyond one file",
    "explore/report/test_charts.py": "charts of the study page, drawn by a browser",
    "golden": "what whole commands write, byte for byte",
    "hostile": "inputs that nobody writes in good faith, machines that fail, and what a run must not tell",
    "journeys": "whole stories of a curator, with the installed program",
    "mutants": "the list of mistakes that tests must notice, held to the source",
    "acceptance/test_new_kind.py": "the guide to a new criterion, followed",
    "cli/test_census.py": "a third dataset, walked from exploring to a plan",
    "cli/test_guide.py": "the guide to a new command, followed",
    "cli/test_interrupt.py": "Ctrl-C, which crosses every layer",
    "cli/test_sources.py": "addresses of each engine, through the commands",
    "documents/test_browser.py": "pages, drawn by a browser",
    "documents/test_claims.py": "sentences of every document, held against the report",
    "documents/test_numbers.py": "figures of every document, held against the report",
    "privacy/test_limits.py": "the limits that proofs rest on, written a second time",
    "privacy/test_opacus.py": "noisy steps, held against torch and Opacus",
    "privacy/test_readme.py": "the folder's README",
    "privacy/test_rules.py": "the boundary rules P1 to P9, over all source text",
    "release/test_listed.py": "releases that draw from a list, from top to bottom",
    "release/test_replay.py": "a release made again from its transcript",
    "test_bad_inputs.py": "every bad input of docs/errors.md, through the commands",
    "test_browser.py": "the browser that tests of pages use",
    "test_dist.py": "the wheel and the sdist",
    "test_docs.py": "every page of the documentation",
    "test_glossary.py": "the glossary",
    "test_guarantee.py": "the guarantee and the known vulnerabilities, held to code and tests",
    "test_notebook.py": "docs/notebook.ipynb, executed",
    "test_nvss.py": "the script that draws the public births",
    "test_package.py": "what importing the package costs and shows",
    "test_paper.py": "the births paper, element by element",
    "test_project.py": "this file",
    "test_site.py": "the documentation's site",
    "test_tutorials.py": "the tutorials",
}


def mirrors(path: Path) -> bool:
    """Whether a test is named after a module or a folder of the package, or after an aspect of one."""
    folder = ROOT / "src" / "facsimile" / path.parent
    name = path.stem.removeprefix("test_")
    modules = {found.stem for found in folder.glob("*") if found.suffix == ".py" or found.is_dir()}
    return any(name == module or name.startswith(f"{module}_") for module in {*modules, folder.name})


def test_every_test_mirrors_the_source_or_is_listed_with_its_reason() -> None:
    tests = ROOT / "tests"
    every = [path.relative_to(tests) for path in sorted(tests.rglob("test_*.py"))]
    strays = {path.as_posix() for path in every if not mirrors(path)}
    listed = {path for path in strays if path in BROAD or path.partition("/")[0] in BROAD}
    assert strays == listed
    assert {entry for entry in BROAD if not any(path.startswith(entry) for path in strays)} == set()


# --- habits


METHODS = (FunctionType, property, cached_property, classmethod, staticmethod)


def test_every_public_method_says_what_it_does_itself_or_in_its_base() -> None:
    silent = []
    for found in pkgutil.walk_packages(facsimile.__path__, "facsimile."):
        owned = vars(import_module(found.name.removesuffix(".__main__"))).items()
        kinds = [kind for name, kind in owned if inspect.isclass(kind) and name[0] != "_"]
        for kind in (kind for kind in kinds if kind.__module__ == found.name):
            methods = [
                name for name, held in vars(kind).items() if isinstance(held, METHODS) and name[0] != "_"
            ]
            silent += [f"{kind}.{name}" for name in methods if not inspect.getdoc(getattr(kind, name))]
    assert silent == []


def test_the_continuous_integration_runs_the_readme_on_every_system_and_version() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert matrix["python"] == named == ["3.11", "3.12", "3.13", "3.14"]
    readme = (ROOT / "README.md").read_text("utf-8")
    steps = [step["run"] for step in jobs["test"]["steps"] if "run" in step]
    assert steps[0].startswith("make test")
    for line in steps[1].splitlines():
        assert line.replace("python -m venv", "py -m venv").replace("/", "\\") in readme
    windows = next(
        step for step in jobs["test"]["steps"] if "Windows" in step.get("if", "") and "!=" not in step["if"]
    )
    assert windows["shell"] == "bash"  # PowerShell would go on after a command that fails
    assert windows["run"].startswith("python ")  # `py` takes the newest Python, whatever the matrix says
    assert [step["run"] for step in jobs["complete"]["steps"] if "run" in step] == [".ci/run"]


def test_it_is_cited_by_its_version_and_licence() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["version"] == project["version"]
    assert cited["license"] == "MIT"
    assert cited["title"] == project["name"]
    assert cited["abstract"] == project["description"]
    assert {"cff-version", "message", "authors"} <= set(cited)


def test_a_privacy_concern_is_led_to_the_private_way() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    assert {path.name for path in folder.iterdir()} == {"config.yml", "bug.md", "privacy.md", "addition.md"}
    for path in folder.glob("*.md"):
        head = yaml.safe_load(path.read_text("utf-8").split("---")[1])
        assert {"name", "about"} <= set(head)
    assert "SECURITY.md" in (folder / "privacy.md").read_text("utf-8")
    assert "No record" in (folder / "bug.md").read_text("utf-8")


def test_every_end_in_a_ledger_is_explained() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for words in ledgers.OUTCOMES.values():
        assert all(part in text for part in words.split(", not finished")[0].split(": run")), words


# --- a change and the files it touches


def touched() -> dict[str, tuple[list[str], list[str]]]:
    """The rows of the table in docs/design.md: the files of a change, and what holds it."""
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    section = text.split("## A change and the files it touches")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| a")]
    named = [[re.findall(r"`([^`]+)`", cell) for cell in row[1:]] for row in rows]
    return {row[0].strip(): (files, held) for row, (files, held) in zip(rows, named, strict=True)}


def test_a_change_touches_at_most_four_files_and_each_is_there() -> None:
    found = touched()
    assert list(found) == [
        "a criterion", "a selection mode", "a synthesizer", "an engine", "a section of a document",
        "a language", "a command",
    ]  # fmt: skip
    for change, (files, held) in found.items():
        assert 0 < len(files) <= 4, change
        assert held, change
        for path in (*files, *held):
            assert (ROOT / path).exists(), path
        assert any(path.startswith("tests/") for path in held), change


def test_one_file_reads_labelled_files() -> None:
    """Whoever read one by itself would let the library choose types."""
    reading = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and re.fullmatch(r"pyreadstat\.read_\w+", ast.unparse(node)):
                reading.add(path.relative_to(ROOT).as_posix())
            if isinstance(node, ast.ImportFrom) and node.module == "pyreadstat":
                reading.add(f"{path.relative_to(ROOT).as_posix()} imports its parts")
    assert reading == {"src/facsimile/sources/labelled.py"}


ENGINES = {"duckdb", "sqlite", "postgres", "postgresql", "spark", "pyspark", "datafusion"}
DOORS = {f"ibis.{name}" for name in ENGINES}


def test_no_other_file_knows_an_engine_by_its_name() -> None:
    """A string that is an engine's name, or a door of ibis to one."""
    knowing = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(node, ast.Constant) and node.value in ENGINES
            door = (
                isinstance(node, ast.Attribute) and node.attr in ENGINES and ast.unparse(node.value) == "ibis"
            )
            if named or door:
                knowing.add(path.relative_to(ROOT).as_posix())
    assert knowing == set(touched()["an engine"][0]) - {"pyproject.toml"}
