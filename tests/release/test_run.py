"""The run of a release: one charge, one decision, a whole bundle or none, nothing that tells how it went."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from facsimile.cli.program import app
from facsimile.errors import FacsimileError, Refused, refusal
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.ledger import Ledger
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.noise import RehearsalNoise, SystemNoise
from facsimile.privacy.reader import read_public
from facsimile.release import bundle, run
from facsimile.release.journal import Decision, Journal
from facsimile.release.opening import Opening
from facsimile.release.plan import plan_hash
from facsimile.release.run import Rehearsed, patient, rehearsal, release
from facsimile.release.scheme import Accepted, Scheme
from facsimile.release.verify import verify
from facsimile.release.writing import digest, save
from facsimile.sources.address import Address
from programs import Program
from releases import N, approximate, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

TODAY = date(2026, 11, 16)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    return tmp_path


def book(folder: Path) -> Ledger:
    return Ledger.at(folder / "budget" / "people.ledger", key=folder / "people.csv.key")


def journal(folder: Path) -> Journal:
    """What the first charge of the ledger has on disk."""
    return Journal(specification(), book(folder).place(book(folder).state(), 1))


def kinds(folder: Path) -> list[str]:
    return [entry["kind"] for entry in book(folder).state().entries]


def test_a_release_is_charged_once_and_its_bundle_verifies(folder: Path) -> None:
    said = release(request(folder))
    assert kinds(folder) == ["open", "charge", "decided", "done"]
    assert sorted(path.name for path in (folder / "bundle").iterdir()) == sorted(
        [*bundle.NAMES, bundle.MANIFEST]
    )
    told = json.loads((folder / "bundle" / bundle.REPORT).read_text("utf-8"))
    assert told == json.loads(json.dumps(said.as_json())), "nothing is added to the report"
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


def sealed(folder: Path) -> list[tuple[str, bytes]]:
    """Every call of the transcript with the bytes it drew."""
    content = next(path for path in folder.iterdir() if "transcript" in path.name).read_bytes()
    found = []
    while content:
        head, _, content = content.partition(b"\n")
        call = json.loads(head)
        found += [] if call["call"] in ("charge", "padding") else [(call["call"], content[: call["bytes"]])]
        content = content[call["bytes"] + 1 :]
    return found


def test_everything_random_comes_from_the_system_and_stands_in_the_transcript(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise, coins, configurations and the seeds of sampling; a seeded twin in the curator or in the run would
    show.

    NumPy's generators are made in no other way than from a recorded seed.
    """
    drawn: list[tuple[str, bytes]] = []

    def spied(name: str) -> Callable[..., Any]:
        real = getattr(SystemNoise, name)

        def draw(self: SystemNoise, *given: Any) -> Any:
            result = real(self, *given)
            value = result - given[0] if name == "laplace" else np.array([int(result)], np.int64)
            drawn.append((name, value.tobytes()))
            return result

        return draw

    for name in ("laplace", "argmax", "coin", "below"):
        monkeypatch.setattr(SystemNoise, name, spied(name))
    monkeypatch.setattr(RehearsalNoise, "__init__", lambda *_: pytest.fail("a seeded twin in production"))
    seeds: list[list[int]] = []
    made = np.random.default_rng

    def seeded(seed: list[int] | np.random.Generator) -> np.random.Generator:
        if not isinstance(seed, np.random.Generator):  # one that was made before goes on
            seeds.append(seed)
        return made(seed)

    monkeypatch.setattr(np.random, "default_rng", seeded)
    release(request(folder))
    assert sealed(folder) == drawn
    assert {name for name, _ in drawn} >= {"laplace", "coin", "below"}
    words = [int(np.frombuffer(value, np.int64)[0]) for name, value in drawn if name == "below"]
    assert seeds and all(len(seed) == 8 for seed in seeds)
    drawn_in_a_row = [np.array(words[i : i + 8], "<u4").tobytes() for i in range(len(words) - 7)]
    hashed = {hashlib.sha256(eight).digest() for eight in drawn_in_a_row}
    assert all(np.array(seed, "<u4").tobytes() in hashed for seed in seeds)
    assert len({tuple(seed) for seed in seeds}) == len(seeds)


def test_two_releases_of_the_same_data_have_other_noise(folder: Path) -> None:
    said = [release(request(folder, out=folder / name)) for name in ("a", "b")]
    assert said[0].data_hash != said[1].data_hash
    assert [c.units for c in said[0].criteria] != [c.units for c in said[1].criteria]


