"""Noisy steps: what one record moves, how batches are drawn, what is charged, and what a course may see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from facsimile.errors import FacsimileError
from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import NoisySteps
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.reader import rehearse
from facsimile.privacy.sampled import Steps
from facsimile.privacy.stream import WORDS
from facsimile.table.critic import BITS, STEEP, UNIT, Critic
from facsimile.table.exact import Ints
from facsimile.table.table import Table
from facsimile.testing import every_pair, small_domain
from facsimile.testing.contract import require_fit, require_proof
from facsimile.testing.laws import fits
from facsimile.testing.learners import DELTA, HALF, Deaf, Listening, critic, steps

DOMAIN = small_domain(2, 3)
CLIPS = [UNIT // 100, UNIT, 3 * UNIT, 50 * UNIT]


def asked(mechanism: NoisySteps[Any], table: Table, seed: int = 1) -> list[tuple[Ints, int, Fraction]]:
    noise = Listening(seed)
    mechanism._sample(table, noise)
    return noise.asked


def square(one: Ints, other: Ints) -> int:
    return sum(int(gap) ** 2 for gap in one - other)


def without(table: Table, record: int) -> Table:
    kept = np.delete(table.records(), record, axis=0)
    return Table.from_rows(table.domain, kept)


@pytest.mark.parametrize("most", CLIPS)
@pytest.mark.parametrize("loss", ["cross_entropy", "wasserstein"])
def test_a_record_that_is_there_or_not_moves_a_sum_by_the_clip_at_most(most: int, loss: Any) -> None:
    """All records in every batch; a clip that is smaller than gradients is reached."""
    mechanism, reached = steps(DOMAIN, WORDS, most, loss=loss), 0
    for table, _ in every_pair(DOMAIN, 3):
        for record in range(3):
            calls = zip(asked(mechanism, table), asked(mechanism, without(table, record)), strict=True)
            for (one, declared, _), (other, again, _) in calls:
                assert declared == again == most**2
                reached = max(reached, square(one, other))
                assert square(one, other) <= declared
    if most < UNIT:
        assert reached >= 0.9 * most**2


@pytest.mark.parametrize("most", CLIPS)
def test_a_record_that_is_replaced_moves_a_sum_by_twice_the_clip_at_most(most: int) -> None:
    mechanism, reached = steps(DOMAIN, WORDS, most), 0
    for pair in every_pair(DOMAIN, 3):
        for (one, *_), (other, *_) in zip(*(asked(mechanism, table) for table in pair), strict=True):
            reached = max(reached, square(one, other))
    assert most**2 < reached <= 4 * most**2 or most > UNIT


def test_a_record_moves_nothing_but_its_own_gradient() -> None:
    """The same records beside any others: no other record's gradient changes by one unit."""
    mechanism = steps(DOMAIN, WORDS)
    cells = [[a, b] for a in range(2) for b in range(3)]
    alone = {tuple(c): asked(mechanism, Table.from_rows(DOMAIN, [c])) for c in cells}
    for table, _ in every_pair(DOMAIN, 3):
        for step, (found, *_) in enumerate(asked(mechanism, table)):
            parts = [alone[tuple(row)][step][0] for row in table.records().tolist()]
            assert (found == sum(parts)).all()


