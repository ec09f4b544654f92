"""Crashes and races of a release: whatever happens, a charge has one outcome, the one that was decided."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from facsimile.documents import readme
from facsimile.privacy.ledger import Ledger
from facsimile.release import bundle
from facsimile.release.journal import Journal
from facsimile.release.opening import Opening
from facsimile.release.verify import verify
from facsimile.release.writing import digest
from facsimile.sources.address import Address
from releases import specification, write_data
from runs import Ask, Runs
from typesetting import NEVER

DECIDED_STEPS = (
    "decided",
    "measured",
    "bundle written",
    "bundle named",
    "bundle named+1",
    "bundle named+2",
    "closed",
)


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with Runs() as found:
        yield found


@pytest.fixture(autouse=True)
def _untypeset(monkeypatch: pytest.MonkeyPatch) -> None:
    """What verifies a bundle makes its pages as the run did."""
    monkeypatch.setattr(readme, "typst", NEVER)


def home(folder: Path) -> Path:
    (folder / "budget").mkdir(parents=True)
    write_data(folder)
    return folder


def book(folder: Path) -> Ledger:
    return Ledger.at(folder / "budget" / "people.ledger", key=folder / "people.csv.key")


def kinds(folder: Path) -> list[str]:
    return [entry["kind"] for entry in book(folder).state().entries]


def outcomes(folder: Path) -> dict[int, set[str]]:
    """For each charge, the data of all bundles that were made under it."""
    found: dict[int, set[str]] = {}
    for manifest in folder.glob(f"[!.]*/{bundle.MANIFEST}"):  # not the folder that has no name yet
        verify(manifest.parent)
        said = json.loads((manifest.parent / bundle.REPORT).read_text())
        found.setdefault(said["ledger"]["sequence"], set()).add(said["data_hash"])
    return found


def decided(folder: Path, sequence: int = 1) -> str | None:
    """What the journal says: the data of a release, "halt", or None where nothing is decided."""
    known = Journal(specification(), book(folder).place(book(folder).state(), sequence)).decided()
    if known is None:
        return None
    return "halt" if known.accepted is None else digest(known.accepted.table).hex()


def one_outcome(runs: Runs, folder: Path, step: str, out: str) -> None:
    """Kill at a step, run again into an output: one charge, one outcome, the decided one; nothing left over."""
    assert runs.run(folder, die=step).code == "killed"
    before = decided(folder) if book(folder).made() else None
    assert before is not None or step not in DECIDED_STEPS, "a decision is on disk before anything else happens"
    there = outcomes(folder).get(1)
    closed = book(folder).made() and "done" in kinds(folder)
    again = runs.run(folder, out=out)
    if closed:  # the release is out and paid: what is asked now is another one
        assert again.code == ("E401" if out == "bundle" else None), step
    else:
        assert again.code is None, step
        assert kinds(folder) == ["open", "charge", "decided", "done"], step
    found = outcomes(folder)
    assert all(len(data) == 1 for data in found.values()), step
    assert set(found) <= {e["seq"] for e in book(folder).state().entries if e["kind"] == "charge"}
    if before is not None:
        assert found[1] == {before}, step
    if there is not None:
        assert found[1] == there, step
    assert not [path for path in (folder / "budget").iterdir() if path.suffix in (".decision", ".measured")], (
        step
    )


@pytest.mark.parametrize("out", ["bundle", "other"])
@pytest.mark.parametrize("step", ["charged", "searched", *DECIDED_STEPS])
def test_killed_at_a_named_step(runs: Runs, tmp_path: Path, step: str, out: str) -> None:
    """The review's window was between `closed` and the step before it: another --out made a second release."""
    one_outcome(runs, home(tmp_path / "home"), step, out)


@pytest.mark.long
@pytest.mark.parametrize("out", ["bundle", "other"])
def test_killed_at_each_of_all_steps(runs: Runs, tmp_path: Path, out: str) -> None:
    """Every write, sync and rename of a run."""
    steps = runs.run(home(tmp_path / "0")).steps
    assert steps > 60
    for number in range(1, steps + 1):
        one_outcome(runs, home(tmp_path / str(number)), str(number), out)
        shutil.rmtree(tmp_path / str(number))


