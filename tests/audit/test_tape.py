"""A tape keeps every question in its order, gives the same answers again, and finds every other question."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from facsimile.audit.fingerprint import fingerprint
from facsimile.audit.tape import FAR, UNKNOWN, Entry, Tape, TapedCurator, TapedNoise, alone, longer
from facsimile.errors import FacsimileError
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import Mechanism, NoisyAnswer, NoisyMarginals, NoisySelection
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.queries import MarginalDistances, TotalVariation
from facsimile.privacy.reader import rehearse
from facsimile.privacy.transcript import INDEX, Transcript
from facsimile.table.table import Table
from facsimile.testing.contract import Broken
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(2, 3)
TABLE = Table.from_rows(DOMAIN, [[0, 1], [1, 2], [1, 2]])
NEIGHBOUR = Table.from_rows(DOMAIN, [[0, 1], [1, 2], [0, 0]])
ONE = Fraction(1)
COUNTS = NoisyMarginals(((("a",), ONE), (("b",), ONE)))
BEST = NoisySelection(MarginalDistances(((("a",), np.array([1, 2])), (("b",), np.array([1, 1, 1])))), ONE)
ERROR = NoisyAnswer(TotalVariation(TABLE, (("a",),)), ONE, 8)
Curated = Callable[[Table, Tape], TapedCurator]


@pytest.fixture
def curated(tmp_path: Path) -> Iterator[Curated]:
    with contextlib.ExitStack() as stack:

        def made(table: Table, tape: Tape) -> TapedCurator:
            place = tmp_path / str(len(list(tmp_path.iterdir())))
            return TapedCurator(rehearse(table), MemoryLedger(), tape, stack.enter_context(Transcript(place)))

        yield made


def test_a_neighbour_hears_what_the_first_table_heard(curated: Curated) -> None:
    tape = Tape(RehearsalNoise(1))
    first = curated(TABLE, tape)
    asked: tuple[Mechanism[Any], ...] = (COUNTS, BEST, ERROR)
    heard = [fingerprint(first.run(mechanism)) for mechanism in asked]
    again = tape.again()
    second = curated(NEIGHBOUR, again)
    assert [fingerprint(second.run(mechanism)) for mechanism in asked] == heard
    assert again.findings == again.left() == []
    assert again.calls() == tape.calls() == 3
    kinds = [entry.kind for entry in tape.tracks[0]]
    assert kinds == [
        "NoisyMarginals", "laplace", "laplace", "answered", "NoisySelection", "argmax", "answered",
        "NoisyAnswer", "laplace", "answered",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other", [NoisyMarginals(((("a",), ONE),)), NoisyMarginals(((("a",), ONE / 2), (("b",), ONE))), ERROR]
)
def test_another_question_is_a_finding(curated: Curated, other: Any) -> None:
    tape = Tape(RehearsalNoise(1))
    curated(TABLE, tape).run(COUNTS)
    again = tape.again()
    with pytest.raises(Broken):
        curated(TABLE, again).run(other)
    assert len(again.findings) == 1


def test_so_is_the_same_question_about_other_axes(curated: Curated) -> None:
    maps = ({"a": [0, 1]}, {"a": [1, 0]})
    tape = Tape(RehearsalNoise(1))
    curated(TABLE, tape).recoded(DOMAIN, maps[0]).run(COUNTS)
    again = tape.again()
    curated(NEIGHBOUR, again).recoded(DOMAIN, maps[0]).run(COUNTS)
    assert again.findings == again.left() == []
    with pytest.raises(Broken):
        curated(TABLE, tape.again()).recoded(DOMAIN, maps[1])


def test_so_is_one_more_and_one_fewer(curated: Curated) -> None:
    tape = Tape(RehearsalNoise(1))
    curated(TABLE, tape).run(COUNTS)
    more = tape.again()
    both = curated(TABLE, more)
    both.run(COUNTS)
    with pytest.raises(Broken):
        both.run(COUNTS)
    assert more.findings == ["index 0 asks more than on the tape: NoisyMarginals"]
    assert tape.again().left() == ["index 0 asks less than on the tape"]


def test_so_is_noise_of_another_scale(curated: Curated, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sensitivity that follows the table; the curator says no more than that the mechanism failed."""
    tape = Tape(RehearsalNoise(1))

    def sampled(mechanism: NoisyMarginals, table: Table, noise: Noise) -> Any:
        return noise.laplace(np.zeros(2, np.int64), 1 + int(table.counts.max()), ONE)

    monkeypatch.setattr(NoisyMarginals, "_sample", sampled)
    curated(TABLE, tape).run(COUNTS)
    again = tape.again()
    with pytest.raises(FacsimileError, match="E701"):
        curated(NEIGHBOUR, again).run(COUNTS)
    assert again.findings == ["index 0, place 1: laplace is asked, on the tape another laplace"]


