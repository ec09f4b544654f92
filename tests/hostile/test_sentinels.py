"""No raw value is told: not by the screen, a file, a name of a file or an exception, however a run ends."""

from __future__ import annotations

import gc
import traceback
from pathlib import Path
from typing import Any

import pytest

import facsimile
from children import Children, Told
from facsimile.errors import FacsimileError
from hostile import marked

pytestmark = pytest.mark.journey

STEPS = ("charged", "searched", "measured", "bundle written")
OTHERS = ("parquet", "sqlite", "duckdb")
RELEASE = ("release", "release.yaml", "--ledger", "budget.ledger", "-o", "bundle", "--data")


class Desk:
    """A folder with marked data, and every place that the program may write to."""

    def __init__(self, children: Children, folder: Path, kind: str = "csv", **odd: str) -> None:
        self.children, self.folder = children, folder
        for name in ("here", "tmp", "home", "state"):
            (folder / name).mkdir()
        self.here = folder / "here"
        self.data = marked.write(self.here, kind, **odd)
        (self.here / "release.yaml").write_text(marked.specification(), "utf-8")

    def __call__(self, *words: object, **how: Any) -> Told:
        places = {"TMPDIR": "tmp", "HOME": "home", "FACSIMILE_STATE": "state", "XDG_CACHE_HOME": "home"}
        environment = {name: str(self.folder / place) for name, place in places.items()}
        told = self.children(*words, folder=str(self.here), environment=environment, **how)
        assert marked.marks(told.said) == []
        assert "Traceback" not in told.said
        assert marked.everywhere(self.folder, besides=self.data) == {}
        return told

    def release(self, **how: Any) -> Told:
        return self(*RELEASE, self.data.name, **how)


@pytest.mark.parametrize("kind", ["csv", *(pytest.param(kind, marks=pytest.mark.long) for kind in OTHERS)])
def test_a_release_tells_no_raw_value(children: Children, tmp_path: Path, kind: str) -> None:
    desk = Desk(children, tmp_path, kind)
    assert desk.release().code == 0
    assert len(list((desk.here / "bundle").rglob("*"))) > 15 and list(desk.here.glob("*.transcript-*"))
    for words in (["verify", "bundle"], ["ledger", "show", "budget.ledger"], ["answer", "bundle", "count"]):
        assert desk(*words).code == 0
    assert desk.release().error == "E301"


REFUSED = {
    "E140": {"income": f"{marked.WORD}word"},
    "E104": {"income": "DROP"},
    "E121": {"place": f"{marked.WORD}\0"},
    "E130": {"place": f"{marked.WORD},{marked.WORD}"},
    "E131": {"place": marked.WORD * 30_000},
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_tells_no_raw_value(children: Children, tmp_path: Path, code: str) -> None:
    desk = Desk(children, tmp_path, **REFUSED[code])
    if code == "E104":
        lines = desk.data.read_text("utf-8").splitlines(keepends=True)
        desk.data.write_text("".join(lines[:-1]), "utf-8")
    assert desk.release().error == code
    assert desk("check", "release.yaml", "--public", desk.data.name).code in (0, 2)


def test_a_column_with_an_unknown_name_is_not_told(children: Children, tmp_path: Path) -> None:
    desk = Desk(children, tmp_path)
    desk.data.write_text(desk.data.read_text("utf-8").replace("income", f"{marked.WORD}income"), "utf-8")
    assert desk.release().error == "E110"


def test_what_is_for_public_data_refuses_confidential_data_unread(children: Children, tmp_path: Path) -> None:
    """`synthesize` and its kind show exact figures: data with a key are not theirs."""
    desk = Desk(children, tmp_path)
    assert desk.release().code == 0
    synthesize = ("synthesize", "release.yaml", "--data", desk.data.name, "-o", "made.csv")
    assert desk(*synthesize, "--public").error == "E207"
    assert desk(*synthesize).code == 2 and not (desk.here / "made.csv").exists()
    files = ("--real", desk.data.name, "--synthetic", "bundle/data.csv")
    assert desk("evaluate", "release.yaml", *files, "--public").error == "E207"


def test_a_halt_tells_no_raw_value(children: Children, tmp_path: Path) -> None:
    desk = Desk(children, tmp_path)
    (desk.here / "release.yaml").write_text(marked.specification(halts=True), "utf-8")
    assert desk.release().error == "E601"
    assert desk("ledger", "show", "budget.ledger").code == 0


@pytest.mark.parametrize("step", ["decided", *(pytest.param(step, marks=pytest.mark.long) for step in STEPS)])
def test_a_crash_leaves_no_raw_value(children: Children, tmp_path: Path, step: str) -> None:
    """What a killed run leaves on the disk is looked through, then what the rerun makes of it."""
    desk = Desk(children, tmp_path)
    assert desk.release(die=step).code == -9
    assert desk.release().code == 0


def reachable(error: BaseException) -> str:
    """Everything that an exception leads to: its words, its chain, and the variables of its frames."""
    seen: list[str] = []
    todo: list[BaseException | None] = [error]
    while todo:
        found = todo.pop()
        if found is None:
            continue
        seen += [str(found), repr(found), repr(vars(found)), repr(getattr(found, "__notes__", ""))]
        trace = found.__traceback__
        ours = [frame for frame, _ in traceback.walk_tb(trace) if "facsimile" in frame.f_code.co_filename]
        seen += [repr(value) for frame in ours for value in frame.f_locals.values()]
        todo += [found.__cause__, found.__context__]
    return "\n".join(seen)


@pytest.mark.parametrize("how", ["refused", "failed"])
def test_an_exception_of_the_package_leads_to_no_raw_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Also where the program itself fails with a record in its hands."""
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    data = marked.write(tmp_path, income=f"{marked.WORD}word") if how == "refused" else marked.write(tmp_path)
    (tmp_path / "release.yaml").write_text(marked.specification(publish=False), "utf-8")
    if how == "failed":

        def failing(*_: Any) -> Any:
            secret = data.read_text("utf-8")
            raise RuntimeError(secret) from ValueError(secret)

        monkeypatch.setattr("facsimile.release.run.read", failing)
    with pytest.raises(FacsimileError) as caught:
        facsimile.release(tmp_path / "release.yaml", data, tmp_path / "out", ledger=tmp_path / "l")
    gc.collect()
    assert caught.value.code == ("E140" if how == "refused" else "E700")
    assert marked.marks(reachable(caught.value)) == []


def test_the_search_for_marks_finds_them(tmp_path: Path) -> None:
    """In every encoding, packed or not, as a word or as eight bytes."""
    import gzip
    import struct
    import zlib

    word, number = f"{marked.WORD}note7", int(marked.rows()[3][0])
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        assert marked.marks(b"." + word.encode(encoding)), encoding
        assert marked.marks(str(number).encode(encoding)), encoding
    for packed in (zlib.compress(word.encode()), gzip.compress(word.encode())):
        assert marked.marks(b"%PDF " + packed + b" end")
    for form in ("<q", ">q", "<d", ">d"):
        assert marked.marks(b"xx" + struct.pack(form, number))
    for kind in ("parquet", "sqlite", "duckdb"):
        assert marked.marks(marked.write(tmp_path, kind).read_bytes()), kind
    (tmp_path / "x" / word).mkdir(parents=True)
    (tmp_path / "x" / word / f"{word}.txt").touch()
    assert marked.everywhere(tmp_path / "x", besides=tmp_path)
