from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.privacy import noise as module
from facsimile.privacy.budget import Rho
from facsimile.privacy.noise import LARGEST, Noise, RehearsalNoise, SystemNoise, fitting, noisy, selected
from facsimile.testing.laws import (
    counted,
    discrete_gaussian,
    discrete_laplace,
    exponential_mechanism,
    fits,
    permute_and_flip,
)

DRAWS = {"system": 20_000, "rehearsal": 200_000}
NOISES: dict[str, Noise] = {"system": SystemNoise(), "rehearsal": RehearsalNoise(7)}
BOTH = pytest.mark.parametrize("which", ["system", "rehearsal"])


@BOTH
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(2, Fraction(1)), (1, Fraction(3)), (2, Fraction(1, 5))])
def test_laplace_has_the_law_of_its_scale_and_of_no_other(
    which: str, sensitivity: int, epsilon: Fraction
) -> None:
    drawn = NOISES[which].laplace(np.full(DRAWS[which], 17), sensitivity, epsilon) - 17
    scale = sensitivity / float(epsilon)
    reach = int(6 * scale) + 3
    assert fits(counted(drawn, reach), discrete_laplace(scale, reach))
    assert not fits(counted(drawn, reach), discrete_laplace(0.7 * scale, reach))
    assert not fits(counted(drawn, reach), discrete_laplace(1.3 * scale, reach))


@BOTH
@pytest.mark.parametrize(("square", "rho"), [(2, Fraction(1)), (1, Fraction(1, 20)), (2, Fraction(1, 100))])
def test_gaussian_has_the_law_of_its_variance_and_of_no_other(which: str, square: int, rho: Fraction) -> None:
    drawn = NOISES[which].gaussian(np.full(DRAWS[which], 17), square, rho) - 17
    sigma = (square / (2 * float(rho))) ** 0.5
    reach = int(4 * sigma) + 2
    assert fits(counted(drawn, reach), discrete_gaussian(sigma, reach))
    assert not fits(counted(drawn, reach), discrete_gaussian(0.7 * sigma, reach))
    assert not fits(counted(drawn, reach), discrete_gaussian(1.3 * sigma, reach))


@BOTH
@pytest.mark.parametrize("scores", [[3, 1, 0], [5, 5, 0], [-4, -1, 0, 0]])
def test_gumbel_is_the_exponential_mechanism_of_its_rho(which: str, scores: list[int]) -> None:
    """Sensitivity 1 and ρ = 1/8: scores count in units of Δ/√(2ρ) = 2."""
    draws = DRAWS[which] // 4
    taken = [NOISES[which].gumbel(scores, 1, Fraction(1, 8)) for _ in range(draws)]
    found = np.bincount(taken, minlength=len(scores))
    assert fits(found, exponential_mechanism(scores, 2))
    assert not fits(found, exponential_mechanism(scores, 1))
    assert not fits(found, exponential_mechanism(scores, 4))


@BOTH
@pytest.mark.parametrize("scores", [[3, 1, 0], [5, 5, 0], [-4, -1, 0, 0]])
def test_argmax_is_permute_and_flip(which: str, scores: list[int]) -> None:
    epsilon = Fraction(3, 2)
    draws = DRAWS[which] // 4
    taken = [NOISES[which].argmax(scores, 2, epsilon) for _ in range(draws)]
    found = np.bincount(taken, minlength=len(scores))
    assert fits(found, permute_and_flip(scores, 2, epsilon))
    assert not fits(found, permute_and_flip(scores, 2, 2 * epsilon))


@BOTH
def test_coins_and_draws_are_exact(which: str) -> None:
    noise = NOISES[which]
    coins = sum(noise.coin(Fraction(3, 7)) for _ in range(20_000))
    assert fits([coins, 20_000 - coins], [3 / 7, 4 / 7])
    assert fits(np.bincount([noise.below(5) for _ in range(20_000)], minlength=5), [0.2] * 5)
    assert not noise.coin(Fraction(0))
    assert noise.coin(Fraction(1))


@given(st.integers(1, 50), st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=10**6))
def test_the_sampler_promises_at_most_what_is_charged(sensitivity: int, epsilon: Fraction) -> None:
    assert Fraction(module._laplace(sensitivity, epsilon).map(sensitivity)) <= epsilon
    assert Fraction(module._argmax(sensitivity, epsilon).map(sensitivity)) <= epsilon
    assert module._laplace(sensitivity, epsilon).map(sensitivity) >= 0.999999 * float(epsilon)