def test_so_is_an_answer_that_did_not_come_from_the_sampler(
    curated: Curated, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = Tape(RehearsalNoise(1))
    monkeypatch.setattr(NoisyMarginals, "_sample", lambda mechanism, table, noise: table.counts)
    curated(TABLE, tape).run(COUNTS)
    again = tape.again()
    with pytest.raises(Broken):
        curated(NEIGHBOUR, again).run(COUNTS)
    assert again.findings == ["index 0, place 1: answered is asked, on the tape another answered"]


def test_a_failure_under_other_axes_ends_all_answers(curated: Curated, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with any curator."""
    first = curated(TABLE, Tape(RehearsalNoise(1)))
    other = first.recoded(DOMAIN, {})
    monkeypatch.setattr(NoisyMarginals, "_sample", lambda *_: 1 // 0)
    for closed, asked in ((other, COUNTS), (first, BEST)):
        with pytest.raises(FacsimileError, match="E701"):
            closed.run(asked)


def test_what_was_heard_is_not_what_somebody_made_of_it() -> None:
    """Arrays are copies: who writes into one changes no tape."""
    tape = Tape(RehearsalNoise(1))
    noise = TapedNoise(tape, inside=True)
    first = noise.laplace(np.zeros(3, np.int64), 1, ONE)
    kept = first.copy()
    first += 100
    for _ in range(2):
        again = TapedNoise(tape.again(), inside=True).laplace(np.ones(3, np.int64), 1, ONE)
        assert np.array_equal(again, kept)
        again += 100


def test_every_call_is_held_against_what_was_asked() -> None:
    zeros = np.zeros(3, np.int64)
    calls: list[tuple[Callable[[Noise], Any], Callable[[Noise], Any]]] = [
        (lambda n: n.laplace(zeros, 1, ONE), lambda n: n.laplace(zeros, 2, ONE)),
        (lambda n: n.laplace(zeros, 1, ONE), lambda n: n.laplace(zeros, 1, ONE / 2)),
        (lambda n: n.laplace(zeros, 1, ONE), lambda n: n.laplace(zeros[:2], 1, ONE)),
        (lambda n: n.gaussian(zeros, 1, ONE), lambda n: n.gaussian(zeros, 4, ONE)),
        (lambda n: n.gaussian(zeros, 1, ONE), lambda n: n.laplace(zeros, 1, ONE)),
        (lambda n: n.argmax([1, 2], 1, ONE), lambda n: n.argmax([1, 2, 3], 1, ONE)),
        (lambda n: n.argmax([1, 2], 1, ONE), lambda n: n.argmax([1, 2], 2, ONE)),
        (lambda n: n.gumbel([1, 2], 1, ONE), lambda n: n.gumbel([1, 2], 1, ONE / 2)),
        (lambda n: n.coin(ONE / 2), lambda n: n.coin(ONE / 3)),
        (lambda n: n.below(7), lambda n: n.below(6)),
    ]
    for asked, other in calls:
        tape = Tape(RehearsalNoise(1))
        asked(TapedNoise(tape, inside=False))
        asked(TapedNoise(tape.again(), inside=False))
        with pytest.raises(Broken):
            other(TapedNoise(tape.again(), inside=False))


def test_records_that_a_mean_draws_are_its_own_affair() -> None:
    """As many as the table has: neither their number nor their bound is held against the tape."""
    tape = Tape(RehearsalNoise(1))
    for n in (5, 4):
        assert TapedNoise(tape, inside=True).below(n) < n
    assert tape.tracks == {}


def test_each_index_has_its_own_track() -> None:
    tape = Tape(RehearsalNoise(1))
    drawn: dict[int, list[int]] = {}
    for index in (2, 1, 2, 0):
        token = INDEX.set(index)
        drawn.setdefault(index, []).append(TapedNoise(tape, inside=False).below(10**6))
        INDEX.reset(token)
    again = tape.again()
    for index in (0, 1, 2, 2):
        token = INDEX.set(index)
        assert TapedNoise(again, inside=False).below(10**6) == drawn[index].pop(0)
        INDEX.reset(token)
    assert again.left() == []


TEST = [
    Entry("coin", "1/20", True),
    Entry("below", "4", 2),
    Entry("NoisyAnswer", "x"),
    Entry("laplace", "(1,) 1 1", np.array([-5])),
    Entry("answered", "y"),
]


def test_a_candidate_can_be_put_first_or_after_another() -> None:
    """Its coin may have another chance there; the one before it is far off and does not halt."""
    tracks = {0: [Entry("below", "9", 1)], 1: [Entry("coin", "1/20", False)], 2: TEST}
    first = alone(tracks)
    assert set(first) == {0, 1} and first[0] == tracks[0]
    assert first[1][0] == Entry("coin", UNKNOWN, True) and first[1][1:] == TEST[1:]
    more = longer(tracks)
    assert more is not None and set(more) == {0, 1, 2, 3}
    assert more[1] == tracks[1] and more[3][0] == Entry("coin", UNKNOWN, True) and more[3][1:] == TEST[1:]
    assert [entry.kind for entry in more[2]] == [entry.kind for entry in TEST]
    assert more[2][0].heard is False and more[2][3].heard.tolist() == [FAR] and more[2][4].asked == UNKNOWN
    assert TEST[3].heard.tolist() == [-5]
    assert longer({0: [], 1: TEST[:2]}) is None
    assert longer({0: [], 1: [TEST[0], Entry("NoisyMarginals", "x"), *TEST[3:]]}) is None
