"""The run of a release: one charge, one decision, a whole bundle or none, nothing that tells how it went."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from facsimile.cli import app
from facsimile.errors import FacsimileError
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.ledger import Ledger
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.noise import SystemNoise
from facsimile.release import bundle, run
from facsimile.release.journal import Journal
from facsimile.release.plan import plan_hash
from facsimile.release.run import Rehearsed, patient, rehearsal, release
from facsimile.release.scheme import Accepted, Scheme
from facsimile.release.verify import verify
from facsimile.release.writing import digest, save
from releases import N, request, specification, write_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    return tmp_path


def book(folder: Path) -> Ledger:
    return Ledger.at(folder / "budget" / "people.ledger")


def kinds(folder: Path) -> list[str]:
    return [entry["kind"] for entry in book(folder).state().entries]


def test_a_release_is_charged_once_and_its_bundle_verifies(folder: Path) -> None:
    said = release(request(folder))
    assert kinds(folder) == ["open", "charge", "done"]
    assert sorted(path.name for path in (folder / "bundle").iterdir()) == sorted(
        [*bundle.NAMES, bundle.MANIFEST]
    )
    found = verify(folder / "bundle")
    assert (found.records, found.rehearsal, found.signed_by) == (N, False, None)
    state = book(folder).state()
    assert said.ledger is not None
    assert (said.ledger.id, said.ledger.sequence) == (state.identifier, 1)
    spent = Fraction(state.spent, 10**6)
    assert 0 <= spent - Fraction(said.epsilon) <= Fraction(1, 10**6)
    beside = sorted(
        path.name for path in (folder / "budget").iterdir() if path.suffix not in (".lock", ".anchor")
    )
    assert beside == ["people.ledger"], "no journal is left"


def test_the_sealed_transcript_lies_beside_the_data_for_nobody_else(folder: Path) -> None:
    release(request(folder))
    sealed = [path for path in folder.iterdir() if "transcript" in path.name]
    assert len(sealed) == 1
    assert sealed[0].stat().st_mode & 0o777 == 0o400


def killed(folder: Path, step: str) -> subprocess.CompletedProcess[str]:
    """A release in a process of its own that dies at a step."""
    command = [sys.executable, str(Path(__file__).parents[1] / "releases.py"), str(folder), step]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_killed_while_the_first_files_are_made_nothing_is_lost(folder: Path) -> None:
    """A key and a ledger that were created and not yet written."""
    (folder / "people.csv.key").touch()
    (folder / "budget" / "people.ledger").touch()
    release(request(folder))
    assert kinds(folder) == ["open", "charge", "done"]


@pytest.mark.parametrize("which", ["decision", "measured"])
def test_half_a_journal_is_no_decision(folder: Path, which: str) -> None:
    journal = Journal.of(specification(), folder / "budget" / "x", 1)
    accepted = _accepted(folder)
    journal.decide(accepted)
    journal.finish(accepted)
    path = journal.decision if which == "decision" else journal.measurements
    whole = path.read_bytes()
    for cut in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        found = journal.decided()[0] if which == "decision" else journal.finished(accepted) is not None
        assert not found
    journal.decide(accepted) if which == "decision" else journal.finish(accepted)
    assert path.read_bytes() == whole


@pytest.mark.long
def test_killed_at_each_of_all_steps(tmp_path: Path) -> None:
    """Every write, sync and rename of a run: one charge at most, one result, a whole bundle or none."""

    def home(number: int) -> Path:
        folder = tmp_path / str(number)
        (folder / "budget").mkdir(parents=True)
        write_data(folder)
        return folder

    steps = int(killed(home(0), "never").stdout)
    assert steps > 40
    for number in range(1, steps + 1):
        folder = home(number)
        assert killed(folder, str(number)).returncode == 9
        whole = (folder / "bundle").exists()
        if whole:
            verify(folder / "bundle")
        try:
            release(request(folder))
        except FacsimileError as error:
            assert (error.code, whole) == ("E401", True), f"step {number}"
        assert kinds(folder) == ["open", "charge", "done"], f"step {number}"
        verify(folder / "bundle")


STEPS = ["charged", "searched", "decided", "measured", "bundle written", "bundle named"]


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_there_is_one_charge_and_one_result(folder: Path, step: str) -> None:
    assert killed(folder, step).returncode == 9
    assert (folder / "bundle").exists() is (step == "bundle named"), "the bundle is whole or absent"
    assert kinds(folder) == ["open", "charge"]
    journal = Journal.of(specification(), book(folder).path, 1)
    known, decided = journal.decided()
    assert known is (step not in ("charged", "searched"))
    before = (folder / "bundle" / "data.csv").read_bytes() if step == "bundle named" else None
    said = release(request(folder))
    assert kinds(folder) == ["open", "charge", "done"], "the same charge, no second one"
    assert verify(folder / "bundle").records == N
    if decided is not None:
        assert said.data_hash == digest(decided.table).hex()
    if before is not None:
        assert (folder / "bundle" / "data.csv").read_bytes() == before


@pytest.mark.parametrize("mode", [{"mode": "rising-coin", "a": "0.5"}])
def test_a_rising_coin_does_not_survive_a_crash(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: dict[str, str]
) -> None:
    asked = request(folder, specification=specification(selection=mode))

    def crash(self: Plan, *_: Any) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "search", crash)
        patched.setattr(Ledger, "close", lambda *_: None)  # a kill leaves no end
        with pytest.raises(SystemError):
            release(asked)
    assert kinds(folder) == ["open", "charge"]
    with pytest.raises(FacsimileError, match="E601"):
        release(asked)
    assert kinds(folder) == ["open", "charge", "done"]
    assert not (folder / "bundle").exists()


def test_no_release_is_a_decision_of_the_same_size(folder: Path) -> None:
    spec = specification()
    sizes = set()
    for place, accepted in enumerate((None, _accepted(folder))):
        journal = Journal.of(spec, folder / "budget" / "x", place)
        journal.decide(accepted)
        sizes.add(journal.decision.stat().st_size)
        assert journal.decided()[0]
        assert journal.decision.stat().st_mode & 0o077 == 0
    assert len(sizes) == 1


def _accepted(folder: Path) -> Accepted:
    """An accepted candidate, measured, as a rehearsal makes it."""
    caught: list[Accepted] = []
    made = run._made

    def keep(spec: Any, accepted: Accepted, place: Any) -> Any:
        caught.append(accepted)
        return made(spec, accepted, place)

    run._made = keep
    try:
        rehearsal(replace(request(folder), out=folder / "rehearsed"), 3)
    finally:
        run._made = made
    return caught[0]


def test_a_journal_gives_back_what_was_decided(folder: Path) -> None:
    accepted = _accepted(folder)
    journal = Journal.of(specification(), folder / "budget" / "x", 1)
    journal.decide(accepted)
    journal.finish(accepted)
    known, found = journal.decided()
    assert known and found is not None
    assert found.table == accepted.table
    assert found.configuration == accepted.configuration
    finished = journal.finished(found)
    assert finished is not None
    assert finished.measured == accepted.measured
    journal.remove()
    assert journal.decided() == (False, None)


def test_nothing_depends_on_how_many_candidates_were_tried(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same accepted candidate and the same measurements after 1, 2 and 7 candidates: the same bytes."""
    accepted = _accepted(folder)
    monkeypatch.setattr("facsimile.privacy.ledger.secrets.token_hex", lambda size: "0" * 2 * size)
    bundles: list[dict[str, bytes]] = []
    for tries in (1, 2, 7):
        home = folder / str(tries)
        (home / "budget").mkdir(parents=True)
        write_data(home)
        (home / "people.csv.key").write_bytes(b"k" * 32)
        outcomes = iter([*[None] * (tries - 1), accepted])
        monkeypatch.setattr(Scheme, "index", lambda *_, left=outcomes: next(left))
        monkeypatch.setattr(Scheme, "finish", lambda *_: accepted)
        monkeypatch.setattr(SystemNoise, "coin", lambda *_: False)
        release(request(home))
        found = {path.name: path.read_bytes() for path in (home / "bundle").iterdir()}
        bundles.append(found | {"ledger": book(home).path.read_bytes()})
    assert bundles[0] == bundles[1] == bundles[2]
    assert capfd.readouterr() == ("", "")