@given(st.integers(1, 50), st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6))
def test_the_sampler_promises_at_most_the_rho_that_is_charged(square: int, rho: Fraction) -> None:
    """At a distance that is not below √square, which no float need be."""
    above = math.nextafter(math.sqrt(square), math.inf)
    assert Fraction(above) ** 2 >= square
    assert Fraction(module._gaussian(square, rho).map(above)) <= rho
    assert module._gaussian(square, rho).map(above) >= 0.999999 * float(rho)
    assert Fraction(module._gumbel(square, rho).map(square)) <= rho
    assert module._gumbel(square, rho).map(square) >= 0.999999 * float(rho)


def test_a_share_draws_the_noise_of_its_currency() -> None:
    asked: list[str] = []

    class Asked(RehearsalNoise):
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            return super().__getattribute__(name)

    for share, laws in ((Fraction(1), ["laplace", "argmax"]), (Rho(1), ["gaussian", "gumbel"])):
        asked.clear()
        noise = Asked(1)
        noisy(noise, np.zeros(3, np.int64), 2, 2, share)
        selected(noise, [1, 2], 1, share)
        assert [name for name in asked if not name.startswith("_")] == laws


@pytest.mark.parametrize("value", [2**62, -(2**62), 2**63 - 1, -(2**63), 0])
def test_extreme_counts_do_not_fail(value: int) -> None:
    assert (
        abs(int(SystemNoise().laplace(np.array([value]), 2, Fraction(1))[0]))
        >= min(abs(value), LARGEST) - 10**6
    )
    assert SystemNoise().argmax([10**40, -(10**40)], 1, Fraction(50)) == 0


def test_numbers_beyond_64_bits_are_clamped() -> None:
    assert fitting([10**30, -(10**30), 5]).tolist() == [LARGEST, -LARGEST, 5]


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, Fraction(1)), (1, Fraction(0)), (-1, Fraction(1))])
def test_noise_without_a_guarantee_is_refused(sensitivity: int, epsilon: Fraction) -> None:
    with pytest.raises(ValueError, match="positive"):
        SystemNoise().laplace(np.array([1]), sensitivity, epsilon)
    for ask in (SystemNoise().argmax, SystemNoise().gumbel):
        with pytest.raises(ValueError, match="positive"):
            ask([1, 2], sensitivity, epsilon)
    with pytest.raises(ValueError, match="positive"):
        SystemNoise().gaussian(np.array([1]), sensitivity, epsilon)


def test_no_call_returns_the_exact_numbers_more_often_than_the_law_says() -> None:
    """2,000 calls, each with a chance below 1/1,000 of no noise at all: 15 such calls have one below 10⁻⁸."""
    noise, exact = SystemNoise(), np.array([7])
    asked: list[Callable[[], Any]] = [
        lambda: noise.laplace(exact, 2, Fraction(1, 500)),
        lambda: noise.gaussian(exact, 2, Fraction(1, 250_000)),
    ]
    for ask in asked:
        assert sum(int(ask()[0]) == 7 for _ in range(2_000)) < 15


DRAWN: dict[str, Callable[[Noise], list[int]]] = {
    "laplace": lambda noise: noise.laplace(np.zeros(20, np.int64), 2, Fraction(1, 100)).tolist(),
    "gaussian": lambda noise: noise.gaussian(np.zeros(20, np.int64), 2, Fraction(1, 10**4)).tolist(),
    "argmax": lambda noise: [noise.argmax([0] * 64, 1, Fraction(1)) for _ in range(20)],
    "gumbel": lambda noise: [noise.gumbel([0] * 64, 1, Fraction(1)) for _ in range(20)],
    "coin": lambda noise: [noise.coin(Fraction(1, 2)) for _ in range(100)],
    "below": lambda noise: [noise.below(2**62) for _ in range(2)],
}


def _draw(kind: str, queue: multiprocessing.Queue[list[int]]) -> None:
    queue.put(DRAWN[kind](SystemNoise()))


@pytest.mark.parametrize("kind", DRAWN)
def test_calls_and_processes_draw_different_noise(kind: str) -> None:
    """Two forks of one process, and the process itself, twice; equal by chance at most once in 10²⁵."""
    DRAWN[kind](SystemNoise())
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[list[int]] = context.Queue()
    children = [context.Process(target=_draw, args=(kind, queue)) for _ in range(2)]
    for child in children:
        child.start()
    drawn = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    drawn += [DRAWN[kind](SystemNoise()) for _ in range(2)]
    assert len(set(map(tuple, drawn))) == 4


def test_a_rehearsal_is_repeated_by_its_seed() -> None:
    one, two = (RehearsalNoise(5).laplace(np.arange(50), 2, Fraction(1, 10)).tolist() for _ in range(2))
    assert one == two != RehearsalNoise(6).laplace(np.arange(50), 2, Fraction(1, 10)).tolist()
    assert not hasattr(SystemNoise(), "seed")
    with pytest.raises(TypeError):
        SystemNoise(1)  # type: ignore[call-arg]