def test_a_bundle_says_what_it_cost_and_what_its_ledger_had_spent_in_all(folder: Path) -> None:
    """Once the second release of a ledger said 9.37 where 18.74 was spent."""
    first, second = (release(request(folder, out=folder / name)) for name in ("a", "b"))
    cost = Fraction(first.epsilon)
    assert first.epsilon == second.epsilon
    for said, times in ((first, 1), (second, 2)):
        assert said.ledger is not None
        assert times * cost <= Fraction(said.ledger.spent) + Fraction(times, 10**6)
        assert Fraction(said.ledger.spent) <= times * cost + Fraction(times, 10**6)
        assert said.ledger.before == "0"
    state = book(folder).state()
    assert second.ledger is not None and Fraction(second.ledger.spent) == Fraction(state.spent, 10**6)
    data = Address.of(folder / "people.csv")
    Opening.of(data, folder / "third.ledger", None, None).anew(Fraction(30), again=True)
    third = release(request(folder, out=folder / "c", ledger=folder / "third.ledger"))
    assert third.ledger is not None
    assert third.ledger.before == second.ledger.spent
    assert third.ledger.spent == first.ledger.spent if first.ledger else None


def test_a_fresh_or_another_ledger_for_the_same_data_is_refused(folder: Path) -> None:
    release(request(folder))
    elsewhere = request(folder, out=folder / "again", ledger=folder / "fresh.ledger")
    assert refused(lambda: release(elsewhere)) == "E316"
    assert not (folder / "fresh.ledger").exists()
    (folder / "other").mkdir()
    write_data(folder / "other")
    stranger = request(folder / "other", ledger=folder / "other" / "their.ledger")
    release(stranger)
    mixed = request(folder, out=folder / "again", ledger=folder / "other" / "their.ledger")
    assert refused(lambda: release(mixed)) == "E316"
    assert kinds(folder) == ["open", "charge", "decided", "done"]


def test_ledger_anchor_key_and_data_are_four_files(folder: Path) -> None:
    """Once such a command waited for itself, and said that another process held the ledger."""
    ledger = folder / "budget" / "people.ledger"
    for anchor in (ledger, folder / "people.csv.key", folder / "people.csv"):
        assert refused(lambda anchor=anchor: release(request(folder, anchor=anchor))) == "E314"  # type: ignore[misc]
    assert not ledger.exists()


def test_a_restored_ledger_folder_is_refused(folder: Path) -> None:
    """Ledger and anchor from yesterday's backup: the key beside the data knows better."""
    release(request(folder))
    shutil.copytree(folder / "budget", folder / "backup")
    release(request(folder, out=folder / "second"))
    shutil.rmtree(folder / "budget")
    shutil.move(folder / "backup", folder / "budget")
    assert refused(lambda: release(request(folder, out=folder / "third"))) == "E312"


def test_a_failed_write_after_the_decision_leaves_a_charge_that_the_next_run_finishes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[Any] = []

    def full(*_: Any) -> None:
        decided.append(journal(folder).decided())
        raise refusal("E403")

    with monkeypatch.context() as patched:
        patched.setattr(bundle, "write", full)
        assert refused(lambda: release(request(folder))) == "E602"
    assert kinds(folder) == ["open", "charge", "decided"]
    (folder / "taken").mkdir()
    assert refused(lambda: release(request(folder, out=folder / "taken"))) == "E401"
    assert list((folder / "taken").iterdir()) == [], "an empty folder is not taken for the bundle"
    assert journal(folder).decided() is not None, "the journal is still there"
    monkeypatch.setattr(Plan, "search", lambda *_: pytest.fail("searched again"))
    said = release(request(folder))
    assert said.data_hash == digest(decided[0].accepted.table).hex()
    assert kinds(folder) == ["open", "charge", "decided", "done"]
    verify(folder / "bundle")


@pytest.mark.parametrize("kind", ["decided", "done"])
@pytest.mark.parametrize("halts", [False, True])
def test_an_anchor_that_cannot_be_written_hides_no_outcome(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, halts: bool
) -> None:
    """Once a halt was not told and charged again, because only the anchor of its end was missing."""
    append = Ledger._append

    def unwritable(book: Ledger, fields: dict[str, Any], state: Any = None) -> None:
        append(book, fields, state)
        if fields["kind"] == kind:
            raise refusal("E332")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "_append", unwritable)
        if halts:
            patched.setattr(Plan, "search", lambda *_: None)
        told = refused_or_none(lambda: release(request(folder)))
    outcome = "E601" if halts else None
    assert told == ("E602" if kind == "decided" else outcome)
    if kind == "decided":
        monkeypatch.setattr(Plan, "search", lambda *_: pytest.fail("searched again"))
        assert refused_or_none(lambda: release(request(folder))) == outcome
    assert kinds(folder) == ["open", "charge", "decided", "halted" if halts else "done"]
    assert (folder / "bundle").exists() is not halts


