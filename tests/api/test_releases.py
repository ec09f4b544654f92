"""A release from Python: the same protections as from a terminal, and rehearsals that touch no ledger."""

from __future__ import annotations

import contextlib
import json
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.csv as pa_csv
import pytest
import yaml

import facsimile
from facsimile.errors import FacsimileError
from facsimile.release import run as running
from facsimile.release.bundle import DATA
from facsimile.results import Result
from facsimile.storage import reached
from programs import Program
from releases import N, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path)
    content = specification().model_dump(mode="json", exclude_none=True)
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def released(**more: Any) -> Any:
    return facsimile.release("people.yaml", "people.csv", "bundle", **{"ledger": "people.ledger"} | more)


def test_a_release_is_charged_claimed_and_guarded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is answered from before the charge to its end; no image of the memory is left by a crash."""
    happened: list[str] = []

    @contextlib.contextmanager
    def patient() -> Iterator[None]:
        happened.append("patient")
        yield
        happened.append("patient no longer")

    def without_core_dumps() -> None:
        happened.append("no core dumps")

    def at(place: str) -> None:
        happened.append(place)
        reached(place)

    monkeypatch.setattr(running, "patient", patient)
    monkeypatch.setattr(running, "_without_core_dumps", without_core_dumps)
    monkeypatch.setattr(running, "reached", at)
    made = released()
    steps = ["no core dumps", "patient", "searched", "decided", "measured", "patient no longer", "closed"]
    assert [step for step in happened if step in steps] == steps
    book = facsimile.ledger("people.ledger")
    assert [charge["outcome"] for charge in book.charges()] == ["released"]
    assert (home / "people.csv.key").exists()
    assert facsimile.verify("bundle").as_json()["verified"]
    assert made.to_arrow().num_rows == N and len(made.to_pandas()) == len(made.to_polars()) == N
    assert repr(made).startswith("<Released: ") and "<h4>" in made._repr_html_()
    with pytest.raises(FacsimileError, match=r"^E207 "):
        facsimile.check("people.yaml", "people.csv")
    with pytest.raises(FacsimileError, match=r"^E207 "):
        facsimile.fit("people.yaml", "people.csv", public=True)
    with pytest.raises(FacsimileError, match=r"^E301 "):
        for number in range(9):
            facsimile.release("people.yaml", "people.csv", f"bundle {number}", ledger="people.ledger")


def test_ctrl_c_is_answered_as_in_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def release(request: running.Request, waiting: object) -> None:
        given.append(waiting)
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "release", release)
    with pytest.raises(KeyboardInterrupt):
        released()
    assert given == [running.patient]


def test_a_failure_of_the_program_tells_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its words nor in what a notebook shows of where it came from."""

    def release(*given: object) -> None:
        raise RuntimeError("sentinel-value")

    monkeypatch.setattr(running, "release", release)
    with pytest.raises(FacsimileError, match=r"^E700 ") as failed:
        released()
    assert failed.value.__context__ is None and failed.value.__cause__ is None
    assert "sentinel" not in "".join(traceback.format_exception(failed.value))


def test_a_refusal_of_data_holds_none_of_it(home: Path) -> None:
    """A notebook in verbose mode prints the variables of every frame that a traceback refers to."""
    with Path("people.csv").open("a") as data:
        data.write("sentinel-value,sentinel-value,sentinel-value,sentinel-value,sentinel-value,1\n")
    with pytest.raises(FacsimileError, match=r"^E130 ") as failed:
        released()
    shown = traceback.TracebackException.from_exception(failed.value, capture_locals=True)
    assert "sentinel" not in "".join(shown.format())
    assert [frame.f_code.co_name for frame, _ in traceback.walk_tb(failed.tb)][-1] == "_silently"


def test_a_second_ctrl_c_holds_no_data(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def release(*given: object) -> None:
        record = "sentinel-value"
        raise KeyboardInterrupt(record)

    monkeypatch.setattr(running, "release", release)
    with pytest.raises(KeyboardInterrupt) as stopped:
        released()
    shown = traceback.TracebackException.from_exception(stopped.value, capture_locals=True)
    assert "sentinel" not in "".join(shown.format())


def test_a_thread_that_ctrl_c_does_not_reach_makes_no_release(home: Path) -> None:
    refused: list[FacsimileError] = []

    def work() -> None:
        with pytest.raises(FacsimileError) as found:
            released()
        refused.append(found.value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert refused[0].code == "E003" and "main thread" in str(refused[0])
    assert {path.name for path in home.iterdir()} == {"people.csv", "people.yaml"}


def test_a_rehearsal_touches_no_ledger_and_makes_nothing_confidential(home: Path) -> None:
    tried = released(rehearse=True, seed=1)
    assert {path.name for path in home.iterdir()} == {"people.csv", "people.yaml", "bundle"}
    assert tried.as_json()["rehearsal"] and "rehearsed, without protection" in str(tried.page().parts[0])
    assert facsimile.verify("bundle", allow_rehearsal=True).found.rehearsal
    with pytest.raises(FacsimileError, match=r"^E504 "):
        facsimile.verify("bundle")


def test_a_public_frame_is_rehearsed_as_its_file_is(home: Path) -> None:
    table = pa_csv.read_csv("people.csv")
    released(rehearse=True, seed=3)
    for name, frame in (("arrow", table), ("pandas", table.to_pandas()), ("polars", pl.from_arrow(table))):
        facsimile.release("people.yaml", frame, name, rehearse=True, seed=3, public=True)
        assert (home / name / DATA).read_bytes() == (home / "bundle" / DATA).read_bytes()


class Frame:
    """A confidential table in memory that nobody may read."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError("it was read")


@pytest.mark.parametrize(
    ("data", "given", "code"),
    [
        (Frame(), {"ledger": "l"}, "E124"),
        (Frame(), {"ledger": "l", "public": True}, "E124"),
        (Frame(), {"rehearse": True, "seed": 1}, "E209"),
        ("people.csv", {}, "E003"),
        ("people.csv", {"rehearse": True}, "E003"),
        ("people.csv", {"ledger": "l", "seed": 1}, "E206"),
    ],
)
def test_what_is_no_release_is_refused_before_anything_is_made(
    home: Path, data: object, given: dict[str, Any], code: str
) -> None:
    with pytest.raises(FacsimileError, match=rf"^{code} "):
        facsimile.release("people.yaml", data, "bundle", **given)
    assert {path.name for path in home.iterdir()} == {"people.csv", "people.yaml"}


def test_a_call_says_what_the_command_prints(home: Path, run: Program) -> None:
    rehearse = ("--rehearse", "--seed", 2, "--json")
    typed = run("release", "people.yaml", "--data", "people.csv", "-o", "typed", *rehearse).json
    assert plain(released(rehearse=True, seed=2)) == typed
    found = facsimile.verify("bundle", allow_rehearsal=True)
    assert plain(found) == run("verify", "typed", "--allow-rehearsal", "--json").json
    assert facsimile.plan_hash("people.yaml") == run("plan-hash", "people.yaml").out.strip()
    assert run("ledger", "new", "l", "--data", "people.csv", "--cap", "3").code == 0
    assert plain(facsimile.ledger("l")) == run("ledger", "show", "l", "--json").json
    assert facsimile.ledger("l").to_arrow().num_rows == 0


def plain(found: Result) -> Any:
    """As a machine reads it."""
    return json.loads(json.dumps(found.as_json()))