@pytest.mark.parametrize("step", ["charged", "searched", "decided", "bundle named", "closed"])
def test_a_charge_with_delta_is_taken_up_and_not_charged_again(runs: Runs, tmp_path: Path, step: str) -> None:
    """The ledger that the release began has room for one δ: a second charge would be refused."""
    folder = home(tmp_path / "home")
    assert runs.run(folder, die=step, delta=True).code == "killed"
    before = decided(folder) if step != "closed" else None
    again = runs.run(folder, delta=True)
    assert again.code == (None if step != "closed" else "E307")
    assert kinds(folder) == ["open", "charge", "decided", "done"]
    charge = book(folder).state().entries[1]
    assert charge["delta"] == "1/1000000" and charge["micro"] > 3_000_000
    found = outcomes(folder)
    assert list(found) == [1] and (before is None or found[1] == {before})
    assert runs.run(folder, out="second", delta=True).code == "E307"


@pytest.mark.parametrize("step", ["decided", "closed"])
def test_a_halt_is_not_drawn_again(runs: Runs, tmp_path: Path, step: str) -> None:
    folder = home(tmp_path / "home")
    assert runs.run(folder, die=step, halts=True).code == "killed"
    if step == "decided":
        assert decided(folder) == "halt"
        ended = runs.run(folder, halts=True)
        assert ended.code == "E601"
        assert kinds(folder) == ["open", "charge", "decided", "halted"]
    assert outcomes(folder) == {}
    assert kinds(folder).count("charge") == 1


def test_no_image_of_memory_is_left_by_a_crash(runs: Runs, tmp_path: Path) -> None:
    ended = runs.run(home(tmp_path / "home"))
    assert (ended.core, ended.dumpable) == (0, 0)


@pytest.mark.parametrize("step", ["charged", "decided", "bundle named"])
def test_a_ledger_moved_after_a_crash_is_no_second_charge(runs: Runs, tmp_path: Path, step: str) -> None:
    """The journal and the lock of a charge belong to the data, not to where the ledger lies."""
    folder = home(tmp_path / "home")
    assert runs.run(folder, die=step).code == "killed"
    before, there = decided(folder), outcomes(folder).get(1)
    (folder / "moved").mkdir()
    for name in ("people.ledger", "people.ledger.anchor"):
        (folder / "budget" / name).rename(folder / "moved" / name)
    ended = runs.run(folder, out="other", ledger="moved/people.ledger")
    assert ended.code is None
    found = outcomes(folder)
    assert len(found[1]) == 1
    assert before is None or found[1] == {before}
    assert there is None or found[1] == there


def test_a_linked_ledger_shares_no_charge(runs: Runs, tmp_path: Path) -> None:
    """Two names of one ledger, two processes at once."""
    folder = home(tmp_path / "home")
    assert runs.run(folder, die="charged").code == "killed"
    (folder / "linked").mkdir()
    for name in ("people.ledger", "people.ledger.anchor"):
        (folder / "linked" / name).hardlink_to(folder / "budget" / name)
    asks = [
        Ask(str(folder), out=f"out{i}", ledger=f"{place}/people.ledger")
        for i, place in enumerate(("budget", "linked"))
    ]
    codes = {ended.code for ended in runs.race(asks)}
    assert None in codes and codes <= {None, "E320", "E311", "E312"}
    assert all(len(data) == 1 for data in outcomes(folder).values())


def test_a_lost_journal_is_not_drawn_again(runs: Runs, tmp_path: Path) -> None:
    """Data and key were moved after a crash, and the decision stayed behind."""
    folder = home(tmp_path / "home")
    assert runs.run(folder, die="bundle named").code == "killed"
    for path in folder.glob("*.decision"):
        path.rename(folder / "budget" / path.name)
    assert runs.run(folder, out="other").code == "E319"
    for path in (folder / "budget").glob("*.decision"):
        path.rename(folder / path.name)
    assert runs.run(folder, out="other").code is None
    assert len(outcomes(folder)[1]) == 1


def test_a_journal_of_another_ledger_decides_nothing(runs: Runs, tmp_path: Path) -> None:
    folder = home(tmp_path / "home")
    assert runs.run(folder, die="decided").code == "killed"
    stale = decided(folder)
    for name in ("people.ledger", "people.ledger.anchor"):
        (folder / "budget" / name).rename(folder / name)
    data = Address.of(folder / "people.csv")
    Opening.of(data, folder / "budget" / "people.ledger", None, None).anew(Fraction(30), again=True)
    ended = runs.run(folder)
    assert ended.code is None and ended.data_hash != stale
    assert runs.run(folder, out="second", halts=True).code == "E601"


