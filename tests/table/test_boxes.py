from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.table.boxes import Boxes

SHAPES = [(4,), (1, 1), (2, 3), (50, 2), (3, 1, 4), (2, 2, 2, 2), (5, 3, 2, 2)]


def every_box(shape: tuple[int, ...]) -> Boxes:
    """All of them, in some order."""
    ranges = [[(low, high) for low in range(size) for high in range(low + 1, size + 1)] for size in shape]
    ends = np.array(list(product(*ranges)))
    return Boxes(shape, ends[:, :, 0], ends[:, :, 1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_sum_over_every_box_is_that_of_its_cells(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    boxes = every_box(shape)
    for grid in (random.integers(-9, 9, shape), random.random(shape), random.integers(0, 9, shape[::-1]).T):
        before = grid.copy()
        plain = np.array([grid[boxes.slices(place)].sum() for place in range(len(boxes))])
        found = boxes.sums(grid)
        assert found.dtype == grid.dtype
        assert np.allclose(found, plain) if grid.dtype == np.float64 else (found == plain).all()
        assert (grid == before).all()


def test_integers_are_exact_where_sums_on_the_way_pass_64_bits() -> None:
    """The answers have 53 bits each, and the prefix sums that they are made of more than 64."""
    random = np.random.default_rng(1)
    boxes = every_box((3, 3, 3))
    grid = random.integers(2**60, 2**62, (3, 3, 3))
    grid[1, 1, 1] = 2**53 - 1
    inner = [place for place in range(len(boxes)) if boxes.slices(place) == (slice(1, 2),) * 3]
    assert boxes.some(inner).sums(grid).tolist() == [2**53 - 1]


@settings(max_examples=60)
@given(st.sampled_from([shape for shape in SHAPES if shape != (50, 2)]), st.data())
def test_what_lies_within_a_box_is_what_others_share_with_it(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    boxes = every_box(shape)
    place = data.draw(st.integers(0, len(boxes) - 1))
    grid = np.random.default_rng(place).integers(1, 9, shape)
    inside = np.zeros(shape, np.int64)
    inside[boxes.slices(place)] = grid[boxes.slices(place)]
    touched, parts = boxes.within(place)
    shared = np.zeros(len(boxes), np.int64)
    shared[touched] = parts.sums(grid[boxes.slices(place)])
    assert (shared == boxes.sums(inside)).all()
    assert (shared[touched] > 0).all()


def test_boxes_lie_inside_a_grid_or_not() -> None:
    good = every_box((2, 3))
    assert good.inside((2, 3))
    assert not good.inside((3, 2))
    assert not good.inside((2, 3, 1))

    def one(low: object, high: object, shape: tuple[int, ...] = (2, 3)) -> bool:
        return Boxes(shape, np.array(low), np.array(high)).inside((2, 3))

    assert one([[0, 1]], [[2, 2]])
    assert not one([[0, 1]], [[2, 1]])
    assert not one([[0, 1]], [[3, 2]])
    assert not one([[-1, 1]], [[2, 2]])
    assert not one([[0.0, 1.0]], [[2.0, 2.0]])
    assert not one([[0, 1]], [[2, 2], [2, 2]])
    assert not one([0, 1], [2, 2])
    assert not one([[0, 1]], [[2, 2]], (2.0, 3.0))  # type: ignore[arg-type]
    assert not one([[0, 1]], [[2, 2]], (2, 3.0))  # type: ignore[arg-type]


def test_neither_another_grid_nor_a_later_write_changes_them() -> None:
    low = np.array([[0, 1]])
    boxes = Boxes((2, 3), low, np.array([[2, 3]]))
    low[0, 1] = 0
    assert boxes.low.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        boxes.low[0, 0] = 1
    with pytest.raises(ValueError, match="another shape"):
        boxes.sums(np.zeros((3, 2)))
