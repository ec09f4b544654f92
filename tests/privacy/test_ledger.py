"""The ledger alone and under a curator: charged before the table is seen, and never refunded."""

from __future__ import annotations

import json
import stat
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import BudgetRefused, FacsimileError, MechanismFailed, refusal
from facsimile.line import hashed, written
from facsimile.privacy import curator as curator_module
from facsimile.privacy import ledger as ledger_module
from facsimile.privacy.anchor import NOTHING, Anchor, Mark
from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Allowance, Curator, Search
from facsimile.privacy.ledger import MICRO, Ledger, MemoryLedger, Receipt, State, micro
from facsimile.privacy.mechanisms import MECHANISMS, Mechanism, NoisyAnswer, NoisyMarginals
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import mode_of
from facsimile.privacy.noise import Noise
from facsimile.privacy.private import Private
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.privacy.reader import rehearse
from facsimile.privacy.renyi import epsilon_of
from facsimile.privacy.transcript import Transcript
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.release import Selection
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from plans import plan

THIRD = Cost(Fraction(1, 3))
ONE = Cost(Fraction(1))
SENTINEL = "sentinel-8151"


def code(action: Callable[[], object]) -> str:
    with pytest.raises(FacsimileError) as caught:
        action()
    return caught.value.code


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    book = Ledger.at(tmp_path / "ledger")
    book.create("tag", Fraction(3))
    return book


def kinds(book: Ledger) -> list[str]:
    return [entry["kind"] for entry in book.state().entries]


# ---- amounts and the cap


@given(st.fractions(min_value=0, max_value=100))
def test_amounts_are_rounded_up_to_micro_epsilon(epsilon: Fraction) -> None:
    assert epsilon * MICRO <= micro(epsilon) < epsilon * MICRO + 1


@pytest.mark.parametrize("cap", [Fraction(2, 3), Fraction(1), Fraction(1, 10**7), Fraction(10**9)])
def test_the_cap_is_rounded_down(tmp_path: Path, cap: Fraction) -> None:
    assert cap * MICRO - 1 < Ledger.at(tmp_path / "ledger").create("tag", cap).cap <= cap * MICRO


def test_a_new_ledger_has_spent_nothing(tmp_path: Path) -> None:
    state = Ledger.at(tmp_path / "ledger").create("tag", Fraction(7, 3))
    assert (state.tag, state.cap, state.spent, state.sequence) == ("tag", 2_333_333, 0, 0)
    assert state.remaining == state.cap and len(state.identifier) == 32


def test_ledgers_have_their_own_identifiers(tmp_path: Path) -> None:
    states = [Ledger.at(tmp_path / name).create("tag", Fraction(1)) for name in ("a", "b")]
    assert states[0].identifier != states[1].identifier and states[0].head != states[1].head


def test_thirds_round_up_so_the_third_of_three_does_not_fit(book: Ledger) -> None:
    for _ in range(8):
        book.charge(THIRD, "third")
    assert book.state().spent == 8 * 333_334
    with pytest.raises(BudgetRefused) as caught:
        book.charge(THIRD, "third")
    assert caught.value.code == "E301" and caught.value.exit_code == 3
    assert "0.333334 asked, 0.333328 remaining" in str(caught.value)
    assert book.state().spent == 8 * 333_334


def test_the_cap_itself_can_be_spent_and_nothing_more(book: Ledger) -> None:
    book.charge(Cost(Fraction(3)), "all")
    assert book.state().remaining == 0
    before = book.path.read_bytes()
    assert code(lambda: book.charge(Cost(Fraction(1, 10**9)), "a little")) == "E301"
    assert book.path.read_bytes() == before


class Never(int):
    """Neither above nor below anything."""

    def __ge__(self, other: object) -> bool:
        return False

    __gt__ = __le__ = __lt__ = __ge__


