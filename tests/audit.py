"""What an auditor must read: the files that the privacy core imports, and those whose code runs on records.

python tests/audit.py        writes the list into src/facsimile/privacy/README.md
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src" / "facsimile"
README = SOURCE / "privacy" / "README.md"
START, END = "<!-- what an auditor must read: written by tests/audit.py -->\n", "<!-- end -->\n"
PUBLIC = "spec/"
"""Specifications are public. Reading asks them what the query is; they are handed no record."""


def imports(path: Path) -> Iterator[Path]:
    """The files of the package that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
        for name in names:
            place = SOURCE.parent.joinpath(*name.split("."))
            if name.partition(".")[0] == "facsimile":
                yield from (
                    found for found in (place.with_suffix(".py"), place / "__init__.py") if found.is_file()
                )


@cache
def closure() -> dict[str, int]:
    """Every file that the privacy core imports, by its path in the package, with its number of lines."""
    found: set[Path] = set()
    left = sorted((SOURCE / "privacy").rglob("*.py"))
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += imports(path)
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in found}
    return {path.relative_to(SOURCE).as_posix(): size for path, size in sorted(sizes.items()) if size > 1}


@contextmanager
def watched(seen: dict[str, set[str]], handed: dict[str, set[str]]) -> Iterator[None]:
    """Note which functions of which files are called, and which of them are handed a table or an array."""
    import numpy as np
    import pyarrow

    from facsimile.table.table import Table

    root = str(SOURCE) + "/"

    def called(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        name = code.co_filename.removeprefix(root)
        if event == "call" and name != code.co_filename and not name.startswith("testing/"):
            seen.setdefault(name, set()).add(code.co_name)
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = [frame.f_locals.get(argument) for argument in arguments]
            if any(isinstance(value, Table | np.ndarray | pyarrow.Table) for value in given):
                handed.setdefault(name, set()).add(code.co_name)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)


@cache
def ran() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The functions that run, and those that are handed records: a file is read, and every kind is asked."""
    from tempfile import TemporaryDirectory

    from pyarrow.csv import read_csv

    from contracts.test_hostile import DOMAIN, GOOD, PAIRS, asking
    from engines import write_labelled
    from facsimile.privacy.curator import Curator
    from facsimile.privacy.reader import read, rehearse
    from facsimile.testing.learners import learners
    from releases import specification, write_data

    seen: dict[str, set[str]] = {}
    handed: dict[str, set[str]] = {}
    with TemporaryDirectory() as folder:
        data, promised = write_data(Path(folder)), specification()
        for source in (data, write_labelled(read_csv(data), Path(folder) / "people.sav")):
            with watched(seen, handed):
                read(source, promised)
    for mechanism in (*map(asking, GOOD.values()), *learners(DOMAIN).values()):
        with watched(seen, handed):
            for table in PAIRS[-1]:
                Curator.rehearsal(rehearse(table), 1).run(mechanism)
    return seen, handed


def on_records() -> dict[str, int]:
    """The privacy core, and what of its imports runs on records."""
    return {
        path: size
        for path, size in closure().items()
        if path.startswith("privacy/") or (path in ran()[0] and not path.startswith(PUBLIC))
    }


def written() -> str:
    """The two lists."""
    first = on_records()
    second = {path: size for path, size in closure().items() if path not in first}
    beside = {path: size for path, size in first.items() if not path.startswith("privacy/")}
    total, more, others = (sum(files.values()) for files in (first, beside, second))
    return f"""{START}
This folder has {total - more:,} lines in {len(first) - len(beside)} files. {len(beside)} files beside it run on
records too, {more:,} lines. An auditor reads **{total:,} lines** in all.

{_rows(beside)}
{len(second)} files are imported with them, {others:,} lines, and are handed no record: they say what is
promised and what a refusal is called, and keep small files. Read them for what they promise.

{_rows(second)}
{END}"""


def _rows(files: dict[str, int]) -> str:
    head = "| file | lines | what it is |\n|---|---|---|\n"
    return head + "".join(f"| `../{path}` | {size} | {_said(path)} |\n" for path, size in files.items())


def _said(path: str) -> str:
    """The first sentence of a file's docstring."""
    text = ast.get_docstring(ast.parse((SOURCE / path).read_text("utf-8"))) or ""
    return re.split(r"(?<=[.?])\s", text.replace("\n", " ").replace("|", "\\|"), maxsplit=1)[0]


def listed() -> str:
    """What the README has between the marks."""
    text = README.read_text("utf-8")
    return text[text.index(START) : text.index(END) + len(END)]


if __name__ == "__main__":
    README.write_text(README.read_text("utf-8").replace(listed(), written()), "utf-8")
