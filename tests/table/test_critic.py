"""The critic: integers say what floats say, gradients are right, clips hold, sums are exact in any order."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, product
from math import isqrt
from typing import Any

import numpy as np
import pytest

from facsimile.table.critic import BITS, LARGEST, UNIT, Critic, Loss, indicators
from facsimile.table.exact import Floats, Ints
from facsimile.table.logistic import logistic
from facsimile.testing import small_domain
from facsimile.testing.learners import critic

DOMAIN = small_domain(4, 3, 2)
ROWS = np.array([[a, b, c] for a in range(4) for b in range(3) for c in range(2)])
ONES = np.ones(1, np.int64)
FREE = 200 * UNIT
"""A clip that clips nothing."""


def score(weights: Floats, made: Critic, row: Ints) -> float:
    """In floats, from all weights in a critic's order."""
    codes, units = sum(DOMAIN.shape), len(made.out)
    parts = np.split(weights, [codes * units, (codes + 1) * units, (codes + 2) * units])
    inside = parts[0].reshape(codes, units)[row + np.array([0, 4, 7])].sum(axis=0) + parts[1]
    return float(np.where(inside > 0, inside, inside / 4) @ parts[2] + parts[3][0])


def weights(made: Critic) -> Floats:
    unit = 1 << BITS
    return np.concatenate(
        [x.ravel() / unit for x in (made.weights, made.bias, made.out)] + [[made.level / unit**2]]
    )


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_floats(seed: int) -> None:
    made = critic(DOMAIN, 5, seed)
    found = made.scores(ROWS) / (1 << 2 * BITS)
    assert found == pytest.approx([score(weights(made), made, row) for row in ROWS], abs=0.05)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["cross_entropy", "wasserstein"])
@pytest.mark.parametrize("real", [True, False])
def test_gradients_are_those_by_differences(seed: int, loss: Loss, real: bool) -> None:
    made = critic(DOMAIN, 5, seed, loss)
    at = weights(made)

    def likelihood(moved: Floats, row: Ints) -> float:
        value = score(moved, made, row) * (1 if real else -1)
        return value if loss == "wasserstein" else -float(np.logaddexp(0, -value))

    for row in ROWS[::5]:
        found = made.summed(row[None], ONES, real, FREE) / UNIT
        steps = np.eye(len(at)) * 1e-6
        plain = [(likelihood(at + step, row) - likelihood(at - step, row)) / 2e-6 for step in steps]
        assert found == pytest.approx(np.array(plain), abs=0.02)


