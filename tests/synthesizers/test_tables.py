from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from string import ascii_lowercase

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.synthesizers import tables
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.graphical import estimate
from facsimile.synthesizers.tables import (
    LARGEST_TREE,
    SMALLEST,
    MWEMTables,
    PEPTables,
    Refitted,
    Tabled,
    Weights,
)
from facsimile.table.domain import Clique
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement
from facsimile.testing.neighbours import small_domain
from facsimile.testing.synthesizers import fitted, table_of

SHAPE = (4, 3, 2, 5)
PAIRS: list[Clique] = [("a", "b"), ("b", "c"), ("c", "d")]


def test_every_round_costs_half_for_the_choice_and_half_for_the_answer() -> None:
    run = fitted(MWEMTables(num_iterations=7), table_of((3, 2, 4)), Known(300), Fraction(1))
    assert [type(m) for m, _ in run.tape] == [NoisySelection, NoisyMarginals] * 7
    assert {m.cost().epsilon for m, _ in run.tape} == {Fraction(1, 14)}


def test_of_a_rho_a_round_chooses_with_a_tenth() -> None:
    run = fitted(MWEMTables(num_iterations=7), table_of((3, 2, 4)), Known(300), Rho(7))
    assert [m.cost().rho for m, _ in run.tape] == [Fraction(1, 10), Fraction(9, 10)] * 7


