"""Distances of a model: weights and biases, models of the largest size, what is refused when built."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.queries import MarginalDistances
from facsimile.table.table import Table
from facsimile.testing import small_domain

DOMAIN = small_domain(3, 2)
TABLE = Table.from_rows(DOMAIN, [[0, 0], [2, 1], [2, 1]])
MODELS = ((("a",), np.array([1, 5, -1])), (("b", "a"), np.array([[0, 0, 0], [0, 0, 4]])))
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def test_a_score_is_its_weight_times_the_distance_less_the_bias() -> None:
    assert MarginalDistances(MODELS).values(TABLE) == [0 + 5 + 3, 1 + 2]
    weighted = MarginalDistances(MODELS, (THIRD, HALF), (Fraction(2), Fraction(7)))
    assert weighted.values(TABLE) == [(8 - 2) * THIRD, (3 - 7) * HALF]
    assert MarginalDistances(MODELS).sensitivity() == 2
    assert weighted.sensitivity() == 1


@pytest.mark.parametrize("size", [2**53, -(2**53)])
def test_models_are_as_large_as_counts_may_be_and_their_distance_is_exact(size: int) -> None:
    scores = MarginalDistances(((("a",), np.array([size] * 3)),))
    scores.check(DOMAIN, 3)
    assert scores.values(TABLE) == [3 * abs(size) + (3 if size < 0 else -3)]
    with pytest.raises(ValueError):
        MarginalDistances(((("a",), np.array([size + (1 if size > 0 else -1), 0, 0])),)).check(DOMAIN, 3)


@pytest.mark.parametrize(
    ("weights", "biases"),
    [
        ((HALF,), None),
        ((HALF,) * 3, None),
        (None, (HALF,)),
        (None, (HALF,) * 3),
        ((0.5, 0.5), None),
        (None, (0.5, 1)),
    ],
)
def test_there_are_as_many_weights_and_biases_as_models_or_none(weights: Any, biases: Any) -> None:
    MarginalDistances(MODELS, (), ()).check(DOMAIN, 3)
    MarginalDistances(MODELS, (HALF, HALF), (HALF, -HALF)).check(DOMAIN, 3)
    with pytest.raises(ValueError):
        MarginalDistances(MODELS, weights, biases).check(DOMAIN, 3)


def test_weights_are_positive_and_answers_are_integers() -> None:
    for weight in (Fraction(0), -HALF):
        with pytest.raises(ValueError, match="positive"):
            MarginalDistances(MODELS, (HALF, weight))
    with pytest.raises(TypeError, match="rounded"):
        MarginalDistances((MODELS[0], (("b",), np.array([0.5, 1]))))
