import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.shaping.sampling import Floats, independent, path, rounded, systematic
from laws import fits

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
SEEDS = st.integers(0, 2**32)


def mass(shape: tuple[int, ...], seed: int, holes: float = 0.0) -> Floats:
    random = np.random.default_rng(seed)
    p: Floats = random.gamma(0.5, size=shape) * (random.random(shape) >= holes)
    return p


@given(SHAPES, SEEDS, st.integers(0, 500), st.sampled_from([0.0, 0.5]), st.booleans())
def test_there_are_exactly_n_records_and_none_without_mass(
    shape: tuple[int, ...], seed: int, n: int, holes: float, iid: bool
) -> None:
    p = mass(shape, seed, holes)
    counts = (independent if iid else systematic)(p, n, np.random.default_rng(seed))
    assert counts.shape == shape
    assert counts.sum() == n
    assert counts.min() >= 0
    assert not p.any() or not counts[p == 0].any()


@given(SHAPES, SEEDS, st.integers(0, 5000))
def test_systematic_one_way_counts_are_their_expectations_up_to_one(
    shape: tuple[int, ...], seed: int, n: int
) -> None:
    p = mass(shape, seed) + 1e-3
    counts = systematic(p, n, np.random.default_rng(seed))
    for axis in range(p.ndim):
        others = tuple(place for place in range(p.ndim) if place != axis)
        expected = p.sum(axis=others) * (n / p.sum())
        assert np.abs(counts.sum(axis=others) - expected).max() <= 1 + 1e-6


def test_two_way_counts_are_much_closer_than_those_of_independent_draws() -> None:
    p, n = mass((8, 7, 6, 5), 3), 4000
    off = {
        draw: max(
            float(
                np.abs(
                    draw(p, n, np.random.default_rng(s)).sum(axis=(0, 2)) - p.sum(axis=(0, 2)) * n / p.sum()
                ).max()
            )
            for s in range(5)
        )
        for draw in (independent, systematic)
    }
    assert 3 * off[systematic] < off[independent]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20).filter(any), st.integers(0, 1000), SEEDS)
def test_each_share_is_rounded_up_or_down(weights: list[float], n: int, seed: int) -> None:
    shares = np.array(weights) / sum(weights) * n
    counts = rounded(np.array(weights), n, np.random.default_rng(seed))
    assert counts.sum() == n
    assert np.abs(counts - shares).max() < 1 + 1e-6


def test_rounding_is_right_on_average() -> None:
    """With u the uniform start, a share of 3/10 becomes 1 for exactly three tenths of the starts: α = 1e-6."""
    weights = np.array([3.0, 5.0, 2.0])
    random = np.random.default_rng(1)
    places = [int(np.argmax(rounded(weights, 1, random))) for _ in range(5000)]
    assert fits(np.bincount(places, minlength=3), weights / 10)


def test_independent_draws_follow_the_mass() -> None:
    p = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert fits(independent(p, 10_000, np.random.default_rng(2)).ravel(), p.ravel() / 10)


@given(SHAPES)
def test_a_step_of_the_path_changes_one_column_by_one_code(shape: tuple[int, ...]) -> None:
    order = path(shape)
    assert sorted(order.tolist()) == list(range(int(np.prod(shape))))
    steps = np.abs(np.diff(np.array(np.unravel_index(order, shape)), axis=1)).sum(axis=0)
    assert (steps == 1).all()


@pytest.mark.parametrize("draw", [independent, systematic])
def test_without_mass_every_cell_is_as_good(draw: object) -> None:
    assert callable(draw)
    assert draw(np.zeros((2, 3)), 7, np.random.default_rng(0)).sum() == 7
