from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from contracts.test_synthesizers import domain_of, fitted, table_of
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.learners import LARGEST_TREE, Measured
from facsimile.synthesizers.mwem import MWEM, SMALLEST
from facsimile.synthesizers.pep import PEP


def test_every_round_costs_half_for_the_choice_and_half_for_the_answer() -> None:
    run = fitted(MWEM(num_iterations=7), table_of((3, 2, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisySelection, NoisyMarginals] * 7
    assert {m.cost().epsilon for m, _ in run.tape} == {Fraction(1, 14)}


def test_a_question_may_be_chosen_again() -> None:
    run = fitted(MWEM(num_iterations=30, num_inner_updates=3), table_of((3, 2)), Known(300), Fraction(1))
    asked = [m.marginals[0][0] for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    assert len(set(asked)) < len(asked) == 30


def test_the_pool_is_every_marginal_or_as_many_as_wanted() -> None:
    domain = domain_of((2,) * 8)
    random = np.random.default_rng(1)
    every = MWEM(num_query=1_000)._pool(domain, random)
    assert every == [c for size in (1, 2, 3) for c in combinations(domain.names, size)]
    some = MWEM(num_query=20)._pool(domain, random)
    assert len(some) == 20
    assert set(some) <= set(every)


def test_the_pool_of_a_wide_domain_has_few_columns_first_and_no_large_table() -> None:
    domain = domain_of((10,) * 6 + (1_000,) * 2)
    random = np.random.default_rng(1)
    pairs = list(combinations(domain.names, 2))[:-1]
    assert MWEM(num_query=50)._pool(domain, random)[:35] == [(name,) for name in domain.names] + pairs
    assert len(MWEM(num_query=50)._pool(domain, random)) == 50
    triples = PEP(num_query=1_000)._pool(domain, random)
    assert triples == [c for c in combinations(domain.names, 3) if domain.size(c) <= LARGEST_TREE]
    assert PEP(marginal=8)._pool(domain, random) == [(name,) for name in domain.names]


def test_an_update_moves_the_model_towards_the_answer_and_never_past_it() -> None:
    random = np.random.default_rng(1)
    found, y = random.gamma(1, 50, 1_000), random.normal(40, 60, 1_000)
    after = found * MWEM().factor(found, Measured(y, 1, 5.0))
    target = np.maximum(y, SMALLEST)
    assert (after > 0).all()
    assert (np.sign(after - found) == np.sign(target - found)).all()
    assert (np.abs(after - target) < np.abs(found - target) + 1e-9).all()


def test_more_rounds_with_little_noise_come_closer() -> None:
    """The distance over all triples; three marginals cannot hold a chain of five columns, thirty can."""
    table = table_of((4, 3, 4, 2, 3), 5_000)

    def distance(rounds: int) -> int:
        model = fitted(MWEM(num_iterations=rounds), table, Known(5_000), Fraction(rounds)).model
        drawn = model.sample(5_000, np.random.default_rng(1))
        return sum(int(np.abs(drawn.marginal(t) - table.marginal(t)).sum()) for t in combinations("abcde", 3))

    assert distance(30) < distance(3) < distance(1)


def test_hyperparameters_come_as_text() -> None:
    text = {"num_query": "128", "num_iterations": "500", "num_inner_updates": "100"}
    assert MWEM.of(text) == MWEM(128, 500, 100)
    with pytest.raises(ValueError):
        MWEM.of({"num_query": "0"})