def refused_or_none(action: Callable[[], object]) -> str | None:
    try:
        action()
    except FacsimileError as error:
        return error.code
    return None


def test_a_bundle_of_something_else_in_the_way_is_not_taken_for_the_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(request(folder))
    asked = request(folder, out=folder / "second")
    with monkeypatch.context() as patched:
        patched.setattr(bundle, "write", lambda *_: (_ for _ in ()).throw(refusal("E403")))
        assert refused(lambda: release(asked)) == "E602"
    assert refused(lambda: release(replace(asked, out=folder / "bundle"))) == "E602"
    release(asked)
    assert kinds(folder) == ["open", "charge", "decided", "done", "charge", "decided", "done"]


def test_stopped_after_the_decision_it_goes_on_later(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the documents are made is no incident: the outcome stands."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(bundle, "files", stop)
        with pytest.raises(KeyboardInterrupt):
            release(request(folder))
    assert kinds(folder) == ["open", "charge", "decided"]
    release(request(folder))
    assert kinds(folder) == ["open", "charge", "decided", "done"]


def test_a_charge_of_another_plan_is_not_taken_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(bundle, "files", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            release(request(folder))
    other = specification(budget={"total": "30", "generator": "2", "test": "2"})
    release(request(folder, out=folder / "other", specification=other))
    assert kinds(folder) == ["open", "charge", "decided", "charge", "decided", "done"]
    assert book(folder).state().entries[5]["charge"] == 3


@pytest.mark.parametrize("which", ["decision", "measured"])
def test_half_a_journal_is_no_decision(folder: Path, which: str) -> None:
    journal = Journal(specification(), folder / "budget" / f"x{1}")
    accepted = _accepted(folder)
    journal.decide(Decision(accepted, TODAY))
    journal.finish(accepted)
    path = journal.decision if which == "decision" else journal.measurements
    whole = path.read_bytes()
    for cut in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        found = journal.decided() if which == "decision" else journal.finished(accepted)
        assert found is None
    journal.decide(Decision(accepted, TODAY)) if which == "decision" else journal.finish(accepted)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("mode", [{"mode": "rising-coin", "a": "0.5"}])
def test_a_rising_coin_does_not_survive_a_crash(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: dict[str, str]
) -> None:
    asked = request(folder, specification=specification(selection=mode))

    def crash(self: Plan, *_: Any) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "search", crash)
        patched.setattr(Ledger, "close", lambda _, receipt, kind: receipt.let_go(False))  # a kill leaves no end
        with pytest.raises(SystemError):
            release(asked)
    assert kinds(folder) == ["open", "charge"]
    with pytest.raises(FacsimileError, match="E601"):
        release(asked)
    assert kinds(folder) == ["open", "charge", "decided", "halted"]
    assert not (folder / "bundle").exists()


def test_a_halt_that_was_decided_before_a_crash_is_not_drawn_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every candidate would pass: a second draw would make a release."""

    def die(step: str) -> None:
        if step == "decided":
            raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "search", lambda *_: None)
        patched.setattr(run, "reached", die)
        patched.setattr(Ledger, "close", lambda book, receipt, _: receipt.let_go(ended=False))
        with pytest.raises(SystemError):
            release(request(folder))
    assert kinds(folder) == ["open", "charge"]
    assert refused(lambda: release(request(folder, out=folder / "other"))) == "E601"
    assert not (folder / "other").exists()
    assert kinds(folder) == ["open", "charge", "decided", "halted"]


def test_no_release_is_a_decision_of_the_same_size(folder: Path) -> None:
    spec = specification()
    sizes = set()
    for place, accepted in enumerate((None, _accepted(folder))):
        journal = Journal(spec, folder / "budget" / f"x{place}")
        journal.decide(Decision(accepted, TODAY))
        sizes.add(journal.decision.stat().st_size)
        assert journal.decided() is not None
        assert journal.decision.stat().st_mode & 0o077 == 0
    assert len(sizes) == 1


def _accepted(folder: Path) -> Accepted:
    """An accepted candidate, measured, as a rehearsal makes it."""
    spec = specification()
    accepted, _ = run.rehearsed(spec, read_public(Address.of(folder / "people.csv"), spec), 3)
    assert accepted is not None
    return accepted


def test_a_journal_gives_back_what_was_decided(folder: Path) -> None:
    accepted = _accepted(folder)
    journal = Journal(specification(), folder / "budget" / f"x{1}")
    journal.decide(Decision(accepted, TODAY))
    journal.finish(accepted)
    decision = journal.decided()
    assert decision is not None and decision.day == TODAY
    found = decision.accepted
    assert found is not None
    assert found.table == accepted.table
    assert found.configuration == accepted.configuration
    finished = journal.finished(found)
    assert finished is not None
    assert finished.measured == accepted.measured
    journal.remove()
    assert journal.decided() is None


def test_nothing_depends_on_how_many_candidates_were_tried(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same accepted candidate and the same measurements after 1, 2 and 7 candidates: the same bytes."""
    accepted = _accepted(folder)
    for module in ("ledger", "dataset"):
        monkeypatch.setattr(f"facsimile.privacy.{module}.secrets.token_hex", lambda size: "0" * 2 * size)
    bundles: list[dict[str, bytes]] = []
    for tries in (1, 2, 7):
        home = folder / str(tries)
        (home / "budget").mkdir(parents=True)
        write_data(home)
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


EASY: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "1"},
    {"criterion": "total-variation", "ways": "2", "threshold": "0.6", "epsilon": "1"},
    {"criterion": "mean", "of": "age", "by": ["age"], "threshold": "60", "epsilon": "5"},
]


