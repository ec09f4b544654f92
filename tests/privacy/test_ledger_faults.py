"""The fault table of the ledger: whatever goes wrong, what was seen is never more than what was charged.

kill -9, full disk, failing sync, races, rollback, fork, torn tail, flipped bits, links and locks. The processes
that are killed, limited or held up live in kills.py.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from facsimile import storage
from facsimile.errors import FacsimileError, LedgerRefused
from facsimile.line import hashed
from facsimile.privacy import ledger as ledger_module
from facsimile.privacy.anchor import NOTHING, Mark
from facsimile.privacy.budget import Cost
from facsimile.privacy.dataset import dataset_key
from facsimile.privacy.ledger import Ledger, _unmade, verify
from privacy.kills import AMOUNT, COST, PLENTY, access, accesses, charges

KILLS = Path(__file__).with_name("kills.py")
ENTRY = ["append", "written", "synced", "anchor", "append", "written", "synced", "replaced"]
ACCESS = [*ENTRY, "charged", *ENTRY]
CREATION = [*ENTRY[4:], *ENTRY]


def code(action: Callable[[], object]) -> str:
    with pytest.raises(LedgerRefused) as caught:
        action()
    return caught.value.code


def started(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(KILLS), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> Any:
    """What a process printed, or the signal that killed it."""
    printed, _ = process.communicate(timeout=300)
    return json.loads(printed) if process.returncode == 0 else process.returncode


def heard(process: subprocess.Popen[str], word: str) -> None:
    """Wait until a process says a word."""
    assert process.stdout is not None and process.stdout.readline() == word + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Ledger.at(tmp_path / "ledger").create("tag", PLENTY)
    return tmp_path / "ledger"


@pytest.fixture
def book(path: Path) -> Ledger:
    return Ledger.at(path)


Copy = dict[Path, bytes]


def copied(*paths: Path) -> Copy:
    return {path: path.read_bytes() for path in paths}


def restored(copy: Copy) -> None:
    for path, content in copy.items():
        path.write_bytes(content)


# ---- kill -9 at every step


def test_these_are_all_the_steps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    for module in (storage, ledger_module):
        monkeypatch.setattr(module, "reached", steps.append)
    access(path)
    assert steps == ACCESS
    steps.clear()
    Ledger.at(path.with_name("other")).create("tag", PLENTY)
    assert steps == CREATION


@pytest.mark.parametrize(("step", "name"), list(enumerate(ACCESS, start=1)))
def test_killed_at_a_step_of_an_access(path: Path, step: int, name: str) -> None:
    access(path)
    assert ended(started("once", path, step)) == -signal.SIGKILL
    begun = step > 1
    seen = step > 9
    assert (charges(path), accesses(path)) == (1 + begun, 1 + seen)
    access(path)
    assert (charges(path), accesses(path)) == (2 + begun, 2 + seen)


@pytest.mark.parametrize(("step", "name"), list(enumerate(CREATION, start=1)))
def test_killed_at_a_step_of_the_creation(tmp_path: Path, step: int, name: str) -> None:
    """Before its anchor says that it is made, nothing was ever charged to it: it is made again."""
    book = Ledger.at(tmp_path / "ledger")
    assert ended(started("create", book.path, step)) == -signal.SIGKILL
    assert book.made() is (step >= len(CREATION))
    expected = "E401" if book.made() else None
    assert code_or_none(lambda: book.create("again", PLENTY)) == expected
    access(book.path)
    assert charges(book.path) == accesses(book.path) == 1
    assert code_or_none(lambda: book.create("again", PLENTY)) == "E401"


def test_a_ledger_that_holds_a_charge_is_not_made_again_though_its_anchor_says_it_was_never_made(
    tmp_path: Path,
) -> None:
    """An anchor from a copy of its first moment."""
    book = Ledger.at(tmp_path / "ledger")
    book.create("tag", PLENTY)
    access(book.path)
    held, mark = book.path.read_bytes(), book.anchors[0].read()
    assert mark is not None and held.count(b"\n") >= 2
    first = Mark(mark.ledger, NOTHING, "", 0)
    book.anchors[0].write(first)
    for lines in (held.splitlines(keepends=True)[:2], held.splitlines(keepends=True)):
        book.path.write_bytes(b"".join(lines))
        assert code_or_none(lambda: book.create("again", PLENTY)) == "E401"
        assert book.path.read_bytes() == b"".join(lines)


def test_a_ledger_before_its_first_entry_has_spent_nothing() -> None:
    made = _unmade({"id": "0" * 32, "before": 7, "before_delta": "1/8"})
    assert (made.sequence, made.spent, made.before, made.before_delta) == (NOTHING, 0, 7, "1/8")


def code_or_none(action: Callable[[], object]) -> str | None:
    try:
        action()
    except FacsimileError as error:
        return error.code
    return None


@pytest.mark.parametrize(("step", "name"), list(enumerate([*ENTRY[4:], *ENTRY[:4]], start=1)))
def test_killed_again_while_the_anchor_catches_up(path: Path, step: int, name: str) -> None:
    """The first process dies before it moved the anchor; the second begins with that."""
    assert ended(started("once", path, ENTRY.index("anchor") + 1)) == -signal.SIGKILL
    assert ended(started("once", path, step)) == -signal.SIGKILL
    assert (charges(path), accesses(path)) == (2 if step > 5 else 1, 0)


def storm(folder: Path, kills: int, seed: int) -> None:
    found = ended(started("storm", folder, kills, seed))
    print(json.dumps(found))
    assert found["kills"] >= kills and found["survivors"] == 0
    assert found["under"] == found["over"] == 0
    assert found["accesses"] > kills // 10, "most workers died before they saw anything: a weak storm"


def test_a_storm_of_a_hundred_kills(tmp_path: Path) -> None:
    storm(tmp_path, 100, 1)


@pytest.mark.long
def test_a_storm_of_a_thousand_kills(tmp_path: Path) -> None:
    storm(tmp_path, 1000, 2)


# ---- full disk, short write


@pytest.mark.parametrize("room", [0, 1, 18, 100])
def test_a_file_that_cannot_grow(path: Path, room: int) -> None:
    before = path.read_bytes()
    assert ended(started("limited", path, room)) == [
        "E330", "0 charges, 0 accesses", "charged", "1 charges, 1 accesses"
    ]  # fmt: skip
    assert path.read_bytes().startswith(before)


class Failing:
    """os.write or os.fsync, failing at its n-th call; or a write of half a line, and then a full disk."""

    def __init__(self, real: Callable[..., Any], at: int, error: int | None) -> None:
        self.real, self.left, self.error = real, at, error

    def __call__(self, descriptor: int, *line: bytes) -> Any:
        self.left -= 1
        short = self.error is None
        if self.left == (-1 if short else 0):
            error = self.error or errno.ENOSPC
            raise OSError(error, os.strerror(error))
        return self.real(
            descriptor, *(part[: len(part) // 2] if short and not self.left else part for part in line)
        )


@contextlib.contextmanager
def failing(name: str, at: int, error: int | None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, name, Failing(getattr(os, name), at, error))
        yield


short_or_full = pytest.mark.parametrize("error", [None, errno.ENOSPC, errno.EDQUOT, errno.EIO])


@short_or_full
def test_an_entry_that_does_not_fit_is_not_charged(book: Ledger, error: int | None) -> None:
    before = copied(book.path, book.anchor)
    with failing("write", 1, error):
        assert code(lambda: access(book.path)) == "E330"
    assert copied(book.path, book.anchor) == before and accesses(book.path) == 0
    access(book.path)
    assert charges(book.path) == accesses(book.path) == 1


@short_or_full
def test_an_anchor_that_does_not_fit_leaves_the_entry_charged(book: Ledger, error: int | None) -> None:
    with failing("write", 2, error):
        assert code(lambda: access(book.path)) == "E332"
    assert verify(book.path.read_bytes()).spent == AMOUNT and accesses(book.path) == 0
    access(book.path)
    assert (charges(book.path), accesses(book.path)) == (2, 1)


def test_while_the_anchor_cannot_be_written_nothing_more_is_charged(book: Ledger) -> None:
    obstacle = book.anchor.with_name(book.anchor.name + ".new")
    obstacle.mkdir()
    for action in (lambda: access(book.path), lambda: access(book.path), book.state):
        assert code(action) == "E332"
    assert verify(book.path.read_bytes()).spent == AMOUNT and accesses(book.path) == 0
    obstacle.rmdir()
    assert book.state().spent == AMOUNT


@short_or_full
def test_a_ledger_that_does_not_fit_can_be_created_later(tmp_path: Path, error: int | None) -> None:
    book = Ledger.at(tmp_path / "ledger")
    with failing("write", 2, error):
        assert code(lambda: book.create("tag", PLENTY)) == "E330"
    assert not book.path.exists() and not book.made()
    assert book.create("tag", PLENTY).spent == 0


# ---- a sync that fails


def test_an_unconfirmed_entry_stops_everything(book: Ledger) -> None:
    with failing("fsync", 1, errno.EIO):
        assert code(lambda: access(book.path)) == "E331"
    assert accesses(book.path) == 0 and storage.suspect(book.path).exists()
    for action in (book.state, lambda: access(book.path), lambda: book.charge(COST, "again")):
        assert code(action) == "E310"
    assert accesses(book.path) == 0


@pytest.mark.parametrize("at", [2, 3, 4])
def test_an_unconfirmed_anchor_leaves_the_entry_charged(book: Ledger, at: int) -> None:
    with failing("fsync", at, errno.EIO):
        assert code(lambda: access(book.path)) == "E332"
    assert accesses(book.path) == 0
    access(book.path)
    assert (charges(book.path), accesses(book.path)) == (2, 1)


@pytest.mark.parametrize("at", [4, 5])
def test_an_unconfirmed_creation_charged_nothing_and_is_repeated(tmp_path: Path, at: int) -> None:
    """Once the mark of suspicion stayed, and the ledger could neither be read nor made."""
    book = Ledger.at(tmp_path / "ledger")
    with failing("fsync", at, errno.EIO):
        assert code(lambda: book.create("tag", PLENTY)) == "E330"
    assert not book.made()
    book.create("tag", PLENTY)
    access(book.path)
    assert charges(book.path) == accesses(book.path) == 1


# ---- processes that race


def test_four_processes_racing_for_a_cap_charge_exactly_the_cap(tmp_path: Path) -> None:
    book = Ledger.at(tmp_path / "ledger")
    book.create("tag", Fraction(21 * AMOUNT + AMOUNT // 2, 10**6))
    racers = [started("race", book.path) for _ in range(4)]
    for racer in racers:
        heard(racer, "ready")
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
        racer.stdin = None
    results = [ended(racer) for racer in racers]
    assert [result["code"] for result in results] == ["E301"] * 4
    assert sum(result["won"] for result in results) == 21
    state = book.state()
    assert state.spent == 21 * AMOUNT and state.sequence == 21


def test_a_held_lock_is_waited_for(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = started("hold", book.path)
    heard(holder, "held")
    assert code(lambda: Ledger(book.path, book.anchor, patience=0.05).charge(COST, "impatient")) == "E320"
    polls: list[float] = []

    def poll(seconds: float) -> None:
        polls.append(seconds)
        if len(polls) == 3:
            holder.communicate()

    monkeypatch.setattr(time, "sleep", poll)
    book.charge(COST, "patient")
    assert len(polls) == 3 and charges(book.path) == 1


def test_the_lock_of_a_killed_process_is_free(book: Ledger) -> None:
    holder = started("hold", book.path)
    heard(holder, "held")
    holder.kill()
    holder.communicate()
    Ledger(book.path, book.anchor, patience=5).charge(COST, "after")
    assert charges(book.path) == 1


def test_two_copies_that_share_an_anchor_do_not_charge_at_once(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = Ledger(book.path.with_name("twin"), book.anchor, patience=0)
    twin.path.write_bytes(book.path.read_bytes())
    codes: list[str] = []

    def reached(step: str) -> None:
        if step == "anchor":
            codes.append(code(lambda: twin.charge(COST, "twin")))

    monkeypatch.setattr(ledger_module, "reached", reached)
    book.charge(COST, "first")
    assert codes == ["E320"]
    assert code(lambda: twin.charge(COST, "twin")) == "E312"


# ---- rollback, copy, fork


def test_an_older_ledger_is_refused(book: Ledger) -> None:
    old = copied(book.path)
    access(book.path)
    new = copied(book.path)
    restored(old)
    for action in (book.state, lambda: access(book.path)):
        assert code(action) == "E312"
    restored(new)
    access(book.path)
    assert charges(book.path) == accesses(book.path) == 2


def test_a_ledger_without_its_anchor_is_refused(book: Ledger) -> None:
    access(book.path)
    book.anchor.unlink()
    assert code(book.state) == "E318"
    assert code(lambda: access(book.path)) == "E318"


def test_a_ledger_cut_to_its_first_line_without_an_anchor_is_refused(book: Ledger) -> None:
    """Once it was taken for one that a crash had left in its creation, and all spending was forgotten."""
    access(book.path)
    first = book.path.read_bytes().splitlines(keepends=True)[0]
    book.path.write_bytes(first)
    assert code(book.state) == "E312"
    book.anchor.unlink()
    for action in (book.state, lambda: access(book.path)):
        assert code(action) == "E318"
    assert code_or_none(lambda: book.create("tag", PLENTY)) == "E401"


# ---- the key of the data is a second anchor


@pytest.fixture
def keyed(tmp_path: Path) -> Ledger:
    (tmp_path / "office").mkdir()
    key = tmp_path / "data.csv.key"
    dataset_key(key)
    book = Ledger.at(tmp_path / "office" / "ledger", key=key)
    book.create("tag", PLENTY)
    return book


def test_a_restored_folder_with_ledger_and_anchor_is_noticed_by_the_key(keyed: Ledger) -> None:
    both = copied(keyed.path, keyed.anchor)
    keyed.close(keyed.charge(COST, "seen"), "done")
    new = copied(keyed.path, keyed.anchor)
    restored(both)
    for action in (keyed.state, lambda: keyed.charge(COST, "again"), lambda: keyed.begin(COST, "again")):
        assert code(action) == "E312"
    restored(new)
    assert keyed.charge(COST, "again").charge.sequence == 3


def test_data_that_has_a_ledger_takes_no_other_unless_on_purpose(keyed: Ledger, tmp_path: Path) -> None:
    keyed.charge(COST, "first")
    other = Ledger.at(tmp_path / "other", key=keyed.key)
    assert code(lambda: other.create("tag", PLENTY)) == "E316"
    assert not other.path.exists()
    state = other.create("tag", PLENTY, again=True)
    assert (state.spent, state.before) == (0, AMOUNT)
    assert code(keyed.state) == "E316", "the earlier one counts no more"
    other.charge(COST, "second")
    third = Ledger.at(tmp_path / "third", key=keyed.key).create("tag", PLENTY, again=True)
    assert third.before == 2 * AMOUNT, "all that was ever spent"


def test_a_ledger_made_without_the_data_is_not_theirs(keyed: Ledger, tmp_path: Path) -> None:
    stranger = Ledger.at(tmp_path / "stranger")
    stranger.create("tag", PLENTY)
    assert code(Ledger.at(stranger.path, key=keyed.key).state) == "E316"
    fresh = tmp_path / "fresh.csv.key"
    dataset_key(fresh)
    assert code(Ledger.at(stranger.path, key=fresh).state) == "E315"


@pytest.mark.parametrize("step", range(1, 21))
def test_killed_while_a_ledger_for_data_is_made_it_is_made_again(tmp_path: Path, step: int) -> None:
    key = tmp_path / "data.csv.key"
    secret = dataset_key(key)
    book = Ledger.at(tmp_path / "ledger", key=key)

    class Killed(BaseException):
        pass

    left = iter(range(step - 1, -1, -1))

    def die(_: str) -> None:
        if next(left, 1) == 0:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        for module in (storage, ledger_module):
            patch.setattr(module, "reached", die)
        with contextlib.suppress(Killed):
            book.create("tag", PLENTY)
    if not book.made():
        book.create("tag", PLENTY)
    assert (book.state().spent, book.state().before, dataset_key(key)) == (0, 0, secret)


# ---- a charge that may go on after a crash


def test_a_charge_is_held_by_one_and_taken_up_when_that_one_is_gone(book: Ledger) -> None:
    receipt = book.begin(COST, "release a")
    assert not receipt.resumed
    for action in (lambda: book.begin(COST, "release a"), lambda: book.unfinished("release a")):
        assert code(action) == "E320"
    assert not book.unfinished("release b")
    receipt.let_go(ended=False)
    assert book.unfinished("release a")
    again = book.begin(COST, "release a")
    assert again.resumed and again.charge.sequence == receipt.charge.sequence and charges(book.path) == 1
    held = {path.name for path in book.path.parent.glob("*.lock")}
    book.close(again, "done")
    left = {path.name for path in book.path.parent.glob("*.lock")}
    assert len(held - left) == 1, "nobody will ask for a charge that ended"
    assert not book.unfinished("release a")
    third = book.begin(COST, "release a")
    assert not third.resumed and charges(book.path) == 2


def test_only_a_charge_of_the_same_purpose_goes_on(book: Ledger) -> None:
    book.begin(COST, "release a").let_go(ended=False)
    other = book.begin(COST, "release b")
    assert not other.resumed and charges(book.path) == 2
    with pytest.raises(FacsimileError, match="E304"):
        book.begin(Cost(COST.epsilon / 2), "release a")


def test_a_charge_whose_end_cannot_be_written_is_left_to_the_next_run(book: Ledger) -> None:
    receipt = book.begin(COST, "release a")
    with failing("write", 1, errno.ENOSPC):
        assert code(lambda: book.close(receipt, "done")) == "E330"
    assert book.begin(COST, "release a").resumed


def test_charged_again_after_a_rollback_the_head_is_another(book: Ledger) -> None:
    """The nonce: the same words on the same day give another head, so that a fork is seen."""
    both = copied(book.path, book.anchor)
    heads = set()
    for _ in range(3):
        restored(both)
        book.charge(COST, "the same words")
        heads.add(book.state().head)
    assert len(heads) == 3


def test_a_ledger_of_another_history_is_refused(book: Ledger) -> None:
    other = Ledger.at(book.path.with_name("other"))
    other.create("tag", PLENTY)
    for each in (book, other):
        access(each.path)
    book.path.write_bytes(other.path.read_bytes())
    assert code(book.state) == "E311"


def test_a_fork_is_refused(book: Ledger) -> None:
    common = copied(book.path, book.anchor)
    access(book.path)
    first = copied(book.path)
    restored(common)
    book.charge(COST, "another branch")
    assert book.state().sequence == 1
    restored(first)
    assert code(book.state) == "E311"


def test_a_copy_that_went_on_elsewhere_is_counted_or_refused(book: Ledger, tmp_path: Path) -> None:
    away = Ledger.at(tmp_path / "away")
    away.path.write_bytes(book.path.read_bytes())
    away.anchor.write_bytes(book.anchor.read_bytes())
    away.charge(COST, "away")
    one, anchor = away.path.read_bytes(), book.anchor.read_bytes()
    away.charge(COST, "away")
    book.path.write_bytes(away.path.read_bytes())
    assert code(book.state) == "E311"
    book.path.write_bytes(one)
    assert book.state().spent == AMOUNT, "one ahead is what a crash leaves: counted"
    assert book.anchor.read_bytes() != anchor


def test_an_older_anchor_is_refused(book: Ledger) -> None:
    old = copied(book.anchor)
    access(book.path)
    restored(old)
    assert code(book.state) == "E311"


def test_ledger_and_anchor_rolled_back_together_only_the_published_head_shows_it(book: Ledger) -> None:
    both = copied(book.path, book.anchor)
    access(book.path)
    published = book.state()
    restored(both)
    assert charges(book.path) < accesses(book.path), "undetectable on this machine, by design"
    while (state := book.state()).sequence < published.sequence:
        access(book.path)
    assert (state.identifier, state.sequence) == (published.identifier, published.sequence)
    assert state.head != published.head, "two heads for one number of one ledger: a fork, for all to see"


# ---- torn tails and flipped bits


@pytest.fixture
def small(book: Ledger) -> Ledger:
    access(book.path)
    book.charge(COST, "second")
    return book


def test_every_cut_off_tail_is_refused(small: Ledger) -> None:
    whole = small.path.read_bytes()
    ends = {place + 1 for place, byte in enumerate(whole) if byte == ord("\n")}
    for size in reversed(range(len(whole))):
        os.truncate(small.path, size)
        expected = "E312" if size in ends else "E313"
        assert code(small.state) == code(lambda: small.charge(COST, "more")) == expected
        assert small.path.stat().st_size == size, "nothing is repaired"
    small.path.write_bytes(whole)
    assert small.state().spent == 2 * AMOUNT


def test_every_torn_tail_is_refused_even_where_the_anchor_is_behind(book: Ledger) -> None:
    before, anchor = book.path.read_bytes(), book.anchor.read_bytes()
    book.charge(COST, "torn")
    whole = book.path.read_bytes()
    book.anchor.write_bytes(anchor)
    for size in reversed(range(len(before) + 1, len(whole))):
        os.truncate(book.path, size)
        assert code(book.state) == "E313"


@pytest.mark.parametrize("which", ["path", "anchor"])
def test_every_flipped_bit_is_refused(small: Ledger, which: str) -> None:
    """The checksum finds each one, so "refused or identical" is always "refused"."""
    file: Path = getattr(small, which)
    whole = file.read_bytes()
    with file.open("r+b", buffering=0) as opened:
        for place, byte in enumerate(whole):
            for flipped in (*(byte ^ 1 << bit for bit in range(8)), byte):
                opened.seek(place)
                opened.write(bytes([flipped]))
                assert flipped == byte or code(small.state) in {"E310", "E313"}
    assert file.read_bytes() == whole and small.state().spent == 2 * AMOUNT


def test_entries_moved_doubled_or_dropped_are_refused(small: Ledger) -> None:
    lines = small.path.read_bytes().splitlines(keepends=True)
    shuffled = [
        lines[:1] + lines[2:],
        lines[1:],
        [*lines, lines[-1]],
        [lines[0], lines[2], lines[1], *lines[3:]],
    ]
    for other in shuffled:
        small.path.write_bytes(b"".join(other))
        assert code(small.state) == "E310"


def line(entry: object) -> bytes:
    body = json.dumps(entry).encode()
    return b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)


OPEN = {"seq": 0, "prev": "", "kind": "open", "cap": 9, "id": "x", "tag": "t"}


@pytest.mark.parametrize(
    "content",
    [
        line([]),
        line(None),
        line({}),
        line({**OPEN, "kind": "charge", "micro": 1}),
        line({**OPEN, "kind": "other"}),
        line({**OPEN, "seq": 1}),
        line({**OPEN, "prev": "0"}),
        line({key: value for key, value in OPEN.items() if key != "cap"}),
        line(OPEN) + line({**OPEN, "seq": 1, "prev": hashed(line(OPEN))}),
        *(
            line(OPEN) + line({"seq": 1, "prev": hashed(line(OPEN)), "kind": "charge", **micro})
            for micro in ({}, {"micro": 0}, {"micro": -5}, {"micro": 0.5}, {"micro": True}, {"micro": "1"})
        ),
        b"00000002 00000000 {}\n",
        b"%08x %08x {\n" % (1, zlib.crc32(b"{")),
        b"\n",
        line(OPEN) + b"\n",
        line(OPEN).replace(b"\n", b"\r\n"),
        b"\0" * 50 + b"\n",
    ],
    ids=lambda content: f"{zlib.crc32(content):08x}",
)
def test_entries_with_right_checksums_and_wrong_fields_are_refused(content: bytes) -> None:
    assert verify(line(OPEN)).cap == 9
    assert code(lambda: verify(content)) == "E310"


@pytest.mark.parametrize(
    "content", [b"", b"\n", line({}), line(OPEN), line(OPEN) * 2, b"\0" * 120], ids=range(6)
)
def test_an_anchor_that_is_none_is_refused(book: Ledger, content: bytes) -> None:
    book.anchor.write_bytes(content)
    assert code(book.state) == "E310"


# ---- links


def test_a_link_to_a_ledger_is_refused(book: Ledger, tmp_path: Path) -> None:
    before = copied(book.path, book.anchor)
    link = Ledger(tmp_path / "link", book.anchor)
    link.path.symlink_to(book.path)
    for action in (link.state, lambda: link.charge(COST, "link")):
        assert code(action) == "E314"
    assert copied(book.path, book.anchor) == before


def test_an_anchor_that_is_a_link_is_refused(book: Ledger) -> None:
    elsewhere = book.anchor.rename(book.anchor.with_name("elsewhere"))
    book.anchor.symlink_to(elsewhere)
    assert code(lambda: access(book.path)) == "E314"
    assert charges_without_anchor(book) == accesses(book.path) == 0


def charges_without_anchor(book: Ledger) -> int:
    return verify(book.path.read_bytes()).spent // AMOUNT


def test_a_ledger_is_not_created_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "ledger").symlink_to(tmp_path / "elsewhere")
    assert code(lambda: Ledger.at(tmp_path / "ledger").create("tag", PLENTY)) == "E330"
    assert not (tmp_path / "elsewhere").exists()
