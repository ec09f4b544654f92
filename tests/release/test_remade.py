"""A released table follows from its noisy tables, or is refused; through the files and the command."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from facsimile.cli.program import app
from facsimile.errors import FacsimileError
from facsimile.release import bundle
from facsimile.release.journal import Decision, Journal
from facsimile.release.opened import open_bundle
from facsimile.release.remade import MOST_MOVED, made_again
from facsimile.release.reporting import Release, report
from facsimile.release.run import release
from facsimile.release.tables import INDEX
from facsimile.release.verify import verify
from facsimile.table.table import Table
from releases import forged, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

SPECIFICATION = specification(publish=["tables"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in production with its tables."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "budget").mkdir()
    write_data(folder)
    release(request(folder, specification=SPECIFICATION))
    return folder / "bundle"


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def rehashed(folder: Path) -> None:
    """The manifest as it would be had the files been so."""
    manifest = json.loads((folder / bundle.MANIFEST).read_text())
    manifest["sha256"] = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in manifest["sha256"]}
    (folder / bundle.MANIFEST).write_text(json.dumps(manifest))


def test_a_release_is_made_again_record_for_record_from_its_files(made: Path) -> None:
    assert verify(made).remade == "same"
    shown = CliRunner().invoke(app, ["verify", str(made)])
    assert shown.exit_code == 0
    assert "give the released table again, record for record" in " ".join(shown.stdout.split())
    assert json.loads(CliRunner().invoke(app, ["verify", str(made), "--json"]).stdout)["remade"] == "same"


def test_without_tables_nothing_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    release(request(tmp_path))
    assert verify(tmp_path / "bundle").remade is None
    assert {path.name for path in (tmp_path / "bundle").iterdir()} == {*bundle.NAMES, bundle.MANIFEST}


def test_a_count_that_was_changed_is_found(copy: Path) -> None:
    index = json.loads((copy / INDEX).read_text())
    path = copy / index["tables"][0]["file"]
    path.write_text(path.read_text().replace("1", "2", 1))
    with pytest.raises(FacsimileError) as refused:
        verify(copy)
    assert refused.value.code == "E502"


def test_other_noisy_tables_give_another_table(made: Path, tmp_path: Path) -> None:
    """A bundle made up as a whole, one noisy count of which is off by twenty deviations of its noise."""
    held = open_bundle(made)
    made_up = forged(held.release, 20)
    bundle.write(bundle.files(made_up, report(made_up, held.day)), tmp_path / "forged")
    with pytest.raises(FacsimileError) as refused:
        verify(tmp_path / "forged")
    assert refused.value.code == "E503" and INDEX in str(refused.value)


@pytest.mark.parametrize("break_", ["choice", "dropped", "text", "gone", "extra", "nested"])
def test_what_is_no_answer_is_refused(copy: Path, break_: str) -> None:
    index = json.loads((copy / INDEX).read_text())
    match break_:
        case "choice":
            index["answers"].append({"mechanism": "NoisySelection", "tables": [], "numbers": [0]})
        case "dropped":
            index["answers"] = index["answers"][:-1]
        case "text":
            index["seeds"]["own"] = ["seven"]
        case "gone":
            (copy / index["tables"][0]["file"]).unlink()
        case "extra":
            (copy / "tables" / "999-more.csv").write_text("a\n")
        case "nested":
            (copy / "tables" / "deep").mkdir()
    (copy / INDEX).write_text(json.dumps(index))
    if break_ not in ("gone", "extra", "nested"):
        rehashed(copy)
    with pytest.raises(FacsimileError) as refused:
        verify(copy)
    assert refused.value.code in ("E501", "E503") and refused.value.exit_code == 5


def with_moved(held: Release, records: int) -> Release:
    """A release some of whose records lie in other rows."""
    rows = held.table.records()
    rows[:records, 0] = (rows[:records, 0] + 1) % held.table.domain.shape[0]
    return replace(held, table=Table.from_rows(held.table.domain, rows))


def test_a_few_records_in_other_rows_are_another_machines_rounding_and_more_are_not(made: Path) -> None:
    held = open_bundle(made).release
    for records in range(1, MOST_MOVED + 1):
        assert made_again(with_moved(held, records)) == "near"
    for records in (MOST_MOVED + 1, held.table.n // 2):
        with pytest.raises(FacsimileError):
            made_again(with_moved(held, records))


def test_release_and_halt_leave_journals_of_one_size_tables_or_not(made: Path, tmp_path: Path) -> None:
    held, sizes = open_bundle(made).release, set[int]()
    for name, decision in (("a", Decision(held, date.today())), ("b", Decision(None, date.today()))):
        journal = Journal(SPECIFICATION, tmp_path / name)
        journal.decide(decision)
        sizes.add(journal.decision.stat().st_size)
        again = journal.decided()
        assert again is not None and (again.accepted is None) is (decision.accepted is None)
        if again.accepted is not None:
            assert again.accepted.heard is not None and held.heard is not None
            found = replace(held, heard=again.accepted.heard)
            assert made_again(found) == "same"
    assert len(sizes) == 1
