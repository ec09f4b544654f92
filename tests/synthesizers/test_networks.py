"""Networks: gradients are those by differences, laws are laws, and a judge says the same in integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from facsimile.synthesizers.networks import Adam, Generator, Judge, Weights, drawn, softmax
from facsimile.table.critic import UNIT
from facsimile.table.exact import Floats
from facsimile.testing import small_domain
from facsimile.testing.laws import fits

DOMAIN = small_domain(3, 2, 4)
ROWS = np.array([[a, b, c] for a in range(3) for b in range(2) for c in range(4)])


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def by_differences(weights: Weights, value: Callable[[], float]) -> list[Floats]:
    found = []
    for w in weights:
        gradient = np.zeros_like(w)
        for place in np.ndindex(w.shape):
            kept = w[place]
            w[place] = kept + 1e-6
            up = value()
            w[place] = kept - 1e-6
            gradient[place] = (up - value()) / 2e-6
            w[place] = kept
        found.append(gradient)
    return found


def close(one: Weights, other: Weights) -> bool:
    return all(np.allclose(a, b, atol=1e-6) for a, b in zip(one, other, strict=True))


def test_laws_of_columns_sum_to_one_however_large_the_logits() -> None:
    laws = softmax(DOMAIN, np.array([[1e4, 0, 0, 5, 5, -1e4, 0, 0, 0]]))
    assert laws[0] == pytest.approx([1, 0, 0, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3])


def test_rows_have_the_laws_they_are_drawn_from() -> None:
    law = np.array([0.5, 0.3, 0.2, 1, 0, 0.1, 0.2, 0.3, 0.4])
    codes = drawn(DOMAIN, np.tile(law, (20_000, 1)), random())
    assert fits(np.bincount(codes[:, 0], minlength=3), law[:3])
    assert (codes[:, 1] == 0).all()
    assert fits(np.bincount(codes[:, 2], minlength=4), law[5:])


def test_a_generators_gradients_are_those_by_differences() -> None:
    made = Generator.started(DOMAIN, 3, 4, random())
    latents = made.latents(5, random())
    pull = random().normal(size=(5, 9))

    def value() -> float:
        return float((made.layers(latents)[2] * pull).sum())

    first, second, laws = made.layers(latents)
    starts = np.array([0, 3, 5])
    mean = np.repeat(np.add.reduceat(laws * pull, starts, axis=1), DOMAIN.shape, axis=1)
    assert close(
        made.gradients(latents, first, second, laws * (pull - mean)), by_differences(made.weights, value)
    )


def test_latents_have_a_conditional_vector_of_the_public_domain() -> None:
    latents = Generator.started(DOMAIN, 3, 4, random()).latents(9000, random())[:, 3:]
    assert (latents.sum(axis=1) == 1).all()
    assert fits(latents.sum(axis=0), np.full(9, 1 / 9))


def test_a_judges_scores_are_its_critics() -> None:
    judge = Judge.started(DOMAIN, 6, random())
    assert judge.critic("cross_entropy").scores(ROWS) / 2**20 == pytest.approx(judge.scores(ROWS), abs=0.02)


def test_a_judge_knows_what_every_other_code_would_score() -> None:
    judge = Judge.started(DOMAIN, 6, random())
    found, start = judge.alternatives(ROWS), 0
    for place, size in enumerate(DOMAIN.shape):
        for code in range(size):
            changed = ROWS.copy()
            changed[:, place] = code
            assert found[:, start + code] == pytest.approx(judge.scores(changed))
        start += size


def test_a_judges_gradients_are_those_by_differences_and_its_critics() -> None:
    judge = Judge.started(DOMAIN, 4, random())
    pull = random().normal(size=len(ROWS))
    found = judge.gradients(ROWS, pull)
    assert close(found, by_differences(judge.weights, lambda: float(judge.scores(ROWS) @ pull)))
    whole = judge.gradients(ROWS, np.ones(len(ROWS)))
    critic = judge.critic("wasserstein")
    exact = judge.split(critic.summed(ROWS, np.ones(len(ROWS), np.int64), True, 100 * UNIT) / UNIT)
    assert all(np.allclose(a, b, atol=0.05) for a, b in zip(whole, exact, strict=True))


def test_the_penalty_pulls_slopes_to_one() -> None:
    judge = Judge.started(DOMAIN, 4, random())

    def value() -> float:
        a, b, c, _ = judge.weights
        inside = np.eye(9)[ROWS + np.array([0, 3, 5])].sum(axis=1)
        moved = inside + 0.5 * inside.std() * random().random(inside.shape)
        slopes = np.where(moved @ a + b > 0, 1, 0.25)
        return float(10 * ((np.linalg.norm((slopes * c) @ a.T, axis=1) - 1) ** 2).mean())

    assert close(judge.penalty(ROWS, 10, random()), by_differences(judge.weights, value))


def test_adam_goes_downhill_and_decay_shrinks() -> None:
    weights = [np.array([3.0, -2.0])]
    steps = Adam(weights, 0.05, 0.0)
    for _ in range(500):
        steps.step(weights, [2 * weights[0]])
    assert np.abs(weights[0]).max() < 0.05
    weights = [np.array([3.0])]
    steps = Adam(weights, 0.05, 0.1)
    for _ in range(20):
        steps.step(weights, [np.zeros(1)])
    assert weights[0][0] < 3
