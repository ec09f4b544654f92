"""Noisy votes: one record moves each count by one at most, parts are secret, and all rounds are charged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import NoisyVotes
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.reader import rehearse
from facsimile.privacy.stream import Stream
from facsimile.table import teachers
from facsimile.table.exact import Ints
from facsimile.table.table import Table
from facsimile.table.teachers import Layer, Lesson
from facsimile.testing import small_domain
from facsimile.testing.contract import require_fit, require_proof
from facsimile.testing.laws import fits
from facsimile.testing.learners import Deaf, Listening, lesson, votes

DOMAIN = small_domain(2, 3)
TABLE = Table.from_rows(DOMAIN, [[0, 0], [0, 0], [0, 1], [1, 0], [1, 2], [1, 2]])


def asked(mechanism: NoisyVotes[Any], table: Table, seed: int = 1) -> list[tuple[Ints, int, Fraction]]:
    noise = Listening(seed)
    mechanism._sample(table, noise)
    return noise.asked


def test_all_counts_of_all_rounds_are_charged() -> None:
    mechanism = votes(DOMAIN, rounds=3, rows=6)
    calls = asked(mechanism, TABLE)
    assert len(calls) == 3
    assert all(x.shape == (6,) and square == 6 for x, square, _ in calls), "each of six counts may move by one"
    spent = sum((rho for *_, rho in calls), Fraction(0))
    assert mechanism.cost() == Cost(rho=spent) == Cost(rho=Rho(1, 100))


def test_every_table_asks_for_the_same_noise_even_where_a_teacher_has_no_record() -> None:
    mechanism = votes(DOMAIN, teachers=9)
    tables = [TABLE, Table.from_rows(DOMAIN, [[1, 1]] * 6)]
    forms = {
        tuple((x.shape, *rest) for x, *rest in asked(mechanism, t, seed)) for t in tables for seed in range(9)
    }
    assert forms == {(((6,), 6, Fraction(3, 600)),) * 2}


def drawn(monkeypatch: pytest.MonkeyPatch, mechanism: NoisyVotes[Any], seeds: range) -> list[list[Ints]]:
    """Which teacher each record had, in each round."""
    found: list[list[Ints]] = []

    def watch(told: Any, records: Any, teacher: Ints, number: int) -> Ints:
        found[-1].append(teacher.copy())
        return teachers.votes(told, records, teacher, number)

    monkeypatch.setattr("facsimile.privacy.mechanisms.votes.votes", watch)
    for seed in seeds:
        found.append([])
        mechanism._sample(TABLE, Listening(seed))
    return found


def test_each_record_has_a_teacher_drawn_once_for_all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal records part as often as others: nothing of a record decides."""
    found = drawn(monkeypatch, votes(DOMAIN, teachers=3), range(2000))
    assert all((one == other).all() for one, other in found)
    places = np.array([one for one, _ in found])
    for a, b in ((0, 1), (0, 5), (4, 5)):
        assert fits(np.bincount(places[:, a] * 3 + places[:, b], minlength=9), np.full(9, 1 / 9))


def test_with_the_same_parts_a_record_moves_every_count_by_one_at_most() -> None:
    random, reached = np.random.default_rng(5), 0
    for trial in range(60):
        told = lesson(DOMAIN, 8, seed=trial % 7)
        number = int(random.integers(1, 6))
        records = random.integers(0, DOMAIN.shape, (7, 2))
        teacher = random.integers(0, number, 7)
        other = records.copy()
        other[trial % 7] = random.integers(0, DOMAIN.shape)
        one, two = (teachers.votes(told, rows, teacher, number) for rows in (records, other))
        gap = np.abs(one - two)
        assert gap.max() <= 1
        reached = max(reached, int(gap.max()))
    assert reached == 1


def test_the_key_comes_from_the_noise() -> None:
    mechanism = votes(DOMAIN, teachers=5, rounds=1)
    places = Stream.of(Listening(3)).below(5, 6)
    expected = teachers.votes(mechanism.begin().lesson, TABLE.records(), places, 5)
    assert (asked(mechanism, TABLE, 3)[0][0] == expected).all()


def test_a_school_hears_noisy_votes_alone() -> None:
    made: list[Deaf] = []

    def begin() -> Deaf:
        made.append(Deaf([lesson(DOMAIN)]))
        return made[-1]

    answer = Curator.rehearsal(rehearse(TABLE), 1).run(replace(votes(DOMAIN), begin=begin))
    assert all((x == y).all() for x, y in zip(made[-1].heard, answer, strict=True))


def test_the_noise_has_the_deviation_that_is_charged() -> None:
    """ρ = 1/(2σ²) a count: twelve counts of ρ = 1/100 together."""
    mechanism = votes(DOMAIN)
    gaps = []
    for seed in range(400):
        noisy = np.array(mechanism._sample(TABLE, RehearsalNoise(seed)))
        gaps.append(noisy - noisy.mean())
    assert float(np.var(gaps)) == pytest.approx(12 / (2 * 0.01), rel=0.15)


@pytest.mark.parametrize(
    "changed",
    [
        {"teachers": 0},
        {"teachers": 2**21},
        {"rounds": 0},
        {"rows": 0},
        {"share": Fraction(1)},
        {"share": Rho(0)},
    ],
)
def test_what_has_no_guarantee_cannot_be_built(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(votes(DOMAIN), **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"teachers": 2.0}, {"rounds": 2.0}, {"rows": 5}, {"rows": 7}, {"begin": lambda: None},
        {"begin": lambda: Deaf([lesson(small_domain(3))])},
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused_before_a_charge(changed: dict[str, Any]) -> None:
    with pytest.raises(FacsimileError, match="E306"):
        Curator.rehearsal(rehearse(TABLE), 1).run(replace(votes(DOMAIN), **changed))


def test_it_keeps_the_contract_of_a_mechanism() -> None:
    require_fit(votes(DOMAIN), DOMAIN, 3)
    require_proof(NoisyVotes, "Replace one record", "[A]", "[B]", "[C]", "[D]", "[E]")


class Copying(Lesson):
    """A lesson of its own class, which keeps what it is shown."""

    def features(self, codes: Any) -> Any:
        raise AssertionError("it is shown records")


def test_a_lesson_of_another_class_sees_no_record() -> None:
    plain = lesson(DOMAIN)
    own = Copying(plain.layer, plain.made, plain.asked)
    with pytest.raises(FacsimileError, match="E306"):
        Curator.rehearsal(rehearse(TABLE), 1).run(replace(votes(DOMAIN), begin=lambda: Deaf([own])))


class Watching(Layer):
    """A layer of its own class, which keeps what it is shown."""

    def of(self, codes: Any) -> Any:
        raise AssertionError("it is shown records")


def test_a_layer_of_another_class_sees_no_record() -> None:
    plain = lesson(DOMAIN)
    own = Lesson(Watching(plain.layer.domain, plain.layer.signs), plain.made, plain.asked)
    with pytest.raises(FacsimileError, match="E306"):
        Curator.rehearsal(rehearse(TABLE), 1).run(replace(votes(DOMAIN), begin=lambda: Deaf([own])))
