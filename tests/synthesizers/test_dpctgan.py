"""DPCTGAN: its contract, what it asks, what it refuses before a charge, and that it learns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import NoisySteps
from facsimile.privacy.reader import rehearse
from facsimile.privacy.sampled import Steps
from facsimile.privacy.stream import WORDS
from facsimile.spec.families import FAMILIES
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.dpctgan import DPCTGAN, STEPS, Training
from facsimile.table.critic import UNIT
from facsimile.testing import Broken, check_only_answers, check_synthesizer, small_domain
from facsimile.testing.synthesizers import DELTA, check_spending, fitted, known_of, table_of

QUICK = {"epochs": "1", "batch_size": "60"}
ONE = Fraction(1)


def asked(hyperparameters: dict[str, str], n: int = 300, epsilon: Fraction = ONE) -> NoisySteps[Training]:
    table = table_of((4, 3), n)
    found = fitted(DPCTGAN.of(hyperparameters), table, known_of(table), epsilon).tape
    (mechanism, answer), *more = found
    assert not more and isinstance(mechanism, NoisySteps)
    assert len(answer) == mechanism.steps
    return mechanism


def test_it_keeps_the_contract_of_a_synthesizer() -> None:
    check_synthesizer(DPCTGAN.of(QUICK))


@pytest.mark.parametrize(
    "more", [{"loss": "wasserstein"}, {"max_per_sample_grad_norm": "0.1"}, {"max_per_sample_grad_norm": "5"}]
)
def test_every_kind_of_step_keeps_it(more: dict[str, str]) -> None:
    check_spending(DPCTGAN.of({**QUICK, **more}), table_of((5, 2, 3)), ONE)


def test_a_column_of_many_codes_and_a_wide_table_work() -> None:
    check_only_answers(DPCTGAN.of(QUICK), table_of((200, 3)), ONE)
    check_only_answers(DPCTGAN.of(QUICK), table_of((12, 2, 9) + (15,) * 5), ONE)


def test_hyperparameters_are_those_of_the_specification() -> None:
    given = {
        "epochs": "2", "batch_size": "100", "generator_lr": "2e-4", "discriminator_lr": "2e-5",
        "generator_decay": "1e-6", "discriminator_decay": "0", "noise_multiplier": "40", "loss": "wasserstein",
        "max_per_sample_grad_norm": "0.1",
    }  # fmt: skip
    assert {*given, "sampling"} == set(FAMILIES["dpctgan"].hyperparameters)
    made = DPCTGAN.of(given)
    assert made.generator_lr == Fraction(2, 10_000)
    mechanism = asked(given)
    assert (mechanism.steps, mechanism.variance, mechanism.most) == (6, Fraction(1600), UNIT // 10)
    assert mechanism.share == WORDS // 3


def test_by_default_three_hundred_steps_have_a_tenth_of_the_records_each() -> None:
    mechanism = DPCTGAN()._asked([], Known(165_915, delta=DELTA), small_domain(2), ONE, 1)
    assert mechanism is not None
    assert (mechanism.steps, mechanism.most) == (STEPS, UNIT) == (300, 1 << 22)
    assert mechanism.share / WORDS == pytest.approx(0.1, rel=1e-4)
    assert Fraction(999, 1000) < mechanism.cost().epsilon <= 1 and mechanism.cost().delta <= DELTA


def test_given_noise_ends_the_steps_where_the_budget_ends() -> None:
    priced = DPCTGAN.of({"epochs": "300", "batch_size": "500", "noise_multiplier": "5"})
    mechanism = priced._asked([], Known(165_915, delta=DELTA), small_domain(2), ONE, 1)
    assert mechanism is not None
    assert mechanism.variance == 25 and mechanism.steps < 300 * 165_915 // 500
    more = Steps(mechanism.steps + 1, Fraction(mechanism.share, WORDS), Fraction(25), mechanism.delta)
    assert mechanism.cost().epsilon <= 1 < more.replaced[0]


@pytest.mark.parametrize("noise", ["0.001", "0.1", "1"])
def test_with_noise_that_affords_no_step_nothing_is_asked_and_nothing_learned(noise: str) -> None:
    """As in the births paper's grid: the model is the generator as it was drawn."""
    idle, table = DPCTGAN.of({"noise_multiplier": noise}), table_of((4, 3))
    idle.check(table.domain, table.n, ONE, DELTA)
    assert not idle.trains(table.domain, table.n, ONE, DELTA)
    assert DPCTGAN().trains(table.domain, table.n, ONE, DELTA)
    ledger = MemoryLedger()
    curator = Curator.rehearsal(rehearse(table), 1, ledger)
    model = idle.fit(curator, Known(table.n, delta=DELTA), ONE, np.random.default_rng(1))
    assert ledger.spent == Cost() and model.sample(50, np.random.default_rng(2)).n == 50


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noise_multiplier": "0"}, "positive"),
        ({"epochs": "0"}, "positive"),
        ({"batch_size": "-1"}, "positive"),
        ({"loss": "hinge"}, "loss"),
        ({"max_per_sample_grad_norm": "0"}, "clip"),
        ({"max_per_sample_grad_norm": "1000"}, "clip"),
        ({"generator_lr": "0"}, "rates"),
        ({"discriminator_decay": "-1"}, "decays"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_charge(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DPCTGAN.of(given).check(small_domain(4, 3), 300, ONE, DELTA)


def test_without_a_delta_or_on_too_many_codes_it_is_refused() -> None:
    with pytest.raises(ValueError):
        DPCTGAN().check(small_domain(4, 3), 300, ONE)
    with pytest.raises(ValueError, match="codes"):
        DPCTGAN().check(small_domain(60_000, 60_000), 300, ONE, DELTA)


class Forgetting(DPCTGAN):
    """Mutant: the ε of a record that is there or not, charged as it is."""

    def fit(self, answers, known, share, random):  # type: ignore[no-untyped-def]
        return super().fit(answers, known, 2 * share, random)


def test_a_mutant_that_spends_twice_is_caught() -> None:
    with pytest.raises(Broken, match="more than its share"):
        check_spending(Forgetting.of(QUICK), table_of((3, 4)), ONE)


@pytest.mark.parametrize(
    ("given", "most"),
    [({"epochs": "6", "batch_size": "2000"}, 0.35), pytest.param({}, 0.1, marks=pytest.mark.long)],
)
def test_it_learns_how_columns_go_together(given: dict[str, str], most: float) -> None:
    """Two columns that follow each other; without learning the distance is 0.42."""
    table = table_of((4, 4), 20_000)
    model = DPCTGAN.of(given).fit(
        Curator.rehearsal(rehearse(table), 1),
        Known(table.n, delta=DELTA),
        Fraction(5),
        np.random.default_rng(1),
    )
    drawn = model.sample(table.n, np.random.default_rng(1))
    gap = np.abs(drawn.marginal(("a", "b")) - table.marginal(("a", "b"))).sum() / 2 / table.n
    assert gap < most
