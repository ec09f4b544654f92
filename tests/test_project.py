"""The project installs what it needs: every import of the library is a declared dependency."""

from __future__ import annotations

import ast
import sys
import tomllib

from conftest import ROOT

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
