"""The study: one file that is whole after any crash, has one writer and any number of readers."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.explore import study as module
from facsimile.explore.judge import Noiseless, Reading
from facsimile.explore.race import RaceRule
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study, levels
from facsimile.explore.trials import Trial
from studies import DECLARED, RULE, configurations, new_study, setup, specification

SETUP = setup()
CONFIGURATIONS = configurations(SETUP.specification)
NUMBERS = st.floats(allow_nan=False, width=64)
NAMES = st.text(min_size=1, max_size=8)
MAYBE = st.none() | NUMBERS
READINGS = st.builds(Reading, NAMES, MAYBE, NUMBERS, st.booleans(), MAYBE, MAYBE)
ROOMS = st.builds(Noiseless, NAMES, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.none() | NAMES)
TRIALS = st.builds(
    Trial,
    st.sampled_from([c.identifier for c in CONFIGURATIONS]),
    st.sampled_from(["2", "1.4", "0.071"]),
    st.integers(0, 2000),
    st.booleans(),
    st.lists(READINGS, max_size=3).map(tuple),
    st.lists(ROOMS, max_size=3).map(tuple),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.none() | st.sampled_from(["E160", "E700"]),
)


def trial(place: int = 0, number: int = 0, accepted: bool = True) -> Trial:
    reading = Reading("mean", 0.1, 0.2, True, None, None)
    return Trial(CONFIGURATIONS[place].identifier, "2", number, accepted, (reading,), (), 0.25, 0.5)


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(FacsimileError) as caught:
        action()
    return caught.value.code


def read(study: Study) -> list[object]:
    """Everything that a study holds."""
    return [
        study.setup,
        study.rule,
        study.source,
        study.declared,
        study.data,
        study.trials(),
        study.configurations(),
    ]


def names(folder: Path) -> set[str]:
    """The files of a folder; a lock is no content."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_study_holds_what_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "people.study"
    made = new_study(path)
    for study in (made, Study.open(path)):
        assert study.setup.same(SETUP)
        assert study.rule == RULE
        assert study.data == "people.csv"
        assert yaml.safe_load(study.source) == DECLARED
        assert study.declared == specification()
        assert (study.trials(), study.configurations()) == ([], {})
    assert names(tmp_path) == {"people.study"}, "one file"


def test_any_rule_is_kept(tmp_path: Path) -> None:
    rule = RaceRule(wanted=0.123456789012345, trials=17, audited=1 / 3, luck=1e-300, steps=0)
    assert new_study(tmp_path / "a", rule).rule == rule


@given(st.lists(TRIALS, max_size=6, unique_by=lambda t: t.name))
@settings(max_examples=15)
def test_trials_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, trials: list[Trial]) -> None:
    study = new_study(tmp_path_factory.mktemp("study") / "a")
    study.add(CONFIGURATIONS, trials)
    assert study.trials() == sorted(trials, key=lambda t: t.name)
    assert Study.open(study.path).trials() == study.trials()


