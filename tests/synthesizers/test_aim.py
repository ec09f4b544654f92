from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.synthesizers.aim import AIM, MOST_CANDIDATES, SELECTION, _pool
from facsimile.synthesizers.base import Known
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain
from facsimile.testing.synthesizers import fitted, table_of


def test_columns_come_first_and_every_round_selects_and_measures() -> None:
    run = fitted(AIM(rounds=5), table_of((3, 2, 4, 3)), Known(300), Fraction(1))
    first, *rest = [m for m, _ in run.tape]
    assert isinstance(first, NoisyMarginals)
    assert [clique for clique, _ in first.marginals] == [("a",), ("b",), ("c",), ("d",)]
    assert run.spent == 1
    for selection, measurement in zip(rest[::2], rest[1::2], strict=True):
        assert isinstance(selection, NoisySelection)
        assert isinstance(measurement, NoisyMarginals)
        assert selection.epsilon == SELECTION * measurement.cost().epsilon


def test_rounds_that_taught_nothing_double_the_budget_of_the_next() -> None:
    """Independent columns and much noise: fewer rounds than planned, none smaller than the one before."""
    table = Table.from_rows(small_domain(3, 3, 3), np.random.default_rng(1).integers(0, 3, (300, 3)))
    run = fitted(AIM(rounds=20), table, Known(300), Fraction(1, 10))
    sizes = [m.cost().epsilon for m, _ in run.tape[1:] if isinstance(m, NoisyMarginals)]
    assert len(sizes) < 10
    assert sizes == sorted(sizes)
    assert sizes[1] in (sizes[0], 2 * sizes[0])


def test_of_a_rho_a_tenth_selects_and_a_round_that_taught_nothing_halves_the_noise() -> None:
    table = Table.from_rows(small_domain(3, 3, 3), np.random.default_rng(1).integers(0, 3, (300, 3)))
    run = fitted(AIM(rounds=20), table, Known(300), Rho(1, 1000))
    asked = [m.cost().rho for m, _ in run.tape[1:]]
    assert run.spent == Rho(1, 1000)
    assert [9 * selection for selection in asked[::2]] == asked[1::2]
    times = [later / sooner for sooner, later in pairwise(asked[1:-2:2])]
    assert len(times) < 10 and set(times) <= {1, 4} and 4 in times


def test_scores_weigh_by_the_workload_and_pay_for_noise() -> None:
    run = fitted(AIM(rounds=2), table_of((3, 2, 4)), Known(300), Fraction(1))
    scores = next(m.scores for m, _ in run.tape if isinstance(m, NoisySelection))
    measure = next(m.cost().epsilon for m, _ in run.tape[2:] if isinstance(m, NoisyMarginals))
    assert isinstance(scores, MarginalDistances)
    assert scores.weights == tuple(map(Fraction, (1, 1, 1, 2, 2, 2, 3)))
    assert scores.biases == tuple(2 / measure * model.size for _, model in scores.models)


def test_with_a_great_epsilon_all_triples_of_a_small_table_come_close() -> None:
    table = table_of((3, 2, 4, 3), 5_000)
    drawn = fitted(AIM(rounds=16), table, Known(5_000), Fraction(200)).model.sample(
        5_000, np.random.default_rng(1)
    )
    for triple in combinations("abcd", 3):
        assert np.abs(drawn.marginal(triple) - table.marginal(triple)).sum() / 2 < 0.02 * 5_000


def test_very_many_triples_are_thinned() -> None:
    pool = _pool(small_domain(*(2,) * 20), np.random.default_rng(1))
    assert len(pool) == MOST_CANDIDATES
    assert set(combinations(small_domain(*(2,) * 20).names, 2)) <= set(pool)


def test_a_domain_beyond_a_dense_one_works() -> None:
    random = np.random.default_rng(1)
    rows = np.cumsum(random.integers(0, 2, (1_000, 9)), axis=1) % 8
    table = Table.from_rows(small_domain(*(8,) * 9), rows)
    run = fitted(AIM(rounds=3, most_cells=5_000), table, Known(1_000), Fraction(5))
    assert run.spent == 5
    assert run.model.sample(1_000, random).n == 1_000


def test_hyperparameters_come_as_text() -> None:
    assert AIM.of({"rounds": "7", "most_cells": "1000"}) == AIM(7, 1_000)
    with pytest.raises(ValueError):
        AIM.of({"rounds": "0"})
