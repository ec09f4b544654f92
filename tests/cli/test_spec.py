"""The commands about a specification's text, as a shell runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from facsimile.agreement import layout
from facsimile.spec.edits import replaced
from facsimile.spec.load import dump, loads
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


def test_a_file_is_laid_out_in_place(tmp_path: Path, run: Program) -> None:
    path = written(
        tmp_path, "release.yaml", "# Mine.\n" + dump(small()).replace("title: Small", "title:   'Small'")
    )
    path.chmod(0o640)
    checked = run("spec", "fmt", path, "--check")
    assert checked.code == 2 and checked.err.startswith("E222 release.yaml has another layout")
    before = path.read_bytes()
    shown = run("spec", "fmt", path, "--stdout").out
    assert path.read_bytes() == before and shown.startswith("# Mine.\nfacsimile: 1\ntitle: Small\n")
    assert run("spec", "fmt", path).out == "release.yaml is laid out anew.\n"
    assert path.read_text(encoding="utf-8") == shown and path.stat().st_mode & 0o777 == 0o640
    assert loads(shown) == small()
    assert list(tmp_path.iterdir()) == [path], "nothing is left beside it"


def test_a_file_that_has_the_layout_is_not_touched(tmp_path: Path, run: Program) -> None:
    path = written(tmp_path, "release.yaml", dump(small()))
    run("spec", "fmt", path)
    before = path.stat()
    assert run("spec", "fmt", path).out == "release.yaml has this layout already.\n"
    assert run("spec", "fmt", path, "--check").code == 0
    told = run("spec", "fmt", path, "--json").json
    assert (told["changed"], told["written"], told["text"]) == (False, False, path.read_text(encoding="utf-8"))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_that_cannot_be_laid_out_stays(
    tmp_path: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "release.yaml", dump(small()))
    before = path.read_bytes()
    monkeypatch.setattr(layout._Layout, "text", lambda self: "title: lost\n")
    found = run("spec", "fmt", path)
    assert found.code == 2 and found.err.startswith("E221 The layout of release.yaml stays as it is")
    monkeypatch.undo()
    assert run("spec", "fmt", written(tmp_path, "broken.yaml", "title: [\n")).code == 2
    assert run("spec", "fmt", tmp_path / "nowhere.yaml").err.startswith("E212")
    assert path.read_bytes() == before
