"""With frozen answers a release of a neighbouring table is the same release, to the last byte."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import facsimile
from facsimile.audit import replay, town
from facsimile.audit.replay import differences
from facsimile.audit.tape import Tape, alone, longer
from facsimile.privacy.noise import RehearsalNoise
from facsimile.spec.families import FAMILIES
from frozen import COMMAND, TRANSCRIPT, customize, laid_out, left
from traces import HALT, HEADER, MODES, MORE, REFUSED, SCHEMES, TRACES, Planned, Twice, may_grow

TESTS = Path(__file__).parents[1]


def every(plans: dict[str, Planned]) -> list[Any]:
    marks = {name: [] if plan.fast else [pytest.mark.long] for name, plan in plans.items()}
    return [pytest.param(name, marks=marks[name], id=name) for name in plans]


def test_there_are_twenty_five_traces_of_every_scheme_and_mode_and_some_of_each_are_tried_always() -> None:
    assert len(TRACES) == 25
    plans = [plan.specification for plan in TRACES.values()]
    pairs = {(spec.scheme, spec.selection.mode) for spec in plans}
    assert pairs == {(scheme, mode) for scheme in SCHEMES for mode in MODES} - {REFUSED}
    both = [plan.specification for plan in (TRACES | MORE).values()]
    assert {made.family for spec in both for made in spec.families} == set(FAMILIES)
    fast = [plan.specification for plan in TRACES.values() if plan.fast]
    assert {spec.scheme for spec in fast} == set(SCHEMES)
    assert {spec.selection.mode for spec in fast} == set(MODES)
    assert any(plan.fast for plan in MORE.values())


@pytest.mark.parametrize("name", every(TRACES | MORE))
def test_with_frozen_answers_a_neighbour_gives_the_same_release(tmp_path: Path, name: str) -> None:
    """Files, standard output and error, log, exit code, sizes at every step, configurations and questions.

    Recorded with as many workers as the trace has, made again with one: tracks are those of an index.
    """
    plan = (TRACES | MORE)[name]
    twice = Twice(tmp_path, plan)
    assert twice.first.opened == twice.first.tape.calls() > 0
    found = twice.again(workers=plan.workers)
    if plan.workers > 1:
        assert differences(twice.first, found, lambda output: output == TRANSCRIPT) == []
    else:
        assert differences(twice.first, found, lambda o: o == TRANSCRIPT and plan.draws_records) == []
    assert found.opened == found.tape.calls()
    tracks = longer(twice.first.tape.tracks)
    if plan.workers == 1 and plan.specification.selection.mode != "single" and tracks is not None:
        assert differences(twice.first, twice.again(tracks=tracks), may_grow) == []
        shorter = alone(twice.first.tape.tracks)
        if max(twice.first.tape.tracks) > 1:
            assert differences(twice.first, twice.again(tracks=shorter), may_grow) == []


def test_so_does_a_search_that_halts(tmp_path: Path) -> None:
    """One that tried some candidates, and one that tried a single one: the same words, the same exit code."""
    twice = Twice(tmp_path, HALT)
    tracks = twice.first.tape.tracks
    assert twice.code() == 6 and max(tracks) > 1 and b"E601" in twice.first.outputs["standard error"]
    assert not any(name.startswith("bundle/") for name in twice.first.outputs)
    assert differences(twice.first, twice.again()) == []
    for other in (alone(tracks), longer(tracks)):
        assert differences(twice.first, twice.again(tracks=other), may_grow) == []


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    """Not even the transcript: it is the same table. Only the dataset's tag would differ, and it is frozen."""
    twice = Twice(tmp_path, TRACES["test-then-measure, coin"])
    rows = twice.plan.tables[0]
    assert differences(twice.first, twice.again(rows[::-1])) == []


def test_nothing_but_the_tag_is_frozen_that_a_record_reaches(tmp_path: Path) -> None:
    """Fresh answers give another release: the comparison sees."""
    twice = Twice(tmp_path, TRACES["paper, paper"])
    fresh = twice.ran(twice.plan.tables[0], Tape(RehearsalNoise(99)), 1)
    found = differences(twice.first, fresh)
    assert {"another bundle/data.csv", "another bundle/report.json", "another standard output"} <= set(found)


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
@pytest.mark.parametrize("interactive", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_installed_command_in_a_terminal_says_and_writes_the_same(
    tmp_path: Path, interactive: bool
) -> None:
    """Two processes, no --json: what stands on the screen, the exit code, and all files."""
    from journeys.terminal import Terminal

    plan = TRACES["test-then-measure, coin"]
    path = [customize(tmp_path / "custom"), TESTS, Path(facsimile.__file__).parents[1]]
    kept = tmp_path / "kept"
    kept.mkdir()
    said = []
    for name, rows in zip(("recorded", "replayed"), plan.tables, strict=True):
        place = laid_out(tmp_path / name, plan.specification, rows, HEADER)
        variables = {"PYTHONPATH": ":".join(map(str, path)), "FROZEN": str(kept), "FROZEN_SEED": str(plan.seed)}
        told = Terminal(place, interactive, variables)(f"facsimile {COMMAND}")
        heard = json.loads((kept / name).read_text())
        assert heard["findings"] == [] and heard["opened"] == heard["calls"] > 0
        files = {file: held for file, held in left(place).items() if not file.startswith(".home")}
        said.append((told, heard, files))
    assert said[0] == said[1]
    assert said[0][0].code == 0 and "synthetic records released" in said[0][0].screen
    assert {"bundle/data.csv", "bundle/README.pdf", "people.ledger", TRANSCRIPT} <= set(said[0][2])


def test_the_evidence_of_an_audit_is_found_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One case of those that an audit tries."""
    case = "paper, until success"
    monkeypatch.setattr(town, "CASES", {case: town.CASES[case]})
    found = replay.evidence()
    assert [one.kind for one in found] == ["replay"] * 4 + ["opened"]
    assert all(one.passed for one in found)
    assert [one.found for one in found if one.declared == 0] == [0, 0, 0]
    assert found[-1].declared == found[-1].found


@pytest.mark.long
def test_the_evidence_covers_every_scheme_and_mode() -> None:
    specs = [town.specification(case) for case in town.CASES]
    assert {spec.scheme for spec in specs} == set(SCHEMES)
    assert {spec.selection.mode for spec in specs} == set(MODES)
    for _ in range(3):
        assert all(one.passed for one in replay.evidence())


def test_no_command_and_no_other_module_knows_of_tapes() -> None:
    """A release cannot be made with frozen answers: only replay.py makes a curator with a tape."""
    source = Path(facsimile.__file__).parent
    knowing = {
        p.relative_to(source).as_posix() for p in source.rglob("*.py") if "TapedCurator" in p.read_text()
    }
    assert knowing == {"audit/tape.py", "audit/replay.py"}