@pytest.mark.parametrize("write", range(1, 40, 4))
def test_a_disk_that_is_full_from_some_write_on(runs: Runs, tmp_path: Path, write: int) -> None:
    """The code says whether budget was spent; freed and run again, the decided outcome comes out."""
    folder = home(tmp_path / "home")
    ended = runs.run(folder, full=write)
    charged = kinds(folder).count("charge") if book(folder).made() else 0
    known = decided(folder) if charged else None
    meaning = {"E602": 1, "E603": 1, "E604": 1, "E330": 0, "E332": charged, "E314": 0}
    if ended.code is not None:
        assert charged == meaning[ended.code], ended.code
        assert (known is not None) >= (ended.code == "E602")
    out = "second" if ended.code is None or (ended.code == "E332" and "done" in kinds(folder)) else "bundle"
    assert runs.run(folder, out=out).code is None
    found = outcomes(folder)
    assert all(len(data) == 1 for data in found.values())
    if known is not None:
        assert found[1] == {known}
    if ended.code in ("E602", "E604"):
        assert kinds(folder) == ["open", "charge", "decided", "done"]
    if ended.code == "E603":
        assert kinds(folder).count("charge") == 2, "what is spent is not taken up again"


def race(runs: Runs, folder: Path, asks: list[Ask]) -> None:
    """Several at once: each outcome belongs to a charge of its own, and whoever is refused says why."""
    found = runs.race(asks)
    made = outcomes(folder)
    assert all(len(data) == 1 for data in made.values())
    won = [ended for ended in found if ended.code is None]
    assert len(won) >= 1
    assert {ended.code for ended in found} <= {None, "E320", "E401", "E301"}
    assert {ended.data_hash for ended in won} == {next(iter(data)) for data in made.values()}
    charged = kinds(folder).count("charge")
    assert charged == kinds(folder).count("done") == len(made) == len(won)


@pytest.mark.parametrize("late", [0.0, 0.3])
def test_processes_that_race_do_not_share_a_charge(runs: Runs, tmp_path: Path, late: float) -> None:
    """Started together or one after the other, with outputs of their own: once, two searches had one charge."""
    folder = home(tmp_path / "home")
    race(runs, folder, [Ask(str(folder), out=f"out{i}", wait=late * i) for i in range(3)])


@pytest.mark.long
def test_two_hundred_races_of_two_to_five_processes(runs: Runs, tmp_path: Path) -> None:
    random = Random(1)
    for number in range(200):
        folder = home(tmp_path / str(number))
        size = random.randint(2, 5)
        race(runs, folder, [Ask(str(folder), out=f"out{i}", wait=random.random() * 1.5) for i in range(size)])
        shutil.rmtree(folder)


def storm(runs: Runs, folder: Path, kills: int, seed: int) -> None:
    """Killed at random steps and moments, again and again, into changing outputs, until it is done."""
    random = Random(seed)
    killed = finished = 0
    while killed < kills:
        place = home(folder / str(finished))
        last = 0
        while True:
            before = decided(place, last) if last else None
            how = {"die": str(random.randint(1, 95))} if random.random() < 0.7 else {"after": random.random()}
            ended = runs.run(place, out=f"out{random.randint(0, 2)}", **how)
            made = book(place).made()
            charges = [e["seq"] for e in book(place).state().entries if e["kind"] == "charge"] if made else []
            found = outcomes(place) if ended.code != "killed" or random.random() < 0.2 else {}
            assert all(len(data) == 1 for data in found.values())
            assert set(found) <= set(charges)
            if before is not None and last in found:
                assert found[last] == {before}
            last = charges[-1] if charges else 0
            if ended.code == "killed":
                killed += 1
            elif ended.code == "E301" or len(charges) >= 3:
                break
        finished += 1
        shutil.rmtree(place)
    print(json.dumps({"kills": killed, "ledgers": finished}))


def test_a_storm_of_kills(runs: Runs, tmp_path: Path) -> None:
    storm(runs, tmp_path, 8, 1)


@pytest.mark.long
def test_a_storm_of_a_thousand_kills(runs: Runs, tmp_path: Path) -> None:
    storm(runs, tmp_path, 1000, 2)


@pytest.mark.parametrize("step", ["decided", "bundle written", "bundle named"])
def test_noisy_tables_outlive_a_crash(runs: Runs, tmp_path: Path, step: str) -> None:
    """What the decided candidate was fitted to is in the journal with it: the bundle has it, and it fits."""
    folder = home(tmp_path / "home")
    assert runs.run(folder, die=step, tables=True).code == "killed"
    assert runs.run(folder, out="bundle", tables=True).code is None
    assert verify(folder / "bundle").remade == "same" and kinds(folder).count("charge") == 1
