"""Adversaries: rows that may occur, a generator that pleases its judge, a mean, and n records of a model."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.synthesizers.adversary import BLOCK, MOST_CODES, Adversaries, Rates, check_size
from facsimile.synthesizers.network import ruled_out
from facsimile.testing import small_domain

DOMAIN = small_domain(3, 2, 4)
RATES = Rates(Fraction(1, 100), Fraction(0), Fraction(1, 100), Fraction(0))


def two(zeros: tuple[tuple[tuple[str, ...], np.ndarray], ...] = (), rounds: int = 40) -> Adversaries:
    return Adversaries(DOMAIN, zeros, RATES, rounds, np.random.default_rng(3))


def test_rows_that_are_ruled_out_are_left_out_while_there_are_others() -> None:
    half = ((("a", "b"), np.array([[True, False], [False, False], [True, True]])),)
    found = two(half).rows(700)
    assert found.shape == (700, 3)
    assert not ruled_out(half, DOMAIN, found).any()
    assert two(((("b",), np.array([True, True])),)).rows(50).shape == (50, 3)


def test_the_generator_learns_to_please_the_judge() -> None:
    """A judge that likes the first code of every column, and the last two columns to agree."""
    made = two()
    for weights in made.judge.weights:
        weights[:] = 0
    made.judge.weights[0][[0, 3, 5], 0] = 2.0
    made.judge.weights[2][0] = 1.0
    before, after = made.judge.scores(made.rows(2000)).mean(), 0.0
    for _ in range(40):
        made.train()
    after = made.judge.scores(made.rows(2000)).mean()
    assert after > before + 1
    model = made.model().sample(2000, np.random.default_rng(1))
    assert before < made.judge.scores(model.records()).mean() <= after + 0.1, "the mean follows"


def test_a_model_keeps_its_weights_while_training_goes_on() -> None:
    made = two()
    model = made.model()
    first = model.sample(500, np.random.default_rng(1))
    for _ in range(5):
        made.train()
    assert model.sample(500, np.random.default_rng(1)) == first


@pytest.mark.parametrize("sampling", ["iid", "systematic"])
def test_a_model_draws_as_many_records_as_are_asked_for(sampling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facsimile.synthesizers.adversary.BLOCK", 128)
    assert BLOCK > 128
    for n in (1, 127, 128, 300):
        assert two().model().sample(n, np.random.default_rng(1), sampling).n == n  # type: ignore[arg-type]


def test_too_many_codes_are_refused() -> None:
    check_size(small_domain(MOST_CODES))
    with pytest.raises(ValueError):
        check_size(small_domain(MOST_CODES, 2))