def test_a_cap_that_compares_with_nothing_refuses(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """`not (spent + x <= cap)`: where a comparison is neither, as with NaN, the answer is no."""
    first = book.path.read_bytes()
    strange = replace(book.state(), cap=Never(3 * MICRO))
    monkeypatch.setattr(Ledger, "_verified", lambda _: strange)
    assert code(lambda: book.charge(ONE, "nan")) == "E301"
    assert book.path.read_bytes() == first


@pytest.mark.parametrize(
    ("cost", "found"),
    [
        (Cost(), "E303"),
        (Cost(delta=Fraction(1, 10**9)), "E303"),
        (Cost(Fraction(1), Fraction(1, 10**30)), "E307"),
        (Cost(rho=Fraction(1, 10**30)), "E307"),
    ],
)
def test_a_charge_is_positive_and_in_a_pure_ledger_pure(book: Ledger, cost: Cost, found: str) -> None:
    before = book.path.read_bytes()
    assert code(lambda: book.charge(cost, "odd")) == found
    assert code(lambda: book.begin(cost, "odd")) == found
    if found == "E303":
        assert code(lambda: MemoryLedger().charge(cost, "odd")) == "E303"
    assert book.path.read_bytes() == before


BILLIONTH = Fraction(1, 10**9)


def opened(folder: Path, cap: str = "3", rho: str = "0", delta: Fraction = BILLIONTH) -> Ledger:
    book = Ledger.at(folder / "with-delta")
    book.create("tag", Fraction(cap), delta=delta, rho=Fraction(rho))
    return book


def test_deltas_add_up_to_the_one_declared_and_no_further(tmp_path: Path) -> None:
    book = opened(tmp_path)
    for _ in range(3):
        book.charge(Cost(Fraction(1, 10), BILLIONTH / 3), "a third of delta")
    assert code(lambda: book.charge(Cost(Fraction(1, 10), Fraction(1, 10**40)), "more")) == "E307"
    book.charge(Cost(Fraction(1)), "a pure one needs none")
    state = book.state()
    assert (state.spent, state.delta, state.mark.delta) == (1_300_000, BILLIONTH, "1/1000000000")
    assert state.upto(1)[1:] == (100_000, BILLIONTH / 3)


def test_what_a_rho_may_cost_is_set_aside_when_the_ledger_is_opened(tmp_path: Path) -> None:
    """At ρ = 0.02 and half of δ: the rest of both is for other charges."""
    book = opened(tmp_path, rho="0.02")
    aside = micro(epsilon_of(Fraction(2, 100), BILLIONTH / 2))
    assert book.state().remaining == 3 * MICRO - aside
    book.charge(Cost(rho=Fraction(1, 100)), "half")
    book.charge(Cost(rho=Fraction(1, 100)), "the other half")
    assert book.state().remaining == 3 * MICRO - aside
    assert code(lambda: book.charge(Cost(rho=Fraction(1, 10**15)), "more")) == "E307"
    book.charge(Cost(Fraction(1), BILLIONTH / 2), "beside it")
    assert code(lambda: book.charge(Cost(Fraction(1), Fraction(1, 10**30)), "no delta is left")) == "E307"
    left = Cost(Fraction(book.state().remaining, MICRO))
    book.charge(left, "all of the rest")
    assert code(lambda: book.charge(Cost(Fraction(1, MICRO)), "one more")) == "E301"


def test_amounts_of_rho_are_rounded_up(tmp_path: Path) -> None:
    book = opened(tmp_path, rho="0.000000000002")
    book.charge(Cost(rho=Fraction(1, 10**15)), "a little counts as a pico-rho")
    book.charge(Cost(rho=Fraction(1, 10**15)), "again")
    assert code(lambda: book.charge(Cost(rho=Fraction(1, 10**15)), "a third")) == "E307"


@pytest.mark.parametrize(
    ("cap", "delta", "rho"),
    [
        ("1", "1", "0"),
        ("1", "0", "0.02"),
        ("1", "-1/10", "0"),
        ("1", "1/1000000000", "0.02"),
        ("3", "1/9", "-1"),
        ("3", "1/9", "0.0000000000001"),
    ],
)
def test_caps_that_cannot_be_are_refused_and_nothing_is_written(
    tmp_path: Path, cap: str, delta: str, rho: str
) -> None:
    assert code(lambda: opened(tmp_path, cap, rho, Fraction(delta))) == "E308"
    assert list(tmp_path.iterdir()) == []


def test_a_cap_may_be_all_that_its_rho_costs_and_no_less(tmp_path: Path) -> None:
    aside = micro(epsilon_of(Fraction(2, 100), BILLIONTH / 2))
    assert code(lambda: opened(tmp_path, f"{aside - 1}/{MICRO}", "0.02")) == "E308"
    assert opened(tmp_path, f"{aside}/{MICRO}", "0.02").state().remaining == 0


def test_another_ledger_carries_over_what_of_delta_was_spent(tmp_path: Path) -> None:
    key = tmp_path / "data.key"
    Anchor(key).write(Mark("", NOTHING, "", 0, key="secret"))
    first = Ledger.at(tmp_path / "first", key=key)
    first.create("tag", Fraction(3), delta=BILLIONTH, rho=Fraction(2, 100))
    first.charge(Cost(Fraction(1), BILLIONTH / 4), "release")
    spent = first.state().spent
    for number, name in enumerate(("second", "third"), start=1):
        book = Ledger.at(tmp_path / name, key=key)
        state = book.create("tag", Fraction(3), again=True)
        assert (state.before, state.before_delta) == (spent, BILLIONTH * 3 / 4), number
        assert book.state().delta == 0


def test_files_of_a_charge_lie_beside_the_key_of_the_data_and_else_beside_the_ledger(tmp_path: Path) -> None:
    key = tmp_path / "data" / "people.csv.key"
    key.parent.mkdir()
    Anchor(key).write(Mark("", NOTHING, "", 0, key="secret"))
    for name, beside in (("kept", key), ("alone", tmp_path / "alone")):
        book = Ledger.at(tmp_path / name, key=key if beside == key else None)
        state = book.create("tag", Fraction(1))
        assert book.place(state, 3) == beside.with_name(f"{beside.name}.{state.identifier}.3")


def test_a_charge_without_delta_leaves_the_delta_of_its_anchor(tmp_path: Path) -> None:
    book = opened(tmp_path)
    book.charge(Cost(Fraction(1), BILLIONTH / 4), "release")
    before = book.anchors[0].read()
    book.charge(Cost(Fraction(1)), "a pure one")
    after = book.anchors[0].read()
    assert before is not None and after is not None and Fraction(before.delta) > 0
    assert after.delta == before.delta and after.spent == before.spent + MICRO


def test_a_crashed_charge_with_delta_goes_on_as_what_it_was(tmp_path: Path) -> None:
    book, cost = opened(tmp_path), Cost(Fraction(1), BILLIONTH / 2)
    book.begin(cost, "release").let_go(ended=False)
    for other in (Cost(Fraction(1)), Cost(Fraction(1), BILLIONTH / 3), Cost(Fraction(2), BILLIONTH / 2)):
        assert code(partial(book.begin, other, "release")) == "E304"
    again = book.begin(cost, "release")
    assert again.resumed
    assert book.state().mark.delta == str(BILLIONTH / 2)


OPENED = {"seq": 0, "prev": "", "kind": "open", "cap": 10, "tag": "t", "id": "i"}
CHARGED = {"seq": 1, "kind": "charge", "micro": 1, "purpose": "p", "day": "2020-01-31"}
ENDED = {"seq": 2, "kind": "done", "charge": 1}
LEAST = {"cap": 0, "before": 0, "most_rho": 1, "micro": 1, "rho": 1, "charge": 0}


def read_back(**changed: Any) -> State | None:
    """A ledger of three entries, each with the changed fields that it may have; `...` leaves one out."""
    content, head = b"", ""
    for entry, fields in (
        (OPENED, {"id", "tag", "cap", "before", "most_rho", "data", "most_delta", "before_delta"}),
        (CHARGED, {"micro", "rho", "purpose", "day", "delta"}),
        (ENDED, {"charge"}),
    ):
        made = entry | {"prev": head} | {name: changed[name] for name in fields & changed.keys()}
        content += written({name: value for name, value in made.items() if value is not ...})
        head = hashed(content.splitlines(keepends=True)[-1])
    try:
        return ledger_module.verify(content)
    except FacsimileError as error:
        assert error.code == "E310"
        return None


@pytest.mark.parametrize("field", LEAST)
@pytest.mark.parametrize("value", [-1, 0, 1, 10**30, 10**30 + 1, True, 1.0, "1", None])
def test_a_number_of_a_ledger_is_an_integer_within_its_limits(field: str, value: Any) -> None:
    assert bool(read_back(**{field: value})) is (type(value) is int and LEAST[field] <= value <= 10**30)


@pytest.mark.parametrize("field", ["delta", "most_delta", "before_delta"])
@pytest.mark.parametrize(
    ("value", "sound"),
    [("0", True), ("1/3", True), ("0.5", False), ("-1/3", False), ("1/0", False), ("a", False), (1, False)],
)
def test_a_delta_of_a_ledger_is_an_exact_text_and_not_negative(field: str, value: Any, sound: bool) -> None:
    assert bool(read_back(**{field: value})) is sound


@pytest.mark.parametrize("field", ["id", "tag", "data", "purpose", "day"])
def test_a_text_of_a_ledger_is_one(field: str) -> None:
    assert read_back(**{field: "text"}) and not read_back(**{field: 1})


def test_deltas_whose_sum_no_anchor_could_hold_are_none_of_ours() -> None:
    one, other = (f"1/{10**3999 + odd}" for odd in (1, 3))
    first = written(OPENED | {"micro": 1, "delta": other})
    second = written(CHARGED | {"prev": hashed(first), "delta": one})
    assert read_back(delta=one) and ledger_module.verify(first)
    assert code(lambda: ledger_module.verify(first + second)) == "E310"


def test_an_entry_holds_what_its_kind_needs() -> None:
    assert code(lambda: ledger_module.verify(written(OPENED).rstrip())) == "E313"
    needed = ("id", "tag", "cap", "purpose", "day", "charge", "micro")
    assert [name for name in needed if read_back(**{name: ...})] == []
    assert read_back(micro=..., rho=1), "an amount of either kind"


def test_a_ledger_of_before_delta_is_read_and_charged(tmp_path: Path) -> None:
    """Its bytes as the first version wrote them."""
    book = Ledger.at(tmp_path / "old")
    first = {"seq": 0, "prev": "", "kind": "open", "cap": 3 * MICRO, "tag": "tag", "format": 1}
    line = written({**first, "id": "1f", "before": 5, "data": "births.csv"})
    mark = {"ledger": "1f", "sequence": 0, "head": hashed(line), "spent": 0, "before": 5, "key": ""}
    book.path.write_bytes(line)
    book.anchor.write_bytes(written(mark))
    assert (book.state().remaining, book.state().before) == (3 * MICRO, 5)
    assert book.state().delta == book.state().rho == 0
    book.charge(ONE, "release")
    assert book.state().spent == MICRO
    assert code(lambda: book.charge(Cost(Fraction(1), BILLIONTH), "with delta")) == "E307"


def test_a_receipt_opens_once(book: Ledger) -> None:
    receipt = book.charge(ONE, "once")
    receipt.use()
    assert code(receipt.use) == "E302"
    assert code(receipt.use) == "E302"


def test_a_rehearsal_counts_and_refuses_too() -> None:
    memory = MemoryLedger(Fraction(1))
    assert [memory.charge(THIRD, "third").charge.sequence for _ in range(3)] == [1, 2, 3]
    assert memory.spent == Cost(Fraction(1))
    with pytest.raises(BudgetRefused, match=r"E301.*0\.000001 asked, 0 remaining"):
        memory.charge(Cost(Fraction(1, 10**9)), "more")
    with pytest.raises(BudgetRefused, match=r"E301.*2 asked, 0\.75 remaining"):
        (memory := MemoryLedger(Fraction(1))).charge(Cost(Fraction(1, 4)), "a fourth")
        memory.charge(Cost(Fraction(2)), "more")
    with pytest.raises(BudgetRefused, match="E301"):
        MemoryLedger(Fraction(1)).charge(Cost(Fraction(1), BILLIONTH), "a delta that nobody declared")
    assert MemoryLedger().charge(Cost(Fraction(1000)), "no cap").charge.sequence == 1


# ---- the file


def test_entries_are_numbered_chained_and_hold_no_more_than_they_say(book: Ledger) -> None:
    receipt = book.charge(ONE, "Purpose")
    book.close(receipt, "done")
    state = book.state()
    assert [entry["seq"] for entry in state.entries] == [0, 1, 2]
    assert set(state.entries[0]) == {"seq", "prev", "kind", "cap", "tag", "format", "id", "before", "data"}
    assert set(state.entries[1]) == {"seq", "prev", "kind", "micro", "purpose", "day", "nonce"}
    assert state.entries[2] == {"seq": 2, "prev": state.entries[2]["prev"], "kind": "done", "charge": 1}
    assert (state.entries[0]["format"], len(state.entries[1]["nonce"])) == (1, 64)
    lines = book.path.read_bytes().splitlines(keepends=True)
    assert [state.upto(sequence)[0] for sequence in range(3)] == [hashed(line) for line in lines]
    assert hashed(lines[-1]) == state.head


@given(st.text(max_size=30))
def test_any_purpose_keeps_the_file_readable(purpose: str) -> None:
    line = written({"seq": 0, "prev": "", "kind": "open", "cap": 1, "tag": purpose, "id": "x", "format": 1})
    assert line.count(b"\n") == 1 and ledger_module.verify(line).tag == purpose


def test_a_ledger_and_its_anchor_are_for_their_owner_only(tmp_path: Path) -> None:
    book = Ledger.at(tmp_path / "ledger", tmp_path / "anchor")
    book.create("tag", Fraction(1))
    book.charge(THIRD, "third")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"ledger": 0o600, "anchor": 0o600, "ledger.lock": 0o600, "anchor.lock": 0o600}


