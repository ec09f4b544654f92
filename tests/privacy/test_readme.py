"""The index of theorems in privacy/README.md is complete, and every theorem stands where it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from facsimile import privacy

FOLDER = Path(privacy.__file__).parent


def theorems() -> set[str]:
    found = set()
    for path in FOLDER.rglob("*.py"):
        module = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and "Theorem." in (
                ast.get_docstring(node) or ""
            ):
                found.add(f"{module}.{node.name}")
    return found


def test_the_index_of_theorems_is_complete() -> None:
    text = (FOLDER / "README.md").read_text().split("## Index of theorems")[1]
    assert set(re.findall(r"\| `([\w.]+)` \|", text)) == theorems()


def test_every_theorem_has_a_proof_or_a_source() -> None:
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
            if text and "Theorem." in text:
                assert "Proof." in text or "Liu and Talwar" in text


def test_the_readme_names_every_file() -> None:
    text = (FOLDER / "README.md").read_text()
    for path in FOLDER.glob("*.py"):
        assert path.name == "__init__.py" or path.name in text
