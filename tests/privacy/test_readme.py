"""privacy/README.md names every file that an auditor must read, and every theorem where it stands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import audit
from conftest import ROOT
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


# --- what an auditor must read

RUNS = [path.relative_to(audit.SOURCE).as_posix() for path in sorted(FOLDER.rglob("*.py"))]
RUNS += re.findall(r"\| `\.\./([\w/.]+)` \|", audit.listed().split("handed no record")[0])
ELSEWHERE = {
    "privacy/anchor.py": "tests/privacy/test_ledger.py",
    "privacy/mechanisms/base.py": "tests/contracts/test_mechanisms.py",
    "privacy/queries/base.py": "tests/contracts/test_queries.py",
    "privacy/queries/checks.py": "tests/contracts/test_hostile.py",
}


def test_the_lists_for_an_auditor_are_what_the_core_imports_and_runs() -> None:
    assert audit.listed() == audit.written(), "python tests/audit.py writes them"


def test_what_is_handed_a_record_is_on_the_first_list() -> None:
    """Watched while a file is read and every listed mechanism, query and score is asked."""
    seen, handed = audit.ran()
    assert set(handed) <= set(RUNS)
    assert set(seen) <= set(audit.closure()), "what runs is imported"


def test_the_watch_sees_a_file_that_looks_at_a_record() -> None:
    """A dead watch would find no file at all."""
    handed = audit.ran()[1]
    for path in ("table/table.py", "table/matching.py", "privacy/queries/sums.py", "privacy/noise.py"):
        assert path in handed


@pytest.mark.parametrize("path", RUNS)
def test_what_runs_on_records_says_what_it_does_and_shows_or_proves_it(path: str) -> None:
    """A doctest, a proof, or in the core a test file that holds it to what it says."""
    text = (audit.SOURCE / path).read_text("utf-8")
    assert len((ast.get_docstring(ast.parse(text)) or "").split()) > 4
    own = ROOT / ELSEWHERE.get(path, f"tests/{Path(path).parent}/test_{Path(path).name}")
    tested = path.startswith("privacy/") and own.exists()
    shown = ">>> " in text or ("Theorem." in text and ("Proof." in text or "Liu and Talwar" in text))
    assert shown or tested or path.endswith("__init__.py")