def test_a_ledger_says_what_its_data_was_called(tmp_path: Path, book: Ledger) -> None:
    named = Ledger.at(tmp_path / "named")
    named.create("tag", Fraction(3), name="births.csv")
    assert (named.state().data, book.state().data) == ("births.csv", "")


def test_a_decision_is_noted_once(book: Ledger) -> None:
    first, second = book.begin(ONE, "first"), book.begin(ONE, "second")
    for receipt in (first, first, second, first):
        book.decided(receipt)
    noted = [entry["charge"] for entry in book.state().entries if entry["kind"] == "decided"]
    assert noted == [first.charge.sequence, second.charge.sequence]


def test_creating_twice_is_refused(book: Ledger) -> None:
    before = book.path.read_bytes()
    assert code(lambda: book.create("tag", Fraction(9))) == "E401"
    book.path.unlink()
    assert code(lambda: book.create("tag", Fraction(9))) == "E401", "an anchor remembers a ledger"
    assert before and not book.path.exists()


def test_a_ledger_that_a_crash_left_half_made_is_made_again_unless_it_holds_a_charge(tmp_path: Path) -> None:
    book, whole = Ledger.at(tmp_path / "ledger"), Ledger.at(tmp_path / "whole")
    state = whole.create("tag", Fraction(1))
    whole.charge(THIRD, "third")
    lines = whole.path.read_bytes().splitlines(keepends=True)
    Anchor(book.anchor).write(Mark(state.identifier, NOTHING, "", 0))
    for left, found in ((None, None), (lines[0], None), (b"".join(lines), "E401")):
        assert not book.made()
        if left is not None:
            book.path.write_bytes(left)
        if found:
            assert code(lambda: book.create("tag", Fraction(1))) == found
        else:
            assert book.create("tag", Fraction(1)).sequence == 0 and book.made()
            book.path.unlink()
            book.anchor.unlink()
            Anchor(book.anchor).write(Mark(state.identifier, NOTHING, "", 0))
    book.anchor.unlink()
    assert code(lambda: book.create("tag", Fraction(1))) == "E401", (
        "a ledger without an anchor is not ours to replace"
    )


