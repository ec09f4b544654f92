"""With frozen answers a release of a neighbouring table is the same release, to the last byte."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import facsimile
from facsimile.audit import replay, town
from facsimile.audit.replay import Trace, differences, listening
from facsimile.audit.tape import Tape, alone, longer
from facsimile.privacy.noise import RehearsalNoise
from facsimile.release import bundle
from facsimile.spec.families import FAMILIES
from facsimile.testing.contract import Broken
from frozen import COMMAND, TRANSCRIPT, customize, laid_out, left
from traces import HALT, HEADER, MODES, MORE, REFUSED, SCHEMES, TRACES, Planned, Row, Twice, may_grow

pytestmark = pytest.mark.usefixtures("typeset_once")

CASE = "paper, until success"
COMMANDED = "test-then-measure, coin"
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


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Twice]:
    """Traces by their names, each recorded once."""
    return cache(lambda name: Twice(tmp_path_factory.mktemp("trace"), (TRACES | MORE)[name]))


@pytest.mark.parametrize("name", every(TRACES | MORE))
def test_with_frozen_answers_a_neighbour_gives_the_same_release(
    recorded: Callable[[str], Twice], name: str
) -> None:
    """Files, standard output and error, log, exit code, sizes at every step, configurations and questions.

    Recorded with as many workers as the trace has, made again with one: tracks are those of an index.
    """
    twice, plan = recorded(name), (TRACES | MORE)[name]
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
        if not plan.fast and max(twice.first.tape.tracks) > 1:
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


def test_the_order_of_rows_changes_nothing(recorded: Callable[[str], Twice]) -> None:
    """Not even the transcript: it is the same table. Only the dataset's tag would differ, and it is frozen."""
    twice = recorded("test-then-measure, coin")
    rows = twice.plan.tables[0]
    assert differences(twice.first, twice.again(rows[::-1])) == []


def test_with_fresh_answers_nearly_everything_differs(recorded: Callable[[str], Twice]) -> None:
    """The comparison is not blind."""
    twice = recorded("paper, paper")
    fresh = twice.ran(twice.plan.tables[0], Tape(RehearsalNoise(99)), 1)
    found = differences(twice.first, fresh)
    assert {"another bundle/data.csv", "another bundle/report.json", "another standard output"} <= set(found)


def told(
    folder: Path, name: str, rows: list[Row], interactive: bool
) -> tuple[Any, dict[str, Any], dict[str, bytes]]:
    """The installed command in a process of its own: what it said, what its tape says, and every file it left.

    `name` says whether its answers are recorded, or replayed from those that lie in the folder.
    """
    from journeys.terminal import Terminal

    plan = TRACES[COMMANDED]
    path = [customize(folder / f"custom {name}"), TESTS, Path(facsimile.__file__).parents[1]]
    variables = {"PYTHONPATH": ":".join(map(str, path)), "FROZEN": str(folder), "FROZEN_SEED": str(plan.seed)}
    variables |= {"NO_COLOR": "1", "COLUMNS": "160"}
    place = laid_out(folder / f"run {name}", plan.specification, rows, HEADER)
    screen = Terminal(place, interactive, variables)(f"facsimile {COMMAND}")
    files = {file: held for file, held in left(place).items() if not file.startswith(".home")}
    return screen, json.loads((folder / name).read_text()), files


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_the_installed_command_in_a_terminal_shows_what_was_recorded(
    recorded: Callable[[str], Twice], tmp_path: Path
) -> None:
    """No --json: the neighbour in a terminal says what the first table said in this process, file by file."""
    first = recorded(COMMANDED).first
    (tmp_path / "tape").write_bytes(pickle.dumps(first.tape.tracks))
    screen, heard, files = told(tmp_path, "replayed", TRACES[COMMANDED].tables[1], interactive=True)
    assert heard["findings"] == [] and heard["opened"] == heard["calls"] == first.opened
    assert screen.code == 0
    assert screen.screen.split() == first.outputs["standard output"].decode().split()
    assert files == {name: held for name, held in first.outputs.items() if name in files}
    assert {"bundle/data.csv", "bundle/README.pdf", "people.ledger", TRANSCRIPT} <= set(files)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