def test_configurations_come_back_by_their_identifiers(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    study.add(CONFIGURATIONS[:3], [])
    study.add(CONFIGURATIONS[1:5], [])
    assert study.configurations() == {c.identifier: c for c in CONFIGURATIONS[:5]}


def test_a_trial_that_is_there_already_stays(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    study.add(CONFIGURATIONS[:1], [trial()])
    study.add(CONFIGURATIONS[:1], [trial()])
    study.add(CONFIGURATIONS[:1], [trial(accepted=False), trial(number=1)])
    assert study.trials() == [trial(), trial(number=1)]


def test_levels_come_from_the_largest_down() -> None:
    found = [replace(trial(), generator=text) for text in ("2", "10", "0.5", "2")]
    assert levels(found) == [Fraction(10), Fraction(2), Fraction(1, 2)]


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("mine")
    assert refused(lambda: new_study(path)) == "E401"
    assert path.read_text() == "mine"


def test_a_study_that_appears_meanwhile_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two commands at once: packing takes seconds, and the other one may have trials by then."""
    path = tmp_path / "a"
    new_study(tmp_path / "other").add(CONFIGURATIONS[:1], [trial()])
    packed = Setup.packed

    def meanwhile(found: Setup) -> bytes:
        shutil.copy(tmp_path / "other", path)
        return packed(found)

    monkeypatch.setattr(Setup, "packed", meanwhile)
    assert refused(lambda: new_study(path)) == "E401"
    assert Study.open(path).trials() == [trial()]


@pytest.mark.parametrize("where", ["no folder", "file as folder", "name of a folder"])
def test_a_study_that_cannot_be_written_is_refused(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.new" / "inside").mkdir(parents=True)
    path = {
        "no folder": tmp_path / "absent" / "a",
        "file as folder": tmp_path / "file" / "a",
        "name of a folder": tmp_path / "folder",
    }[where]
    assert refused(lambda: new_study(path)) == "E403"
    assert not path.exists()


def other_file(path: Path, kind: str) -> None:
    whole = new_study(path.with_name("whole")).path.read_bytes()
    if kind == "folder":
        path.mkdir()
    elif kind == "empty":
        path.touch()
    elif kind == "text":
        path.write_text("age,sex\n1,M\n")
    elif kind.startswith("truncated"):
        path.write_bytes(whole[: int(kind.split()[1])])
    elif kind != "absent":
        with closing(sqlite3.connect(path)) as file, file:
            file.execute(
                "CREATE TABLE about (key TEXT, value)" if "format" in kind else "CREATE TABLE other (a)"
            )
            if kind == "other format":
                file.execute("INSERT INTO about VALUES ('format', 'facsimile study 0')")


KINDS = ["absent", "folder", "empty", "text", "truncated 100", "truncated 4096", "truncated 9000"]
KINDS += ["other SQLite", "no format", "other format"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_study_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    other_file(path, kind)
    assert refused(lambda: Study.open(path)) == "E410"
    assert path.exists() == (kind != "absent"), "looking changes nothing"


DAMAGED = {
    "setup": "UPDATE about SET value = x'504b0304' WHERE key = 'ground'",
    "no setup": "DELETE FROM about WHERE key = 'ground'",
    "rule": "UPDATE about SET value = '{' WHERE key = 'rule'",
    "other rule": """UPDATE about SET value = '{"speed": 3}' WHERE key = 'rule'""",
    "readings": "UPDATE trials SET readings = '[{'",
    "other readings": """UPDATE trials SET rooms = '[{"size": 3}]'""",
    "configuration": "UPDATE configurations SET body = '{'",
    "no table": "DROP TABLE trials",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_study_is_refused(tmp_path: Path, damage: str) -> None:
    """A page that went bad, or a study of another version: one sentence, no traceback."""
    study = new_study(tmp_path / "a")
    study.add(CONFIGURATIONS[:1], [trial()])
    with closing(sqlite3.connect(study.path)) as file, file:
        file.execute(DAMAGED[damage])
    assert refused(lambda: read(Study.open(study.path))) == "E410"


def test_a_file_cut_anywhere_is_refused_or_whole(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    for number in range(20):
        study.add(CONFIGURATIONS, [trial(place, number) for place in range(len(CONFIGURATIONS))])
    whole, cut = study.path.read_bytes(), tmp_path / "cut"
    chance = random.Random(1)
    for length in [chance.randrange(len(whole) - 4096) for _ in range(25)]:
        cut.write_bytes(whole[:length])
        assert refused(lambda: read(Study.open(cut))) == "E410"


def test_there_is_one_writer(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    second = Study.open(study.path)
    with study.writing():
        assert refused(lambda: second.writing().__enter__()) == "E411"
        study.add(CONFIGURATIONS[:1], [trial()])
        assert second.trials() == [trial()], "anyone may read meanwhile"
        assert second.rule == RULE
    with second.writing():
        second.add(CONFIGURATIONS[:1], [trial(number=1)])
        assert refused(lambda: study.writing().__enter__()) == "E411"
    assert len(study.trials()) == 2


def test_a_writer_that_fails_leaves_the_study_to_others(tmp_path: Path) -> None:
    study = new_study(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt), study.writing():
        raise KeyboardInterrupt
    with study.writing():
        pass


def test_a_lock_that_cannot_be_made_is_nobody_elses_fault(tmp_path: Path) -> None:
    """E411 would send people to look for a process that is not there."""
    study = new_study(tmp_path / "a")
    (tmp_path / "a.lock").mkdir()
    assert refused(lambda: study.writing().__enter__()) == "E403"


def test_a_trial_that_cannot_be_written_is_refused_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a reader that was stopped in the middle: the study can be read, not written."""
    study = new_study(tmp_path / "a")
    study.add(CONFIGURATIONS[:1], [trial()])
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with closing(sqlite3.connect(study.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM trials").fetchone()
        assert refused(lambda: study.add([], [trial(number=1)])) == "E403"
    assert study.trials() == [trial()]


class Steps:
    """The files as they are on disk before each statement: what kill -9 would leave there."""

    def __init__(self, folder: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.copies, self.taken = folder, copies, 0
        connect, rename = sqlite3.connect, Path.rename

        def traced(*given: Any, **named: Any) -> sqlite3.Connection:
            file: sqlite3.Connection = connect(*given, **named)
            file.execute("PRAGMA cache_size = 1")
            file.set_trace_callback(lambda statement: self.take())
            return file

        def renamed(path: Path, target: Path) -> Path:
            self.take()
            return rename(path, target)

        monkeypatch.setattr(sqlite3, "connect", traced)
        monkeypatch.setattr(Path, "rename", renamed)

    def take(self) -> None:
        shutil.copytree(self.folder, self.copies / str(self.taken))
        self.taken += 1

    def all(self) -> list[Path]:
        return [self.copies / str(number) for number in range(self.taken)]


def test_killed_at_any_step_of_its_making_there_is_no_study_or_a_whole_one(tmp_path: Path) -> None:
    """Also where the last attempt left half a file and its journal behind."""
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "a"
    source = yaml.safe_dump(DECLARED) + "#" * 200_000
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(path.parent, tmp_path / "copies", patch)
        Study.create(path, source, SETUP, RULE, "people.csv")
    left = [names(folder) for folder in steps.all()]
    assert {"a.new", "a.new-journal"} in left, "some of them lie in the middle of a transaction"
    assert not any("a" in found for found in left)
    for folder in steps.all():
        again = Study.create(folder / "a", source, SETUP, RULE, "people.csv")
        assert again.source == source
        assert again.setup.same(SETUP)
        assert names(folder) == {"a"}, "nothing is left behind"


def test_killed_at_any_step_of_adding_trials_they_are_there_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    study = new_study(tmp_path / "here" / "a")
    large = tuple(Reading("x" * 2000, 0.1, 0.2, True) for _ in range(20))
    batches = [[replace(trial(place, number), readings=large) for place in range(4)] for number in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(study.path.parent, tmp_path / "copies", patch)
        for batch in batches:
            study.add(CONFIGURATIONS[:4], batch)
    assert any((folder / "a-journal").exists() for folder in steps.all())
    allowed = [sorted((t for batch in batches[:k] for t in batch), key=lambda t: t.name) for k in range(4)]
    seen = [allowed.index(Study.open(folder / "a").trials()) for folder in steps.all()]
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2}
    assert study.trials() == allowed[3]


def test_a_study_of_this_format_keeps_its_names(tmp_path: Path) -> None:
    """A name that changes in the program does not change in the file: studies took days and are read again."""
    found = new_study(tmp_path / "s")
    with closing(sqlite3.connect(found.path)) as file:
        keys = {key for (key,) in file.execute("SELECT key FROM about")}
        columns = {row[1] for row in file.execute("PRAGMA table_info(trials)")}
    assert module.FORMAT == "facsimile study 2"
    assert keys == {"format", "source", "ground", "rule", "data"}
    assert columns >= {"readings", "rooms"}
