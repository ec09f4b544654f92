"""The glossary names things that exist, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import typer

from conftest import ROOT
from facsimile.cli import program
from facsimile.release import bundle
from facsimile.spec.load import schema

PAGE = ROOT / "docs" / "glossary.md"
WANTED = """
    universal scheme; original dataset; raw dataset; transformed dataset; synthetic dataset;
    release-candidate dataset; released dataset; configuration; data transformation; acceptance criterion;
    error measure; threshold; faithfulness; maximal faithfulness; face privacy; dataset projection;
    private selection; pure differential privacy; privacy loss budget; bounded neighbours; global sensitivity;
    clipping; resized mean; functional mechanism; train on synthetic, test on real; enclave; public data;
    constraint filtering; affordance; intended usage; specification; bundle; ledger; transcript; rehearsal;
    study; plan hash; sharp form; paper form; stakeholder; unit of privacy
"""
BUNDLE = {bundle.DATA, bundle.PARQUET, bundle.REPORT, bundle.PACKAGE, bundle.PAGE, bundle.PDF, bundle.MANIFEST}


def entries() -> list[tuple[str, str, list[str]]]:
    """Each word with its meaning and the names of what stands for it."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| word |"):
            word, meaning, here = (cell.strip() for cell in line.strip("| ").split(" | "))
            found.append((word, meaning, re.findall(r"`([^`]+)`", here)))
    return found


def parts(node: Any) -> Iterator[tuple[str, str]]:
    """Every key of the schema, and every word that may be a value."""
    if isinstance(node, Mapping):
        yield from (("key", name) for name in node.get("properties", {}))
        yield from (("value", str(value)) for value in [*node.get("enum", []), node.get("const")])
    for child in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        yield from parts(child)


@cache
def known(kind: str) -> set[str]:
    if kind in ("key", "value"):
        return {name for sort, name in parts(schema()) if sort == kind}
    group: Any = typer.main.get_command(program.app)
    commands = dict(group.commands)
    if kind == "command":
        return set(commands)
    inner = [command for c in commands.values() for command in getattr(c, "commands", {}).values()]
    return {name for c in [*commands.values(), *inner] for p in c.params for name in p.opts}


def exists(name: str) -> bool:
    """Whether a name is that of a command, an option, a file, a key, or a key with its value."""
    if name.startswith("facsimile "):
        return name.split()[1] in known("command")
    if name.startswith("--"):
        return name in known("option")
    if "/" in name or name in BUNDLE:
        return name in BUNDLE or (ROOT / name).exists()
    if ": " in name:
        key, value = name.split(": ")
        return key in known("key") and value in known("value")
    return all(part in known("key") for part in name.split("."))


def test_words_are_sorted_and_explained_once() -> None:
    words = [word.casefold() for word, _, _ in entries()]
    assert words == sorted(words)
    assert len(words) == len(set(words)) > 50


def test_the_papers_words_and_our_own_are_there() -> None:
    words = {re.sub(r" \(.*\)$", "", word.casefold()) for word, _, _ in entries()}
    assert {" ".join(word.split()) for word in WANTED.split(";")} <= words


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry[0])
def test_what_stands_for_a_word_exists(entry: tuple[str, str, list[str]]) -> None:
    _, meaning, here = entry
    assert here
    assert [name for name in here if not exists(name)] == []
    assert 1 <= len(re.findall(r"[.:](?: |$)", meaning)) <= 4
    assert meaning.endswith((".", ")."))


@pytest.mark.parametrize("name", ["facsimile relaese", "--rehearsed", "a/b.md", "statistic: papery", "totl"])
def test_what_does_not_exist_is_noticed(name: str) -> None:
    assert not exists(name)