def test_a_rehearsal_is_reproducible_marked_and_tells_everything(folder: Path) -> None:
    found: list[Rehearsed] = []
    for name in ("a", "b"):
        found.append(rehearsal(replace(request(folder), out=folder / name), seed=5))
    assert found[0] == found[1]
    assert (folder / "a" / "data.csv").read_bytes() == (folder / "b" / "data.csv").read_bytes()
    assert found[0].iterations >= 1
    assert [v.name for v in found[0].exact] == [c.name for c in specification().criteria]
    with pytest.raises(FacsimileError, match="E504"):
        verify(folder / "a")
    assert verify(folder / "a", allow_rehearsal=True).rehearsal
    assert not (folder / "budget" / "people.ledger").exists()


def test_every_scheme_and_mode_makes_a_release(folder: Path) -> None:
    paper = {"total": "30", "generator": "3"}
    once = {"total": "30", "generator": "3", "test": "2"}
    cases: list[dict[str, Any]] = [
        {"scheme": "paper", "budget": paper, "statistic": "paper", "selection": {"mode": "paper"}},
        {"scheme": "train-once", "budget": once},
        {"selection": {"mode": "single"}},
        {"budget": {"total": "30", "generator": "3", "test": "2", "once": "0.1"}},
        {"selection": {"mode": "rising-coin", "a": "0.5"}},
        {"selection": {"mode": "capped-coin", "gamma": "0.1", "cap": "40", "epsilon_0": "0.5"}},
    ]
    for number, changes in enumerate(cases):
        asked = replace(request(folder), out=folder / str(number), specification=specification(**changes))
        tried = next(t for t in (rehearsal(asked, seed) for seed in range(20)) if t.report is not None)
        assert tried.report is not None
        verify(folder / str(number), allow_rehearsal=True)


