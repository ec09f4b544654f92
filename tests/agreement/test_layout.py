"""One layout: the same promise, the same comments on the same items, and laid out as itself."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings

from agreement.test_words import RICH
from conftest import EXAMPLES, ROOT
from facsimile.agreement import layout
from facsimile.agreement.layout import laid_out
from facsimile.errors import FacsimileError
from facsimile.spec.columns import Column
from facsimile.spec.load import loads
from facsimile.spec.release import Specification
from facsimile.spec.written import inline
from spec.yamls import RANDOM, Writer, data_of
from specs import SMALL

SPECIFICATIONS = [p for p in sorted(EXAMPLES.rglob("*.yaml")) if p.name != "facts.yaml"]


def check(text: str, found: str) -> None:
    """What holds of any text and its layout."""
    assert loads(found).canonical() == loads(text).canonical() and data_of(found) == data_of(text)
    assert laid_out(found) == found, "a second time changes nothing"
    assert found.endswith("\n") and not found.endswith("\n\n") and "\r" not in found and "\ufeff" not in found
    assert "\n\n\n" not in found
    assert list(data_of(found)) == [key for key in Specification.model_fields if key in data_of(found)]
    for column in data_of(found)["columns"]:
        assert list(column) == [key for key in Column.model_fields if key in column]


@settings(max_examples=20)
@given(RANDOM)
def test_any_text_can_be_laid_out(random: Random) -> None:
    written = Writer(random)
    text = written.text(RICH)
    found = laid_out(text)
    check(text, found)
    assert all(found.count(f"{comment}\n") == 1 for comment in written.comments)
    assert all(len(line) <= 112 or "#" in line for line in found.splitlines())
    assert all(line == line.rstrip() for line in found.splitlines())


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_can_be_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = laid_out(text)
    check(text, found)
    comments = re.findall(r"^ *(#.*)$", text, re.MULTILINE)
    assert sorted(comments) == sorted(re.findall(r"^ *(#.*)$", found, re.MULTILINE))


def test_the_page_of_the_specification_can_be_laid_out() -> None:
    page = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8")
    text = "".join(re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    check(text, laid_out(text))


SHUFFLED = """\
# A head.
budget: {total: 5, generator: 1, test: 0.1}  # agreed
title:   "Small"
# The columns.
columns:
- alternatives: {coarse: [<18, 18-64, "64<"],
    fine: [<18, 18..64 by 47, 64<]}
  # Its name.
  name: age
  bounds: [0,90]
  outside: clip


  description: 'Age in years'
  groups: ["<18", 17<]   # two
"""


def test_a_layout_looks_as_people_write() -> None:
    rest = {key: value for key, value in SMALL.items() if key not in ("budget", "title", "columns")}
    rest |= {"criteria": [{"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.1"}]}
    rest["constraints"] = {"policy": "declared"}
    found = laid_out(SHUFFLED + "".join(f"{key}: {inline(value)}\n" for key, value in rest.items()))
    start = found.index("# The columns.")
    assert found.startswith("# A head.\nfacsimile: 1\ntitle: Small\n")
    assert "\nbudget:  # agreed\n  total: 5\n  generator: 1\n  test: 0.1\n" in found
    assert found[start : found.index("\n\n", start)] == (
        "# The columns.\n"
        "columns:\n"
        "  -\n"
        "    # Its name.\n"
        "    name: age\n"
        "    description: Age in years\n"
        "    bounds: [0, 90]\n"
        "    alternatives:\n"
        "      coarse: [<18, 18-64, 64<]\n"
        "      fine: [<18, 18..64 by 47, 64<]\n"
        "    groups: [<18, 17<]  # two\n"
        "    outside: clip"
    )


def test_what_is_no_specification_is_refused_for_its_mistakes() -> None:
    for text, code in (("title: x\n", "E214"), ("a: [\n", "E210"), ("- a\n", "E200")):
        with pytest.raises(FacsimileError, match=code):
            laid_out(text)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda text: text.replace("Small", "Large"),
        lambda text: text.replace("  # agreed", ""),
        lambda text: text.replace("  # agreed", "").replace("title:", "# agreed\ntitle:"),
        lambda text: text + "# more\n",
        lambda text: text.replace("budget:", "budget: ["),
    ],
    ids=["other words", "comment lost", "comment moved", "comment added", "broken"],
)
def test_a_layout_that_would_change_something_is_refused(
    wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = laid_out(Writer(Random(1)).text(SMALL)).replace("\nbudget:\n", "\nbudget:  # agreed\n")
    honest = layout._Layout.text
    assert laid_out(text) == text
    monkeypatch.setattr(layout._Layout, "text", lambda self: wrong(honest(self)))  # type: ignore[operator]
    with pytest.raises(FacsimileError, match="E221"):
        laid_out(text)


def test_the_line_for_editors_stays_the_first() -> None:
    """Also where the first key is not the first in the order of a specification."""
    line = "# yaml-language-server: $schema=facsimile.schema.json\n"
    data = {"title": "Small", **{key: value for key, value in SMALL.items() if key != "title"}}
    text = line + "".join(f"{key}: {inline(value)}\n" for key, value in data.items())
    assert laid_out(text).startswith(f"{line}facsimile: 1\n")
