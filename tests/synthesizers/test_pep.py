from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from contracts.test_synthesizers import fitted, table_of
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.learners import Measured
from facsimile.synthesizers.pep import PEP


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_questions_have_exactly_the_wanted_columns(k: int) -> None:
    run = fitted(PEP(num_iterations=4, marginal=k), table_of((3, 2, 4, 2)), Known(300), Fraction(1))
    asked = [m.marginals[0][0] for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    assert {len(clique) for clique in asked} == {min(k, 4)}
    assert set(asked) <= set(combinations("abcd", min(k, 4)))


def test_a_projection_moves_counts_just_into_the_interval() -> None:
    found = np.array([10.0, 50.0, 100.0, 5.0, 0.0])
    y = np.array([20.0, 50.0, 60.0, -30.0, 8.0])
    after = found * PEP().factor(found, Measured(y, 1, 4.0))
    assert after[:3] == pytest.approx([16.0, 50.0, 64.0])
    assert 0 < after[3] < 0.01
    assert after[4] == 0


def test_its_model_lies_within_noise_of_what_was_measured() -> None:
    table = table_of((4, 3), 3_000)
    run = fitted(PEP(num_iterations=1, num_inner_updates=50), table, Known(3_000), Fraction(1))
    ((_, answer),) = run.tape
    drawn = run.model.sample(3_000, np.random.default_rng(1)).marginal(("a", "b"))
    assert np.abs(drawn - answer[("a", "b")]).max() <= 2 + 2


def test_hyperparameters_come_as_text() -> None:
    text = {"num_query": "9", "num_iterations": "8", "num_inner_updates": "7", "marginal": "2"}
    assert PEP.of(text) == PEP(9, 8, 7, 2)
    with pytest.raises(ValueError):
        PEP.of({"marginal": "0"})


def test_many_rounds_with_much_noise_neither_overflow_nor_lose_a_record() -> None:
    table = table_of((4, 3, 5, 2), 2_000)
    for marginal in (1, 2, 3):
        synthesizer = PEP(num_iterations=60, num_inner_updates=40, marginal=marginal)
        model = fitted(synthesizer, table, Known(2_000), Fraction(1, 10)).model
        assert model.sample(2_000, np.random.default_rng(1)).n == 2_000