def sizes(mechanism: NoisySteps[Any], table: Table, seed: int) -> list[int]:
    """How many records each batch held: the level's gradient is the same number for each."""
    each = (1 << STEEP) * (1 << BITS)
    return [int(found[-1]) // each for found, *_ in asked(mechanism, table, seed)]


@pytest.mark.parametrize("share", [WORDS // 10, HALF])
def test_batches_are_drawn_record_by_record_anew_for_every_step_and_may_be_empty(share: int) -> None:
    mechanism = steps(DOMAIN, share, 1000 * UNIT // 4, times=2, loss="wasserstein")
    table = Table.from_rows(DOMAIN, [[0, 0], [0, 0], [0, 0], [1, 2]])
    drawn = np.array([sizes(mechanism, table, seed) for seed in range(3000)])
    law = binom.pmf(np.arange(5), 4, share / WORDS)
    pairs = drawn[:, 0] * 5 + drawn[:, 1]
    assert fits(np.bincount(pairs, minlength=25), np.outer(law, law).ravel())
    assert (drawn == 0).any(), "an empty batch is a step like others"


def test_every_table_asks_for_the_same_noise() -> None:
    tables = [Table.from_rows(DOMAIN, rows) for rows in ([[0, 0]] * 3, [[0, 1], [1, 1], [1, 2]])]
    for share in (1, HALF, WORDS):
        mechanism = steps(DOMAIN, share, times=5)
        forms = {
            tuple((x.shape, *rest) for x, *rest in asked(mechanism, table, seed))
            for table in tables
            for seed in range(5)
        }
        size = critic(DOMAIN).size
        assert forms == {(((size,), UNIT**2, Fraction(1, 800)),) * 5}, "fixed steps, whatever is in a batch"


def test_the_noise_that_is_asked_for_is_the_noise_that_is_charged() -> None:
    mechanism = steps(DOMAIN)
    (_, clip, rho), *_ = asked(mechanism, Table.from_rows(DOMAIN, [[0, 0]]))
    variance = Fraction(clip) / (2 * rho) / mechanism.most**2
    priced = Steps(mechanism.steps, Fraction(mechanism.share, WORDS), variance, DELTA)
    assert mechanism.cost() == Cost(*priced.replaced)
    assert mechanism.cost().epsilon == 2 * priced.epsilon
    assert mechanism.cost().delta > 2 * DELTA


@dataclass
class Curious(Deaf):
    """A course that keeps all that it can reach."""

    def __init__(self) -> None:
        super().__init__([critic(DOMAIN)])


def test_a_course_hears_noisy_sums_alone() -> None:
    made: list[Curious] = []

    def begin() -> Curious:
        made.append(Curious())
        return made[-1]

    mechanism = replace(steps(DOMAIN), begin=begin)
    answer = Curator.rehearsal(rehearse(Table.from_rows(DOMAIN, [[0, 0], [1, 1]])), 1).run(mechanism)
    assert [(x == y).all() for x, y in zip(made[-1].heard, answer, strict=True)] == [True] * 3
    plain = asked(mechanism, Table.from_rows(DOMAIN, [[0, 0], [1, 1]]))
    assert all((x != y).mean() > 0.9 for x, (y, *_) in zip(answer, plain, strict=True))


def test_the_noise_has_the_deviation_that_is_asked_for() -> None:
    mechanism = steps(DOMAIN, WORDS, times=1)
    table = Table.from_rows(DOMAIN, [[0, 0], [1, 1]])
    (plain, *_), *_ = asked(mechanism, table)
    gaps = [mechanism._sample(table, RehearsalNoise(seed))[0] - plain for seed in range(300)]
    found = float(np.mean(np.square(np.array(gaps, np.float64) / UNIT)))
    assert found == pytest.approx(400, rel=0.1)


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 0}, {"steps": 10**7}, {"share": 0}, {"share": WORDS + 1}, {"most": 0}, {"most": 2**31},
        {"variance": Fraction(0)}, {"delta": Fraction(0)}, {"delta": Fraction(1)},
    ],
)  # fmt: skip
def test_what_has_no_guarantee_cannot_be_built(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(steps(DOMAIN), **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 3.0}, {"share": float(HALF)}, {"most": float(UNIT)}, {"variance": 400.5},
        {"variance": Fraction(10**40)}, {"begin": lambda: None}, {"begin": lambda:
    Deaf([critic(small_domain(3))])}, ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused_before_a_charge(changed: dict[str, Any]) -> None:
    ledger = MemoryLedger()
    curator = Curator.rehearsal(rehearse(Table.from_rows(DOMAIN, [[0, 0]])), 1, ledger)
    with pytest.raises((FacsimileError, ValueError, TypeError)) as refused:
        curator.run(replace(steps(DOMAIN), **changed))
    assert "E701" not in str(refused.value)


def test_so_many_records_that_a_sum_would_not_be_exact_are_refused() -> None:
    steps(DOMAIN, most=2**29).check(DOMAIN, 2**23)
    with pytest.raises(ValueError, match="a clip"):
        steps(DOMAIN, most=2**29).check(DOMAIN, 2**24)


def test_it_keeps_the_contract_of_a_mechanism() -> None:
    require_fit(steps(DOMAIN), DOMAIN, 3)
    require_proof(NoisySteps, "Replace one record", "[A]", "[B]", "[C]", "[D]", "[E]", "[F]")


class Copying(Critic):
    """A critic of its own class, whose sums are the records."""

    def summed(self, codes: Any, counts: Any, real: bool, most: int) -> Any:
        return np.concatenate([codes.ravel(), counts])


@pytest.mark.parametrize("later", [False, True])
def test_a_critic_of_another_class_sees_no_record(later: bool) -> None:
    """At once it is refused before the charge; after a step it ends everything, and nothing is heard of it."""
    plain = critic(DOMAIN)
    own = Copying(plain.domain, plain.weights, plain.bias, plain.out, plain.level)
    course = Deaf([plain, own] if later else [own])
    mechanism = replace(steps(DOMAIN), begin=lambda: course)
    curator = Curator.rehearsal(rehearse(Table.from_rows(DOMAIN, [[0, 0], [1, 1]])), 1)
    with pytest.raises(FacsimileError, match="E701" if later else "E306"):
        curator.run(mechanism)
    assert len(course.heard) == int(later)
    assert all(len(heard) == plain.size for heard in course.heard)
