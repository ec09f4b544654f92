"""docs/paper.md is true: every element of the births paper has a row, and every row names what exists."""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from math import sqrt
from typing import Any

import pytest

from conftest import EXAMPLES, ROOT
from facsimile.cli import program
from facsimile.release.check import check
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import load, parse
from facsimile.spec.release import Specification

PAPER = EXAMPLES / "births" / "paper.yaml"
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
TEX = ROOT.parent / "shared" / "paper.tex"
NUMBERED = {
    "Table": 7,
    "Box": 2,
    "Figure": 1,
    "Algorithm": 5,
    "Definition": 7,
    "Proposition": 12,
    "Theorem": 2,
    "Remark": 2,
    "Lemma": 1,
    "Footnote": 13,
}
SECTIONS = {1: (0, 7, 0, 0, 0, 0, 0), 2: (0, 0, 2, 4, 2, 5, 0, 4, 2, 0, 3, 0, 0, 3)}
"""The number of subsubsections of each subsection; the first entry stands for the section itself."""


def tables(width: int) -> Iterator[list[str]]:
    """The rows of all tables with so many cells, without heads and rules."""
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == width and not set(cells[0]) <= {"-", ":"}:
            yield cells


ROWS = [row for row in tables(4) if row[0] != "paper"]


def numbered() -> set[str]:
    """Every section and every numbered element of sections 1 and 2."""
    found = {f"{kind} {i}" for kind, count in NUMBERED.items() for i in range(1, count + 1)}
    for section, subsections in SECTIONS.items():
        found.add(str(section))
        for i, count in enumerate(subsections[1:], 1):
            found |= {f"{section}.{i}", *(f"{section}.{i}.{j}" for j in range(1, count + 1))}
    return found


def test_every_element_of_the_paper_has_a_row() -> None:
    first = [row[0] for row in ROWS]
    assert len(set(first)) == len(first)
    assert {name for name in first if ": " not in name} == numbered()


@pytest.mark.skipif(not TEX.exists(), reason="the paper is not beside the project")
def test_the_elements_are_those_of_the_paper() -> None:
    tex = TEX.read_text(encoding="utf-8")
    tex = tex[tex.index("sections/1-introduction.tex") : tex.index("sections/3-related-work.tex")]
    kinds = {"Box": "tcolorbox", "Figure": "figure*"}
    for kind, count in NUMBERED.items():
        begun = rf"\begin{{{kinds.get(kind, kind.lower())}}}"
        wanted = tex.count(begun) if kind != "Footnote" else len(re.findall(r"\\footnote(?:text)?\{", tex))
        assert wanted == count, kind
    for section, subsections in SECTIONS.items():
        part = re.split(r"\\section\{", tex)[section]
        assert tuple(p.count(r"\subsubsection{") for p in part.split(r"\subsection{")) == subsections


@cache
def plain() -> Any:
    return parse(PAPER.read_bytes())[0]


def steps(found: Any, step: str) -> Any:
    """One step into plain data: a key; in a list the entries of that name, family or criterion, joined."""
    if isinstance(found, dict):
        return found[step]
    same = [entry for entry in found if step in names(entry)]
    assert same, f"nothing is called {step}"
    joined: dict[str, Any] = {}
    for entry in same:
        for key, value in entry.items():
            joined[key] = joined.get(key, {}) | value if isinstance(value, dict) else value
    return joined


def names(entry: dict[str, Any]) -> set[str]:
    kind = entry.get("criterion", "")
    return {entry.get("name", ""), entry.get("family", ""), kind, f"{kind}-{entry.get('of', '')}"}


def key(span: str) -> None:
    """A dotted key of paper.yaml, of a criterion or of the file; after a colon its value."""
    path, _, value = span.partition(": ")
    first, *rest = path.split(".")
    found = plain()[first] if first in plain() else steps(plain()["criteria"], first)
    for step in rest:
        found = steps(found, step)
    assert found is not None
    if value:
        assert found == value, span


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_names_is_there(row: list[str]) -> None:
    _, said, here, _ = row
    assert said
    spans = re.findall(r"`([^`]+)`", here)
    assert spans, "a row names where the element is"
    for span in spans:
        if span.startswith("facsimile "):
            command, *options = span.split()[1:]
            assert command in {c.name for c in program.app.registered_commands} | {"ledger"}
            for option in options:
                assert f"`{option}" in COMMANDS or f"facsimile {command} {option}" in COMMANDS
        elif "/" in span or span.isupper():
            assert (ROOT / span).is_file(), span
        else:
            key(span)


