"""Noise that is not what is charged for is caught, in each way that it can be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals, NoisySelection
from facsimile.privacy.noise import Integers, Noise, RehearsalNoise
from facsimile.privacy.queries import MarginalDistances
from facsimile.table.table import Table
from facsimile.testing import Broken, check_noise, small_domain
from facsimile.testing.drawn import drawn, needed

DOMAIN = small_domain(3, 2)
TABLE = Table.from_rows(DOMAIN, [[0, 0], [0, 0], [1, 1], [2, 0]])
COUNTS = NoisyMarginals(((("a",), Fraction(3, 2)), (("a", "b"), Fraction(3, 2))))
CHOICE = NoisySelection(
    MarginalDistances(((("a",), np.array([4, 0, 0])), (("a",), np.array([2, 1, 1])))), Fraction(3, 2)
)


class Half(RehearsalNoise):
    """Mutant: half the noise."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        return super().laplace(values, sensitivity, 2 * epsilon)

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        return super().gaussian(values, square, 4 * rho)

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        return super().argmax(scores, sensitivity, 2 * epsilon)


class Truthful(RehearsalNoise):
    """Mutant: two times in a hundred it is the truth."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = super().laplace(values, sensitivity, epsilon)
        return np.where(self._random.random(np.shape(values)) < 0.02, values, noisy)


class AllAtOnce(RehearsalNoise):
    """Mutant: in two of a hundred runs it is the truth."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = super().laplace(values, sensitivity, epsilon)
        return values if self._random.random() < 0.02 else noisy


class Reused(RehearsalNoise):
    """Mutant: one draw for all cells."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        return np.asarray(values) + super().laplace(np.zeros(1, np.int64), sensitivity, epsilon)


class Stuck(RehearsalNoise):
    """Mutant: every other call draws what the one before drew."""

    kept: Any = None

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        fresh = self.kept is None or np.shape(self.kept) != np.shape(values)
        drawn = super().laplace(np.zeros_like(values), sensitivity, epsilon) if fresh else self.kept
        self.kept = drawn if fresh else None
        return np.asarray(values) + drawn


class Continuous(RehearsalNoise):
    """Mutant: the noise of a float, rounded: the wrong law of integers."""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        drawn = self._random.laplace(0, sensitivity / float(epsilon), np.shape(values))
        return np.asarray(values + np.trunc(drawn), np.int64)


ONE = NoisyMarginals(((("a", "b"), Fraction(3, 2)),))
MUCH = NoisyMarginals(((("a", "b"), Fraction(1, 20)),))


@pytest.mark.parametrize(
    ("noise", "mechanism", "words"),
    [
        (Half(1), COUNTS, "another law"),
        (Half(1), CHOICE, "another law"),
        (Half(1), NoisyMarginals(((("a",), Rho(1, 8)),)), "another law"),
        (Truthful(1), MUCH, "another law|exact value"),
        (AllAtOnce(1), MUCH, "another law|exact value"),
        (Reused(1), COUNTS, "repeat|another law|exact value"),
        (Stuck(1), ONE, "repeat|another law"),
        (Continuous(1), COUNTS, "another law"),
    ],
)
def test_noise_that_is_not_what_is_charged_for_is_caught(
    noise: Noise, mechanism: Mechanism[Any], words: str
) -> None:
    with pytest.raises(Broken, match=words):
        check_noise(mechanism, [TABLE], noise)


@pytest.mark.parametrize("mechanism", [COUNTS, CHOICE, NoisyMarginals(((("a",), Rho(1, 8)),))])
def test_noise_that_is_passes(mechanism: Mechanism[Any]) -> None:
    for one in check_noise(mechanism, [TABLE], RehearsalNoise(3)):
        wanted, seen = one.scale
        assert seen == pytest.approx(wanted, rel=0.15)


def test_each_kind_of_repetition_is_seen_by_itself() -> None:
    """Draws that fit their law and repeat each other: beside each other, and from run to run."""
    found = drawn(ONE, TABLE, 600, RehearsalNoise(5))[0]
    assert found.independent and found.atoms
    beside, later = found.draws.copy(), found.draws.copy()
    beside[:, 1::2] = beside[:, ::2]
    later[1::2] = later[::2]
    for draws in (beside, later):
        assert not type(found)(found.call, draws).independent
    true = np.where(np.random.default_rng(1).random(found.draws.shape) < 0.2, 0, found.draws)
    assert not type(found)(found.call, true).atoms


class Rounded(NoisyMarginals):
    """Mutant: what comes out is not what was drawn: it is cut at 0, where the truth may lie."""

    def _sample(self, table: Table, noise: Noise) -> Any:
        return tuple(np.maximum(found.counts, 0) for found in super()._sample(table, noise))


class Silent(NoisyMarginals):
    """Mutant: no noise at all."""

    def _sample(self, table: Table, noise: Noise) -> Any:
        return table.marginal(("a",))


def test_an_answer_that_is_not_what_was_drawn_is_caught() -> None:
    for mutant, words in ((Rounded, "not what the sampler drew"), (Silent, "asks for no noise")):
        with pytest.raises(Broken, match=words):
            check_noise(mutant(COUNTS.marginals), [TABLE], RehearsalNoise(1))


def test_a_choice_between_equal_scores_shows_nothing_and_is_not_tried() -> None:
    even = NoisySelection(MarginalDistances(((("a",), np.array([2, 1, 1])),) * 2), Fraction(3, 2))
    assert needed(CHOICE, TABLE) < needed(even, TABLE)
    with pytest.raises(Broken, match="no table shows"):
        check_noise(even, [TABLE], RehearsalNoise(1))
