"""Teachers: what they vote for, that parts do not touch each other, and that blocks change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from facsimile.table import teachers
from facsimile.table.teachers import Layer, Lesson, votes
from facsimile.testing import small_domain
from facsimile.testing.learners import lesson

DOMAIN = small_domain(3, 4)


def test_teachers_call_rows_real_that_are_like_their_records() -> None:
    layer = Layer(small_domain(2), (((("a",)), np.array([1, -1])),))
    told = Lesson(layer, np.array([[0], [1]]), np.array([[0], [1]]))
    assert votes(told, np.array([[0], [0], [1]]), np.array([0, 1, 2]), 4).tolist() == [2, 1]


def test_a_teacher_without_records_calls_nothing_real() -> None:
    told = lesson(DOMAIN, 9)
    assert not votes(told, np.zeros((0, 2), np.int64), np.zeros(0, np.int64), 5).any()


def test_votes_are_those_of_each_teacher_alone() -> None:
    random = np.random.default_rng(1)
    told, records, teacher = (
        lesson(DOMAIN, 9),
        random.integers(0, DOMAIN.shape, (50, 2)),
        random.integers(0, 7, 50),
    )
    alone = [votes(told, records[teacher == k], np.zeros((teacher == k).sum(), np.int64), 1) for k in range(7)]
    assert (votes(told, records, teacher, 7) == sum(alone)).all()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    told, records, teacher = (
        lesson(DOMAIN, 9),
        random.integers(0, DOMAIN.shape, (90, 2)),
        random.integers(0, 20, 90),
    )
    whole = votes(told, records, teacher, 25)
    for block in (1, 4, 17):
        monkeypatch.setattr(teachers, "BLOCK", block)
        assert (votes(told, records, teacher, 25) == whole).all()


@pytest.mark.parametrize("table", [np.array([1, -1]), np.array([1, 0, -1]), np.array([1, 2, -1])])
def test_a_layer_has_a_sign_for_each_cell(table: np.ndarray) -> None:
    with pytest.raises(ValueError):
        Layer(DOMAIN, ((("a",), table),))
