"""Machines that fail under a whole release: steps killed, syncs refused, files that cannot grow, odd clocks.

One outcome and one charge, whatever happens. The steps are read from the source: a new one is covered at once.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from children import HELD, Children, Told
from conftest import ROOT
from facsimile.privacy.ledger import Ledger
from hostile import marked

STEPS = sorted(
    {
        step
        for path in (ROOT / "src").rglob("*.py")
        for step in re.findall(r'\breached\("([^"]+)"\)', path.read_text("utf-8"))
    }
)

pytestmark = pytest.mark.journey
ENDINGS = {0, 2, 4, 6}


class Home:
    """A folder with data and a specification, in which releases run."""

    def __init__(self, children: Children, folder: Path) -> None:
        self.children, self.folder = children, folder
        folder.mkdir()
        marked.write(folder)
        (folder / "release.yaml").write_text(marked.specification(publish=False), "utf-8")

    def release(self, out: str = "bundle", **how: Any) -> Told:
        words = ("release", "release.yaml", "--data", "data.csv", "--ledger", "ledger", "-o", out)
        state = {"FACSIMILE_STATE": str(self.folder / "state")}
        told = self.children(*words, folder=str(self.folder), environment=state, **how)
        assert "Traceback" not in told.said and marked.marks(told.said) == []
        return told

    @property
    def charges(self) -> int:
        return sum(entry["kind"] == "charge" for entry in Ledger.at(self.folder / "ledger").state().entries)

    @property
    def outcomes(self) -> set[str]:
        """The data of all bundles."""
        found = self.folder.glob("[!.]*/report.json")
        return {json.loads(path.read_text("utf-8"))["data_hash"] for path in found}

    def ends_in_one(self, out: str) -> None:
        """The same command, or one with another output, ends in the one outcome under the one charge.

        Where the release was out and paid, another one is another charge, which the budget refuses.
        """
        again = self.release(out)
        assert again.code == 0 or again.error in ("E301", "E401"), again.err
        assert len(self.outcomes) == 1 and self.charges == 1


def test_a_release_passes_every_step_that_the_source_names(children: Children, tmp_path: Path) -> None:
    assert len(STEPS) >= 12
    assert set(STEPS) == set(Home(children, tmp_path / "home").release().steps)


@pytest.mark.long
@pytest.mark.parametrize("out", ["bundle", "other"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_every_step_that_the_source_names(
    children: Children, tmp_path: Path, step: str, out: str
) -> None:
    home = Home(children, tmp_path / "home")
    assert home.release(die=step).code == -9
    home.ends_in_one(out)


def unconfirmed(children: Children, folder: Path, sync: int) -> None:
    """A sync fails: the run says so by a code, and nothing is charged twice or drawn again."""
    home = Home(children, folder)
    told = home.release(fault=("fsync", sync))
    assert told.code in ENDINGS, (sync, told.err)
    first = home.outcomes
    again = home.release("other")
    assert again.code in {0, 3, 4, 6}, (sync, again.err)
    if not list(folder.glob("*.suspect")):
        assert home.charges <= 1 + (told.error == "E603"), sync
    assert len(first | home.outcomes) <= 1, sync


@pytest.mark.parametrize("sync", [9, 45])
def test_a_sync_that_fails_in_a_release(children: Children, tmp_path: Path, sync: int) -> None:
    unconfirmed(children, tmp_path / "home", sync)


@pytest.mark.long
def test_every_sync_that_fails_in_a_release(children: Children, tmp_path: Path) -> None:
    syncs = Home(children, tmp_path / "count").release().counts["fsync"]
    assert syncs > 40
    for sync in range(1, syncs + 1):
        unconfirmed(children, tmp_path / str(sync), sync)
        shutil.rmtree(tmp_path / str(sync))


def one_at_a_time(children: Children, folder: Path, step: str) -> None:
    """While one release stands at a step another one starts: one search, one charge, one outcome."""
    home = Home(children, folder)
    assert home.release(hold=step).out == HELD
    other = home.release("other", hurried=True)
    first = children.go_on()
    assert first.code == 0 or first.error in ("E301", "E320", "E401"), first.err
    assert other.code == 0 or other.error in ("E301", "E320"), other.err
    assert [first.code, other.code].count(0) == 1
    assert len(home.outcomes) == 1 and home.charges == 1
    if step in UNDER_A_CHARGE:
        assert other.error == "E320" and first.code == 0


UNDER_A_CHARGE = ("charged", "searched", "decided", "measured", "bundle written")


@pytest.mark.parametrize("step", ["charged", "decided"])
def test_a_release_that_stands_still_is_not_joined(children: Children, tmp_path: Path, step: str) -> None:
    one_at_a_time(children, tmp_path / "home", step)


@pytest.mark.long
@pytest.mark.parametrize("step", STEPS)
def test_nor_at_any_other_step(children: Children, tmp_path: Path, step: str) -> None:
    one_at_a_time(children, tmp_path / "home", step)


def full(children: Children, folder: Path, largest: int, mode: str = "paper") -> None:
    """RLIMIT_FSIZE: the kernel refuses at key, ledger, journal or bundle, and what is said of it is true."""
    home = Home(children, folder)
    text = marked.specification(publish=False, mode=mode)
    (folder / "release.yaml").write_text(text, "utf-8")
    told = home.release(largest_file=largest)
    assert told.error in ("E330", "E602", "E604", "E603"), told.err
    assert told.error != "E603", "every mode here survives a crash"
    assert home.release().code == 0
    assert len(home.outcomes) == 1 and home.charges == 1


@pytest.mark.parametrize("largest", [300, 20_000])
def test_files_that_cannot_grow(children: Children, tmp_path: Path, largest: int) -> None:
    full(children, tmp_path / "home", largest)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["paper", "single"])
@pytest.mark.parametrize("largest", [300, 600, 1500, 4000, 20_000, 60_000])
def test_files_of_other_sizes_cannot_grow(children: Children, tmp_path: Path, largest: int, mode: str) -> None:
    full(children, tmp_path / "home", largest, mode)


@pytest.mark.parametrize("day", [pytest.param("1970-01-01", marks=pytest.mark.long), "2099-12-31"])
def test_a_release_on_an_odd_day(children: Children, tmp_path: Path, day: str) -> None:
    """Only the sequence decides: a clock that goes back between a crash and its rerun changes nothing."""
    home = Home(children, tmp_path / "home")
    assert home.release(die="decided", clock=day).code == -9
    assert home.release().code == 0
    assert home.charges == 1
    assert json.loads((home.folder / "bundle" / "report.json").read_text("utf-8"))["day"] == day