def test_workers_share_one_charge(folder: Path) -> None:
    release(request(folder, workers=3))
    assert kinds(folder) == ["open", "charge", "done"]
    verify(folder / "bundle")


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(FacsimileError) as caught:
        action()
    return caught.value.code


def test_what_is_refused_is_refused_before_the_charge(folder: Path) -> None:
    release(request(folder))
    again = replace(request(folder), out=folder / "again")
    assert refused(lambda: release(request(folder))) == "E401"
    assert refused(lambda: release(replace(again, out=folder))) in ("E401", "E402")
    assert refused(lambda: release(replace(again, out=folder / "none" / "bundle"))) == "E403"
    assert refused(lambda: release(replace(again, key=folder / "people.csv"))) == "E404"
    assert refused(lambda: rehearsal(again, 1)) == "E207"
    bad = specification(families=[{"family": "workload", "grid": {"measurements": ["height"]}}])
    assert refused(lambda: release(replace(again, specification=bad))) == "E200"
    approximate = specification(budget={"total": "30", "generator": "3", "test": "2", "delta": "0.001"})
    assert refused(lambda: release(replace(again, specification=approximate))) == "E303"
    short = specification(records={"count": "399", "public_because": "it is wrong"})
    assert refused(lambda: release(replace(again, specification=short))) == "E104"
    assert kinds(folder) == ["open", "charge", "done"]
    big = specification(budget={"total": "30", "generator": "20", "test": "2"})
    assert refused(lambda: release(replace(again, specification=big))) == "E301"
    other = folder / "other.csv"
    other.write_bytes((folder / "people.csv").read_bytes() + b"\n")
    assert refused(lambda: release(replace(again, data=other))) == "E315"


def test_the_plan_hash_names_the_promise() -> None:
    spec = specification()
    assert plan_hash(spec) == plan_hash(specification())
    changed = specification(budget={"total": "30", "generator": "3", "test": "2.1"})
    assert plan_hash(changed) != plan_hash(spec)


def test_draws_of_configurations_are_uniform_and_exact() -> None:
    spec = specification()
    asked: list[int] = []

    def below(n: int) -> int:
        asked.append(n)
        return n - 1

    Scheme(spec, below).drawn()
    assert asked == [spec.space.pure().size]
    assert np.isfinite(spec.space.size)


def test_ctrl_c_asks_to_wait_and_a_second_one_is_an_incident(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(self: Scheme, *_: Any) -> None:
        raise AssertionError("the index is not reached")

    def search(self: Plan, *_: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        assert "Please wait" in capsys.readouterr().err
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Scheme, "index", interrupted)
    monkeypatch.setattr(Plan, "search", search)
    with pytest.raises(KeyboardInterrupt), patient():
        release(request(folder))
    assert kinds(folder) == ["open", "charge", "incident"]
    assert not (folder / "bundle").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--ledger", "x", "--seed", "1"], "E206"),
        (["--rehearse"], "E001"),
        ([], "E001"),
        (["--rehearse", "--seed", "1", "--key", "none.pem"], "E404"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(
    folder: Path, births: Path, options: list[str], code: str
) -> None:
    arguments = ["release", str(births / "ours.yaml"), "--data", str(folder / "people.csv")]
    found = CliRunner().invoke(app, [*arguments, "--out", str(folder / "bundle"), *options])
    assert isinstance(found.exception, FacsimileError), found.output
    if options[:1] == ["--rehearse"] and len(options) > 1:
        assert found.exception.code in (code, "E110")
    else:
        assert found.exception.code == code


def test_the_command_prints_a_rehearsal_and_its_plan(births: Path, tmp_path: Path) -> None:
    data = tmp_path / "births.parquet"
    save(simulate(load_facts(births / "facts.yaml"), 165_915, 1), data)
    arguments = ["release", str(births / "ours.yaml"), "--data", str(data), "--rehearse", "--seed", "1"]
    found = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "bundle")])
    assert found.exit_code == 0, found.output
    for words in ("rehearsed, without protection", "95 % bound", "exact", "Candidates tried", "README.html"):
        assert words in found.stdout
    said = CliRunner().invoke(app, ["plan-hash", str(births / "ours.yaml"), "--json"])
    report = json.loads((tmp_path / "bundle" / bundle.REPORT).read_bytes())
    assert json.loads(said.stdout)["plan_hash"] == report["plan_hash"]
