import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from facsimile.spec.bins import CategoryBin, MissingBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.estimation import columns, ordered
from facsimile.synthesizers.smoothness import along, smooth
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement
from facsimile.testing import small_domain

BELL = np.rint(60_000 * np.exp(-(((np.arange(25) - 14) / 5) ** 2))) + 200
HEAPED = BELL * np.where(np.arange(25) % 5 == 0, 3, 1)
JUMPY = np.rint(np.exp(np.random.default_rng(0).normal(7, 1.5, 25)))
B = 60.0


def smoothed(noisy: Floats, b: float = B) -> Floats:
    return smooth(np.eye(len(noisy)) / (2 * b * b), noisy / (2 * b * b), noisy)[0]


def failures(truth: Floats, b: float, shape: bool, draws: int = 100) -> float:
    """How often some count is off by more than a factor of 1.6."""
    found = []
    for seed in range(draws):
        noisy = truth + np.random.default_rng(seed).laplace(0, b, len(truth))
        guess = smoothed(noisy, b) if shape else np.maximum(noisy, 1)
        found.append(np.abs(np.log((guess + 1) / (truth + 1))).max() > np.log(1.6))
    return float(np.mean(found))


def test_rare_values_of_a_column_with_a_shape_are_told_by_their_neighbours() -> None:
    assert failures(BELL, B, shape=True) < 0.75 * failures(BELL, B, shape=False)


@pytest.mark.parametrize(("truth", "b"), [(HEAPED, B), (JUMPY, 10.0)], ids=["heaped", "jumpy"])
def test_a_column_without_a_shape_is_told_no_worse(truth: Floats, b: float) -> None:
    assert failures(truth, b, shape=True) <= failures(truth, b, shape=False)


def test_clear_counts_are_kept() -> None:
    noisy = HEAPED + np.random.default_rng(3).laplace(0, 1, 25)
    assert smoothed(noisy, 1.0) == pytest.approx(noisy, rel=0.01)


@given(arrays.arrays(np.float64, st.integers(4, 12), elements=st.floats(-1e6, 1e6)), st.floats(0.01, 1e5))
def test_whatever_was_measured_gives_positive_counts(noisy: Floats, b: float) -> None:
    precision = np.eye(len(noisy)) / (2 * b * b)
    counts, variances = smooth(precision, precision @ noisy, noisy)
    assert np.isfinite(counts).all() and (counts > 0).all()
    assert np.isfinite(variances).all() and (variances > 0).all()


def test_codes_measured_in_groups_are_told_apart_by_their_shape_and_keep_their_sums() -> None:
    groups = np.arange(24) // 3
    truth = BELL[:24]
    joins = (np.arange(8)[:, None] == groups) / 10.0
    counts, _ = smooth(joins.T @ joins, joins.T @ (joins @ truth), np.repeat(joins @ truth * 10 / 3, 3))
    sums = np.bincount(groups, counts)
    assert sums == pytest.approx(np.bincount(groups, truth), rel=0.05)
    assert (
        np.abs(counts - truth).sum() < 0.5 * np.abs(np.repeat(np.bincount(groups, truth) / 3, 3) - truth).sum()
    )


def test_only_numbers_follow_each_other() -> None:
    numbers = small_domain(5).axes[0].bins
    assert ordered(Axis("a", numbers)) == [0, 1, 2, 3, 4]
    assert ordered(Axis("a", (*numbers, MissingBin("unknown")))) == [0, 1, 2, 3, 4]
    assert ordered(Axis("a", tuple(CategoryBin(c, frozenset(c)) for c in "vwxyz"))) == []


def test_short_lines_and_lines_without_a_measurement_stay_as_they_are() -> None:
    counts, variances, precision = np.arange(1.0, 6.0), np.ones(5), np.eye(5)
    for line, known in ((np.arange(3), precision), (np.arange(5), 0 * precision)):
        found = along(line, known, known @ counts, counts, variances)
        assert found[0].tolist() == counts[line].tolist() and found[1].tolist() == [1.0] * len(line)


def test_a_code_that_cannot_occur_or_is_no_number_takes_no_part() -> None:
    noisy = np.array([300.0, 0.0, 310.0, 150.0, 420.0, 90_000.0])
    before = {"a": np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])}
    measured = [Measurement.fine(("a",), noisy, 2 * B * B)]
    plain, shaped = (columns(before, measured, 91_180, None, lines)["a"] for lines in (None, {"a": range(5)}))
    assert plain[1] == shaped[1] == 0
    assert shaped[5] == pytest.approx(plain[5], rel=0.01)
    assert abs(np.log(shaped[3] / 300)) < abs(np.log(plain[3] / 300))
