"""A specification's file and its log change together, and nobody's change is lost."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import pytest

from facsimile.agreement.agreed import GONE, UNSEEN, Agreed, Author, Change
from facsimile.errors import FacsimileError
from facsimile.release.plan import plan_hash
from facsimile.spec.load import dump, loads, parse
from specs import small

ADA, WHY = Author("Ada", "lawyer"), "The board said so"


@pytest.fixture
def agreed(tmp_path: Path) -> Agreed:
    path = tmp_path / "release.yaml"
    path.write_text("# by hand\n" + dump(small()).replace("title:", "title:  "), encoding="utf-8")
    return Agreed(path)


def refused(code: str, deed: object, *given: object) -> None:
    with pytest.raises(FacsimileError) as caught:
        deed(*given)  # type: ignore[operator]
    assert caught.value.code == code


def test_a_change_leaves_every_other_byte_and_is_in_the_log(agreed: Agreed) -> None:
    before = agreed.text
    agreed.change([Change("budget.total", "6", "5")], ADA, WHY)
    lines = [(a, b) for a, b in zip(before.splitlines(), agreed.text.splitlines(), strict=True) if a != b]
    assert len(lines) == 1 and "6" in lines[0][1]
    begun, change = agreed.decisions.entries
    assert begun.text == before
    assert (change.by, change.role, change.why, change.item) == ("Ada", "lawyer", WHY, "budget.total")
    assert change.words and change.plan == plan_hash(loads(agreed.text))
    assert agreed.decisions.text == agreed.text and not agreed.outside


def test_several_changes_are_one_decision_or_none(agreed: Agreed) -> None:
    before = agreed.text
    both = [Change("budget.total", "6"), Change("records.count", "7", "8")]
    refused("E442", agreed.change, both, ADA, WHY)
    assert agreed.text == before and not agreed.log.exists()
    agreed.change([Change("budget.total", "6"), Change("budget.once", GONE), Change("title", "B")], ADA, WHY)
    assert len(agreed.decisions.entries) == 2 and agreed.decisions.entries[1].item.count(", ") == 2


@pytest.mark.parametrize(
    ("author", "why"), [(Author(""), "x"), (Author("  "), "x"), (ADA, ""), (ADA, " \n"), (ADA, "x" * 5000)]
)
def test_nothing_is_decided_without_a_name_and_a_reason(agreed: Agreed, author: Author, why: str) -> None:
    before = agreed.text
    refused("E443", agreed.change, [Change("title", "B")], author, why)
    refused("E443", agreed.note, author, why)
    refused("E443", agreed.comment, "title", why, author)
    assert agreed.text == before and not agreed.log.exists()


def test_what_was_seen_must_still_be_there(agreed: Agreed) -> None:
    agreed.change([Change("budget.total", "6", "5")], ADA, WHY)
    refused("E442", agreed.change, [Change("budget.total", "7", "5")], Author("Bob"), WHY)
    refused("E442", agreed.change, [Change("budget.once", "1", "2")], Author("Bob"), WHY)
    agreed.change([Change("budget.once", "1", GONE)], Author("Bob"), WHY)
    agreed.change([Change("budget.total", "7", UNSEEN)], Author("Bob"), WHY)
    assert parse(agreed.text)[0]["budget"]["total"] == "7"
    refused("E442", agreed.take, agreed.text, "another text", ADA, WHY)


def test_what_would_be_no_specification_is_refused_and_nothing_is_written(agreed: Agreed) -> None:
    before = agreed.text
    for change in (
        Change("budget.total", "much"),
        Change("columns.age.bounds", GONE),
        Change("columns.1", GONE),
    ):
        with pytest.raises(FacsimileError):
            agreed.change([change], ADA, WHY)
    refused("E220", agreed.change, [Change("budget.totel", "1")], ADA, WHY)
    assert agreed.text == before and not agreed.log.exists()


def test_a_change_by_other_means_is_found_and_may_be_explained(agreed: Agreed) -> None:
    agreed.change([Change("budget.total", "6")], ADA, WHY)
    agreed.path.write_text(agreed.text.replace("Small", "Tiny"), encoding="utf-8")
    assert agreed.outside
    agreed.note(Author("Bob"), "A better title")
    assert not agreed.outside and agreed.decisions.entries[-1].outside
    agreed.path.write_text(agreed.text.replace("Tiny", "Huge"), encoding="utf-8")
    agreed.change([Change("budget.total", "7")], ADA, WHY)
    found, mine = agreed.decisions.entries[-2:]
    assert (found.by, found.outside, mine.by) == ("", True, "Ada")
    assert agreed.note(ADA, WHY) == ()


def test_a_text_that_cannot_be_read_is_noted_too(agreed: Agreed) -> None:
    agreed.note(ADA, WHY)
    agreed.path.write_text("no: specification", encoding="utf-8")
    assert agreed.note(ADA, WHY) == ("the text changed",)
    assert agreed.decisions.entries[-1].plan == ""


def test_a_signature_is_under_the_plan_as_it_is(agreed: Agreed) -> None:
    plan = plan_hash(loads(agreed.text))
    assert agreed.sign(ADA, plan) == plan
    agreed.change([Change("budget.total", "6")], ADA, WHY)
    refused("E442", agreed.sign, ADA, plan)
    refused("E443", agreed.sign, Author("Ada"))
    agreed.sign(ADA)
    assert [one.plan == plan for one in agreed.decisions.signatures] == [False]


def test_a_comment_is_on_an_item_that_is_there(agreed: Agreed) -> None:
    agreed.comment("criteria.marginals-absolute", "Why this one?", ADA)
    assert agreed.decisions.comments("criteria.marginals-absolute")[0].why == "Why this one?"
    refused("E220", agreed.comment, "criteria.mean-x", "?", ADA)


def test_a_log_that_was_changed_is_refused_and_the_file_stays(agreed: Agreed) -> None:
    agreed.change([Change("budget.total", "6")], ADA, WHY)
    agreed.log.write_bytes(agreed.log.read_bytes().replace(b"title:", b"tytle:"))
    before = agreed.text
    refused("E441", agreed.change, [Change("budget.total", "7")], ADA, WHY)
    assert agreed.text == before


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_the_mode_of_the_file_and_what_links_to_it_stay(agreed: Agreed, tmp_path: Path) -> None:
    agreed.path.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(agreed.path)
    Agreed(link).change([Change("budget.total", "6")], ADA, WHY)
    assert Agreed(link).log == agreed.log and agreed.log.exists()
    assert link.is_symlink() and agreed.path.stat().st_mode & 0o777 == 0o640
    assert parse(agreed.text)[0]["budget"]["total"] == "6"


def changes(path: Path, column: str, times: int) -> None:
    for number in range(times):
        item = f"columns.{column}.description"
        Agreed(path).change([Change(item, f"{column} {number}")], Author(column), "again")


def test_two_processes_lose_no_change(agreed: Agreed) -> None:
    spawned = multiprocessing.get_context("spawn")
    others = [spawned.Process(target=changes, args=(agreed.path, name, 15)) for name in ("age", "sex")]
    for other in others:
        other.start()
    for other in others:
        other.join(120)
        assert other.exitcode == 0
    assert [c["description"] for c in parse(agreed.text)[0]["columns"]] == ["age 14", "sex 14"]
    log = agreed.decisions
    assert len(log.entries) == 31 and log.text == agreed.text
    assert not any(entry.outside for entry in log.entries)