def alone(criterion: dict[str, Any]) -> dict[str, Any]:
    """A criterion without an epsilon of its own."""
    return {key: value for key, value in criterion.items() if key != "epsilon"}


def test_every_scheme_and_mode_makes_a_release(folder: Path) -> None:
    paper = {"total": "30", "generator": "3"}
    once = {"total": "30", "generator": "3", "test": "2"}
    cases: list[dict[str, Any]] = [
        {"scheme": "paper", "budget": paper, "statistic": "paper", "selection": {"mode": "paper"}},
        {"scheme": "train-once", "budget": once},
        {"scheme": "measured", "budget": paper | {"total": "60"}, "criteria": EASY},
        {"scheme": "measured", "budget": once, "criteria": EASY[:1] + [alone(c) for c in EASY[1:]]},
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
    assert kinds(folder) == ["open", "charge", "decided", "done"]
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
    assert refused(lambda: release(replace(again, specification=approximate()))) == "E307"
    short = specification(records={"count": "399", "public_because": "it is wrong"})
    assert refused(lambda: release(replace(again, specification=short))) == "E104"
    assert kinds(folder) == ["open", "charge", "decided", "done"]
    big = specification(budget={"total": "30", "generator": "20", "test": "2"})
    assert refused(lambda: release(replace(again, specification=big))) == "E301"
    other = folder / "other.csv"
    other.write_bytes((folder / "people.csv").read_bytes() + b"\n")
    assert refused(lambda: release(replace(again, data=Address.of(other)))) == "E315"


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
    with pytest.raises(KeyboardInterrupt):
        release(request(folder), patient)
    assert kinds(folder) == ["open", "charge", "incident"]
    assert not (folder / "bundle").exists()


def test_ctrl_c_before_the_charge_just_stops(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = folder / "people.yaml"
    spec.write_text(yaml.safe_dump(specification().model_dump(mode="json", exclude_none=True)))
    before = set(folder.rglob("*"))
    monkeypatch.setattr(run, "read", lambda *_: signal.raise_signal(signal.SIGINT))
    files = ("--data", folder / "people.csv", "--ledger", folder / "ledger", "--out", folder / "bundle")
    found = Program(monkeypatch, capsys)("release", spec, *files)
    assert found.code == 130
    assert found.err.splitlines()[-1] == "Stopped." and "Please wait" not in found.err
    assert set(folder.rglob("*")) == before, "nothing was charged, and nothing was made"


@pytest.mark.parametrize("mode", ["coin", "rising-coin"])
@pytest.mark.parametrize("closes", [True, False])
def test_a_disk_that_fails_before_the_decision_says_whether_the_charge_is_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: str, closes: bool
) -> None:
    """Once the same command was advised, and it paid again."""
    selection = {"mode": "coin", "gamma": "0.05"} if mode == "coin" else {"mode": mode, "a": "0.5"}
    asked = request(folder, specification=specification(selection=selection))

    def full(*_: Any) -> None:
        raise refusal("E330")

    def unwritten(book: Ledger, receipt: Any, kind: str) -> None:
        receipt.let_go(ended=False)
        full()

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "decide", full)
        if not closes:
            patched.setattr(Ledger, "close", unwritten)
        assert refused(lambda: release(asked)) == ("E604" if mode == "coin" else "E603")
    assert kinds(folder) == ["open", "charge", *(["stopped"] if closes and mode != "coin" else [])]
    if mode == "coin":
        release(asked)
        assert kinds(folder).count("charge") == 1


