from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pytest

from contracts.test_synthesizers import domain_of, table_of
from facsimile.synthesizers import learners
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.graphical import estimate
from facsimile.synthesizers.learners import Learner, Measured, Refitted, Weights
from facsimile.table.domain import Clique

SHAPE = (4, 3, 2, 5)
PAIRS: list[Clique] = [("a", "b"), ("b", "c"), ("c", "d")]


def answered(learner: Learner, cliques: list[Clique], n: int = 4_000) -> None:
    """The learner hears true counts, with next to no noise."""
    table = table_of(SHAPE, n)
    measured: dict[Clique, Measured] = {}
    for clique in cliques:
        measured[clique] = Measured(table.marginal(clique).astype(np.float64), 1, 0.01)
        learner.learn(clique, measured)


def test_repeated_answers_are_averaged_and_their_noise_falls() -> None:
    twice = Measured(np.array([4.0]), 1, 6.0).again(np.array([8.0]))
    assert twice.counts.tolist() == [6.0]
    assert twice.scale == pytest.approx(6 / 2**0.5)


def test_both_learn_a_chain_from_its_pairs() -> None:
    domain, known, table = domain_of(SHAPE), Known(4_000), table_of(SHAPE, 4_000)

    def exact(found: learners.Floats, measured: Measured) -> learners.Floats:
        return measured.counts / np.maximum(found, 1e-9)

    for learner in (Weights(domain, known, 40, exact), Refitted(domain, known, 15)):
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

    monkeypatch.setattr(learners, "estimate", counted)
    names = ascii_lowercase[:14]
    learner = Refitted(domain_of((2,) * 14), Known(100), 2)
    measured: dict[Clique, Measured] = {}
    for name in names:
        measured[(name,)] = Measured(np.array([30.0, 70.0]), 1, 1.0)
        learner.learn((name,), measured)
    assert heard == [0, 1, 2, 3, 4, 5, 7, 9, 12]
    model = learner.model()
    assert heard[-1] == 14
    assert model is learner.model()
    assert model.sample(100, np.random.default_rng(1)).marginal(("n",)).tolist() == pytest.approx(
        [30, 70], abs=1
    )


def test_what_waits_for_a_fit_or_needs_a_large_tree_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Refitted(domain_of(SHAPE), Known(4_000), 5)
    pool: list[Clique] = [("a", "b"), ("b", "c"), ("a", "c"), ("d",), ("a", "b", "c", "d")]
    assert learner.candidates(pool) == pool
    monkeypatch.setattr(learners, "LARGEST_TREE", 30)
    assert learner.candidates(pool) == pool[:4]
    answered(learner, [("a", "b"), ("b", "c")])
    assert learner.candidates(pool) == pool[:4]
    monkeypatch.setattr(learners, "LARGEST_TREE", 23)
    assert learner.candidates(pool) == [("a", "b"), ("b", "c"), ("d",)]
    monkeypatch.setattr(learners, "GROWTH", 2)
    answered(learner, [("a", "b")])
    assert learner.candidates(pool) == [("b", "c"), ("d",)]
    assert learner.candidates(pool[:1]) == pool[:1]