def plain(made: Critic, row: Ints, real: bool, most: int) -> tuple[int, list[int]]:
    """The score of a row and its clipped gradient by their definitions, in Python's integers."""
    lines = [[int(w) for w in made.weights[code]] for code in row + np.array([0, 4, 7])]
    bias, out = made.bias.tolist(), made.out.tolist()
    before = [b + sum(line[unit] for line in lines) for unit, b in enumerate(bias)]
    active = [h if h > 0 else h // 4 for h in before]
    back = [o if h > 0 else o // 4 for h, o in zip(before, out, strict=True)]
    score = made.level + sum(a * o for a, o in zip(active, out, strict=True))
    steep = int(logistic(np.array([-score if real else score]), 2 * BITS)[0])
    slope = 2**12 if made.loss == "wasserstein" else (steep + 128) // 256
    norm = sum(a * a for a in active) + 2**20 + 4 * sum(b * b for b in back)
    times = min(slope, isqrt(most**2 // norm)) * (1 if real else -1)
    pulled = [times * b for b in back]
    weights = [pulled if code in row + np.array([0, 4, 7]) else [0] * len(out) for code in range(9)]
    return score, [*chain.from_iterable(weights), *pulled, *(times * a for a in active), times * 2**10]


@pytest.mark.parametrize("loss", ["cross_entropy", "wasserstein"])
@pytest.mark.parametrize("real", [True, False])
def test_scores_and_clipped_gradients_are_those_of_pythons_integers(loss: Loss, real: bool) -> None:
    """One of the critics has units that stand at zero, where the slope of φ changes."""
    zeros = Critic(DOMAIN, np.zeros((9, 3), np.int64), np.array([0, 1, -1]), np.array([-7, 6, 3]), -5, loss)
    none = Critic(DOMAIN, np.zeros((9, 1), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), 0, loss)
    for made in (zeros, none, *(critic(DOMAIN, 5, seed, loss) for seed in range(4))):
        for most, row in product((1, 2**14, UNIT // 50, UNIT, FREE), ROWS[::3]):
            score, gradient = plain(made, row, real, most)
            assert made.scores(row[None]).tolist() == [score]
            assert made.summed(row[None], ONES, real, most).tolist() == gradient


@pytest.mark.parametrize("most", [1, 1000, UNIT // 50, UNIT, FREE])
def test_no_row_is_longer_than_the_clip_and_a_long_one_reaches_it(most: int) -> None:
    for seed in range(6):
        made = critic(DOMAIN, 5, seed, "wasserstein")
        for row in ROWS:
            length = sum(int(x) ** 2 for x in made.summed(row[None], ONES, True, most))
            assert length <= most**2
            if 10**5 < most < UNIT:
                assert length > 0.9 * most**2


def test_a_clipped_gradient_keeps_its_direction() -> None:
    made = critic(DOMAIN, 5, 2, "wasserstein")
    one, short = (made.summed(ROWS[:1], ONES, True, most).astype(float) for most in (FREE, UNIT // 10))
    assert one @ short == pytest.approx(np.linalg.norm(one) * np.linalg.norm(short), rel=1e-6)


def test_a_sum_is_exact_however_rows_are_put_together() -> None:
    made, random = critic(DOMAIN, 7, 3), np.random.default_rng(1)
    codes = random.integers(0, DOMAIN.shape, (40_000, 3))
    counts = random.integers(0, 5, len(codes))
    whole = made.summed(codes, counts, True, UNIT)
    order = random.permutation(len(codes))
    assert (made.summed(codes[order], counts[order], True, UNIT) == whole).all()
    alone = [made.summed(row[None], ONES, True, UNIT) for row in ROWS]
    times = [int(counts[(codes == row).all(axis=1)].sum()) for row in ROWS]
    assert np.array_equal(np.array(times) @ np.array(alone), whole)


def test_large_weights_stay_exact() -> None:
    units = 64
    large = np.full((9, units), LARGEST)
    made = Critic(DOMAIN, large, large[0], large[0], LARGEST << BITS)
    found = made.scores(ROWS[:1])
    assert int(found[0]) == units * LARGEST * 4 * LARGEST + (LARGEST << BITS)
    n = 2**53 // FREE - 1
    one = made.summed(ROWS[:1], ONES, False, FREE)
    assert (made.summed(ROWS[:1], n * ONES, False, FREE) == n * one).all()


def test_no_rows_have_no_gradient() -> None:
    made = critic(DOMAIN)
    none = np.zeros((0, 3), np.int64)
    assert not made.summed(none, np.zeros(0, np.int64), True, UNIT).any()
    assert made.scores(none).shape == (0,)


def test_every_weight_and_the_level_have_a_limit_and_a_kind() -> None:
    def made(**changed: Any) -> Critic:
        return replace(critic(DOMAIN), **changed)

    three, level = np.zeros(3, np.int64), LARGEST << BITS
    for good in ({"bias": three - LARGEST}, {"out": three + LARGEST}, {"level": level}, {"level": -level}):
        made(**good)
    for bad in (
        {"bias": three - LARGEST - 1}, {"out": three + LARGEST + 1}, {"level": level + 2**BITS},
        {"level": -level - 2**BITS}, {"level": 0.5}, {"level": True}, {"loss": "mine"},
        {"bias": three.astype(np.int32)}, {"out": three.astype(float)}, {"bias": three[:2]},
        {"weights": np.zeros((9, 0), np.int64), "bias": three[:0], "out": three[:0]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="a critic"):
            made(**bad)


@pytest.mark.parametrize(
    ("shape", "largest", "level", "kind"),
    [
        ((9, 3), LARGEST + 1, 0, np.int64), ((8, 3), 1, 0, np.int64), ((9, 2), 1, 0, np.int64),
        ((9, 3), 1, 2**40, np.int64), ((9, 3), 1, 0, np.float64), ((9, 3), -(2**63), 0, np.int64),
    ],
)  # fmt: skip
def test_weights_that_are_too_large_or_misshapen_are_refused(
    shape: tuple[int, int], largest: int, level: int, kind: type
) -> None:
    with pytest.raises(ValueError):
        Critic(DOMAIN, np.full(shape, largest, kind), np.zeros(3, np.int64), np.zeros(3, np.int64), level)


def test_too_many_units_for_exact_sums_are_refused() -> None:
    """With three columns a squared length is at most 20·units·2^30 + 2^20: 2^53 is reached at 419,431 units."""
    for units, fits in ((419_430, True), (419_431, False)):
        with nullcontext() if fits else pytest.raises(ValueError, match="few units"):
            Critic(DOMAIN, np.zeros((9, units), np.int64), *(np.zeros(units, np.int64),) * 2, 0)


def test_weights_do_not_change_after_they_were_checked() -> None:
    given = np.zeros((9, 3), np.int64)
    made = Critic(DOMAIN, given, np.zeros(3, np.int64), np.zeros(3, np.int64), 0)
    given[:] = 2**40
    assert not made.weights.any()


def test_indicators_have_a_place_for_each_code() -> None:
    assert indicators(small_domain(2, 3), np.array([[1, 0], [0, 2]])).toarray().tolist() == [
        [0, 1, 1, 0, 0],
        [1, 0, 0, 0, 1],
    ]
