"""The commands about a specification's text, as a shell runs them."""

from __future__ import annotations

from pathlib import Path

import yaml

from facsimile.spec.edits import replaced
from facsimile.spec.load import dump
from programs import Program
from specs import small


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_differences_are_said_in_words(tmp_path: Path, run: Program) -> None:
    before = written(tmp_path, "before.yaml", dump(small()))
    text = replaced(dump(small()), ("budget", "total"), "4")
    text = replaced(text, ("columns", 0, "alternatives", "coarse"), ["<18", "17<"])
    after = written(tmp_path, "after.yaml", text)
    found = run("spec", "diff", before, after)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines() == ["age coarse: 18-64 and 64< joined as 17<", "total 5 → 4"]
    told = run("spec", "diff", before, after, "--json").json
    assert told["same"] is False and told["differences"][1] == {
        "item": "budget.total",
        "words": "total 5 → 4",
        "before": "5",
        "after": "4",
    }


def test_the_same_promise_is_said_to_be_the_same(tmp_path: Path, run: Program) -> None:
    before = written(tmp_path, "before.yaml", dump(small()))
    flow = yaml.safe_dump(yaml.safe_load(dump(small())), default_flow_style=True, sort_keys=False)
    after = written(tmp_path, "after.yaml", "# in another layout\n" + flow)
    assert run("spec", "diff", before, after).out.startswith("The same")
    assert run("spec", "diff", before, after, "--json").json == {"same": True, "differences": []}


def test_what_is_no_specification_is_refused(tmp_path: Path, run: Program) -> None:
    before = written(tmp_path, "before.yaml", dump(small()))
    found = run("spec", "diff", before, tmp_path / "nowhere.yaml")
    assert found.code == 2 and found.err.startswith("E212 The file nowhere.yaml")


def test_spec_alone_explains_itself(run: Program) -> None:
    assert "spec diff" in run("spec").out
