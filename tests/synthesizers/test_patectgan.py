"""PATECTGAN: its contract, what it asks, what it refuses before a charge, and that it learns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import NoisyVotes
from facsimile.privacy.reader import rehearse
from facsimile.spec.families import FAMILIES
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.patectgan import PATECTGAN, Student
from facsimile.testing import check_only_answers, check_synthesizer, small_domain
from facsimile.testing.synthesizers import check_spending, fitted, known_of, table_of

QUICK = {"epochs": "2", "batch_size": "20"}
SHARE = Rho(1, 50)


def asked(hyperparameters: dict[str, str]) -> NoisyVotes[Student]:
    table = table_of((4, 3))
    (mechanism, answer), *more = fitted(PATECTGAN.of(hyperparameters), table, known_of(table), SHARE).tape
    assert not more and isinstance(mechanism, NoisyVotes)
    assert [len(votes) for votes in answer] == [mechanism.rows] * mechanism.rounds
    return mechanism


def test_it_keeps_the_contract_of_a_synthesizer() -> None:
    check_synthesizer(PATECTGAN.of(QUICK))


@pytest.mark.parametrize("more", [{"regularization": "dragan"}, {"teachers": "1"}, {"teachers": "300"}])
def test_every_kind_of_student_and_school_keeps_it(more: dict[str, str]) -> None:
    check_spending(PATECTGAN.of({**QUICK, **more}), table_of((5, 2, 3)), SHARE)


def test_a_wide_table_works() -> None:
    check_only_answers(PATECTGAN.of(QUICK), table_of((12, 2, 9) + (15,) * 5), SHARE)


def test_hyperparameters_are_those_of_the_specification() -> None:
    given = {
        "epochs": "300", "batch_size": "50", "generator_lr": "2e-4", "discriminator_lr": "2e-5",
        "generator_decay": "1e-6", "discriminator_decay": "1e-6", "noise_multiplier": "60",
        "loss": "cross_entropy", "regularization": "dragan", "teachers": "30",
    }  # fmt: skip
    assert {*given, "sampling"} == set(FAMILIES["patectgan"].hyperparameters)
    mechanism = asked(given)
    assert (mechanism.rows, mechanism.teachers) == (50, 30)
    assert mechanism.rounds == 2, "a round costs 50/(2·60²) = 1/144 of 1/50"
    assert mechanism.cost().rho == Fraction(2, 144)


def test_by_default_a_teacher_has_four_records() -> None:
    assert asked(QUICK).teachers == 75


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noise_multiplier": "-1"}, "positive"),
        ({"noise_multiplier": "0"}, "positive"),
        ({"batch_size": "65537"}, "at most 65,536"),
        ({"epochs": "0"}, "positive"),
        ({"batch_size": "0"}, "positive"),
        ({"loss": "wasserstein"}, "loss"),
        ({"regularization": "some"}, "regularization"),
        ({"teachers": "0"}, "teachers"),
        ({"teachers": "301"}, "teachers"),
        ({"discriminator_lr": "0"}, "rates"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_charge(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PATECTGAN.of(given).check(small_domain(4, 3), 300, SHARE, Fraction(1, 10**9))


def test_with_noise_that_affords_no_round_nothing_is_asked_and_nothing_learned() -> None:
    idle, table = PATECTGAN.of({"noise_multiplier": "5"}), table_of((4, 3))
    idle.check(table.domain, table.n, SHARE)
    assert not idle.trains(table.domain, table.n, SHARE) and PATECTGAN().trains(table.domain, table.n, SHARE)
    ledger = MemoryLedger()
    curator = Curator.rehearsal(rehearse(table), 1, ledger)
    model = idle.fit(curator, Known(table.n), SHARE, np.random.default_rng(1))
    assert ledger.spent == Cost() and model.sample(50, np.random.default_rng(2)).n == 50


def test_with_an_epsilon_it_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a delta"):
        PATECTGAN().check(small_domain(4, 3), 300, Fraction(1))


def test_votes_on_rows_of_the_generators_own_law_teach_nothing() -> None:
    """What teachers of made rows would say is taken off: labels are a half on average."""
    made: list[Student] = []
    question = PATECTGAN()._asked(made, Known(3000), small_domain(6, 5, 4), SHARE, 1)
    assert question is not None
    question.begin()
    student = made[0]
    expected = student._expected()
    assert expected.shape == (500,)
    again = student._expected()
    assert abs(float((expected - again).mean())) < 0.01
    assert float(np.abs(expected - 0.5).mean()) > 0.02, "teachers of a few records lean to one side"


@pytest.mark.long
def test_it_learns_how_columns_go_together() -> None:
    """Two columns that follow each other; without learning the distance is 0.42."""
    table = table_of((4, 4), 20_000)
    curator, known = Curator.rehearsal(rehearse(table), 1), Known(table.n)
    model = PATECTGAN(epochs=60).fit(curator, known, Rho(2), np.random.default_rng(1))
    drawn = model.sample(table.n, np.random.default_rng(1))
    gap = np.abs(drawn.marginal(("a", "b")) - table.marginal(("a", "b"))).sum() / 2 / table.n
    assert gap < 0.35