def test_a_missing_ledger_is_refused(tmp_path: Path) -> None:
    assert code(Ledger.at(tmp_path / "none").state) == "E314"
    assert code(Ledger.at(tmp_path / "no" / "folder").state) == "E314"
    assert (
        code(lambda: Ledger.at(tmp_path / "ledger", tmp_path / "no" / "anchor").create("t", Fraction(1)))
        == "E314"
    )
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("year", [1970, 2099])
def test_only_the_sequence_decides_whatever_the_clock_says(
    book: Ledger, year: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock(date):
        @classmethod
        def today(cls) -> Clock:
            return cls(year, 1, 1)

    book.charge(THIRD, "before")
    monkeypatch.setattr(ledger_module, "date", Clock)
    book.close(book.charge(THIRD, "wrong clock"), "done")
    monkeypatch.undo()
    book.charge(THIRD, "after")
    state = book.state()
    assert state.spent == 3 * 333_334 and state.entries[2]["day"] == f"{year}-01-01"
    assert [entry["seq"] for entry in state.entries] == [0, 1, 2, 3, 4]


# ---- under a curator


@dataclass(frozen=True)
class Spy(Mechanism[str]):
    """Looks at the ledger's file while it holds the table."""

    path: Path
    error: BaseException | None = None

    def cost(self) -> Cost:
        return THIRD

    def check(self, domain: Domain, n: int) -> None:
        pass

    def _sample(self, table: Table, noise: Noise) -> str:
        if self.error is not None:
            raise self.error
        return self.path.read_text()


@dataclass(frozen=True)
class Odd(Spy):
    """Proved for other neighbours."""

    neighbours = "add-or-remove"


CLIQUE = ("a",)
COUNT = NoisyAnswer(WorstSum((Sums(CLIQUE, np.array([[1, 0]]), (0,), (Fraction(1),)),)), Fraction(1, 3))


@pytest.fixture
def domain() -> Domain:
    return Domain((Axis("a", parse_bins(["1", "2"], Fraction(1))),))


@pytest.fixture
def curator(book: Ledger, domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Curator]:
    monkeypatch.setattr(curator_module, "MECHANISMS", (*MECHANISMS, Spy, Odd))
    table = Table.from_rows(domain, [[0], [1], [1]])
    with Transcript(tmp_path / "noise") as transcript:
        yield Curator.production(rehearse(table), book, transcript)


def test_a_mechanism_that_sees_the_table_sees_its_own_charge(book: Ledger, curator: Curator) -> None:
    seen = curator.run(Spy(book.path))
    charge = json.loads(seen.splitlines()[-1][18:])
    assert (charge["kind"], charge["micro"], charge["purpose"]) == ("charge", 333_334, "Spy")
    assert kinds(book) == ["open", "charge", "done"]


def test_every_run_is_charged(book: Ledger, curator: Curator) -> None:
    curator.run(COUNT)
    curator.run(COUNT)
    curator.run(NoisyMarginals.evenly([CLIQUE], Fraction(1)))
    assert book.state().spent == 2 * 333_334 + MICRO


def test_a_run_beyond_the_cap_does_not_open_the_table(
    book: Ledger, curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.charge(Cost(Fraction(3)), "all")
    monkeypatch.setattr(Private, "_open", lambda _: pytest.fail("opened"))
    assert code(lambda: curator.run(COUNT)) == "E301"
    assert kinds(book) == ["open", "charge"]


@pytest.mark.parametrize("error", [ValueError(SENTINEL), MemoryError(SENTINEL), KeyError(SENTINEL)])
def test_a_failure_shows_nothing_and_stays_charged(book: Ledger, curator: Curator, error: Exception) -> None:
    with pytest.raises(MechanismFailed) as caught:
        curator.run(Spy(book.path, error))
    found = caught.value
    assert found.code == "E701" and found.__cause__ is None and found.__context__ is None
    assert SENTINEL not in "".join(traceback.format_exception(found)) + repr(found) + json.dumps(
        found.as_json()
    )
    assert kinds(book) == ["open", "charge", "stopped"] and book.state().spent == 333_334
    assert SENTINEL not in book.path.read_text()


def test_an_interrupted_run_stays_charged(book: Ledger, curator: Curator) -> None:
    with pytest.raises(KeyboardInterrupt):
        curator.run(Spy(book.path, KeyboardInterrupt()))
    assert kinds(book) == ["open", "charge", "stopped"] and book.state().spent == 333_334


@pytest.mark.parametrize(("mode", "left"), [("single", []), ("rising-coin", ["stopped"])])
def test_a_search_whose_draws_found_no_room_is_left_as_a_crash_leaves_it(
    book: Ledger, curator: Curator, mode: str, left: list[str]
) -> None:
    """Where indices may run again, the same charge goes on; no other failure leaves one open."""
    chosen = mode_of(Selection.model_validate({"mode": mode} | ({"a": "1"} if left else {})))
    planned = Plan(Fraction(0), Fraction(1, 3), Fraction(0), chosen)
    with pytest.raises(FacsimileError, match="E333"), curator.search(planned, "lost"):
        raise refusal("E333")
    assert kinds(book) == ["open", "charge", *left]
    spent = book.state().spent
    with pytest.raises(FacsimileError, match="E332"), curator.search(planned, "lost") as again:
        assert again.resumed is not bool(left) and book.state().spent == spent * (2 if left else 1)
        raise refusal("E332")
    assert kinds(book)[-1] == "stopped"


@pytest.mark.parametrize(
    ("settings", "goes_on"), [({"mode": "single"}, True), ({"mode": "rising-coin", "a": "1"}, False)]
)
def test_a_crashed_search_goes_on_only_where_its_law_survives(
    book: Ledger, curator: Curator, settings: dict[str, str], goes_on: bool
) -> None:
    """Where it does not, no index is asked, and nothing is found; the charge stays one."""
    planned = Plan(Fraction(0), Fraction(1, 3), Fraction(0), mode_of(Selection.model_validate(settings)))
    book.begin(planned.total(), "crashed").let_go(ended=False)
    asked: list[int] = []

    def index(_: Allowance, number: int) -> str:
        asked.append(number)
        return SENTINEL

    with curator.search(planned, "crashed") as search:
        found = search.find(index)
        assert search.resumed and code(lambda: search.find(index)) == "E304"
    assert (found, len(asked)) == ((SENTINEL, 1) if goes_on else (None, 0))
    assert kinds(book).count("charge") == 1


@dataclass(frozen=True)
class Unlisted(Spy):
    """Not in the list."""


@pytest.mark.parametrize("kind", [Unlisted, Odd])
def test_an_unproved_mechanism_is_neither_charged_nor_run(
    book: Ledger, curator: Curator, kind: type[Spy]
) -> None:
    assert code(lambda: curator.run(kind(book.path))) == "E305"
    with curator.search(plan(ONE.epsilon, once=ONE.epsilon), "search") as search:
        assert code(lambda: search.once().run(kind(book.path))) == "E305"
    assert kinds(book) == ["open", "charge", "done"]


def test_a_search_is_one_charge_and_its_allowances_write_nothing(book: Ledger, curator: Curator) -> None:
    with curator.search(plan(Fraction(1, 2), mode="paper"), "search") as search:
        during = book.path.read_bytes(), book.anchor.read_bytes()
        search.find(lambda allowance, number: (allowance.run(COUNT), number == 5)[1] or None)
        assert (book.path.read_bytes(), book.anchor.read_bytes()) == during
    assert kinds(book) == ["open", "charge", "done"] and book.state().spent == MICRO


def test_a_search_beyond_the_cap_does_not_begin(book: Ledger, curator: Curator) -> None:
    with pytest.raises(BudgetRefused, match="E301"), curator.search(plan(Fraction(4)), "search"):
        pytest.fail("begun")
    assert kinds(book) == ["open"]


def test_an_allowance_refuses_what_goes_beyond_it(book: Ledger, curator: Curator) -> None:
    with curator.search(plan(THIRD.epsilon, ONE.epsilon, THIRD.epsilon), "search") as search:
        allowance = search.once()
        for _ in range(3):
            allowance.run(COUNT)
        assert code(lambda: allowance.run(COUNT)) == "E304"
        assert allowance.spending.spent == ONE
        single = search.after()
        single.recoded(curator.domain, {"a": [1, 0]}).run(COUNT)
        for again in (single, single.recoded(curator.domain, {})):
            with pytest.raises(FacsimileError, match="E304"):  # a recoded allowance has no spending of its own
                again.run(COUNT)


def test_what_comes_before_a_search_is_not_asked_within_it(book: Ledger, curator: Curator) -> None:
    """A model that keeps the allowance it was fitted with, and asks when records are drawn, gets no answer."""
    with curator.search(plan(THIRD.epsilon, once=ONE.epsilon), "search") as search:
        kept = search.once()
        kept.run(COUNT)
        told = search.find(lambda allowance, _: code(lambda: kept.run(COUNT)))
        assert (told, kept.spending.spent) == ("E304", THIRD)
        search.after()


def test_a_failed_sample_in_an_allowance_is_paid(book: Ledger, curator: Curator) -> None:
    with curator.search(plan(THIRD.epsilon, once=ONE.epsilon), "search") as search:
        allowance = search.once()
        assert code(lambda: allowance.run(Spy(book.path, ValueError(SENTINEL)))) == "E701"
        assert allowance.spending.spent == THIRD


@pytest.mark.parametrize("error", [None, KeyError("inside"), KeyboardInterrupt()])
def test_allowances_end_with_their_search(book: Ledger, curator: Curator, error: BaseException | None) -> None:
    left: list[tuple[Search, Allowance]] = []

    def searching() -> None:
        with curator.search(plan(THIRD.epsilon, after=2 * THIRD.epsilon), "search") as search:
            left.append((search, search.after()))
            if error is not None:
                raise error

    if error is None:
        searching()
    else:
        with pytest.raises(type(error)):
            searching()
    search, allowance = left[0]
    for late in (lambda: allowance.run(COUNT), search.once, lambda: search.find(lambda *_: None)):
        assert code(late) == "E304"
    end = "done" if error is None else "incident" if isinstance(error, KeyboardInterrupt) else "stopped"
    assert kinds(book) == ["open", "charge", end]
    assert book.state().spent == MICRO


def test_an_ending_that_cannot_be_noted_refunds_nothing(
    book: Ledger, curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise refusal("E330")

    monkeypatch.setattr(Ledger, "close", full)
    with pytest.raises(FacsimileError, match="E330") as caught:
        curator.run(Spy(book.path, ValueError(SENTINEL)))
    assert SENTINEL not in "".join(traceback.format_exception(caught.value))
    assert book.state().spent == 333_334


def test_receipts_are_numbered_like_their_entries(book: Ledger) -> None:
    receipts: list[Receipt] = [book.charge(THIRD, "third") for _ in range(3)]
    book.close(receipts[1], "incident")
    assert [receipt.charge.sequence for receipt in receipts] == [1, 2, 3]
    assert book.state().entries[4]["charge"] == 2
    assert not any(receipt.resumed or receipt.charge.decided for receipt in receipts)
    assert book.state().left_open("third") == 3, "the last one without an end"
    assert book.state().left_open("fourth") is None


def test_a_ledger_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    assert code(Ledger.at(tmp_path / "none").state) == "E314"
    assert list(tmp_path.iterdir()) == []
