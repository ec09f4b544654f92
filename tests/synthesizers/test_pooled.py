from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from contracts.test_synthesizers import domain_of, fitted, table_of
from facsimile.privacy.mechanisms import NoisyAnswer, NoisySelection
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.queries import BoxDistances
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.mwem import MWEM
from facsimile.synthesizers.pep import PEP
from facsimile.synthesizers.pooled import Pooled, counting
from table.test_boxes import every_box

BOTH = pytest.mark.parametrize("made", [MWEM, PEP])


@BOTH
def test_every_round_costs_half_for_the_choice_and_half_for_the_count(made: type[Pooled]) -> None:
    run = fitted(made(num_query=30, num_iterations=7), table_of((3, 2, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisySelection, NoisyAnswer] * 7
    assert {m.cost().epsilon for m, _ in run.tape} == {Fraction(1, 14)}
    assert {m.units for m, _ in run.tape if isinstance(m, NoisySelection | NoisyAnswer)} == {1}


@BOTH
def test_the_pool_has_as_many_queries_as_are_wanted(made: type[Pooled]) -> None:
    for wanted in (2, 17, 60):
        run = fitted(made(num_query=wanted, num_iterations=2), table_of((3, 4, 5)), Known(300), Fraction(1))
        scores = [m.scores for m, _ in run.tape if isinstance(m, NoisySelection)]
        assert [len(s.boxes) for s in scores if isinstance(s, BoxDistances)] == [wanted] * 2


@BOTH
def test_one_query_takes_the_whole_budget(made: type[Pooled]) -> None:
    run = fitted(made(num_query=1, num_iterations=3), table_of((3, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisyAnswer] * 3
    assert run.spent == 1


@BOTH
def test_what_is_counted_is_what_was_selected_and_it_may_be_chosen_again(made: type[Pooled]) -> None:
    table = table_of((3, 2), 300)
    run = fitted(made(num_query=4, num_iterations=12), table, Known(300), Fraction(10**6))
    answers = [answer for _, answer in run.tape]
    scores = next(m.scores for m, _ in run.tape if isinstance(m, NoisySelection))
    assert isinstance(scores, BoxDistances)
    true = scores.boxes.sums(table.marginal(table.domain.names))
    assert [answer.units for answer in answers[1::2]] == [true[place] for place in answers[::2]]
    assert len(set(answers[::2])) <= 4 < len(answers[::2])


@BOTH
def test_the_pool_is_drawn_in_public_and_differs_by_seed(made: type[Pooled]) -> None:
    shape = (6, 5, 4)
    pools = [made(num_query=20).pool(shape, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert all(pool.inside(shape) for pool in pools)
    assert (pools[0].low == pools[1].low).all()
    assert (pools[0].low != pools[2].low).any()


def test_a_count_is_that_of_the_box_with_sensitivity_1() -> None:
    table = table_of((3, 2, 4), 200)
    boxes = every_box(table.domain.shape)
    true = boxes.sums(table.marginal(table.domain.names))
    for place in range(len(boxes)):
        query = counting(table.domain, boxes.slices(place))
        query.check(table.domain, table.n)
        assert query.value(table, RehearsalNoise(1)) == true[place]
        everything = all(
            part == slice(0, size) for part, size in zip(boxes.slices(place), (3, 2, 4), strict=True)
        )
        assert query.sensitivity() == (0 if everything else 1)
        assert NoisyAnswer(query, Fraction(1)).units == 1


@BOTH
def test_a_larger_pool_with_little_noise_comes_closer(made: type[Pooled]) -> None:
    """The distance of the whole table; a few queries cannot say what sixty cells hold."""
    table = table_of((4, 3, 5), 3_000)

    def distance(wanted: int) -> float:
        chosen = made(num_query=wanted, num_iterations=150, num_inner_updates=100)
        drawn = fitted(chosen, table, Known(table.n), Fraction(1000)).model.sample(
            3_000, np.random.default_rng(1)
        )
        return float(np.abs(drawn.marginal(("a", "b", "c")) - table.marginal(("a", "b", "c"))).sum() / 6_000)

    assert distance(60) < distance(12) / 2
    assert distance(12) < distance(2)


def test_a_domain_that_cannot_be_held_is_refused() -> None:
    for made in (MWEM(), PEP()):
        made.check(domain_of((100, 100, 1000)), 300, Fraction(1))
        with pytest.raises(ValueError, match="rows"):
            made.check(domain_of((100, 100, 1001)), 300, Fraction(1))