def test_the_narrowed_release_is_the_paper_s_with_a_list_of_configurations() -> None:
    narrowed = parse((PAPER.parent / "narrowed.yaml").read_bytes())[0]
    listed = narrowed.pop("configurations")
    assert narrowed == plain() and len(listed) > 1
    assert {entry["family"] for entry in listed} == {"privbayes"}


def test_the_whole_space_is_the_paper_s_but_for_the_delta_that_neural_families_need() -> None:
    space = parse((PAPER.parent / "paper-space.yaml").read_bytes())[0]
    for part in ("selection", "budget"):
        space[part].pop("source")
    assert space.pop("selection") == {"mode": "coin", "gamma": "0.01"}
    assert space.pop("budget") == {"total": "9.08", "generator": "4", "delta": "0.000000001"}
    theirs = deepcopy(plain())
    assert {k: v for k, v in theirs.items() if k not in ("selection", "budget")} == space
    whole = load(PAPER.parent / "paper-space.yaml")
    assert whole.drawable.by_family() == whole.space.by_family() == paper().space.by_family()
    assert whole.drawable.size == paper().space.size


def test_the_release_with_our_choices_differs_in_these_only() -> None:
    ours = parse((PAPER.parent / "release.yaml").read_bytes())[0]
    theirs = deepcopy(plain())
    for grid in theirs["families"]:
        grid["grid"].pop("sampling", None)
        if grid["grid"].get("flavour") == ["theta-code"]:
            grid["grid"]["flavour"] = ["theta"]
    theirs["projection"]["algorithm"] = ["paper"]
    theirs["criteria"][1].pop("tested_at")
    theirs["planning"]["groups"]["gestation_week"] = "8600"
    assert theirs == ours


# --- its figures


@cache
def paper() -> Specification:
    return load(PAPER)


def close(printed: str, value: float) -> bool:
    """Whether a printed figure is the value, rounded as it is printed; `<` bounds it."""
    if printed.startswith("<"):
        return value < float(printed[1:])
    return float(printed) == round(value, len(printed.partition(".")[2]))


def test_the_figures_of_the_criteria_are_those_of_check() -> None:
    found = {line.criterion: line for line in check(paper()).noise}
    rows = {row[0]: row[1:] for row in tables(9) if row[0] != "criterion"}
    assert set(rows) == set(found)
    for name, (spent, epsilon, wanted, tested, delta, ours, sigma, noise) in rows.items():
        line = found[name]
        assert (spent, wanted) == (epsilon, tested)
        assert show_decimal(line.epsilon) == epsilon
        assert float(tested) == line.tested_at
        if ours:
            assert close(ours, float(line.sensitivity or 0)) and close(noise, sqrt(2) * float(line.scale or 0))
        else:
            assert delta == sigma == noise == "", "the paper leaves these cells empty, and so do we"


def test_the_numbers_of_configurations_are_those_of_check() -> None:
    found = check(paper()).specification.space
    rows = {row[0]: row[1:] for row in tables(5) if row[0] != "family"}
    per = found.transformations * len(paper().projection.min_count)
    algorithms = len(paper().projection.algorithm)
    assert set(rows) == {*found.by_family(), "all"}
    for family, count in {**found.by_family(), "all": found.size}.items():
        settings, papers, ours, _ = rows[family]
        assert int(ours.replace(",", "")) == count == algorithms * int(papers.replace(",", ""))
        assert int(settings) * per == int(papers.replace(",", ""))


@pytest.mark.skipif(not TEX.exists(), reason="the paper is not beside the project")
def test_the_paper_prints_the_figures_that_are_said_to_be_its_own() -> None:
    tex = TEX.read_text(encoding="utf-8")
    table = tex[tex.index(r"\label{tab:ac}") : tex.index("Each data release occurs in a specific context")]
    for row in tables(9):
        for figure in (row[1], row[5], row[7]) if row[0] != "criterion" else ():
            number = figure.lstrip("<")
            assert not number or re.search(rf"\b{re.escape(number)}0*\b", table), (row[0], figure)
    section = BENCHMARKS[BENCHMARKS.index("### The births paper's release") :]
    results = re.findall(r"^\| [a-z_-]+ \| [^|]+ \| ([−.\d]+)", section, re.MULTILINE)[:8]
    assert len(results) == 8
    assert [result for result in results if result.replace("−", "-") not in table] == []