def test_a_rehearsal_that_halts_has_spent_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = folder / "people.yaml"
    spec.write_text(yaml.safe_dump(specification().model_dump(mode="json", exclude_none=True)))
    monkeypatch.setattr(Plan, "search", lambda *_: None)
    options = ("--data", folder / "people.csv", "--rehearse", "--seed", "1", "--out", folder / "bundle")
    found = Program(monkeypatch, capsys)("release", spec, *options)
    assert found.code == 6
    assert found.err.startswith("E605 ") and "nothing was charged" in found.err


def test_the_ledger_tells_a_release_from_a_halt(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Program(monkeypatch, capsys)
    release(request(folder))
    with monkeypatch.context() as patched:
        patched.setattr(Plan, "search", lambda *_: None)
        assert refused(lambda: release(request(folder, out=folder / "b"))) == "E601"
        patched.setattr(Plan, "search", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            release(request(folder, out=folder / "b"))
    shown = program("ledger", "show", folder / "budget" / "people.ledger", "--json").json
    assert [charge["outcome"] for charge in shown["charges"]] == [
        "released",
        "no release: none was accepted",
        "no release: stopped by force",
    ]
    assert {(charge["title"], charge["plan_hash"]) for charge in shown["charges"]} == {
        (specification().title, plan_hash(specification()))
    }
    assert shown["data"] == "people.csv"
    assert str(folder) not in json.dumps(shown), "no path"


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


def test_the_command_prints_a_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one command the product exists for, in plain words: once it ended in E700 after the charge."""
    program, spec = Program(monkeypatch, capsys), folder / "people.yaml"
    spec.write_text(yaml.safe_dump(specification().model_dump(mode="json", exclude_none=True)))
    files = ("--data", folder / "people.csv", "--ledger", folder / "ledger", "--out", folder / "bundle")
    found = program("release", spec, *files)
    assert (found.code, found.complaints) == (0, "")
    for words in (
        "400 synthetic records released, epsilon",
        "All 3 bounds hold together with a probability of at least 95 %.",
        "README.html",
    ):
        assert words in found.out
    assert "exact" not in found.out and "Candidates tried" not in found.out
    assert "E401" in program("release", spec, *files).err


def test_the_command_prints_a_rehearsal_and_its_plan(births: Path, tmp_path: Path) -> None:
    data = tmp_path / "births.parquet"
    save(simulate(load_facts(births / "facts.yaml"), 165_915, 1), data)
    arguments = ["release", str(births / "ours.yaml"), "--data", str(data), "--rehearse", "--seed", "1"]
    found = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "bundle")])
    assert found.exit_code == 0, found.output
    for words in (
        "rehearsed, without protection",
        "bounds hold together",
        "exact",
        "Candidates tried",
        "README.html",
    ):
        assert words in found.stdout
    said = CliRunner().invoke(app, ["plan-hash", str(births / "ours.yaml"), "--json"])
    report = json.loads((tmp_path / "bundle" / bundle.REPORT).read_bytes())
    assert json.loads(said.stdout)["plan_hash"] == report["plan_hash"]


def test_only_what_a_run_left_under_its_working_name_is_removed(folder: Path) -> None:
    """A folder `.bundle.part` of somebody else's once vanished, with the confidential file in it."""
    part = folder / ".bundle.part"
    part.mkdir()
    (part / "mine.txt").write_text("kept")
    with pytest.raises(Refused) as refused:
        release(request(folder))
    assert refused.value.code == "E401" and (part / "mine.txt").read_text() == "kept"
    (part / "mine.txt").rename(part / "data.csv")
    shutil.copy(folder / "people.csv", part / "people.csv")
    with pytest.raises(Refused) as refused:
        release(request(folder, data=Address.of(part / "people.csv")))
    assert refused.value.code == "E402" and (part / "people.csv").exists()
    (part / "people.csv").unlink()
    release(request(folder))
    assert not part.exists()
