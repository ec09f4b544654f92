"""The guide to a new criterion is followed: docs/design.md, on a copy of the program."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from golden.rehearsals import declared, people

COMMANDS = """
import contextlib, io, json, sys
from facsimile.cli import main

found = []
for words in json.loads(sys.argv[1]):
    out, err, sys.argv = io.StringIO(), io.StringIO(), ["facsimile", *words]
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    found.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""
CRITERIA = [
    {"criterion": "column-moved", "of": "age", "threshold": "0.3", "epsilon": "1"},
    {"criterion": "marginals-absolute", "threshold": "0.2", "epsilon": "1"},
]


def guide() -> tuple[str, str, str]:
    """The pieces of code of the section: a class, a line of the union, a file."""
    section = (ROOT / "docs" / "design.md").read_text("utf-8").split("## A new criterion")[1].split("\n## ")[0]
    pieces = re.findall(r"^ +```py\n(.*?)^ +```$", section, re.MULTILINE | re.DOTALL)
    one, line, kind = (re.sub(r"^   ", "", piece, flags=re.MULTILINE) for piece in pieces)
    return one, line, textwrap.dedent(kind)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with the guide's criterion: one file changed, one new."""
    folder = tmp_path_factory.mktemp("followed")
    shutil.copytree(ROOT / "src" / "facsimile", folder / "facsimile", ignore=shutil.ignore_patterns("*.pyc"))
    one, line, kind = guide()
    criteria = folder / "facsimile" / "spec" / "criteria.py"
    text = criteria.read_text("utf-8")
    for before, piece in (
        ("def _kind(value", f"{one}\n\n"),
        ('    | Annotated[NamedQuery, Tag("query")]', line),
    ):
        assert text.count(before) == 1
        text = text.replace(before, piece + before)
    criteria.write_text(text, "utf-8")
    (folder / "facsimile" / "acceptance" / "kinds" / "moved.py").write_text(kind, "utf-8")
    return folder


def test_a_criterion_of_three_files_goes_all_the_way(followed: Path) -> None:
    place = followed / "people"
    place.mkdir()
    (place / "people.csv").write_text(people())
    (place / "spec.yaml").write_text(declared({"criteria": CRITERIA}))
    public = ["--data", "people.csv"]
    said = told(
        followed,
        place,
        ["check", "spec.yaml", "--json"],
        ["release", "spec.yaml", *public, "--out", "bundle", "--rehearse", "--seed", "1", "--json"],
        ["verify", "bundle", "--allow-rehearsal"],
        ["synthesize", "spec.yaml", *public, "--public", "--out", "made.csv", "--seed", "1"],
        ["evaluate", "spec.yaml", "--real", "people.csv", "--synthetic", "made.csv", "--public",
         "--statistic", "sharp", "--json"],
        ["explore", "spec.yaml", *public, "--public", "--out", "study", "--workers", "1", "--trials", "4",
         "--fresh", "4", "--steps", "1", "--finalists", "1"],
        ["plan", "study", "--accept", "0.2", "--json"],
        ["report", "study", "--out", "report.html", "--tables", "1"],
    )  # fmt: skip
    checked, released, _, _, evaluated, *_ = said
    assert json.loads(checked)["criteria"][0]["sensitivity"] == 1 / 1200
    report = json.loads((place / "bundle" / "report.json").read_text("utf-8"))["criteria"][0]
    assert (report["name"], report["topic"], report["columns"]) == ("column-moved", "counts", ["age"])
    assert report["sensitivity"] == 1 / 1200
    assert report["value"] <= report["bound"]
    assert json.loads(released)["rehearsal"] is True
    found = json.loads(evaluated)["criteria"][0]
    assert found["value"] == found["tested"]["value"]
    for page in ("bundle/README.html", "report.html"):
        assert "Records in another bin of age" in (place / page).read_text("utf-8")


def told(program: Path, place: Path, *commands: list[str]) -> list[str]:
    """What the commands print, in one process of the copied program."""
    environment = os.environ | {"PYTHONPATH": str(program), "FACSIMILE_STATE": str(place / "state")}
    ran: Any = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    for (code, _, err), command in zip(found, commands, strict=True):
        assert code == 0, f"{command}: {err}"
    return [out for _, out, _ in found]
