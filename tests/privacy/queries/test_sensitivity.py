"""Each sensitivity against every small case: never below what is measured, and reached where it is claimed."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import pytest

from facsimile.privacy.queries import sensitivity

Histogram = tuple[int, ...]


def histograms(n: int, cells: int) -> list[Histogram]:
    """Every table of n records over a few cells."""
    return [h for h in product(range(n + 1), repeat=cells) if sum(h) == n]


def neighbours(table: Histogram) -> Iterator[Histogram]:
    """Every table that replaces one record."""
    for loses, gains in product(range(len(table)), repeat=2):
        if loses != gains and table[loses]:
            yield tuple(c - (i == loses) + (i == gains) for i, c in enumerate(table))


def clipped_ratio(r: int, s: int, clip: Fraction) -> Fraction:
    larger = max(Fraction(r + 1, s + 1), Fraction(s + 1, r + 1))
    return min(clip, larger)


def inverse_ratio(r: int, s: int) -> Fraction:
    return min(Fraction(r + 1, s + 1), Fraction(s + 1, r + 1))


@pytest.mark.parametrize("clip", [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(10)])
@pytest.mark.parametrize("smallest", [0, 1, 2, 5, 9])
def test_no_step_of_a_clipped_ratio_exceeds_its_sensitivity(clip: Fraction, smallest: int) -> None:
    measured = max(
        abs(clipped_ratio(r + 1, s, clip) - clipped_ratio(r, s, clip))
        for s in range(smallest, smallest + 12)
        for r in range(11 * (s + 1))
    )
    assert measured <= sensitivity.ratio_clipped(clip, smallest)


@pytest.mark.parametrize("clip", [2, 3, 5])
@pytest.mark.parametrize("times", [1, 2, 10, 25])
def test_a_clipped_ratio_reaches_its_sensitivity(clip: int, times: int) -> None:
    s = clip * times - 1
    r = times - 1
    step = clipped_ratio(r, s, Fraction(clip)) - clipped_ratio(r + 1, s, Fraction(clip))
    assert step == sensitivity.ratio_clipped(Fraction(clip), s)


@pytest.mark.parametrize("smallest", range(15))
def test_the_inverse_ratio_has_exactly_its_sensitivity(smallest: int) -> None:
    measured = max(
        abs(inverse_ratio(r + 1, s) - inverse_ratio(r, s))
        for s in range(smallest, smallest + 12)
        for r in range(5 * (s + 1))
    )
    tight = measured == sensitivity.ratio_sharp(smallest)
    assert tight if smallest > 0 else measured <= sensitivity.ratio_sharp(smallest)


@pytest.mark.parametrize("candidate", [(0, 2, 4), (1, 1, 4), (2, 2, 2), (3, 0, 3)])
def test_whole_tables_move_no_more_than_their_sensitivities(candidate: Histogram) -> None:
    """Replacing a record moves two cells at once; the extreme over all cells still moves by one step."""
    clip, smallest, n = Fraction(2), min(candidate), sum(candidate)

    def clipped(table: Histogram) -> Fraction:
        return max(clipped_ratio(r, s, clip) for r, s in zip(table, candidate, strict=True))

    def inverse(table: Histogram) -> Fraction:
        return min(inverse_ratio(r, s) for r, s in zip(table, candidate, strict=True))

    def share(table: Histogram) -> Fraction:
        return max(Fraction(abs(r - s), n) for r, s in zip(table, candidate, strict=True))

    for table in histograms(n, 3):
        for other in neighbours(table):
            assert abs(clipped(table) - clipped(other)) <= sensitivity.ratio_clipped(clip, smallest)
            assert abs(inverse(table) - inverse(other)) <= sensitivity.ratio_sharp(smallest)
            assert abs(share(table) - share(other)) <= sensitivity.counts_share(n)


def test_the_largest_difference_reaches_its_sensitivity() -> None:
    candidate, table, other = (4, 0), (1, 3), (0, 4)
    shares = [max(Fraction(abs(r - s), 4) for r, s in zip(t, candidate, strict=True)) for t in (table, other)]
    assert shares[1] - shares[0] == sensitivity.counts_share(4)


def floor_mean(values: tuple[Fraction | None, ...], size: int, filler: Fraction) -> Fraction:
    """The mean of a group whose denominator is at least `size`; None is a record outside the group."""
    inside = [v for v in values if v is not None]
    return (sum(inside, Fraction(0)) + max(0, size - len(inside)) * filler) / max(len(inside), size)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("filler", [Fraction(-1), Fraction(0), Fraction(3)])
def test_a_group_mean_has_exactly_its_sensitivity(size: int, filler: Fraction) -> None:
    bounds = (Fraction(-1), Fraction(3))
    values = (None, bounds[0], Fraction(1), bounds[1])
    rest = list(combinations_with_replacement(values, 3))
    measured = max(
        abs(floor_mean((*others, a), size, filler) - floor_mean((*others, b), size, filler))
        for others in rest
        for a, b in product(values, repeat=2)
    )
    assert measured == sensitivity.group_mean(bounds, size)


def test_a_group_keeps_its_smallest_size_when_counts_are_off_by_the_threshold() -> None:
    for n, size, share in product((10, 50, 97), range(40), ("0.01", "0.05", "0.1", "0.3")):
        smallest = sensitivity.smallest_group(size, n, Fraction(share))
        least = max(0, size - int(n * Fraction(share)))
        assert 1 <= smallest <= max(1, least)
        assert smallest == max(1, int((size - n * Fraction(share)) // 1))


def test_prediction_errors_have_exactly_their_sensitivity() -> None:
    """Over a whole domain of targets and predictions; half of it would be the range of one model's error."""
    grid = [Fraction(x, 2) for x in range(-2, 7)]
    terms = [abs(y - r) - abs(y - s) for y, r, s in product(grid, repeat=3)]
    n = 7
    assert (max(terms) - min(terms)) / n == sensitivity.prediction_error((grid[0], grid[-1]), n)


def test_sensitivities_fall_with_size() -> None:
    bounds = (Fraction(0), Fraction(1))
    for before, after in pairwise(range(1, 50)):
        assert sensitivity.ratio_sharp(before) > sensitivity.ratio_sharp(after)
        assert sensitivity.ratio_clipped(Fraction(2), before) > sensitivity.ratio_clipped(Fraction(2), after)
        assert sensitivity.group_mean(bounds, before) > sensitivity.group_mean(bounds, after)