@pytest.mark.parametrize("interactive", [True, False])
def test_two_processes_say_and_write_the_same(tmp_path: Path, interactive: bool) -> None:
    """Recorded in one, replayed in the other: in terminals, and with pipes."""
    one, other = TRACES[COMMANDED].tables
    first = told(tmp_path, "recorded", one, interactive)
    assert first == told(tmp_path, "replayed", other, interactive)
    assert first[0].code == 0 and first[1]["findings"] == []


def test_the_evidence_of_an_audit_is_found_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One case of those that an audit tries."""
    monkeypatch.setattr(town, "CASES", {CASE: town.CASES[CASE]})
    found = replay.evidence()
    assert [one.kind for one in found] == ["replay"] * 4 + ["opened"]
    assert all(one.passed for one in found)
    assert [one.found for one in found if one.declared == 0] == [0, 0, 0]
    assert found[-1].declared == found[-1].found


def test_questions_are_compared_and_outputs_by_name() -> None:
    """Another question, a missing one, and an output that only one of two runs has are findings, each alone."""
    first = Tape(RehearsalNoise(1))
    first.note("asked", 1)
    same, other, short = first.again(), first.again(), first.again()
    same.note("asked", 1)
    with pytest.raises(Broken):
        other.note("asked", 2)
    made, more = {"end": b"released"}, {"end": b"released", "log": b""}
    once = Trace(made, first)
    assert differences(once, Trace(made, same)) == []
    assert differences(once, Trace(made, other))[0] == other.findings[0]
    assert differences(once, Trace(made, short)) == short.left() != []
    assert differences(once, Trace(more, same)) == differences(Trace(more, first), Trace(made, same))
    assert differences(once, Trace(more, same)) == ["another log"]
    assert differences(once, Trace(more, same), lambda name: name == "log") == []


def test_evidence_passes_for_what_was_found_alone() -> None:
    """Fresh noise must differ, frozen answers must not."""
    assert [replay._seen(CASE, found).passed for found in ([], ["another log"])] == [False, True]
    assert [replay._same(CASE, "a test", found).passed for found in ([], ["another log"])] == [True, False]


def test_a_sign_of_life_is_no_output_of_a_release() -> None:
    """A spinner turns in a thread of its own, and goes on to the screen; threads of a search are heard."""
    go, done, screen, heard = threading.Event(), threading.Event(), io.StringIO(), dict[str, bytes]()

    def spin() -> None:
        go.wait()
        sys.stderr.write("|")
        sys.stderr.flush()
        done.set()

    thread = threading.Thread(target=spin)
    thread.start()
    with contextlib.redirect_stderr(screen), listening(heard):
        go.set()
        done.wait()
        own = threading.Thread(target=lambda: sys.stderr.write("found"))
        own.start()
        own.join()
        assert not sys.stderr.isatty()
    thread.join()
    assert screen.getvalue() == "|" and heard["standard error"] == b"found"


def test_a_trace_of_an_audit_keeps_the_bundle_to_the_byte_and_the_sizes_of_what_lies_beside_the_data() -> None:
    found = replay.trace(town.specification(CASE), town.people(), Tape(RehearsalNoise(1))).outputs
    kept = {name: content for name, content in found.items() if name.startswith("bundle/")}
    assert set(kept) == {f"bundle/{name}" for name in (*bundle.NAMES, bundle.MANIFEST)}
    assert kept["bundle/data.csv"].count(b"\n") == town.PEOPLE + 1
    assert found["end"] == b"released" and found["standard output"] == found["standard error"] == b""
    sizes = {name: int(size) for name, size in found.items() if name.startswith("size of ")}
    for name in ("ledger", "ledger.anchor", "ledger.decision", "ledger.measured", "transcript"):
        assert sizes[f"size of {name}"] > 0


@pytest.mark.long
def test_all_evidence_of_an_audit_is_found_whatever_was_drawn() -> None:
    for _ in range(3):
        assert all(one.passed for one in replay.evidence())


def test_no_command_and_no_other_module_knows_of_tapes() -> None:
    """A release cannot be made with frozen answers: only replay.py makes a curator with a tape."""
    source = Path(facsimile.__file__).parent
    knowing = {
        p.relative_to(source).as_posix() for p in source.rglob("*.py") if "TapedCurator" in p.read_text()
    }
    assert knowing == {"audit/tape.py", "audit/replay.py"}