def test_a_question_may_be_chosen_again() -> None:
    run = fitted(MWEMTables(num_iterations=30, num_inner_updates=3), table_of((3, 2)), Known(300), Fraction(1))
    asked = [m.marginals[0][0] for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    assert len(set(asked)) < len(asked) == 30


def test_the_pool_is_every_marginal_or_as_many_as_wanted() -> None:
    domain = small_domain(*(2,) * 8)
    random = np.random.default_rng(1)
    every = MWEMTables(num_query=1_000)._pool(domain, random)
    assert every == [c for size in (1, 2, 3) for c in combinations(domain.names, size)]
    some = MWEMTables(num_query=20)._pool(domain, random)
    assert len(some) == 20
    assert set(some) <= set(every)


def test_the_pool_of_a_wide_domain_has_few_columns_first_and_no_large_table() -> None:
    domain = small_domain(*(10,) * 6, *(1_000,) * 2)
    random = np.random.default_rng(1)
    pairs = list(combinations(domain.names, 2))[:-1]
    assert MWEMTables(num_query=50)._pool(domain, random)[:35] == [(name,) for name in domain.names] + pairs
    assert len(MWEMTables(num_query=50)._pool(domain, random)) == 50
    triples = PEPTables(num_query=1_000)._pool(domain, random)
    assert triples == [c for c in combinations(domain.names, 3) if domain.size(c) <= LARGEST_TREE]
    assert PEPTables(marginal=8)._pool(domain, random) == [(name,) for name in domain.names]


def test_an_update_moves_the_model_towards_the_answer_and_never_past_it() -> None:
    random = np.random.default_rng(1)
    found, y = random.gamma(1, 50, 1_000), random.normal(40, 60, 1_000)
    after = found * MWEMTables().factor(found, Measurement.fine(("a",), y, 50.0))
    target = np.maximum(y, SMALLEST)
    assert (after > 0).all()
    assert (np.sign(after - found) == np.sign(target - found)).all()
    assert (np.abs(after - target) < np.abs(found - target) + 1e-9).all()


def test_more_rounds_with_little_noise_come_closer() -> None:
    """The distance over all triples; three marginals cannot hold a chain of five columns, thirty can."""
    table = table_of((4, 3, 4, 2, 3), 5_000)

    def distance(rounds: int) -> int:
        model = fitted(MWEMTables(num_iterations=rounds), table, Known(5_000), Fraction(rounds)).model
        drawn = model.sample(5_000, np.random.default_rng(1))
        return sum(int(np.abs(drawn.marginal(t) - table.marginal(t)).sum()) for t in combinations("abcde", 3))

    assert distance(30) < distance(3) < distance(1)


def test_hyperparameters_come_as_text() -> None:
    text = {"num_query": "128", "num_iterations": "500", "num_inner_updates": "100"}
    assert MWEMTables.of(text) == MWEMTables(128, 500, 100)
    with pytest.raises(ValueError):
        MWEMTables.of({"num_query": "0"})


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_questions_have_exactly_the_wanted_columns(k: int) -> None:
    run = fitted(PEPTables(num_iterations=4, marginal=k), table_of((3, 2, 4, 2)), Known(300), Fraction(1))
    asked = [m.marginals[0][0] for m, _ in run.tape if isinstance(m, NoisyMarginals)]
    assert {len(clique) for clique in asked} == {min(k, 4)}
    assert set(asked) <= set(combinations("abcd", min(k, 4)))


def test_a_projection_moves_counts_just_into_the_interval() -> None:
    found = np.array([10.0, 50.0, 100.0, 5.0, 0.0])
    y = np.array([20.0, 50.0, 60.0, -30.0, 8.0])
    after = found * PEPTables().factor(found, Measurement.fine(("a",), y, 32.0))
    assert after[:3] == pytest.approx([16.0, 50.0, 64.0])
    assert 0 < after[3] < 0.01
    assert after[4] == 0


def test_its_model_lies_within_noise_of_what_was_measured() -> None:
    table = table_of((4, 3), 3_000)
    run = fitted(PEPTables(num_iterations=1, num_inner_updates=50), table, Known(3_000), Fraction(1))
    ((_, answer),) = run.tape
    drawn = run.model.sample(3_000, np.random.default_rng(1)).marginal(("a", "b"))
    assert np.abs(drawn - answer[0].counts).max() <= 2 + 2


def test_hyperparameters_of_the_other_come_as_text_too() -> None:
    text = {"num_query": "9", "num_iterations": "8", "num_inner_updates": "7", "marginal": "2"}
    assert PEPTables.of(text) == PEPTables(9, 8, 7, 2)
    with pytest.raises(ValueError):
        PEPTables.of({"marginal": "0"})


def test_many_rounds_with_much_noise_neither_overflow_nor_lose_a_record() -> None:
    table = table_of((4, 3, 5, 2), 2_000)
    for marginal in (1, 2, 3):
        synthesizer = PEPTables(num_iterations=60, num_inner_updates=40, marginal=marginal)
        model = fitted(synthesizer, table, Known(2_000), Fraction(1, 10)).model
        assert model.sample(2_000, np.random.default_rng(1)).n == 2_000


def learnt(learner: Tabled, clique: Clique, counts: Floats, variance: float) -> None:
    learner.asked = [clique]
    learner.learn(0, [Measurement.fine(clique, counts, variance)])


def answered(learner: Tabled, cliques: list[Clique], n: int = 4_000) -> None:
    """The learner hears true counts, with next to no noise."""
    for clique in cliques:
        learnt(learner, clique, table_of(SHAPE, n).marginal(clique).astype(np.float64), 2e-4)


def test_repeated_answers_are_averaged_and_their_noise_falls() -> None:
    learner = Weights(MWEMTables(), [("c",)], small_domain(*SHAPE), Known(100))
    for counts in ([40.0, 60.0], [80.0, 20.0], [30.0, 70.0]):
        learnt(learner, ("c",), np.array(counts), 6.0)
    assert learner.measured[("c",)].counts.tolist() == [50.0, 50.0]
    assert learner.measured[("c",)].variance == pytest.approx(2.0)


def test_both_learn_a_chain_from_its_pairs() -> None:
    domain, known, table = small_domain(*SHAPE), Known(4_000), table_of(SHAPE, 4_000)

    class Exact(MWEMTables):
        def factor(self, found: Floats, measured: Measurement) -> Floats:
            return measured.counts / np.maximum(found, 1e-9)

    both: list[Tabled] = [
        Weights(Exact(num_inner_updates=40), PAIRS, domain, known),
        Refitted(MWEMTables(num_inner_updates=15), PAIRS, domain, known),
    ]
    for learner in both:
        answered(learner, PAIRS)
        for pair in PAIRS:
            assert np.abs(learner.rounded(pair) - table.marginal(pair)).max() <= 8
        drawn = learner.model().sample(4_000, np.random.default_rng(1))
        assert np.abs(drawn.marginal(domain.names) - table.marginal(domain.names)).sum() / 2 < 0.1 * 4_000


def test_fits_become_rare_and_the_last_answer_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []

    def counted(domain, measurements, *rest, **options):  # type: ignore[no-untyped-def]
        heard.append(len(measurements))
        return estimate(domain, measurements, *rest, **options)

    monkeypatch.setattr(tables, "estimate", counted)
    names = ascii_lowercase[:14]
    learner = Refitted(MWEMTables(num_inner_updates=2), [], small_domain(*[2] * 14), Known(100))
    for name in names:
        learnt(learner, (name,), np.array([30.0, 70.0]), 2.0)
    assert heard == [0, 1, 2, 3, 4, 5, 7, 9, 12]
    model = learner.model()
    assert heard[-1] == 14
    assert model is learner.model()
    assert model.sample(100, np.random.default_rng(1)).marginal(("n",)).tolist() == pytest.approx(
        [30, 70], abs=1
    )


def test_what_waits_for_a_fit_or_needs_a_large_tree_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pool: list[Clique] = [("a", "b"), ("b", "c"), ("a", "c"), ("d",), ("a", "b", "c", "d")]
    learner = Refitted(MWEMTables(num_inner_updates=5), pool, small_domain(*SHAPE), Known(4_000))
    assert learner.candidates() == pool
    monkeypatch.setattr(tables, "LARGEST_TREE", 30)
    assert learner.candidates() == pool[:4]
    answered(learner, [("a", "b"), ("b", "c")])
    assert learner.candidates() == pool[:4]
    monkeypatch.setattr(tables, "LARGEST_TREE", 23)
    assert learner.candidates() == [("a", "b"), ("b", "c"), ("d",)]
    monkeypatch.setattr(tables, "GROWTH", 2)
    answered(learner, [("a", "b")])
    assert learner.candidates() == [("b", "c"), ("d",)]
    learner.pool = pool[:1]
    assert learner.candidates() == pool[:1]
